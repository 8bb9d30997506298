package study

import (
	"covey/internal/linalg"
	"covey/internal/proposal"
)

// With fewer rounds than [proposal.PoolRounds], x_T is as good as pooling or better where the
// noise-to-signal of z_T is below autoNoise (docs/figures/rounds.csv).
const autoNoise = 0.12

// Outputs are the outputs that one run of power steps may have: by name, vectors of d numbers.
type Outputs struct {
	Vectors map[string][][]float64
	Chosen  string
	Noise   float64 // noise-to-signal of the last step
}

// Output returns the output that a run of power steps has, by the noise-to-signal of its last.
func (p *Plan) Output(noise float64) string {
	switch s := p.Proposal.Spec; {
	case s.Output != proposal.OutputAuto:
		return s.Output
	case p.Rounds < proposal.PoolRounds && noise < autoNoise && !p.Method.Mixed:
		return proposal.OutputLast
	}
	return proposal.OutputPooled
}

// Outputs makes all of them from a run's power releases, in order, and from the parts of a
// covariance that the run started at, if any: post-processing, so free. Components come by falling
// size.
func (p *Plan) Outputs(moments, steps []Release) (Outputs, error) {
	last := steps[len(steps)-1]
	run := p.Queries[last.Query].Run
	k := p.block
	noise, asked := last.NoiseToSignal(p.D), linalg.Split(last.X, p.D)
	out := Outputs{Noise: noise, Chosen: p.Output(noise), Vectors: map[string][][]float64{
		// X_J is what round J was asked about
		proposal.OutputRandom: linalg.OrientAll(linalg.Split(steps[randomRound(p.Digest, run, p.Rounds)].X, p.D)),
	}}
	found, err := leadingColumns(linalg.ColumnsOf(last.columns(p.D)), k)
	if err != nil {
		return Outputs{}, err
	}
	out.Vectors[proposal.OutputLast] = linalg.OrientAll(linalg.Orthonormalize(found, asked))
	if found, err = pooledSteps(steps, p.D, k); err != nil { // one after the other: they are long
		return Outputs{}, err
	}
	out.Vectors[proposal.OutputPooled] = linalg.OrientAll(linalg.Orthonormalize(found, asked))
	if !p.Method.Mixed {
		return out, nil
	}
	if found, err = p.posterior(moments, steps); err != nil || found == nil {
		return out, err
	}
	out.Chosen = proposal.OutputPosterior
	out.Vectors[proposal.OutputPosterior] = linalg.OrientAll(linalg.Orthonormalize(found, asked))
	return out, nil
}

// leftover says which vectors of a query's release something reads once the course after it is
// known: Outputs, of power steps, where the last step and the random one were, and the sums that it
// pools.
type leftover struct{ all, x, pooled, noised bool }

func (p *Plan) leftover(q Query) leftover {
	step := q.Kind == KindPower
	return leftover{
		all:    p.Method.Name == proposal.MethodAuto, // MethodWhy follows all again
		x:      step && (q.Round == p.Rounds-1 || q.Round == randomRound(p.Digest, q.Run, p.Rounds)),
		pooled: step && q.Round >= p.Rounds/2,
		noised: !step,
	}
}

// Spent returns a release without the vectors that nothing reads of it any more once the course
// after it is known: of a wide study most of its numbers. Sums that are pooled stay, in the bytes
// that their longest number needs ([packed.Narrow]).
func (p *Plan) Spent(r Release) Release {
	l := p.leftover(p.Queries[r.Query])
	if l.all {
		return r
	}
	r.Center, r.Fill = nil, nil
	if !l.x {
		r.X = nil
	}
	switch {
	case !l.pooled:
		r.Found = nil
	case r.Noised != nil: // not spent before
		r.kept = r.Noised.Narrow()
	}
	if !l.noised {
		r.Noised = nil
	}
	return r
}

// pooledSteps returns the k leading directions of Σ_{t≥T/2} Z_t Z_tᵀ/τ_t² over power releases in
// order (docs/adr/0005-rising-schedule.md).
func pooledSteps(steps []Release, d, k int) ([][]float64, error) {
	half := steps[len(steps)/2:]
	last := half[len(half)-1].Tau()
	var of []func(from int, to []float64)
	for _, s := range half {
		weight := last / s.Tau() // relative to the last, to stay in range
		for _, read := range s.reads(d) {
			of = append(of, func(from int, to []float64) {
				read(from, to)
				for j := range to {
					to[j] *= weight
				}
			})
		}
	}
	return leadingColumns(linalg.Columns{N: len(of), D: d, Read: func(j, from int, to []float64) { of[j](from, to) }}, k)
}

// leadingColumns returns the k leading directions of columns, by falling size.
func leadingColumns(columns linalg.Columns, k int) ([][]float64, error) {
	v, _, ok := linalg.LeadingSingular(columns, k)
	if !ok {
		return nil, proposal.FieldErrorf("releases", "the components' eigenvalues do not converge")
	}
	return v, nil
}
