package study

import (
	"math"

	"covey/internal/linalg"
)

// allEigen is the most columns for which all eigenvalues are computed. For more columns, the
// approximation is too low if many are close to the leading ones: long rows then seem to differ.
const allEigen = 512

// hidden returns how much less than they should the components of the low clip have of the variance
// of the high clip, along its leading directions that stand clear of noise. Where they miss more
// than most, the longest rows show directions that those clipped low do not.
func hidden(low, high Release, d, k int, sure float64) (misses, most float64, err error) {
	m := momentOf(high).matrix(d)
	seen := d
	if d > allEigen { // all of them would take long, and every site computes this
		seen = k
	}
	w, values, ok := linalg.LeadingEigen(m, seen)
	if !ok {
		return 0, 0, noConvergence()
	}
	rest, spread := linalg.Bulk(m, values)
	s := high.Tau()
	middle, _ := linalg.Bulk(m, values[:k]) // about which noise spreads the others
	clear := 0
	for clear < k && values[clear]-middle > standsClear*s*math.Sqrt(2*float64(d)) {
		clear++
	}
	if clear == 0 {
		return 0, 0, nil
	}
	top, excess := 0.0, 0.0
	for i := range clear {
		top += values[i]
		// what leading eigenvectors gain by following noise (Stein)
		for _, v := range values[clear:] {
			excess += float64(s*s) / (values[i] - v)
		}
		if gap := values[i] - rest; seen < d { // to second order in their spread
			excess += float64(float64(float64(s*s)*float64(d-seen)) / gap * (1 + spread/float64(gap*gap)))
		}
	}
	components, _, err := principal(low, d, k)
	if err != nil {
		return 0, 0, err
	}
	got, common, ok := linalg.Within(m, components, w[:clear])
	if !ok {
		return 0, 0, noConvergence()
	}
	noise := s * math.Sqrt(max(0, 2*(float64(clear)-common))) // of top - got
	return top - excess - got, float64(sure*noise) + float64(missed*top), nil
}
