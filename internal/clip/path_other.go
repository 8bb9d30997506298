//go:build !amd64

package clip

func supported() []path { return []path{portable} }

func dotsVector[T number](_ []float64, _ []T, _ []float64, _ int) bool { return false }

func accumulateVector[T number](_ []uint64, _ []T, _ []float64, _ int) bool { return false }

func dotsTile[T number](_ []float64, _ []T, _ []float64, _, _, _ int) (width, n int) { return 1, 0 }

func accumulateTile[T number](_ []uint64, _ []T, _ []float64, _, _, _ int) (width, n int) {
	return 1, 0
}

func clampVector(_, _ []float64, _ limit) (n int) { return 0 }

func clampBlockVector(_, _ []float64, _, _ int, _ limit) (n int) { return 0 }

func readVector(v []float64) uint64 { return readPortable(v) }

func subtractVector[T number](_ []float64, _ []T, _ []float64, _ float64) bool { return false }

func standardVector[T number](_ []float64, _ []T, _, _, _ []float64) bool { return false }

func blendVector(_, _, _ []float64, _, _, _ int) bool { return false }

func takeOffVector(_, _ []float64, _ []int) bool { return false }

func addLinesVector(_ []uint64, _ []float64, _, _, _ int, _ float64) bool { return false }
