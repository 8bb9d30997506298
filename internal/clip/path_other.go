//go:build !amd64

package clip

func supported() []path { return []path{portable} }

func dotsVector[T number](_ []float64, _ []T, _ []float64) bool { return false }

func accumulateVector[T number](_ []uint64, _ []T, _ []float64) bool { return false }
