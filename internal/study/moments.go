package study

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// parts are how a covariance is bought (docs/experiments.md), in several where its bound B² is
// private. What noise costs grows with B², so that rows are best clipped short; but a short clip
// turns the components of rows that come in groups, and hides a direction that only the longest
// rows have. Where noise is small there is one part, clipped high: a short clip would save less
// than it can turn. Else a first part is clipped at a low quantile of ‖y‖² and a small one at a
// high quantile, and by these two the last part is clipped low or high. Every part is clipped high
// where the histogram of ‖y‖² has two peaks: rows are then of several kinds; and where noise is
// small but for rows with a heavy tail, and lengths have none. With a public bound there is one
// part, too.
type parts struct {
	shares []float64 // of the covariance's budget, in the order in which the parts are asked
	sure   float64   // how many standard deviations the high clip must be ahead by
}

func (p *Plan) parts() parts {
	first, second, sure := 0.3, 0.04, 3.0
	if p.Iota <= iotaEnough {
		sure = 2.5
	}
	if p.Iota <= iotaHeavy { // the high clip is nearly as good there, so that more is spent on it
		second = 0.16
	}
	few := p.D < heavyColumns && p.Iota <= iotaHeavy
	if p.Proposal.Spec.NormBound != proposal.BoundPrivate || few || p.Iota <= iotaSmall {
		return parts{[]float64{1}, sure}
	}
	return parts{[]float64{first, second, 1 - first - second}, sure}
}

// ClipQuantile is the quantile of ‖y‖² at which a part of the covariance is clipped where long rows
// show nothing of their own; of a private bound.
func (p *Plan) ClipQuantile(part int) float64 {
	if parts := len(p.parts().shares); parts == 1 || part == 1 || p.Iota <= iotaHeavy {
		return clipHigh
	}
	return clipLow
}

const (
	iotaSmall         = 0.05
	clipLow, clipHigh = 0.1, 0.93
	// Up to iotaHeavy noise is small unless ι times the high bound over the median of ‖y‖² is
	// more than heavy: ι is of rows as long as each other, and noise goes with the bound. The ratio
	// is 1.4 to 1.9 for normal rows in groups, and for t rows with 4 degrees of freedom, whose tail
	// noise hides in part, 2.3 to 3.3. With fewer than heavyColumns it is as large for other rows.
	iotaHeavy    = 0.1
	heavy        = 0.16
	heavyColumns = 24
	// A direction of the high clip is looked at where its variance is so many times the largest
	// that noise alone would show.
	standsClear = 1.2
	// The high clip is taken where the low one misses more than this part of the variance, beyond
	// what noise explains.
	missed = 0.004
)

// bounds are the low and the high B² by the histogram of ‖y‖² among the earlier releases.
func (t *transition) bounds() (low, high float64) {
	for _, r := range t.earlier {
		if q := t.Queries[r.Query]; q.Kind == KindHistogram && q.Of == KindTotal {
			return t.clips(r)
		}
	}
	return defaultRadius, defaultRadius
}

// clips are the low and the high B² by the histogram r of ‖y‖². Where it has two peaks, or little
// noise and no heavy tail, both are the high one.
func (t *transition) clips(r Release) (low, high float64) {
	units := int(float64(r.Units) / r.Grid) // in the grid steps of the counts
	also := tail{near: tailNear}
	if r.Spread() > tailNoise*float64(units) {
		also.near = tailNoisy
	}
	peaks := twoPeaks(r.Noised, r.Spread(), t.Iota <= iotaEnough)
	if peaks {
		also.together = peakBins
	}
	// of the kept rows: the others are in the lowest bin
	quantile := func(q float64) float64 {
		return quantileOf(r.Noised, r.Spread(), 1-(1-q)*t.kept(), units, also)
	}
	low, high = quantile(clipLow), quantile(clipHigh)
	if peaks {
		low = high
	}
	if t.Iota <= iotaHeavy && float64(t.Iota*high) <= float64(heavy*quantile(0.5)) {
		low = high
	}
	if !(low > 0) {
		low = defaultRadius
	}
	return low, max(low, high)
}

const (
	// tailNear is how many standard deviations a bin of a tail counts from, and tailNoisy where
	// each is more than tailNoise of the units: a few of noise alone would be a tail that is not
	// there.
	tailNear, tailNoisy = 2.0, 3.5
	tailNoise           = 0.005
	// peakBins of a tail may stand out as one where lengths have two peaks.
	peakBins = 4
	// dips is how many standard deviations two peaks are above what lies between them. Where noise
	// is not large nearDips do for a peak of nearPeak within reach of the fullest bin: when noise
	// alone makes one, now and then, the clip that is too high costs little (docs/experiments.md).
	dips, nearDips, nearPeak = 5, 4, 5
)

// twoPeaks reports whether a histogram of lengths, of noise spread on each count, has two peaks
// that stand out, and clearly less between them, in bins of one to four together. Lengths of
// elliptical rows have one peak, whatever their tail. Clusters whose centers differ in length have
// several, and what is short there is another kind of row, not a part of the same. The lowest bin,
// which holds the rows that were left out, does not count. With near a lower peak is enough around
// the fullest bin.
func twoPeaks(noised []int64, spread float64, near bool) bool {
	for width := 1; width <= 4; width *= 2 {
		s := spread * math.Sqrt(float64(width))
		floor := standsOut(s, len(noised)/width)
		for first := 1; first <= width; first++ {
			var counts []float64
			fullest := 0
			for at := first; at+width <= len(noised); at += width {
				count := 0.0
				for _, v := range noised[at : at+width] {
					count += float64(v)
				}
				if counts = append(counts, count); count > counts[fullest] {
					fullest = len(counts) - 1
				}
			}
			around := counts[max(0, fullest-reach/width):min(len(counts), fullest+reach/width+1)]
			if apart(counts, floor, dips*s) || near && apart(around, nearPeak*s, nearDips*s) {
				return true
			}
		}
	}
	return false
}

// apart reports whether two counts reach floor and are at least dip above one between them.
func apart(counts []float64, floor, dip float64) bool {
	before := make([]float64, len(counts)) // the highest count before each
	highest := 0.0
	for i, count := range counts {
		before[i] = highest
		highest = max(highest, count)
	}
	highest = 0 // of those behind
	for i := len(counts) - 1; i >= 0; i-- {
		peak := min(before[i], highest)
		if peak >= floor && peak-max(0, counts[i]) >= dip {
			return true
		}
		highest = max(highest, counts[i])
	}
	return false
}

// moment sets what follows from a part of the covariance: the next part's bound, or the components.
// Of earlier it reads the parts before and the histogram of ‖y‖².
func (t *transition) moment() error {
	c, r := t.c, t.r
	moments := append(momentsOf(t.earlier), r)
	if t.Queries.LastMoment(r.Query) {
		m, factors := t.Covariance(*c, moments)
		if factors != nil {
			c.Scale = slices.Clone(c.Scale)
			for j, f := range factors {
				c.Scale[j] *= f
			}
		}
		if t.Queries.Ends(r.Query) { // no query asks about the components, which may take seconds
			c.X = nil
			return nil
		}
		v, _, err := m.Principal(t.D, t.K)
		c.X = linalg.Flat(v)
		return err
	}
	low, high := t.bounds()
	switch len(moments) {
	case 1:
		c.Radii[KindMoment] = high
	case 2:
		c.Radii[KindMoment] = low
		wider, err := wider(moments[0], moments[1], t.D, t.K, t.parts().sure)
		if err != nil {
			return err
		}
		if wider {
			c.Radii[KindMoment] = high
		}
	}
	return nil
}

// Covariance returns the matrix that components are taken of, after the last part of a covariance:
// its parts together, corrected for gaps and, where constants were learned, made one of
// correlations. The factors are what each column's scale is to be multiplied by then, nil where
// none was learned.
func (p *Plan) Covariance(c Course, releases []Release) (m Moment, factors []float64) {
	moments := momentsOf(releases)
	m = pooledMoment(moments)
	if p.Proposal.Spec.Missing == proposal.MissingFill {
		m = c.corrected(m, p.D)
	}
	if !p.Proposal.Spec.Standardizes() {
		return m, nil
	}
	return p.Layout.correlation(m, moments[len(moments)-1].Scale)
}

func momentsOf(releases []Release) []Release {
	var out []Release
	for _, r := range releases {
		if r.Kind == KindMoment {
			out = append(out, r)
		}
	}
	return out
}

// Spectrum returns all d eigenvalues, descending, and unit eigenvectors of the covariance that a
// study's releases add up to, in squared units of the scaled columns, and the standard deviation
// tau of its noise on the diagonal; off it, it is tau/√2.
func Spectrum(releases []Release, d int) (values []float64, vectors [][]float64, tau float64, err error) {
	moments := momentsOf(releases)
	if len(moments) == 0 || len(moments[0].Noised) != d*(d+1)/2 {
		return nil, nil, 0, proposal.FieldErrorf("releases", "there is no covariance of %d columns among them", d)
	}
	m := pooledMoment(moments)
	all, w, ok := linalg.Eigen(m.matrix(d))
	if !ok {
		return nil, nil, 0, noConvergence()
	}
	values, vectors = make([]float64, d), make([][]float64, d)
	for i := range d {
		values[i], vectors[i] = all[d-1-i], mat.Col(nil, d-1-i, w)
	}
	return values, vectors, m.Tau, nil
}

func noConvergence() error {
	return proposal.FieldErrorf("releases", "the covariance's eigenvalues do not converge")
}

// Moment is a noised second-moment matrix: its upper triangle row by row, entries off the
// diagonal times √2, and the noise's standard deviation on each number.
type Moment struct {
	Packed []float64
	Tau    float64
}

// momentOf is what a release holds, but for columns that are left out, which have zeros.
func momentOf(r Release) Moment {
	m := Moment{r.Z(), r.Tau()}
	for i, at := 0, 0; i < len(r.Scale); i++ {
		for _, s := range r.Scale[i:] {
			if r.Scale[i] == 0 || s == 0 {
				m.Packed[at] = 0
			}
			at++
		}
	}
	return m
}

// pooledMoment adds the parts of a covariance up, each with the weight of its own noise. Parts
// clipped at a lower bound than the last are left out: they may not show what it shows. Of rows
// whose directions do not depend on their lengths a part clipped higher is the same matrix, times
// the ratio of the traces.
func pooledMoment(moments []Release) Moment {
	last := moments[len(moments)-1]
	base := momentOf(last)
	d := dimension(len(base.Packed))
	scale := trace(base.Packed, d)
	sum, weight := make([]float64, len(base.Packed)), 0.0
	for _, r := range moments {
		z, ratio := momentOf(r).Packed, 1.0
		switch {
		case r.Radius < last.Radius:
			continue
		case r.Radius > last.Radius:
			if ratio = trace(z, d) / scale; !(ratio >= 1 && ratio <= r.Radius/last.Radius) {
				continue // noise: neither bound allows it
			}
		}
		tau := r.Tau() / base.Tau // relative, to stay in range
		w := ratio / (tau * tau)
		for i, v := range z {
			sum[i] += float64(w * v)
		}
		weight += float64(w * ratio)
	}
	for i := range sum {
		sum[i] /= weight
	}
	return Moment{sum, base.Tau / math.Sqrt(weight)}
}

// Trace is the sum of the diagonal.
func (m Moment) Trace(d int) float64 { return trace(m.Packed, d) }

// dimension is d of d(d+1)/2.
func dimension(values int) int { return int((math.Sqrt(float64(8*values+1)) - 1) / 2) }

func trace(packed []float64, d int) float64 {
	sum := 0.0
	for i, at := 0, 0; i < d; i++ {
		sum += packed[at]
		at += d - i
	}
	return sum
}

// matrix unpacks m.
func (m Moment) matrix(d int) *mat.SymDense {
	out := mat.NewSymDense(d, nil)
	for i, at := 0, 0; i < d; i++ {
		for j := i; j < d; j++ {
			v := m.Packed[at]
			if j > i {
				// off-diagonal numbers travel times √2: their L2 norm is the matrix's
				v /= math.Sqrt2
			}
			out.SetSym(i, j, v)
			at++
		}
	}
	return out
}

// Principal returns the k leading eigenvectors of m, and its eigenvalues, descending. An
// eigenvector of a noised matrix is post-processing.
//
// A coordinate that is left out has no part in any of them: beside eigenvalues that noise made
// negative, its own would be a larger one.
func (m Moment) Principal(d, k int) ([][]float64, []float64, error) {
	all := m.matrix(d)
	var in []int
	for j := range d {
		if !slices.ContainsFunc(all.RawSymmetric().Data[j*d:(j+1)*d], func(v float64) bool { return v != 0 }) &&
			!slices.ContainsFunc(in, func(i int) bool { return all.At(i, j) != 0 }) {
			continue
		}
		in = append(in, j)
	}
	if len(in) == d || len(in) < k {
		vectors, values, ok := linalg.LeadingEigen(all, k)
		if !ok {
			return nil, nil, noConvergence()
		}
		return linalg.Orthonormalize(vectors, vectors), values, nil
	}
	part := mat.NewSymDense(len(in), nil)
	for i, a := range in {
		for j := i; j < len(in); j++ {
			part.SetSym(i, j, all.At(a, in[j]))
		}
	}
	vectors, values, ok := linalg.LeadingEigen(part, k)
	if !ok {
		return nil, nil, noConvergence()
	}
	out := make([][]float64, k)
	for l, v := range linalg.Orthonormalize(vectors, vectors) {
		out[l] = make([]float64, d)
		for i, j := range in {
			out[l][j] = v[i]
		}
	}
	return out, values, nil
}

// principal is of the matrix that one release holds.
func principal(r Release, d, k int) ([][]float64, []float64, error) {
	return momentOf(r).Principal(d, k)
}

// wider reports whether the longest rows show directions that those clipped low do not: whether of
// the variance of the high clip, along its leading directions that stand clear of noise, the
// components of the low clip have less than they should.
func wider(low, high Release, d, k int, sure float64) (bool, error) {
	m := momentOf(high).matrix(d)
	seen := d
	if d > linalg.DenseEigen { // all of them would take long, and every site computes this
		seen = k
	}
	w, values, ok := linalg.LeadingEigen(m, seen)
	if !ok {
		return false, noConvergence()
	}
	rest, spread := others(m, values)
	s := high.Tau()
	clear := 0
	for clear < k && values[clear] > standsClear*s*math.Sqrt(2*float64(d)) {
		clear++
	}
	if clear == 0 {
		return false, nil
	}
	top, excess := 0.0, 0.0
	for i := range clear {
		top += values[i]
		// what leading eigenvectors gain by following noise (Stein)
		for _, v := range values[clear:] {
			excess += float64(s*s) / (values[i] - v)
		}
		if gap := values[i] - rest; seen < d { // to second order in their spread
			excess += float64(float64(s*s)*float64(d-seen)) / gap * (1 + spread/float64(gap*gap))
		}
	}
	components, _, err := principal(low, d, k)
	if err != nil {
		return false, err
	}
	inside, row := mat.NewSymDense(k, nil), make([]float64, d)
	for i, a := range components {
		through := make([]float64, d) // m times a
		for r := range through {
			for l := range row {
				row[l] = m.At(r, l)
			}
			through[r] = linalg.Dot(row, a)
		}
		for j := i; j < k; j++ {
			inside.SetSym(i, j, linalg.Dot(through, components[j]))
		}
	}
	has, u, ok := linalg.Eigen(inside)
	if !ok {
		return false, noConvergence()
	}
	got, common := 0.0, 0.0 // common is tr(PQ) of the two spans
	for i := range clear {
		got += has[k-1-i]
		x := make([]float64, d)
		for a, v := range components {
			f := u.At(a, k-1-i)
			for l := range x {
				x[l] += float64(f * v[l])
			}
		}
		for j := range clear {
			c := linalg.Dot(x, w[j])
			common += float64(c * c)
		}
	}
	noise := s * math.Sqrt(max(0, 2*(float64(clear)-common))) // of top - got
	return top-excess-got > float64(sure*noise)+float64(missed*top), nil
}

// others returns the mean and the variance of a matrix's eigenvalues but the leading ones; 0, 0
// where there are no others.
func others(m *mat.SymDense, leading []float64) (mean, variance float64) {
	d := m.SymmetricDim()
	n := float64(d - len(leading))
	if n == 0 {
		return 0, 0
	}
	square := 0.0
	for i := range d {
		mean += m.At(i, i)
		for j := range d {
			v := m.At(i, j)
			square += float64(v * v)
		}
	}
	for _, v := range leading {
		mean -= v
		square -= float64(v * v)
	}
	mean /= n
	return mean, max(0, square/n-float64(mean*mean))
}
