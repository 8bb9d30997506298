//go:build !amd64

package clip

func supported() []path { return []path{portable} }

func dotsVector(_, _, _ []float64) bool { return false }

func accumulateVector(_ []uint64, _, _ []float64) bool { return false }
