//go:build !linux

package replica

// place tells nothing: what a file and its copy differ in is known on Linux alone.
func place(string) []byte { return nil }
