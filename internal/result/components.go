package result

import (
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
)

// findComponents makes the outputs of every run and the components in force. It returns the leading
// eigenvalues of a covariance; nil of power iteration.
func (r *Result) findComponents(p *study.Plan, c study.Course, releases []study.Release) (*spectrum, error) {
	var moment *spectrum
	var parts []study.Release // of a covariance
	r.Outputs = Outputs{}
	steps := map[int][]study.Release{}
	for _, rel := range releases {
		switch rel.Kind {
		case study.KindPower:
			if r.Method == proposal.MethodCovariance { // auto took these to decide
				continue
			}
			run := p.Queries[rel.Query].Run
			steps[run] = append(steps[run], rel)
		case study.KindMoment:
			parts = append(parts, rel)
			if !p.Queries.LastMoment(rel.Query) {
				continue
			}
			m, _ := p.Covariance(c, releases)
			more := 0
			if p.Proposal.Spec.Components == proposal.ComponentsAuto {
				more = cutReach + 1 // values behind the last are looked at
			}
			vectors, values, err := m.Principal(p.D, max(p.K, min(p.K+more, live(m, p.D))))
			if err != nil {
				return nil, err
			}
			vectors = vectors[:p.K]
			moment = spectrumOf(m, values, p.D, p.N)
			r.Output, r.NoiseToSignal = proposal.OutputCovariance, covarianceNoise(m.Tau, p.D, values[p.K-1])
			r.Components = linalg.OrientAll(vectors)
			r.Outputs[r.Output] = linalg.OrientAll(vectors)
		}
	}
	for run := range len(steps) {
		out, err := p.Outputs(parts, steps[run])
		if err != nil {
			return nil, err
		}
		for name, vectors := range out.Vectors {
			r.Outputs[name] = append(r.Outputs[name], vectors...)
		}
		r.Output = out.Chosen
		for _, v := range out.Vectors[out.Chosen] {
			r.Components = append(r.Components, slices.Clone(v))
		}
		r.NoiseToSignal = max(r.NoiseToSignal, out.Noise) // of deflation's runs, the worst
	}
	return moment, nil
}

// covarianceNoise is the length of the vector by which a noised symmetric matrix moves the
// eigenvector of an eigenvalue, about.
func covarianceNoise(tau float64, d int, eigenvalue float64) float64 {
	if !(eigenvalue > 0) {
		return math.MaxFloat64
	}
	return min(math.MaxFloat64, tau*math.Sqrt(float64(d+1)/2)/eigenvalue)
}
