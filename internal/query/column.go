package query

import "math"

// Queries about single columns count a unit in every column at once, or average its rows: a vector
// of d blocks, one a column. Their grid is ColumnGrid, fixed here: a unit of several rows is the
// average of its rows' counts, rounded down on it.
const (
	// ColumnGrid is the grid of queries about single columns.
	ColumnGrid = 0x1p-16
	// OctaveBins are the bins of a column's magnitudes: bin 0 counts zeros, then come those of
	// OctaveLevels.
	OctaveBins = 1 + 21 + 10
	// TreeBins are the bins of a column's place in [-1, 1]: those of TreeLevels.
	TreeBins = 8 + 32 + 64
)

// TreeLevel is bins of equal width, a power of two, of places in [-1, 1]. Where they do not reach
// over all of it they repeat: bin i holds every place that is a multiple of Bins·Width from it.
type TreeLevel struct {
	Bins  int
	Width float64
}

// TreeLevels are 8 bins, 32, and 64 that repeat sixteen times: where a column is narrow they say
// how narrow, where it is wide they say nothing.
var TreeLevels = [...]TreeLevel{{8, 0x1p-2}, {32, 0x1p-4}, {64, 0x1p-9}}

// The limits of a moment query: a unit's z is clipped to the norm MomentNorm·√d and doubled, its z²
// to the norm SquareNorm·√(3d).
const (
	MomentNorm = 1.1
	SquareNorm = 1.2
)

// OctaveLevel is bins of magnitudes: bin i holds what is in [2^(First+Width·i),
// 2^(First+Width·(i+1))), and the first and the last also what lies beyond.
type OctaveLevel struct{ First, Width, Bins int }

// OctaveLevels are bins of four octaves, then of eight: the wide ones stand out from more noise,
// the narrow ones say where in them. No edge of one is an edge of the other.
var OctaveLevels = [...]OctaveLevel{{-42, 4, 21}, {-40, 8, 10}}

// Bin returns the bin of a magnitude that is not zero, by exponent: no logarithm whose last bit
// could differ between machines.
func (l OctaveLevel) Bin(x float64) int {
	e := int(math.Float64bits(x)>>52&0x7ff) - 1023 // |x| in [2^e, 2^(e+1)), or below 2^-1022
	return within((e-l.First)/l.Width, l.Bins-1)
}

// within returns x, brought to 0 or most if it is not between them. No branch: how many zeros are
// mixed with other numbers would show in the time.
func within(x, most int) int {
	x &^= x >> 63
	over := x - most
	return most + over&(over>>63)
}

// Bin returns the bin of z. What lies beyond [-1, 1] is in the end bins, or where these are.
func (l TreeLevel) Bin(z float64) int {
	// A product with a power of two is exact. z is kept within bounds first, since the conversion
	// of a large number is not the same everywhere.
	at := int(math.Floor((max(-1, min(z, 1)) + 1) / l.Width))
	return min(at, int(2/l.Width)-1) % l.Bins
}

// AppendOctaves appends the bins, of OctaveBins, that a value counts in.
func AppendOctaves(bins []int, x float64) []int {
	if x == 0 {
		return append(bins, 0)
	}
	at := 1
	for _, l := range OctaveLevels {
		bins = append(bins, at+l.Bin(x))
		at += l.Bins
	}
	return bins
}

// AppendTree appends the bins, of TreeBins, that a place counts in.
func AppendTree(bins []int, z float64) []int {
	at := 0
	for _, l := range TreeLevels {
		bins = append(bins, at+l.Bin(z))
		at += l.Bins
	}
	return bins
}
