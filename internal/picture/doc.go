// Package picture turns noised histograms of scores into what is drawn: densities without most of
// the noise, whose peaks the true counts have too, and quantiles with intervals. All of it is
// post-processing of released values, and as private as they are.
package picture

import (
	"fmt"
	"math"

	"covey/internal/study"
)

const bins = study.PictureBins

// invented bounds the probability that a picture shows a peak that the true counts do not have,
// over all of its groups.
const invented = 0.01

// Error is a histogram that is not what studies release.
type Error struct{ Reason string }

func (e *Error) Error() string { return "picture: " + e.Reason }

func fault(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// check returns an [*Error] for counts that are not n finite numbers, or whose noise has no
// deviation.
func check(counts []float64, n int, sigma float64) error {
	if len(counts) != n {
		return fault("%d counts, want %d", len(counts), n)
	}
	// Squares and sums of larger numbers could overflow.
	for _, c := range counts {
		if !(math.Abs(c) <= largest) {
			return fault("a count is not a number of at most %g", largest)
		}
	}
	if !(sigma > 0 && sigma <= largest) {
		return fault("the noise's deviation is %g, want above 0 and at most %g", sigma, largest)
	}
	return nil
}

const largest = 1e15

// checkEdges returns an [*Error] unless edges are n+1 numbers of equal steps upwards, as bins of
// scores have them.
func checkEdges(edges []float64, n int) error {
	if len(edges) != n+1 {
		return fault("%d edges of %d bins", len(edges), n)
	}
	step := (edges[n] - edges[0]) / float64(n)
	if !(step > 0) || math.IsInf(step, 0) {
		return fault("the edges do not go up")
	}
	for i, e := range edges {
		if !(math.Abs(e-edges[0]-float64(i)*step) <= step/1000) {
			return fault("edge %d is not at equal steps", i)
		}
	}
	return nil
}
