package worth

import (
	"cmp"
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// Constants of power iteration's bounds, frozen before the laws that judge them were drawn
// (docs/experiments.md).
const (
	// fitted is the part of the draws that the regression sees; the others are compared with the
	// study, since on the same draws the bound would be too good.
	fitted = 0.4
	// nearest is how many of them are.
	nearest = 100
	// missQuantile of their captured shares bounds the study's, after lossFactor where there are
	// several components; of one, close variances are among the draws.
	missQuantile = 0.04
	lossFactor   = 1.1
	// tiltQuantile of their angles bounds the study's, after tiltFactor.
	tiltQuantile = 0.98
	tiltFactor   = 1.1
	// separatedBelow is the angle's bound, in degrees, below which a component counts as separated.
	separatedBelow = 30
	// unfinishedPart of the loss, and unfinishedLoss of it at least, is unfinished iteration's
	// where the result says so.
	unfinishedPart = 0.5
	unfinishedLoss = 0.01
	ridge          = 1e-3
)

// power fills the report of a result of power iteration in. It returns why figures are left out,
// or "".
func (out *Report) power(p *study.Plan, r *result.Result) (string, error) {
	steps := slices.DeleteFunc(slices.Clone(r.Releases), func(rel study.Release) bool { return rel.Kind != study.KindPower })
	why := uncalibrated(p, r)
	if why != "" { // without figures, which are of all, a wide result has no others' vectors
		steps = steps[max(0, len(steps)-result.LastSteps):]
	}
	var seen []round
	for _, rel := range steps {
		x, z := columns(rel.X, r.D), columns(rel.Z(), r.D)
		if len(x) != len(z) || len(x) == 0 {
			return "no power step was released", nil
		}
		seen = append(seen, round{x: x, z: z, tau: rel.Tau()})
	}
	if r.Subspace == proposal.SubspaceBlock || r.K == 1 {
		out.Moved = moved(seen)
	}
	switch {
	case why != "":
		return why, nil
	case p.Proposal.Spec.Components == proposal.ComponentsAuto:
		return "a number of components that the study found, by power iteration", nil
	case p.Proposal.Spec.Start != nil:
		return "a start that was given", nil
	case slices.ContainsFunc(seen, func(s round) bool { return len(s.x) != r.K }):
		return "components one after another, by deflation", nil
	case r.K > mostPowerComponents:
		return "more than 5 components by power iteration", nil
	case len(seen) < leastRounds || len(seen) > mostRounds:
		return "fewer than 8 or more than 32 rounds", nil
	case r.Output != proposal.OutputLast && r.Output != proposal.OutputPooled:
		return "the output of a random round", nil
	}
	sky := &shape{d: r.D, k: r.K, n: sampleOf(r), pooled: r.Output == proposal.OutputPooled, sphere: p.Method.Sphere}
	vectors := r.Outputs[r.Output] // in the order in which they were found
	if len(vectors) != r.K {
		return "no output", nil
	}
	theta := scaleOf(seen)
	if !(theta > 0) {
		return "", nil // nothing but noise
	}
	for _, s := range seen {
		sky.tau = append(sky.tau, s.tau/theta)
	}
	// The noise of the last step alone fills its answer: nothing stands out.
	edge := sky.tau[len(sky.tau)-1] * math.Sqrt(float64(r.D))
	if edge > 1 {
		return "", nil
	}
	switch {
	case sky.sphere:
		if why := astray(p, r, theta, seen[len(seen)-1].tau); why != "" {
			return why, nil
		}
	case blurred(r, mostBlurredRounds*theta, edge*theta):
		return blurredWhy, nil
	}
	if stretched(p, r) {
		return heavyWhy, nil
	}
	mine := features(seen, vectors)
	if p.Method.Mixed {
		why, err := out.begins(p, r, sky)
		if why != "" || err != nil || sky.first == nil {
			return why, err
		}
		for i, v := range seen {
			sky.tau[i] = v.tau * float64(r.D)
		}
		mine = append(append(mine, sky.first.shown...), math.Log(theta*float64(r.D)))
	}
	draws := sky.draw(p)
	rank := ranks(r.Components, vectors)
	fit, rest, err := learn(draws)
	if err != nil {
		return "", err
	}
	out.infer(mine, fit, rest, rank)
	if sky.first != nil {
		out.Share.widen(r.D)
		out.Unfinished = false // nobody can ask for more of these rounds
	}
	top := 0.0
	for _, v := range r.ExplainedVariance {
		top += v
	}
	if r.TotalInterval != nil {
		out.Share.Blind = blind(top, r.TotalVariance, r)
	}
	out.outweighs(r)
	return "", nil
}

const (
	// clippedTotal is how many times the released total variance the true one may be, because of
	// the clip.
	clippedTotal = 1.1
	// outweighsBelow is the bound, in degrees, above which it rests on the total too much: of t
	// rows with 3 degrees of freedom, whose total the clip falsifies, bounds of 20 degrees did not
	// hold.
	outweighsBelow = 15
)

// outweighs bounds the angle of a single component by its part of the total variance. Rounds alone
// cannot tell a strong component from one of two equal ones: both stand still. With V its variance,
// T the total and L the least share of λ1 that it captures, λ1 is in [V, V/L] and λ2 at most T-λ1,
// so that V ≤ λ1cos² + λ2sin² leaves sin² at most V(1-L)/(2V-LT). V and T are at the ends of their
// intervals. The clip lowers T, too, and by less than V where large rows lie along the component.
func (out *Report) outweighs(r *result.Result) {
	if r.K != 1 || len(out.Components) != 1 || out.Share == nil || len(r.VarianceInterval) != 1 || r.TotalInterval == nil {
		return
	}
	v, total, least := r.VarianceInterval[0][0], clippedTotal*r.TotalInterval[1], out.Share.Lower
	rest := 2*v - least*total
	if !(rest > 0) {
		return
	}
	sine := v * (1 - least) / rest
	if !(sine < 1) {
		return
	}
	angle := degrees(sine / (1 - sine))
	if c := &out.Components[0]; *angle < outweighsBelow && (c.Angle == nil || *angle < *c.Angle) {
		c.Separated, c.Angle = true, angle
	}
}

// round is one power step: what it asked about, what came and the noise of each coordinate.
type round struct {
	x, z [][]float64
	tau  float64
}

// moved are the last rounds' largest angles between what was asked about and the answer, in
// degrees.
func moved(seen []round) []float64 {
	out := []float64{}
	for _, s := range seen[max(0, len(seen)-result.LastSteps):] {
		q := orthonormal(s.z)
		least := gram(s.x, q)
		values, _ := linalg.Jacobi(product(least))
		c := math.Sqrt(max(0, min(1, values[len(values)-1])))
		out = append(out, math.Acos(c)*180/math.Pi)
	}
	return out
}

// scaleOf is the size of the signal: the median over the last three rounds of the mean eigenvalue
// of XᵀZ, made symmetric.
func scaleOf(seen []round) float64 {
	var all []float64
	for _, s := range seen[max(0, len(seen)-3):] {
		values, _ := linalg.Jacobi(symmetric(gram(s.x, s.z)))
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		all = append(all, sum/float64(len(values)))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// features are what the simulated studies are compared by: of each round the size of the answer
// along what was asked about, its part across that is more than noise, and how far the round still
// was from the output; and how far rounds are from each other.
func features(seen []round, output [][]float64) []float64 {
	theta := scaleOf(seen)
	var out []float64
	d, k := len(output[0]), len(output)
	first := max(0, len(seen)-24)
	if k > 1 {
		first = max(0, len(seen)-8)
	}
	for _, s := range seen[first:] {
		xz := gram(s.x, s.z)
		values, u := linalg.Jacobi(symmetric(xz))
		for i, v := range values {
			out = append(out, v/theta)
			zu := make([]float64, d)
			inside := 0.0
			for c := range k {
				for l, z := range s.z[c] {
					zu[l] += u[c][i] * z
				}
				part := 0.0
				for e := range k {
					part += xz[c][e] * u[e][i]
				}
				inside += part * part
			}
			rest := (linalg.Dot(zu, zu) - float64(d)*s.tau*s.tau - inside) / (theta * theta)
			out = append(out, math.Copysign(math.Sqrt(math.Abs(rest)), rest))
		}
		overlap := 0.0
		for _, row := range gram(s.x, output) {
			overlap += linalg.Dot(row, row)
		}
		out = append(out, math.Log(max(1e-4, 1-overlap/float64(k))))
	}
	return append(out, apart(seen)...)
}

// leastApart keeps logarithms of distances finite.
const leastApart = 1e-6

// apart is how far rounds are from each other, in logarithms of the part of one span outside the
// other. Noise pushes a direction away anew in each round, and the rounds behind bring it back as
// fast as its variance is less: that rounds far apart in time are far apart in space tells equal
// variances, which cost nothing, from those that fall slowly. Distances are means over the later
// half by the time between, of the whole span and of its worst direction, and of a grid of rounds.
func apart(seen []round) []float64 {
	x := make([][][]float64, 0, len(seen)+1)
	for _, s := range seen {
		x = append(x, s.x)
	}
	x = append(x, orthonormal(seen[len(seen)-1].z))
	k, n := float64(len(x[0])), len(x)
	between := func(t, s int) (span, worst float64) {
		values, _ := linalg.Jacobi(product(gram(x[t], x[s])))
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return max(leastApart, 1-sum/k), max(leastApart, 1-values[len(values)-1])
	}
	var out []float64
	half := n / 2
	for lag := 1; lag < half; lag++ {
		sum, low := 0.0, 0.0
		for t := n - half + lag; t < n; t++ {
			span, worst := between(t, t-lag)
			sum += span
			low += worst
		}
		out = append(out, math.Log(sum/float64(half-lag)))
		if k > 1 {
			out = append(out, math.Log(low/float64(half-lag)))
		}
	}
	for s := 1; s < n; s += 2 {
		for t := s + 2; t < n; t += 4 {
			span, _ := between(t, s)
			out = append(out, math.Log(span))
		}
	}
	return out
}

// draw is one simulated study: what it shows and what it is worth.
type draw struct {
	features []float64
	share    float64   // captured
	tilt     []float64 // of each component, squared tangent
	finished float64   // what as many rounds without noise and sampling would capture
}

// learn fits a regression to a part of the draws and returns the others with it.
func learn(draws []draw) (*regression, []draw, error) {
	cut := int(fitted * float64(len(draws)))
	fit, err := regress(draws[:cut])
	return fit, draws[cut:], err
}

// infer compares the study with simulated ones: a regression predicts each answer from what a study
// shows, and the nearest in prediction, among the rest, which the regression has not seen, say how
// far answers spread.
func (out *Report) infer(mine []float64, fit *regression, rest []draw, rank []int) {
	// like are the draws whose answers are predicted as near to the study's as errors allow.
	like := func(answers ...func(draw) float64) []draw {
		distance := make([]float64, len(rest))
		for _, answer := range answers {
			weights := fit.solve(answer)
			at := fit.predict(weights, mine)
			away, square := make([]float64, len(rest)), 0.0
			for i, d := range rest {
				guess := fit.predict(weights, d.features)
				away[i] = guess - at
				square += (guess - answer(d)) * (guess - answer(d)) / float64(len(rest))
			}
			for i, a := range away {
				distance[i] += a * a / (square + 1e-12)
			}
		}
		order := make([]int, len(rest))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
		})
		var out []draw
		for _, i := range order[:min(nearest, len(order))] {
			out = append(out, rest[i])
		}
		return out
	}
	// The logarithm of a loss says how large it usually is, the loss itself whether it may be
	// large: of two close variances it is mostly small and seldom large, of many that fall slowly
	// always about the same.
	lost := func(d draw) float64 { return 1 - d.share }
	near := like(func(d draw) float64 { return math.Log(max(1e-6, lost(d))) }, lost)
	shares := values(near, func(d draw) float64 { return d.share })
	estimate := Quantile(shares, 0.5)
	factor := 1.0
	if len(rank) > 1 {
		factor = lossFactor
	}
	out.Share = &Share{Estimate: estimate, Lower: max(0, 1-factor*(1-Quantile(shares, missQuantile))-shareReserve)}
	left := Quantile(values(near, func(d draw) float64 { return 1 - d.finished }), 0.5)
	out.Unfinished = left > unfinishedLoss && left > unfinishedPart*(1-estimate)
	bounds := make([]float64, len(rank))
	for i := range rank {
		near := like(func(d draw) float64 { return math.Log(max(1e-8, d.tilt[i])) })
		bounds[i] = tiltFactor * tiltFactor * Quantile(values(near, func(d draw) float64 { return d.tilt[i] }), tiltQuantile)
	}
	for number, i := range rank {
		c := Component{Number: number + 1, Group: []int{number + 1}}
		if angle := degrees(bounds[i]); *angle < separatedBelow {
			c.Separated, c.Angle = true, angle
		}
		out.Components = append(out.Components, c)
	}
	out.reorder(rank)
}

func values(draws []draw, of func(draw) float64) []float64 {
	out := make([]float64, len(draws))
	for i, d := range draws {
		out[i] = of(d)
	}
	slices.Sort(out)
	return out
}

// Quantile interpolates between the order statistics of sorted.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
