package worth

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"covey/internal/result"
	"covey/internal/study"
)

const (
	// At most mostAlike of the rows may have one score, or one length, beyond what normal rows have
	// in a bin. If many more do and noise hides the others, histograms show these rows alone: of
	// 2,200 to 20,000 rows of which six to nine tenths were equal, studies captured 0.2 to 0.5, no
	// bound held, and explained variances were down to a thousandth of the rows'.
	mostAlike = 0.3
	// Where there may be no others, by so many standard deviations of a bin, nothing is hidden.
	// Columns of two values, each as often, make rows of one length, which the noise of a released
	// center spreads over up to oneLength bins on each side.
	allButSure, oneLength = 3, 2
	// A clip of variances above aboveAlike times the upper edge of such a bin does not come from
	// these rows.
	aboveAlike = 64

	alikeWhy      = "a third of the rows or more have nearly the same score or length, as rows of zeros or of a few booleans do, and rows may have been clipped as short as these"
	alikeSentence = "If these rows are no measurements, sites can leave them out. More units let the others show, but may not bring figures."
)

// alike reports whether released counts show so many rows with one score, or one length, that
// histograms may describe these rows alone. If a component has most of the variance, rows that are
// divided by their lengths all have one score on it, so their scores say nothing.
func alike(p *study.Plan, r *result.Result) bool {
	for i, rel := range r.Releases {
		if rel.Kind != study.KindHistogram {
			continue
		}
		h, degrees := histogram{rel, float64(rel.Units) * keptShare(r), 4}, r.K
		of := p.Queries[rel.Query].Of
		switch {
		case of == study.KindVariance:
		case of == study.KindTotal:
			degrees = r.D
		case of == study.KindPower && !p.Method.Sphere:
			h.octave = 2 // of squared scores
		default:
			continue
		}
		clip := 0.0 // lengths of rows, which bound a covariance, have none
		for _, sum := range r.Releases[i:] {
			if sum.Kind == of && of != study.KindTotal {
				clip = sum.Radius
				break
			}
		}
		for j := 1; j < len(h.Noised); j++ { // rows that were left out are in the lowest bin
			some := h.share(j)-surely*h.noise() > mostAlike+fullest(degrees, float64(h.octave))
			if some && !h.has(j) && clip < aboveAlike*study.BinEdge(j) {
				return true
			}
		}
	}
	return false
}

// has reports whether bin j and its neighbors may have all rows.
func (h histogram) has(j int) bool {
	share := 0.0
	for i := max(1, j-oneLength); i <= min(len(h.Noised)-1, j+oneLength); i++ {
		share += h.share(i)
	}
	return max(share, h.share(j))+allButSure*h.noise() >= 1 // neighbors may have noise alone
}

// fullest is the largest share of normal rows that a bin of squared lengths has, at most, of rows
// of so many degrees, where so many bins make an octave.
func fullest(degrees int, bins float64) float64 {
	shape, half := float64(degrees)/2, math.Pow(2, 0.5/bins)
	return mathext.GammaIncReg(shape, shape*half) - mathext.GammaIncReg(shape, shape/half)
}
