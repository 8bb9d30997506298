package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestFollows: after a branch is taken the other is closed, and no query is left out.
func TestFollows(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `method = "auto"`, "rounds = 2"), 30, 30, 30)
	var kinds []string
	for _, q := range p.Queries {
		kinds = append(kinds, fmt.Sprint(q.Kind, q.Branch))
	}
	want := []string{"histogram", "histogram", "powerpower", "histogrampower", "powerpower", "momentcovariance", "momentcovariance", "momentcovariance", "histogram", "variance", "total"}
	if !slices.Equal(kinds, want) {
		t.Fatalf("queries %v", kinds)
	}
	allowed := map[[2]int]bool{
		{-1, 0}: true, {0, 1}: true, {1, 2}: true, {1, 5}: true, {2, 3}: true, {3, 4}: true, {4, 8}: true, {5, 6}: true, {6, 7}: true, {7, 8}: true, {8, 9}: true, {9, 10}: true,
	}
	for last := -2; last < 13; last++ {
		for next := -2; next < 13; next++ {
			if got := p.Queries.Follows(last, next); got != allowed[[2]int{last, next}] {
				t.Errorf("query %d after %d: %v", next, last, got)
			}
		}
	}
	none := mustPlan(t, texts.With(texts.Four, `method = "auto"`, `explained_variance = "none"`, "rounds = 1"), 30, 30, 30)
	for query, want := range []bool{false, false, true, false, false, true} {
		if none.Queries.Ends(query) != want {
			t.Errorf("query %d of %v ends: %v", query, none.Queries[query].Kind, !want)
		}
	}
}

// TestShares: what a study buys costs its share of ρ, and both branches of auto cost the same.
func TestShares(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `method = "auto"`, `center = "private"`, `unit = "patient"`), 30, 30, 30)
	rho, branch := map[Kind]float64{}, map[string]float64{}
	for _, q := range p.Queries {
		kind := q.Kind
		if kind == KindHistogram {
			kind = q.Of
		}
		if q.Branch == "" || q.Branch == proposal.MethodPower {
			rho[kind] += q.Rho / p.Rho
		}
		branch[q.Branch] += q.Rho / p.Rho
	}
	for kind, want := range map[Kind]float64{
		KindRows: 0.015, KindMean: 0.1, KindVariance: 0.0375, KindTotal: 0.01 + 0.0125, KindPower: 1 - 0.015 - 0.1 - 0.0375 - 0.0225,
	} {
		if math.Abs(rho[kind]-want) > 1e-9 {
			t.Errorf("%s costs %v of the budget, want %v", kind, rho[kind], want)
		}
	}
	if math.Abs(branch[proposal.MethodPower]-branch[proposal.MethodCovariance]) > 1e-9 {
		t.Errorf("branches cost %v", branch)
	}
}

// TestNextTakesTheDueRelease: a course goes on from the release that it asked for, with all of its
// values, and from no other.
func TestNextTakesTheDueRelease(t *testing.T) {
	p, a := testAsk(t)
	due, err := p.NewRelease(a, []int{0, 1, 2}, []int64{5, 6})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Release, *Course){
		"that is due":          func(*Release, *Course) {},
		"of a later query":     func(r *Release, _ *Course) { r.Query++ },
		"of a query before":    func(_ *Release, c *Course) { c.Query++ },
		"of two steps' values": func(r *Release, _ *Course) { r.Noised = append(r.Noised[:2:2], 7, 8) },
	} {
		r, c := due, p.Start()
		c.Query = a.Query
		change(&r, &c)
		if _, err := p.Next(c, r, nil); (err == nil) != (name == "that is due") {
			t.Errorf("a release %s: %v", name, err)
		}
	}
}

// TestScaleRefuses: with too few units a private Λ is refused, and the error says
// how many are needed; where no octave stands out the study ends.
func TestScaleRefuses(t *testing.T) {
	text := texts.With(texts.Four, `lambda = "private"`, `radius = "paper"`, "rounds = 3")
	_, err := plan(t, text, 300, 300, 300)
	if err == nil || !strings.Contains(err.Error(), "lambda: \"private\" needs ") || !strings.Contains(err.Error(), "groups of at least d = 4 units each") {
		t.Fatalf("900 units: %v", err)
	}
	p := mustPlan(t, text, 4000, 4000, 4000)
	if p.GroupSize != 16 || p.Groups != 750 || p.Queries[0].Kind != KindLambda {
		t.Fatalf("groups of %d, %d of them, first %s", p.GroupSize, p.Groups, p.Queries[0].Kind)
	}
	r, err := p.NewRelease(mustAsk(t, p), []int{0, 1, 2}, make([]int64, HistogramBins))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := p.Next(p.Start(), r, nil); err != nil || c.End != CodeNoScale {
		t.Fatalf("an empty histogram gave %+v, %v", c, err)
	}
	r.Noised[258] = int64(float64(p.Groups) / r.Grid) // [4, 8)
	c, err := p.Next(p.Start(), r, nil)
	if err != nil || c.Lambda != 8 || math.Abs(c.Radii[KindPower]/(8*p.Paper.Radius)-1) > 1e-12 {
		t.Fatalf("Λ = %v, R = %v, %v", c.Lambda, c.Radii[KindPower], err)
	}
}

func mustAsk(t *testing.T, p *Plan) Ask {
	t.Helper()
	a, err := p.NewAsk(p.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDistributedPlan: what a sum over any number of sites keeps of its honest sites' shares is at
// least σ², and at most 1.1 of it, the release says what was added, and rosters that leave nobody
// honest are refused (docs/privacy.md).
func TestDistributedPlan(t *testing.T) {
	text := texts.With(texts.Four, `noise = "distributed"`)
	for n := 2; n <= 20; n++ {
		sites := slices.Repeat([]int{20_000}, n)
		p, err := plan(t, text, sites...)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.Thresholds.MinSurvivors - max(1, p.Thresholds.Corrupt); p.Honest != want {
			t.Fatalf("%d sites: %d honest, want %d", n, p.Honest, want)
		}
		if p.Proposal.Spec.OnDropout != proposal.DropoutContinue {
			t.Fatal("distributed noise may go on without a site")
		}
		for _, q := range p.Queries {
			total, err := p.Noise.Sigma(q, 1)
			if err != nil {
				t.Fatal(err)
			}
			share, err := p.Noise.Share(total)
			if err != nil {
				t.Fatal(err)
			}
			for u := p.Thresholds.MinSurvivors; u <= n; u++ {
				honest := float64(u - max(1, p.Thresholds.Corrupt))
				if of := math.Sqrt(honest*share.Kept(u).Variance()) / total.Float(); of < 1-1e-12 || of > math.Sqrt(1.1)*(1+1e-4) {
					t.Fatalf("%d of %d sites, %s: %v honest ones carry %v of σ", u, n, q.Kind, honest, of)
				}
			}
			if total.Float() < q.Multiplier*p.Noise.Sensitivity(q, 1)*(1-1e-12) || q.Lanes != q.Values {
				t.Fatalf("%s: σ = %v, %d lanes", q.Kind, total.Float(), q.Lanes)
			}
		}
	}
}
