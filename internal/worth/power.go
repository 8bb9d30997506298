package worth

import (
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/prior"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// Constants of power iteration's bounds, frozen before the laws that judge them were drawn
// (docs/experiments.md).
const (
	// missQuantile of the captured shares of the draws that are like a study bounds the study's,
	// after lossFactor where there are several components; of one, close variances are among the
	// draws.
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
)

// power fills the report of a result of power iteration in. It returns why figures are left out,
// or "".
func (out *Report) power(p *study.Plan, r *result.Result) (string, error) {
	why := uncalibrated(p, r)
	seen, ok := stepsOf(r, why != "")
	if !ok {
		return "no power step was released", nil
	}
	if r.Subspace == proposal.SubspaceBlock || r.K == 1 {
		for _, step := range seen[max(0, len(seen)-result.LastSteps):] {
			out.Moved = append(out.Moved, step.Turned())
		}
	}
	if why == "" {
		why = unlikeDraws(p, r, seen)
	}
	if why != "" {
		return why, nil
	}
	theta := prior.Signal(seen)
	if !(theta > 0) {
		return "", nil // nothing but noise
	}
	sky := &prior.Study{D: r.D, K: r.K, N: sampleOf(r), Pooled: r.Output == proposal.OutputPooled, Sphere: p.Method.Sphere}
	for _, s := range seen {
		sky.Tau = append(sky.Tau, s.Tau/theta)
	}
	// The noise of the last step alone fills its answer: nothing stands out.
	edge := sky.Tau[len(sky.Tau)-1] * math.Sqrt(float64(r.D))
	if edge > 1 {
		return "", nil
	}
	if why := misled(p, r, theta, edge, seen[len(seen)-1].Tau); why != "" {
		return why, nil
	}
	vectors := r.Outputs[r.Output] // in the order in which they were found
	mine := prior.Features(seen, vectors)
	if p.Method.Mixed {
		why, err := out.begins(p, r, sky)
		if why != "" || err != nil || sky.First == nil {
			return why, err
		}
		for i, v := range seen {
			sky.Tau[i] = v.Tau * float64(r.D)
		}
		mine = append(append(mine, sky.First.Shown...), math.Log(theta*float64(r.D)))
	}
	fit, err := prior.Learn(sky.Draws(study.Public(p.Digest, "worth")))
	if err != nil {
		return "", err
	}
	out.infer(mine, fit, ranks(r.Components, vectors))
	if sky.First != nil {
		out.Share.widen(r.D, r.K)
		out.Unfinished = false // nobody can ask for more of these rounds
	}
	top := 0.0
	for _, v := range r.ExplainedVariance {
		top += v
	}
	if r.TotalInterval != nil {
		out.Share.Blind = blind(top, r.TotalVariance, r)
	}
	if out.Share.Blind >= out.Share.Lower {
		out.Unfinished = false // any directions may capture as much, and rounds have none to find
	}
	out.outweighs(r)
	return "", nil
}

// stepsOf returns a result's power steps, or its last ones: without figures, which are of all, a
// wide result has no others' vectors. It returns false where a step lacks them.
func stepsOf(r *result.Result, last bool) (seen []prior.Round, ok bool) {
	steps := slices.DeleteFunc(slices.Clone(r.Releases), func(rel study.Release) bool { return rel.Kind != study.KindPower })
	if last {
		steps = steps[max(0, len(steps)-result.LastSteps):]
	}
	for _, rel := range steps {
		x, z := columns(rel.X, r.D), columns(rel.Z(), r.D)
		if len(x) != len(z) || len(x) == 0 {
			return nil, false
		}
		seen = append(seen, prior.Round{X: x, Z: z, Tau: rel.Tau()})
	}
	return seen, true
}

// unlikeDraws returns why a study is not of the kind that is simulated, or "".
func unlikeDraws(p *study.Plan, r *result.Result, seen []prior.Round) string {
	switch {
	case p.Proposal.Spec.Components == proposal.ComponentsAuto:
		return "a number of components that the study found, by power iteration"
	case p.Proposal.Spec.Start != nil:
		return "a start that was given"
	case slices.ContainsFunc(seen, func(s prior.Round) bool { return len(s.X) != r.K }):
		return "components one after another, by deflation"
	case r.K > mostPowerComponents:
		return "more than 5 components by power iteration"
	case len(seen) < leastRounds || len(seen) > mostRounds:
		return "fewer than 8 or more than 32 rounds"
	case p.Method.Mixed && r.Output != proposal.OutputPosterior:
		return "rounds from a covariance's components, of which noise hides how much they show"
	case r.Output != proposal.OutputLast && r.Output != proposal.OutputPooled && r.Output != proposal.OutputPosterior:
		return "the output of a random round"
	case len(r.Outputs[r.Output]) != r.K:
		return "no output"
	}
	return ""
}

// misled returns what may have led the rounds away from the directions of most variance, or "": of
// signal theta, noise that fills edge of it, and a last step of noise tau.
func misled(p *study.Plan, r *result.Result, theta, edge, tau float64) string {
	switch {
	case p.Method.Sphere:
		if why := astray(p, r, theta, tau); why != "" {
			return why
		}
	case blurred(r, mostBlurredRounds*theta, edge*theta):
		return blurredWhy
	}
	if stretched(p, r) {
		return heavyWhy
	}
	return ""
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

// infer fills the share and the components in of a study that shows mine, by the draws that are
// like it.
func (out *Report) infer(mine []float64, fit *prior.Fit, rank []int) {
	// The logarithm of a loss says how large it usually is, the loss itself whether it may be
	// large: of two close variances it is mostly small and seldom large, of many that fall slowly
	// always about the same.
	lost := func(d prior.Draw) float64 { return 1 - d.Share }
	near := fit.Like(mine, func(d prior.Draw) float64 { return math.Log(max(1e-6, lost(d))) }, lost)
	shares := values(near, func(d prior.Draw) float64 { return d.Share })
	estimate := Quantile(shares, 0.5)
	factor := 1.0
	if len(rank) > 1 {
		factor = lossFactor
	}
	out.Share = &Share{Estimate: estimate, Lower: max(0, 1-factor*(1-Quantile(shares, missQuantile))-shareReserve)}
	left := Quantile(values(near, func(d prior.Draw) float64 { return 1 - d.Finished }), 0.5)
	out.Unfinished = left > unfinishedLoss && left > unfinishedPart*(1-estimate)
	bounds := make([]float64, len(rank))
	for i := range rank {
		near := fit.Like(mine, func(d prior.Draw) float64 { return math.Log(max(1e-8, d.Tilt[i])) })
		bounds[i] = tiltFactor * tiltFactor * Quantile(values(near, func(d prior.Draw) float64 { return d.Tilt[i] }), tiltQuantile)
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

func values(draws []prior.Draw, of func(prior.Draw) float64) []float64 {
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

// columns cuts vectors of d, one after another, apart; nil where they are not as long.
func columns(v []float64, d int) [][]float64 {
	if len(v)%d != 0 {
		return nil
	}
	return linalg.Split(v, d)
}
