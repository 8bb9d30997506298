package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// sample is what a study of d columns and k components might have found: power steps
// with noise on a diagonal covariance turned by a random rotation. With deflation each
// component has its own run, and a later one has more variance than an earlier one.
func sample(d, k, rounds int, subspace string, spread float64) *result.Result {
	random := rand.New(rand.NewPCG(uint64(d), uint64(k)))
	normal := func(rows, columns int) *mat.Dense {
		m := mat.NewDense(rows, columns, nil)
		for i := range rows {
			for j := range columns {
				m.Set(i, j, random.NormFloat64())
			}
		}
		return m
	}
	turn := orthonormal(normal(d, d))
	spectrum := mat.NewDiagDense(d, nil)
	for i := range d {
		spectrum.SetDiag(i, 4*math.Pow(0.7, float64(i)))
	}
	var half, covariance mat.Dense
	half.Mul(turn, spectrum)
	covariance.Mul(&half, turn.T())

	r := &result.Result{
		Name: "sample", Epsilon: 1, Delta: 1e-6, Adjacency: study.AdjacencyReplaceOne, SitesPerUnit: 2, Rho: 0.0243, Profile: proposal.ProfilePractical, Sites: []string{"amber", "bay"}, N: 20_000, D: d, K: k,
		Center: proposal.CenterPublic, Noise: proposal.NoiseCentral, Method: proposal.MethodPower, MethodWhy: "as asked", Subspace: subspace, Rounds: rounds, Radius: 8,
		Output: proposal.OutputLast, OutputAs: proposal.OutputAuto, Outputs: map[string][][]float64{}, NoiseToSignal: 0.04,
		TotalVariance: mat.Trace(&covariance), VarianceNote: "each interval covers what the noise added",
	}
	r.TotalInterval = &[2]float64{r.TotalVariance - 0.3, r.TotalVariance + 0.3}
	for j := range d {
		r.Columns = append(r.Columns, fmt.Sprintf("column_%d", j+1))
		r.Offset = append(r.Offset, float64(j))
		r.Scale = append(r.Scale, 1+float64(j)/4)
		r.Mean = append(r.Mean, 0.125*float64(j))
	}
	runs, block := 1, k
	if subspace == proposal.SubspaceDeflation {
		runs, block = k, 1
	}
	const grid = 1e-6
	sigma, err := noise.SigmaAtLeast(spread * float64(r.N) / grid)
	if err != nil {
		panic(err)
	}
	var found []float64
	for range runs {
		x := orthonormal(normal(d, block))
		for t := range rounds {
			var z mat.Dense
			z.Mul(&covariance, x)
			rel := study.Release{Query: len(r.Releases), Kind: study.KindPower, Round: t, Units: r.N, Radius: r.Radius, Grid: grid, Sigma: sigma, X: columns(x), Found: slices.Clone(found)}
			for _, v := range columns(&z) {
				rel.Noised = append(rel.Noised, int64(math.Round((v+spread*random.NormFloat64())*float64(r.N)/grid)))
			}
			r.Releases = append(r.Releases, rel)
			next := mat.NewDense(d, block, nil)
			for i, v := range rel.Z() {
				next.Set(i%d, i/d, v)
			}
			for f := range len(found) / d { // off what was found
				v := mat.NewVecDense(d, found[f*d:(f+1)*d])
				for j := range block {
					c := next.ColView(j).(*mat.VecDense)
					c.AddScaledVec(c, -mat.Dot(c, v), v)
				}
			}
			x = orthonormal(next)
		}
		found = append(found, columns(x)...)
	}
	for i := range k {
		v := found[i*d : (i+1)*d : (i+1)*d]
		r.Outputs[proposal.OutputLast] = append(r.Outputs[proposal.OutputLast], v)
		r.Components = append(r.Components, v)
		vec := mat.NewVecDense(d, v)
		r.ExplainedVariance = append(r.ExplainedVariance, mat.Inner(vec, &covariance, vec))
	}
	if subspace == proposal.SubspaceDeflation && k > 1 { // as if the noise had put the second first
		r.Components[0], r.Components[1] = r.Components[1], r.Components[0]
	}
	slices.SortFunc(r.ExplainedVariance, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	for _, v := range r.ExplainedVariance {
		r.VarianceInterval = append(r.VarianceInterval, [2]float64{max(0, v-0.12), v + 0.12})
		r.VarianceRatio = append(r.VarianceRatio, v/r.TotalVariance)
	}
	return r
}

// columns are the columns of m, one after another.
func columns(m *mat.Dense) []float64 {
	var out []float64
	_, k := m.Dims()
	for j := range k {
		out = append(out, mat.Col(nil, j, m)...)
	}
	return out
}

func orthonormal(m *mat.Dense) *mat.Dense {
	d, k := m.Dims()
	var qr mat.QR
	qr.Factorize(m)
	var q mat.Dense
	qr.QTo(&q)
	out := mat.NewDense(d, k, nil)
	out.Copy(q.Slice(0, d, 0, k))
	return out
}
