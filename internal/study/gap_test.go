package study

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// gapPlan is of a study that keeps gaps.
func gapPlan(t testing.TB, missing, noise string, lines ...string) *Plan {
	t.Helper()
	text := strings.Replace(texts.Minimal, "explained_variance = \"none\"\ncenter = \"public\"", fmt.Sprintf("missing = %q\nnoise = %q\n", missing, noise), 1)
	if noise == proposal.NoiseCentral {
		lines = append(lines, "central_detail = true")
	}
	return mustPlan(t, texts.With(text, lines...), 9000, 9000, 9000, 9000, 9000)
}

// TestGapsAreCounted: a study that keeps gaps counts the empty cells of each column first, whatever
// the data, for a share of the budget by public sizes; no other study does. It needs distributed
// noise, or central_detail.
func TestGapsAreCounted(t *testing.T) {
	for _, missing := range []string{proposal.MissingFill, proposal.MissingZero, proposal.MissingError, proposal.MissingDropRow} {
		keeps := missing == proposal.MissingFill || missing == proposal.MissingZero
		for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
			text := strings.Replace(texts.Minimal, "explained_variance = \"none\"\ncenter = \"public\"", fmt.Sprintf("missing = %q\nnoise = %q\n", missing, noise), 1)
			if _, err := proposal.ParseSpec([]byte(text)); (err == nil) == (keeps && noise == proposal.NoiseCentral) {
				t.Errorf("missing %q with %s noise: %v", missing, noise, err)
			}
		}
		if !keeps {
			continue
		}
		p := gapPlan(t, missing, proposal.NoiseDistributed)
		q := p.Queries[0]
		if q.Kind != KindFilled || q.Values != len(p.Proposal.Spec.Columns) || q.Branch != "" || q.Rho/p.Rho < filledLeast*0.99 || q.Rho/p.Rho > filledMost*1.01 {
			t.Errorf("missing %q asks first for %+v", missing, q)
		}
		if i := slices.IndexFunc(p.Queries[1:], func(q Query) bool { return q.Kind == KindFilled || q.Kind == KindRows }); i >= 0 {
			t.Errorf("missing %q also asks for %+v", missing, p.Queries[1+i])
		}
		// Δ is √columns, in grid steps
		if want := math.Sqrt(float64(q.Values)) * 0x1p16; p.Noise.Sensitivity(q, 0) < want || p.Noise.Sensitivity(q, 0) > want*(1+1e-12) {
			t.Errorf("Δ is %v, want %v", p.Noise.Sensitivity(q, 0), want)
		}
	}
	if spec, err := proposal.ParseSpec([]byte(texts.With(texts.Minimal, `missing = "fill"`))); err != nil || spec.Noise != proposal.NoiseDistributed {
		t.Errorf("a study that names no noise: %v, %v", spec.Noise, err)
	}
	if _, err := proposal.ParseSpec([]byte(texts.With(texts.Minimal, `profile = "paper"`, "lambda = 1.0", "rounds = 2", `missing = "zero"`))); err == nil {
		t.Error("the paper has no charge for it")
	}
}

// TestAnyGapsKeepTheirEpsilon: of plans of any options that keep gaps, the count of empty cells
// costs no more than it is charged, asks are in order on every path, and the charges of every path
// stay within what the ledger reserves.
func TestAnyGapsKeepTheirEpsilon(t *testing.T) {
	coordinator := texts.Signer.Public().(ed25519.PublicKey)
	rng := rand.New(rand.NewPCG(67, 68))
	plans, filled := 0, 0
	for trial := range 180 {
		s := anySpec(rng)
		s.Missing, s.Rounds = []string{proposal.MissingFill, proposal.MissingZero}[rng.IntN(2)], min(s.Rounds, 5)
		s.CentralDetail = s.Noise == proposal.NoiseCentral
		roster := anyRoster(rng)
		body, err := proposal.Propose(s, roster, coordinator, [32]byte{byte(trial)})
		if err != nil {
			continue
		}
		p, err := NewPlan(body)
		if err != nil {
			continue
		}
		plans++
		q := p.Queries[0]
		delta := math.Sqrt(float64(q.Values)) * 0x1p16 * float64(p.SitesPerUnit)
		sigma, err := p.Noise.Sigma(q, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := sigma.Float() * sigma.Float()
		if p.Proposal.Spec.Accountant == proposal.AccountantGDP {
			v -= 16 // r of the bridge
		}
		if cost := delta * delta / (2 * v); q.Kind != KindFilled || cost > q.Rho*(1+1e-8) {
			t.Errorf("the count costs %v and is charged %v: %+v", cost, q.Rho, s)
		}
		survivors := make([]int, len(roster))
		for i := range survivors {
			survivors[i] = i
		}
		for range 3 {
			c, charged := p.Start(), 0.0
			var releases []Release
			for c.Query < len(p.Queries) && c.End == "" {
				a, err := p.NewAsk(c, len(releases))
				if err == nil {
					err = p.form(p.Queries[c.Query]).check(a)
				}
				if err == nil {
					err = p.CheckCourse(c, a)
				}
				if err != nil {
					t.Fatalf("%v: %+v", err, p.Queries[c.Query])
				}
				if len(a.Fill) > 0 {
					filled++
				}
				noised := make([]int64, p.Noise.released(p.Queries[c.Query]))
				for i := range noised {
					noised[i] = int64(a.Sigma.Float() * math.Exp(6*rng.NormFloat64()) * rng.NormFloat64())
				}
				if p.Noise.Chooses(p.Queries[c.Query]) {
					noised[0] = 0
				}
				r, err := p.NewRelease(a, survivors, noised)
				if err != nil {
					t.Fatal(err)
				}
				s := p.Spent(r)
				if n := len(s.X) + len(s.Center) + len(s.Found) + len(s.Scale) + len(s.Fill) + len(s.Deviations) + s.values(); n != p.Left(p.Queries[c.Query]) {
					t.Fatalf("of a release %d numbers are left, by the plan %d: %+v", n, p.Left(p.Queries[c.Query]), p.Queries[c.Query])
				}
				if again := p.Spent(s); s.values() > 0 && (!slices.Equal(s.Z(), r.Z()) || !slices.Equal(again.Z(), r.Z())) {
					t.Fatalf("of a release other numbers are left: %+v", p.Queries[c.Query])
				}
				charged += r.Rho
				if c, err = p.Next(c, r, releases); err != nil {
					t.Fatal(err)
				}
				for _, v := range c.Observed {
					if !(v >= observedLeast && v <= 1) {
						t.Fatalf("a share of rows is %v", v)
					}
				}
				releases = append(releases, r)
			}
			if charged > p.Rho*(1+1e-12) { // added up in another order
				t.Errorf("%v is charged, %v reserved", charged, p.Rho)
			}
		}
	}
	if plans < 50 || filled < 100 {
		t.Errorf("%d plans, %d queries filled", plans, filled)
	}
}

// TestFillFollowsFromTheReleases: an agent refuses directions to fill from that are not as the plan
// says, or that its releases do not say; masks and signatures are bound to them.
func TestFillFollowsFromTheReleases(t *testing.T) {
	p := gapPlan(t, proposal.MissingFill, proposal.NoiseDistributed, `method = "power"`, "components = 2", "rounds = 3")
	c := p.Start()
	c.Center, c.Radii[KindPower] = make([]float64, p.D), 1
	c.Query = slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindPower && q.Round == 2 })
	honest, err := p.NewAsk(c, 0)
	if err == nil {
		err = p.Check(honest)
	}
	if err == nil {
		err = p.CheckCourse(c, honest)
	}
	if err != nil || !slices.Equal(honest.Fill, honest.X) {
		t.Fatalf("%v: filled from %v, the step is along %v", err, honest.Fill, honest.X)
	}
	turned := slices.Clone(honest.Fill)
	for j := range p.D { // orthonormal, but others
		turned[j] = -turned[j]
	}
	twice := slices.Concat(honest.Fill[:p.D], honest.Fill[:p.D])
	for name, fill := range map[string][]float64{"none": nil, "one": honest.Fill[:p.D], "one twice": twice, "turned": turned, "NaN": slices.Repeat([]float64{math.NaN()}, len(turned))} {
		bad := honest
		bad.Fill = fill
		shape, course := p.Check(bad), p.CheckCourse(c, bad)
		if (shape == nil) != (name == "turned") || course == nil {
			t.Errorf("%s: %v, %v", name, shape, course)
		}
		if name == "turned" && p.Context([32]byte{}, bad) == p.Context([32]byte{}, honest) {
			t.Error("ctx is not bound to the fill")
		}
	}
	first := c
	first.Query = slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindPower })
	for range 2 { // the first half of the steps
		if a, err := p.NewAsk(first, 0); err != nil || len(a.Fill) != 0 {
			t.Errorf("in round %d gaps are filled from %v, %v", p.Queries[first.Query].Round, a.Fill, err)
		}
		first.Query++
	}
	r, err := p.NewRelease(honest, []int{0, 1, 2, 3, 4}, make([]int64, 2*p.D))
	if err != nil || !slices.Equal(r.Fill, honest.Fill) || !slices.Equal(r.Ask().Fill, honest.Fill) {
		t.Errorf("a release says %v, %v", r.Fill, err)
	}
}

// TestCenterIsOfValues: the center is the mean of the cells that have a value.
func TestCenterIsOfValues(t *testing.T) {
	p := gapPlan(t, proposal.MissingZero, proposal.NoiseDistributed)
	c := Course{Observed: []float64{0.5, 0.8}, Center: []float64{1, 1}}
	r := Release{Kind: KindMean, Noised: []int64{100, 160}, Grid: 1, Units: 100}
	(&transition{p, Query{}, r, nil, &c}).center()
	if math.Abs(c.Center[0]-3) > 1e-12 || math.Abs(c.Center[1]-3) > 1e-12 {
		t.Errorf("the center is %v, want 3 and 3", c.Center)
	}
}
