package worth

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

const (
	// mostExcess is how many times the variance of normal rows, beyond noise, rows without heavy
	// tails may have. It was chosen on the first fifteen tables of `accuracy fool`: those with less
	// lose at most what the bounds have in reserve, or have tails that no release shows.
	mostExcess = 1.03
	// leastFarther is how many times the covariance's clip the total's must be to show tails: it is
	// at least twice the clip where noise does not hide the longest tenth of the rows.
	leastFarther = 1.5
)

const heavyWhy = "heavy tails: rows beyond the clip have much of the variance, or noise hides how much, and the components can miss what only such rows show"

// heavy reports whether the rows vary more than normal rows would of which the clip leaves as much.
// What rows beyond the clip vary by is not in the components then, and may be in other directions,
// as in tables of costs or counts. It needs the total variance that was bought, whose clip cuts off
// less; without it heavy tails are not seen.
func (a *spectrum) heavy(p *study.Plan, r *result.Result) bool {
	if r.TotalInterval == nil || a.learned != nil {
		return false
	}
	for _, rel := range r.Releases {
		private := p.Proposal.Spec.NormBound == proposal.BoundPrivate
		if rel.Kind == study.KindTotal && private && rel.Radius < leastFarther*r.Radius {
			return true
		}
	}
	// Both are per row: what is left out where a value is missing is zero in the covariance.
	clipped, noise := 0.0, a.s*math.Sqrt(float64(len(a.mu)))/keptShare(r)
	for _, v := range a.mu {
		clipped += v / keptShare(r)
	}
	// Of rows clipped to one length: their spectrum is the steepest that these parts can be of, so
	// that a clip takes most from normal rows.
	square := 0.0
	for _, part := range unclip(parts(a.xi)) {
		square += part * part
	}
	normal := normalTotal(clipped, r.Radius, 1/square)
	more := normalTotal(clipped+normal95*noise, r.Radius, 1/square)
	half := math.Hypot((r.TotalInterval[1]-r.TotalInterval[0])/2, more-normal)
	return r.TotalVariance-half > mostExcess*normal
}

// stretched is [spectrum.heavy] of power iteration, which clips no covariance: it reports whether
// the mean squared length is larger than that of normal rows with the same median.
func stretched(p *study.Plan, r *result.Result) bool {
	if r.TotalInterval == nil || !(r.TotalVariance > 0) {
		return false
	}
	median := 0.0
	for _, rel := range r.Releases {
		if rel.Kind == study.KindHistogram && p.Queries[rel.Query].Of == study.KindTotal {
			median = mostMedian(rel, keptShare(r))
		}
	}
	total := r.TotalInterval[0]
	// The fewest directions, of those that there are, that have these variances, so that lengths
	// differ most.
	square, rest, most := 0.0, 1.0, 1.0
	for _, v := range r.VarianceInterval {
		part := min(rest, most, v[1]/r.TotalVariance)
		square, rest, most = square+part*part, rest-part, part
	}
	if left := r.D - len(r.VarianceInterval); left > 0 && rest > 0 {
		most = max(most, rest/float64(left))
		whole := math.Floor(rest / most)
		last := rest - whole*most
		square += whole*most*most + last*last
	}
	shape := 1 / square / 2
	return median > 0 && total > mostExcess*median*shape/mathext.GammaIncRegInv(shape, 0.5)
}

// mostMedian returns a squared length that is above the median of those that a histogram counts,
// with probability 0.95 over its noise, or 0 where noise hides it. Bins far below the fullest are
// left out: their noise would hide it sooner, and rows in them make the median smaller.
func mostMedian(rel study.Release, kept float64) float64 {
	const near = 16 // bins, four octaves
	half := kept * float64(rel.Units) / rel.Grid / 2
	if 4*rel.Spread()*math.Sqrt(2*near) > half {
		return 0
	}
	fullest := 1
	for j := 1; j < len(rel.Noised); j++ {
		if rel.Noised[j] > rel.Noised[fullest] {
			fullest = j
		}
	}
	from := max(1, fullest-near)
	sum := 0.0
	for j := from; j < min(len(rel.Noised), fullest+near); j++ {
		sum += float64(rel.Noised[j])
		if sum-1.645*rel.Spread()*math.Sqrt(float64(j-from+1)) >= half {
			return study.BinEdge(j)
		}
	}
	return 0
}

// normalTotal returns the mean squared length of normal rows whose squared lengths, each cut off at
// limit, have mean clipped; degrees is (Σλ)²/Σλ² of their spectrum λ. A squared length is about
// gamma distributed, with shape degrees/2 (Satterthwaite 1946).
func normalTotal(clipped, limit, degrees float64) float64 {
	cut := func(total float64) float64 {
		at := limit * degrees / 2 / total
		return total*mathext.GammaIncReg(degrees/2+1, at) + limit*mathext.GammaIncRegComp(degrees/2, at)
	}
	if !(clipped > 0) || !(limit > 0) || math.IsInf(degrees, 0) {
		return max(0, clipped)
	}
	low, high := clipped, clipped
	for range 60 { // a mean of limit or more is that of no rows: high is beyond all totals then
		if cut(high) >= clipped {
			break
		}
		low, high = high, 2*high
	}
	for range 60 {
		if middle := (low + high) / 2; cut(middle) < clipped {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
