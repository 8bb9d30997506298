//go:build !unix

package main

import "time"

// cpu is not known here.
func cpu() time.Duration { return 0 }

// file is a copy of values: there are no mapped files here.
type file struct{ values []float64 }

func mapped(values []float64) (*file, error) { return &file{append([]float64(nil), values...)}, nil }

func (f *file) close() {}
