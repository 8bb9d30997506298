package worth

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/result"
	"covey/internal/study"
)

// law answers a study's queries from a second moment, with noise of the plan's size: a study
// without rows, in floats.
type law struct {
	second *mat.SymDense // what rows have after the clip
	whole  *mat.SymDense // and without it; nil for the same
	long   *mat.SymDense // what a covariance clipped beyond radius has; nil for the same
	radius float64       // of every histogram; with long or alike, up to four times it
	alike  float64       // share of the units at an eighth of radius
	rng    *rand.Rand
	// columns are values of each column, of which a study that learns constants asks; second is
	// then their covariance.
	columns [][]float64
}

func diagonal(lambda ...float64) *mat.SymDense {
	m := mat.NewSymDense(len(lambda), nil)
	for i, v := range lambda {
		m.SetSym(i, i, v)
	}
	return m
}

// spec is a study of d columns.
func spec(d, k int, method string) proposal.Spec {
	s := proposal.Spec{Center: proposal.CenterPublic, Name: "worth", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Method: method, Components: proposal.Components(k), ExplainedVariance: proposal.VarianceNone}
	for i := range d {
		s.Columns = append(s.Columns, proposal.Column{Name: fmt.Sprintf("c%d", i), Scale: 1})
	}
	return s
}

// planned is the plan of a study of three sites with n units in all, and its proposal.
func planned(t testing.TB, s proposal.Spec, n int) (*study.Plan, []byte) {
	t.Helper()
	var roster []proposal.Member
	for i := range 3 {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: string(rune('a' + i)), Identity: proposal.Key(key), Units: n / 3})
	}
	body, err := proposal.Propose(s, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	return p, body
}

func (l law) run(t *testing.T, s proposal.Spec, n int) (*study.Plan, *result.Result) {
	t.Helper()
	p, body := planned(t, s, n)
	c := p.Start()
	var releases []study.Release
	for c.Query < len(p.Queries) {
		ask, err := p.NewAsk(c, len(releases))
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.NewRelease(ask, []int{0, 1, 2}, l.answer(p, ask))
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	r, err := result.New(p, releases)
	if err != nil {
		t.Fatal(err)
	}
	r.Proposal = body
	return p, r
}

func (l law) answer(p *study.Plan, a study.Ask) []int64 {
	d, whole := p.D, l.whole
	if whole == nil {
		whole = l.second
	}
	along := func(m *mat.SymDense, x []float64) []float64 {
		var y mat.VecDense
		y.MulVec(m, mat.NewVecDense(d, x))
		return y.RawVector().Data
	}
	var values []float64
	scale := float64(p.N) / a.Grid
	switch a.Kind {
	case study.KindHistogram:
		values, scale = make([]float64, p.Queries[a.Query].Values), 1/a.Grid
		fill := func(radius, units float64) {
			for j := range values {
				if study.BinEdge(j) >= radius {
					values[j] += units
					break
				}
			}
		}
		if l.long != nil || l.alike > 0 {
			fill(l.radius/8, float64(p.N)*l.alike)
			for j := range 9 { // without a second peak, up to four times the radius
				// each in a bin of its own
				fill(0.95*l.radius*math.Exp2(float64(j)/4), float64(p.N)*(1-l.alike)/9)
			}
		} else {
			fill(l.radius, float64(p.N))
		}
	case study.KindPower:
		for x := a.X; len(x) > 0; x = x[d:] {
			values = append(values, along(l.second, x[:d])...)
		}
	case study.KindMoment:
		m := l.second
		if l.long != nil && a.Radius > 2*l.radius {
			m = l.long
		}
		for i := range d {
			for j := i; j < d; j++ {
				v := m.At(i, j)
				if a.Scale != nil {
					if v /= a.Scale[i] * a.Scale[j]; a.Scale[i] == 0 || a.Scale[j] == 0 {
						v = 0
					}
				}
				if j > i {
					v *= math.Sqrt2
				}
				values = append(values, v)
			}
		}
	case study.KindVariance:
		for x := a.X; len(x) > 0; x = x[d:] {
			values = append(values, linalg.Dot(x[:d], along(whole, x[:d])))
		}
	case study.KindOctaves, study.KindTree:
		each, bins := query.OctaveBins, query.AppendOctaves
		if a.Kind == study.KindTree {
			each, bins = query.TreeBins, query.AppendTree
		}
		values = make([]float64, d*each)
		for j := range d {
			for _, z := range l.standard(a, j) {
				for _, b := range bins(nil, z) {
					values[j*each+b] += 1 / float64(len(l.columns[j]))
				}
			}
		}
	case study.KindMoments:
		values = make([]float64, 2*d)
		for j := range d {
			for _, z := range l.standard(a, j) {
				z = max(-4, min(z, 4))
				values[j] += 2 * z / float64(len(l.columns[j]))
				values[d+j] += z * z / float64(len(l.columns[j]))
			}
		}
	case study.KindMean:
		values = make([]float64, d)
	case study.KindTotal:
		values = []float64{mat.Trace(whole)}
	default:
		panic(a.Kind)
	}
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = int64(math.Round(v*scale + a.Sigma.Float()*l.rng.NormFloat64()))
	}
	return out
}

// standard are the values of a column as an ask wants them.
func (l law) standard(a study.Ask, j int) []float64 {
	if a.Kind == study.KindOctaves {
		return l.columns[j]
	}
	if a.Scale[j] == 0 {
		return nil
	}
	var out []float64
	for _, v := range l.columns[j] {
		out = append(out, (v-a.Center[j])/a.Scale[j])
	}
	return out
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func of(t *testing.T, p *study.Plan, r *result.Result) *Report {
	t.Helper()
	got, err := Of(p, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
