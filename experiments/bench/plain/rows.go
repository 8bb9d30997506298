package plain

import (
	"math"
	"math/rand/v2"
	"strconv"

	"covey/internal/proposal"
)

// Columns returns d columns, named as those of an NPY matrix are.
func Columns(d int) []proposal.Column {
	columns := make([]proposal.Column, d)
	for j := range columns {
		columns[j] = proposal.Column{Name: "c" + strconv.Itoa(j), Scale: 1}
	}
	return columns
}

// numbers returns the values of seeded rows of d, in hundredths, one after another: Gaussian, with
// column j's variance proportional to 1/(j+1).
func numbers(d int) func() float64 {
	rng, at := rand.New(rand.NewPCG(1, 0x62656e6368)), 0
	root := make([]float64, d)
	for j := range root {
		root[j] = 100 / math.Sqrt(float64(j+1))
	}
	return func() float64 {
		v := math.Round(root[at%d]*rng.NormFloat64()) / 100
		at++
		return v
	}
}

// Values returns n seeded rows of d, one after another.
func Values(n, d int) []float64 {
	next, values := numbers(d), make([]float64, n*d)
	for i := range values {
		values[i] = next()
	}
	return values
}

// Rows returns the rows of Values, one after another.
func Rows(d int) func(row []float64) {
	next := numbers(d)
	return func(row []float64) {
		for j := range row {
			row[j] = next()
		}
	}
}
