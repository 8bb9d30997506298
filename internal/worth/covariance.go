package worth

import (
	"fmt"
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/result"
	"covey/internal/study"
)

// Constants of the covariance's bounds, frozen before the laws that judge them were drawn
// (docs/experiments.md).
const (
	// shareReserve is subtracted from the lower bound of the captured share. Few columns with few
	// units need it, and so do rows that are not elliptical, for which the clip turns a direction a
	// little: the diamonds' first component by power iteration captures 0.9989.
	shareReserve = 0.004
	// edgeFactor times the largest eigenvalue of noise alone: below it nothing stands out.
	edgeFactor = 1.2
	// gapQuantile is the 95% quantile of the gap of a double eigenvalue, in standard deviations of
	// either half of it: of Rayleigh's law.
	gapQuantile = 2.4477468306808166
	// angleFactor and loadingFactor widen what first order gives.
	angleFactor   = 1.2
	loadingFactor = 1.1
	// loadingReserve is the mean square, of all loadings together, by which the clip turns a
	// component of rows in groups: a quarter of the angles' reserve.
	loadingReserve = tiltReserve / 4
	normal95       = 1.959963984540054
)

// spectrum is a released covariance M + E as its bounds see it: eigenvalues mu, descending, of
// noise with deviation s on the diagonal and s/√2 off it, over rows that say as much as n normal
// ones.
type spectrum struct {
	mu []float64
	s  float64
	n  float64
	// center is [centerVariance] times the share of units whose rows are in the sums: two
	// directions of its noise add their product to the matrix.
	center float64
	// xi estimates the eigenvalues of M.
	xi []float64
	// learned is the noise of a correlation matrix; nil for a covariance.
	learned *learned
}

func newSpectrum(mu []float64, s float64, n int, center float64) *spectrum {
	a := &spectrum{mu: mu, s: s, n: float64(n), center: center}
	a.xi = a.shrink()
	return a
}

// noise is the variance of the noise between directions i and j.
func (a *spectrum) noise(i, j int) float64 {
	if a.learned != nil {
		return a.learned.pairs[i][j]
	}
	return a.s*a.s/2 + a.center*a.center
}

// shrink estimates the eigenvalues without the noise: each is pushed up by those below it and down
// by those above by 2·noise/(μi-μj) to second order (Stein's identity for a symmetric Gaussian
// matrix makes the sum's mean exact). Eta keeps close ones finite; what comes out is made to fall.
func (a *spectrum) shrink() []float64 {
	eta, mu := a.s/4, a.mu
	xi := make([]float64, len(mu))
	for i := range mu {
		xi[i] = mu[i]
		for j := range mu {
			if gap := mu[i] - mu[j]; gap != 0 {
				xi[i] -= 2 * a.noise(i, j) * gap / (gap*gap + eta*eta)
			}
		}
	}
	xi = falling(xi)
	for i := range xi {
		xi[i] = max(0, xi[i])
	}
	return xi
}

// falling returns the non-increasing sequence nearest to v in squares: neighbors that rise are
// pooled.
func falling(v []float64) []float64 {
	var mean, weight []float64
	for _, x := range v {
		mean, weight = append(mean, x), append(weight, 1)
		for n := len(mean); n > 1 && mean[n-2] < mean[n-1]; n = len(mean) {
			w := weight[n-2] + weight[n-1]
			mean[n-2] = (mean[n-2]*weight[n-2] + mean[n-1]*weight[n-1]) / w
			weight[n-2] = w
			mean, weight = mean[:n-1], weight[:n-1]
		}
	}
	out := make([]float64, 0, len(v))
	for i := range mean {
		for range int(weight[i]) {
			out = append(out, mean[i])
		}
	}
	return out
}

// mixing is the variance of the matrix between directions i and j: of the noise, and of n rows
// against their law.
func (a *spectrum) mixing(i, j int) float64 {
	return a.noise(i, j) + a.xi[i]*a.xi[j]/a.n
}

// tilt is the mean squared tangent by which direction j moves direction i, to first order; of a
// correlation matrix with what the clip put there, which the reserve of a share covers.
func (a *spectrum) tilt(i, j int) float64 {
	gap := a.mu[i] - a.mu[j]
	turn := a.learned.turn(i, j)
	return (a.mixing(i, j) + turn*turn) / (gap * gap)
}

// edge is the largest eigenvalue of noise alone.
func (a *spectrum) edge() float64 { return a.s * math.Sqrt(2*float64(len(a.mu))) }

// share bounds the captured share of the first k: with e the mean of the loss's bound by Stein's
// and Jensen's inequalities, the loss itself is about e/2. Where few pairs of directions make it,
// its 95% quantile, fitted by a gamma law, is more than e. It is nil where nothing stands out of
// the noise.
func (a *spectrum) share(k int) *Share {
	top, e, square := 0.0, 0.0, 0.0
	for i := range k {
		top += a.mu[i]
		for j := k; j < len(a.mu); j++ {
			loss := a.mixing(i, j) / (a.mu[i] - a.mu[j])
			e += 2 * loss
			square += loss * loss
		}
	}
	edge := a.edge()
	if top <= float64(k)*edgeFactor*edge {
		return nil
	}
	most := 2.0 // times the mean loss
	if square > 0 {
		most = max(most, chiSquared95(e*e/4/square))
	}
	if e /= top; !(e < 1) { // two equal eigenvalues, too: the loss is then not bounded by this
		return nil
	}
	return &Share{Estimate: 1 - e/2, Lower: max(0, 1-most*e/2-shareReserve)}
}

// separated reports whether direction i stands apart from i+1: whether a double eigenvalue there
// would show a smaller gap with probability 0.95. The noise must leave something of i, too.
func (a *spectrum) separated(i int) bool {
	if i < 0 || i+1 >= len(a.mu) {
		return true // nothing is there
	}
	x := (a.xi[i] + a.xi[i+1]) / 2
	bound := gapQuantile * gapQuantile * 4 * (a.noise(i, i+1) + x*x/a.n)
	if a.learned != nil {
		bound = a.learned.gap(i, x, a.n)
	}
	gap := a.mu[i] - a.mu[i+1]
	return gap > 0 && gap*gap > bound
}

// tangent bounds, with probability 0.95, the squared tangent of the largest angle of the span of
// directions from..to-1: the 95% quantile of the sum of all its tilts, fitted by a gamma law.
func (a *spectrum) tangent(from, to int) float64 {
	mean, square := 0.0, 0.0
	for i := from; i < to; i++ {
		for j := range a.mu {
			if j < from || j >= to {
				w := a.tilt(i, j)
				mean += w
				square += w * w
			}
		}
	}
	if !(mean > 0) {
		return 0
	}
	return angleFactor * angleFactor * mean * chiSquared95(mean*mean/square)
}

// chiSquared95 is the 95% quantile of χ² of ν degrees of freedom over ν (Wilson and Hilferty 1931).
func chiSquared95(nu float64) float64 {
	const z = 1.6448536269514722
	c := 2 / (9 * nu)
	return math.Pow(max(0, 1-c+z*math.Sqrt(c)), 3)
}

// group is the run of directions around i with no separation inside, from..to-1.
func (a *spectrum) group(i int) (from, to int) {
	from, to = i, i+1
	for from > 0 && !a.separated(from-1) {
		from--
	}
	for to < len(a.mu) && !a.separated(to-1) {
		to++
	}
	return from, to
}

// loadings are 95% intervals of direction i's, given all directions: to first order its error is a
// sum over the others, each with its own tilt.
func (a *spectrum) loadings(i int, vectors [][]float64, component []float64) [][2]float64 {
	sum := 0.0
	variance := make([]float64, len(component))
	for j, v := range vectors {
		if j == i {
			continue
		}
		w := a.tilt(i, j)
		sum += w
		for l, x := range v {
			variance[l] += w * x * x
		}
	}
	longer := math.Sqrt(1 + sum) // a unit vector is shorter along the truth by this
	out := make([][2]float64, len(component))
	for l, x := range component {
		if variance[l] > 0 { // else the column is left out
			variance[l] += loadingReserve / float64(len(a.mu))
		}
		half := loadingFactor * normal95 * longer * math.Sqrt(variance[l])
		out[l] = [2]float64{max(-1, x-half), min(1, x+half)}
	}
	return out
}

// spectrumOf returns the spectrum of the matrix that the components are of, and its eigenvectors.
func spectrumOf(p *study.Plan, r *result.Result) (*spectrum, [][]float64, error) {
	if !p.Proposal.Spec.Standardizes() {
		mu, vectors, tau, err := study.Spectrum(r.Releases, r.D)
		if err != nil {
			return nil, nil, err
		}
		a := newSpectrum(mu, tau, int(sampleOf(r)), keptShare(r)*centerVariance(r))
		a.n /= longTails(p, r, a.xi)
		return a, vectors, nil
	}
	c, err := p.Correlation(r.Releases)
	if err != nil {
		return nil, nil, err
	}
	a := &spectrum{mu: c.Values, s: c.Tau, n: sampleOf(r), learned: newLearned(c)}
	a.xi = a.shrink()
	a.n /= longTails(p, r, a.xi)
	if a.learned.turns = clipTurns(c, a.xi, r.Radius); a.learned.turns == nil {
		return nil, nil, fmt.Errorf("worth: the eigenvalues of a covariance do not converge")
	}
	return a, c.Vectors, nil
}

// covariance fills the report of a result of one noised covariance in. It returns why figures are
// left out, or "".
func (out *Report) covariance(p *study.Plan, r *result.Result) (string, error) {
	if why := uncalibrated(p, r); why != "" {
		return why, nil
	}
	if r.K > mostComponents {
		return "more than 20 components", nil
	}
	a, vectors, err := spectrumOf(p, r)
	if err != nil {
		return "", err
	}
	if out.Share = a.share(r.K); out.Share == nil {
		return "", nil
	}
	top := 0.0
	for _, v := range a.mu[:r.K] {
		top += v
	}
	if blurred(r, mostBlurred*top/float64(r.K), a.edge()) {
		out.Share = nil
		return blurredWhy, nil
	}
	first, total := 0.0, 0.0
	for i, v := range a.xi {
		if total += v; i < r.K {
			first += v
		}
	}
	out.Share.Blind = blind(first, total, r)
	rank := ranks(r.Components, vectors[:min(p.K, len(vectors))])
	if slices.Max(rank) >= r.K {
		out.Share = nil
		return "the released variances put components in another order than the covariance", nil
	}
	for number, i := range rank {
		c := Component{Number: number + 1}
		from, to := a.group(i)
		c.Separated = to-from == 1
		for other, j := range rank {
			if from <= j && j < to {
				c.Group = append(c.Group, other+1)
			}
		}
		c.Beyond = to > r.K
		switch {
		case c.Separated:
			c.Angle = degrees(a.tangent(i, i+1))
			c.Loadings = a.loadings(i, vectors, r.Components[number])
		case !c.Beyond:
			c.GroupAngle = degrees(a.tangent(from, to))
		}
		out.Components = append(out.Components, c)
	}
	out.reorder(rank)
	out.Alarm = either(either(a.alarm(r, rank), a.longer(r, vectors)), hidden(p, r))
	if a.heavy(p, r) {
		out.Share, out.Components, out.order = nil, []Component{}, nil
		return heavyWhy, nil
	}
	return "", nil
}

// blind returns which share of the variance of the first directions as many random ones capture on
// average; total is the variance of all.
func blind(first, total float64, r *result.Result) float64 {
	if !(first > 0) {
		return 0
	}
	return max(0, min(1, float64(r.K)/float64(r.D-len(r.LeftOut))*total/first))
}

// either is true where one of a and b is, nil where both are.
func either(a, b *bool) *bool {
	if a == nil || b != nil && *b {
		return b
	}
	return a
}

// ranks are the places of components among eigenvectors, which explained variance may have put into
// another order.
func ranks(components, vectors [][]float64) []int {
	out := make([]int, len(components))
	for i, c := range components {
		best := -1.0
		for j, v := range vectors {
			if same := math.Abs(linalg.Dot(c, v)); same > best {
				best, out[i] = same, j
			}
		}
	}
	return out
}
