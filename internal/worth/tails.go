package worth

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

const (
	// What rows have beyond normal ones counts as a tail above leastExcess of normal rows'
	// variance, or leastFar of the rows, farther ones weighed less: rows with less lose at most
	// what the bounds have in reserve. Both were chosen on the first eighteen tables of
	// `accuracy fool`, seeds 1 to 12.
	leastExcess, leastFar = 0.05, 0.005
	// mostChance is the probability with which noise makes tails of normal rows.
	mostChance = 0.003
	// leastFarther is how many times the covariance's clip the total's must be to show tails: it is
	// at least twice the clip where noise does not hide the longest tenth of the rows.
	leastFarther = 1.5
	// Rows are far from farTimes the squared length on that farQuantile of normal rows have below
	// them, over farOctaves of squared lengths; each octave counts half of that before it, for its
	// noise is the same and its rows are fewer.
	farTimes, farQuantile, farOctaves = 2, 0.93, 4
	// mostShift is how far, squared, the center of a histogram may be from the final one, of the
	// variance: lengths about it are the same then.
	mostShift = 0.05
)

const heavyWhy = "heavy tails: rows beyond the clip have much of the variance, or noise hides how much, and the components can miss what only such rows show"

// heavy reports whether the rows vary more, or more of them are far longer than the others, than
// normal rows of which the clip leaves as much. The components then lack the variance of rows
// beyond the clip, which may have other directions, as in tables of costs or counts. It takes the
// total variance where that was bought, whose clip cuts off less, and histograms of lengths.
func (a *spectrum) heavy(p *study.Plan, r *result.Result) bool {
	if a.learned != nil {
		return false
	}
	for _, rel := range r.Releases {
		private := p.Proposal.Spec.NormBound == proposal.BoundPrivate
		if rel.Kind == study.KindTotal && r.TotalInterval != nil && private && rel.Radius < leastFarther*r.Radius {
			return true
		}
	}
	// Both are per row: what is left out where a value is missing is zero in the covariance.
	clipped, noise := 0.0, a.s*math.Sqrt(float64(len(a.mu)))/keptShare(r)
	for _, v := range a.mu {
		clipped += v / keptShare(r)
	}
	values := parts(a.xi)
	for i := range values {
		values[i] *= clipped
	}
	sum, square := 0.0, 0.0
	for _, v := range unlimited(values, r.Radius) {
		sum, square = sum+v, square+v*v
	}
	if !(square > 0) {
		return false
	}
	degrees := sum * sum / square
	if math.IsNaN(degrees) { // no quantile's search ends on it
		return true
	}
	for _, rel := range r.Releases {
		// Clipped short, rows are as long as the clip, and their variance says little of the total.
		if rel.Kind == study.KindMoment && rel.Radius > r.Radius {
			return beyondMedian(r, lengthsOf(p, r, clipped), degrees)
		}
	}
	normal := normalTotal(clipped, r.Radius, degrees)
	more := normalTotal(clipped+noise, r.Radius, degrees)
	return beyondNormal(r, lengthsOf(p, r, normal), normal, more-normal, degrees)
}

// stretched is [spectrum.heavy] of power iteration, which clips no covariance: normal rows are
// those of which half are as short. It needs the total variance that was bought.
func stretched(p *study.Plan, r *result.Result) bool {
	if r.TotalInterval == nil || !(r.TotalVariance > 0) {
		return false
	}
	// The fewest directions, of those that there are, that have these variances, so that lengths
	// differ most.
	square, rest, most := 0.0, 1.0, 1.0
	for _, v := range r.VarianceInterval {
		part := max(0, min(rest, most, v[1]/r.TotalVariance))
		square, rest, most = square+part*part, rest-part, part
	}
	if left := r.D - len(r.VarianceInterval); left > 0 && rest > 0 {
		most = max(most, rest/float64(left))
		whole := math.Floor(rest / most)
		last := rest - whole*most
		square += whole*most*most + last*last
	}
	if math.IsNaN(square) { // no quantile's search ends on it
		return true
	}
	return beyondMedian(r, lengthsOf(p, r, r.TotalVariance), 1/square)
}

// beyondMedian is beyondNormal for normal rows of which half are as short.
func beyondMedian(r *result.Result, seen []histogram, degrees float64) bool {
	normal, spread := medianTotal(seen, degrees)
	return normal > 0 && beyondNormal(r, seen, normal, spread, degrees)
}

// beyondNormal reports whether the total variance, if that was bought, and far rows together are
// more than those of normal rows of this total variance, known up to spread, and these degrees.
func beyondNormal(r *result.Result, seen []histogram, normal, spread, degrees float64) bool {
	square, numbers := 0.0, 0
	take := func(more, noise, least float64) {
		if numbers++; more > least {
			square += more * more / (noise * noise)
		}
	}
	if r.TotalInterval != nil {
		half := (r.TotalInterval[1] - r.TotalInterval[0]) / 2
		take(r.TotalVariance-normal, math.Hypot(half/normal95, spread), leastExcess*normal)
	}
	if share, noise := far(seen, normal, degrees); noise > 0 {
		take(share, noise, leastFar)
	}
	// Of one or two independent normal numbers, squares of positive ones sum to so much.
	chance := math.Erfc(math.Sqrt(square/2)) / 2
	if numbers == 2 {
		chance += math.Exp(-square/2) / 4
	}
	return square > 0 && chance < mostChance
}

// histogram is a noised one of the lengths of rows less their center.
type histogram struct {
	study.Release
	rows   float64 // that were kept
	octave int     // bins that an octave of squared lengths has
}

// lengthsOf returns the histograms of the total and of a released center, but those about another
// center than the final one. total is about the variance.
func lengthsOf(p *study.Plan, r *result.Result, total float64) []histogram {
	var out []histogram
	for _, rel := range r.Releases {
		of := p.Queries[rel.Query].Of
		if rel.Kind != study.KindHistogram || of != study.KindTotal && of != study.KindMean {
			continue
		}
		shift := 0.0
		for j, v := range r.Mean {
			if rel.Center != nil {
				v -= rel.Center[j]
			}
			shift += v * v
		}
		h := histogram{rel, float64(rel.Units) * keptShare(r), 4}
		if of == study.KindMean { // of lengths, not of squared ones
			h.octave = 2
		}
		if shift <= mostShift*total {
			out = append(out, h)
		}
	}
	return out
}

// edge is the upper edge of bin j, a squared length.
func (h histogram) edge(j int) float64 {
	if h.octave == 2 {
		return study.BinEdge(j) * study.BinEdge(j)
	}
	return study.BinEdge(j)
}

// share and noise are the share of the rows in a bin, and its noise.
func (h histogram) share(j int) float64 { return float64(h.Noised[j]) * h.Grid / h.rows }
func (h histogram) noise() float64      { return h.Spread() * h.Grid / h.rows }

// far returns how large a share of the rows is far beyond that of normal rows of this total and
// degrees, and the noise's standard deviation; 0, 0 where no histogram says.
func far(seen []histogram, normal, degrees float64) (share, noise float64) {
	shape := degrees / 2
	below := func(square float64) float64 { return mathext.GammaIncReg(shape, shape*square/normal) }
	precision, from := 0.0, farTimes*normal*mathext.GammaIncRegInv(shape, farQuantile)/shape
	for _, h := range seen {
		at := 1
		for at < len(h.Noised) && h.edge(at-1) < from {
			at++
		}
		sum, weights := 0.0, 0.0
		for i := range farOctaves * h.octave {
			if at+i >= len(h.Noised) {
				break
			}
			w := math.Ldexp(1, -(i / h.octave))
			sum += w * (h.share(at+i) - (below(h.edge(at+i)) - below(h.edge(at+i-1))))
			weights += w * w
		}
		if variance := weights * h.noise() * h.noise(); variance > 0 {
			share, precision = share+sum/variance, precision+1/variance
		}
	}
	if precision == 0 {
		return 0, 0
	}
	return share / precision, 1 / math.Sqrt(precision)
}

// medianTotal returns the total variance of normal rows of these degrees of which as many are
// shorter than the histograms say, at the edge of a bin next to the median, and the standard
// deviation of that; 0, 0 where noise hides it. Rows are counted from the longest, four octaves
// beyond the fullest bin: those in bins far below it, such as zeros, count without the noise of
// these.
func medianTotal(seen []histogram, degrees float64) (total, spread float64) {
	const mostNoise, middle = 0.125, 0.25 // of the rows
	shape := degrees / 2
	precision := 0.0
	for _, h := range seen {
		fullest := 1
		for j := 1; j < len(h.Noised); j++ {
			if h.Noised[j] > h.Noised[fullest] {
				fullest = j
			}
		}
		last := min(len(h.Noised)-1, fullest+4*h.octave)
		below, nearest, share, noise, edge := 1.0, middle, 0.0, 0.0, 0.0
		for j := last; j >= max(1, fullest-4*h.octave); j-- {
			below -= h.share(j) // of rows that bins below j hold
			counted := h.noise() * math.Sqrt(float64(last-j+1))
			if off := math.Abs(below - 0.5); off < nearest {
				nearest, share, edge, noise = off, below, h.edge(j-1), counted
			}
			if edge == 0 && below <= 0.5-middle { // one bin has the middle, and the median
				share, edge, noise = 0.5, h.edge(j), counted
			}
		}
		if edge == 0 || noise > mostNoise {
			continue
		}
		of := func(share float64) float64 { return edge * shape / mathext.GammaIncRegInv(shape, share) }
		if v := of(share) - of(share+noise); v > 0 {
			total, precision = total+of(share)/(v*v), precision+1/(v*v)
		}
	}
	if precision == 0 {
		return 0, 0
	}
	return total / precision, 1 / math.Sqrt(precision)
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

// shortest is how many times shorter than the clip, squared, rows are of which a histogram's noise
// would be more than what they say.
const shortest = 256

// longTails returns how many times as much a second moment of rows varies as one of as many normal
// rows with its eigenvalues xi. Of elliptical rows that is E ρ⁴/(E ρ²)² over 1 + 2 Σxi²/(Σxi)²
// (Mardia 1970), with ρ the length of a clipped row: the clip leaves a part of a heavy tail.
// Lengths are those of the noised histogram that the clip was read off. Where they say less than 1,
// or where the clip is public, rows count as normal ones.
func longTails(p *study.Plan, r *result.Result, xi []float64) float64 {
	sum, squares, most := 0.0, 0.0, 1.0
	for _, x := range xi {
		sum, squares = sum+x, squares+x*x
	}
	for _, rel := range r.Releases {
		if rel.Kind != study.KindHistogram || p.Queries[rel.Query].Of != study.KindTotal {
			continue
		}
		rows := float64(rel.Units) / rel.Grid * keptShare(r)
		clipped, second, fourth := rows, 0.0, 0.0
		for at := 1; at < len(rel.Noised) && study.BinEdge(at) <= r.Radius; at++ {
			if square := math.Sqrt(study.BinEdge(at-1) * study.BinEdge(at)); square > r.Radius/shortest {
				n := float64(rel.Noised[at])
				clipped, second, fourth = clipped-n, second+n*square, fourth+n*square*square
			}
		}
		second, fourth = second+clipped*r.Radius, fourth+clipped*r.Radius*r.Radius
		// Noise alone can make these numbers anything: what is no number widens nothing.
		if ratio := rows * fourth / (second * second) / (1 + 2*squares/(sum*sum)); second > 0 && ratio > most {
			most = ratio
		}
	}
	return most
}
