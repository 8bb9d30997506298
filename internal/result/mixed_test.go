package result

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestMixedResult: where the first parts of a covariance decide, the result of either way verifies,
// and is that of what was asked last.
func TestMixedResult(t *testing.T) {
	const d = 192
	text := texts.With(texts.Four, `method = "auto"`, "components = 2", "spare_slots = 9")
	for j := range d - 4 {
		text += fmt.Sprintf("[[columns]]\nname = \"more%d\"\nscale = 1\n", j)
	}
	spec, err := proposal.ParseSpec([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	sites := texts.Roster(10_000, 10_000, 10_000, 10_000, 10_000)
	body, err := proposal.Propose(spec, sites, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	for method, fall := range map[string]float64{proposal.MethodPower: 0.01, proposal.MethodCovariance: 1} {
		value, trace := make([]float64, d), 0.0
		for j := range value {
			value[j] = 1 / (1 + fall*float64(j))
			trace += value[j]
		}
		rng := rand.New(rand.NewPCG(5, 6))
		_, releases := runs.Take(t, p, p.Start(), nil, len(p.Queries), func(a study.Ask) (noised []int64) {
			q := p.Queries[a.Query]
			sum := make([]float64, q.Values)
			size := float64(p.N) * study.BinEdge(263) / trace
			switch q.Kind {
			case study.KindHistogram:
				first := 259
				if p.Method.OnSphere(q) { // lengths of 0.06 to 0.12
					for first = 0; study.BinEdge(first+8) < 0.12; first++ {
					}
				}
				for j := range 8 {
					sum[first+j] = float64(p.N) / 8
				}
			case study.KindMoment:
				for j, at := 0, 0; j < d; j++ {
					sum[at] = size * value[j]
					at += d - j
				}
			case study.KindPower: // on the sphere
				for i, x := range linalg.Split(a.X, d) {
					for j, v := range x {
						sum[i*d+j] = float64(p.N) * value[j] / trace * v
					}
				}
			case study.KindVariance:
				for i, x := range linalg.Split(a.X, d) {
					for j, v := range x {
						sum[i] += size * value[j] * v * v
					}
				}
			case study.KindTotal:
				sum[0] = size * trace
			}
			for _, v := range sum {
				noised = append(noised, int64(math.Round(v/a.Grid+a.Sigma.Float()*rng.NormFloat64())))
			}
			return noised
		})
		r := made(t, p, body, signReleases(t, releases))
		if _, err := Verify(file(t, r)); err != nil {
			t.Fatal(err)
		}
		done := map[string]string{proposal.MethodPower: "two parts of a covariance and 16 rounds", proposal.MethodCovariance: "one covariance"}[method]
		output := map[string]string{proposal.MethodPower: proposal.OutputPosterior, proposal.MethodCovariance: proposal.OutputCovariance}[method]
		if r.Method != method || r.Done() != done || r.Output != output || !strings.Contains(r.MethodWhy, "two parts of a covariance say") {
			t.Errorf("%s: %s, %s of %s: %s", method, r.Method, r.Output, r.Done(), r.MethodWhy)
		}
		got := 0.0
		for _, v := range r.Components {
			for j, x := range v {
				got += value[j] * x * x
			}
		}
		if got /= value[0] + value[1]; got < 0.95 {
			t.Errorf("%s: the components capture %.3f", method, got)
		}
	}
}
