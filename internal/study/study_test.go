package study

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/test/texts"
)

func plan(t testing.TB, text string, units ...int) (*Plan, error) {
	t.Helper()
	body, err := texts.Propose(text, units...)
	if err != nil {
		return nil, err
	}
	return NewPlan(body)
}

func mustPlan(t testing.TB, text string, units ...int) *Plan {
	t.Helper()
	p, err := plan(t, text, units...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPracticalDefaults(t *testing.T) {
	p, err := plan(t, "method = \"power\"\n"+texts.Minimal, 1000, 2000, 3000, 4000, 5000)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Proposal.Spec
	if p.Rounds != 24 || s.Rows != proposal.RowsAuto || s.Radius != proposal.RadiusPrivate || s.Accountant != proposal.AccountantGDP || s.Output != proposal.OutputAuto || s.OnDropout != proposal.DropoutWait {
		t.Fatalf("defaults: %+v", s)
	}
	if len(p.Queries) != 29 {
		t.Fatalf("%d queries, want 24 power steps and 5 histograms", len(p.Queries))
	}
	// Histograms come before rounds 0, 1, 2, 4 and 7, with 4% of ρ.
	var at []int
	share := 0.0
	for _, q := range p.Queries {
		if q.Kind == KindHistogram {
			at = append(at, q.Round)
			share += q.Rho / p.Rho
		}
	}
	if fmt.Sprint(at) != "[0 1 2 4 7]" || math.Abs(share-0.04) > 1e-9 {
		t.Fatalf("histograms at %v with %.4f of the budget", at, share)
	}
	if first, last := p.Queries[1], p.Queries[28]; math.Abs(last.Rho/first.Rho-24) > 1e-9 {
		t.Fatalf("the last round is charged %v times the first, want T", last.Rho/first.Rho)
	}
	if p.Slots != 29 { // a study that waits gives none up
		t.Fatalf("%d slots", p.Slots)
	}
	if p := mustPlan(t, strings.Replace(texts.Minimal, "delta", "on_dropout = \"continue\"\ndelta", 1), 1000, 2000, 3000); p.Slots != 21 {
		t.Fatalf("%d slots where sites may drop out", p.Slots)
	}
}

// TestBudget: what a study charges converts back to no more than its ε.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		epsilon := rapid.Float64Range(0.05, 8).Draw(r, "epsilon")
		delta := math.Pow(10, -rapid.Float64Range(4, 12).Draw(r, "exponent"))
		rounds := rapid.IntRange(1, 40).Draw(r, "rounds")
		accountant := rapid.SampledFrom([]string{proposal.AccountantGDP, proposal.AccountantZCDP}).Draw(r, "accountant")
		text := strings.Replace(texts.Minimal, "epsilon = 1.0\ndelta = 1e-6", fmt.Sprintf("epsilon = %v\ndelta = %v\nrounds = %d\naccountant = %q", epsilon, delta, rounds, accountant), 1)
		p, err := plan(t, text, 1000, 2000, 3000)
		if err != nil {
			r.Fatal(err)
		}
		sum := 0.0
		for _, q := range p.Queries {
			sum += q.Rho
		}
		if math.Abs(sum-p.Rho) > 1e-12*p.Rho {
			r.Fatalf("ρ %v is not the sum %v of the queries'", p.Rho, sum)
		}
		spent, err := p.Curve().Epsilon(p.Rho, delta)
		if err != nil {
			r.Fatal(err)
		}
		// A little less is spent: what the release check may refuse has its part of δ.
		if spent > epsilon || spent < epsilon*(1-1e-3) {
			r.Fatalf("spends ε = %v of %v", spent, epsilon)
		}
	})
}

// TestPaperProfile restates Algorithm 1's parameters (the paper, section 3).
func TestPaperProfile(t *testing.T) {
	text := strings.Replace(texts.Minimal, "epsilon = 1.0", "epsilon = 1.0\nprofile = \"paper\"\nalpha = 0.2\nlambda = 1.0", 1)
	p := mustPlan(t, text, 100000, 100000)
	n, d := 200000.0, 2.0
	rounds := math.Ceil(math.Log(math.E*d) / 0.2)
	u := math.Log(n * rounds * 256)
	radius := (math.Sqrt(d) + math.Sqrt(2*u)) * math.Sqrt(2*u)
	deltaBar := min(1e-6, 1/(256*10*n*rounds))
	tau := 4 * radius * math.Sqrt(rounds*math.Log(1/deltaBar)) / n
	if p.Rounds != int(rounds) || math.Abs(p.Radius/radius-1) > 1e-12 {
		t.Fatalf("T = %d, R = %v; want %v, %v", p.Rounds, p.Radius, rounds, radius)
	}
	if len(p.Queries) != p.Rounds || p.Proposal.Spec.Output != proposal.OutputRandom {
		t.Fatal("a paper study has T power steps and a random iterate")
	}
	sigma, err := p.Noise.Sigma(p.Queries[0], p.Radius)
	if err != nil {
		t.Fatal(err)
	}
	// σ on the sum, in grid units: nτ/g, and a little for the rounding's √d.
	if got := sigma.Float() * Grid(p.Radius) / n; got < tau || got > tau*1.0001 {
		t.Fatalf("τ = %v, want %v", got, tau)
	}
	if p.Rho > 0.0243559703595 {
		t.Fatalf("the paper's τ charges ρ = %v, more than ε = 1 allows", p.Rho)
	}
}

func TestRing(t *testing.T) {
	small := mustPlan(t, texts.Minimal, 10, 10, 10)
	if small.Bits != 32 {
		t.Fatalf("30 units need %d bits", small.Bits)
	}
	large := mustPlan(t, texts.Minimal, 1<<30, 1<<30, 1<<30)
	if large.Bits != 56 {
		t.Fatalf("3·2^30 units need %d bits, want 56", large.Bits)
	}
	rapid.Check(t, func(r *rapid.T) {
		units := rapid.IntRange(1, 1<<34).Draw(r, "units")
		p := mustPlan(t, texts.Minimal, units, 1, 1)
		need := float64(p.N)*(0x1p17+math.Sqrt2) + 40*p.Queries[1].Multiplier*(0x1p18+math.Sqrt2)
		if need >= math.Ldexp(1, int(p.Bits)-1) {
			r.Fatalf("a ring of %d bits cannot hold 2^%.2f", p.Bits, math.Log2(need))
		}
	})
}

func TestBadInput(t *testing.T) {
	with := func(line string) string {
		minimal := texts.Minimal
		if strings.Contains(line, "center =") {
			minimal = strings.Replace(minimal, "center = \"public\"\n", "", 1)
		}
		return strings.Replace(minimal, "name = \"weights\"", "name = \"weights\"\n"+line, 1)
	}
	var wide strings.Builder
	wide.WriteString("name = \"w\"\ndataset = \"r\"\nepsilon = 1.0\ndelta = 1e-6\nmethod = \"covariance\"\n")
	for i := range proposal.MaxCovariance + 1 {
		fmt.Fprintf(&wide, "[[columns]]\nname = \"c%d\"\nscale = 1\n", i)
	}
	if _, err := plan(t, wide.String(), 1000, 1000, 1000); err == nil || !strings.Contains(err.Error(), "method: the covariance of more than 2000 columns") {
		t.Errorf("2001 columns: %v", err)
	}
	for _, c := range [][2]string{{"-1", "sites_per_unit: must be in 1..10000, got -1"}, {"4", "sites_per_unit: must be in 1..3, the number of sites, got 4"}, {"0", "sites_per_unit: must be positive, got 0"}, {"1.5", "toml: line"}} {
		if _, err := plan(t, strings.Replace(texts.Minimal, "epsilon = 1.0", "epsilon = 1.0\nsites_per_unit = "+c[0], 1), 1000, 1000, 1000); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("sites_per_unit = %s: %v", c[0], err)
		}
	}
	auto := strings.Replace(wide.String(), "covariance", "auto", 1)
	if p := mustPlan(t, auto, 1000, 1000, 1000); p.Start().Method != proposal.MethodPower || !strings.Contains(p.Method.Rule(), "2001 columns are more") ||
		slices.ContainsFunc(p.Queries, func(q Query) bool { return q.Branch != "" || q.Kind == KindMoment }) {
		t.Errorf("auto of 2001 columns: %s", p.Method.Rule())
	}
	cases := []struct{ name, text, want string }{
		{"unknown key", with("epsilom = 2"), "epsilom: unknown key"},
		{"zero epsilon", strings.Replace(texts.Minimal, "epsilon = 1.0", "epsilon = 0.0", 1), "epsilon: must be in (0, 100], got 0"},
		{"negative epsilon", strings.Replace(texts.Minimal, "epsilon = 1.0", "epsilon = -1.0", 1), "epsilon: must be"},
		{"delta one", strings.Replace(texts.Minimal, "delta = 1e-6", "delta = 1.0", 1), "delta: must be"},
		{"delta zero", strings.Replace(texts.Minimal, "delta = 1e-6", "delta = 0.0", 1), "delta: must be"},
		{"nan", strings.Replace(texts.Minimal, "epsilon = 1.0", "epsilon = nan", 1), "epsilon: must be"},
		{"negative rounds", with("rounds = -1"), "rounds: must be in 1..500, got -1"},
		{"zero rounds", with("rounds = 0"), "rounds: must be positive, got 0"},
		{"zero lambda", with("lambda = 0.0"), "lambda: must be positive, got 0"},
		{"negative lambda", with("lambda = -1.0"), "lambda: must be positive"},
		{"paper without lambda", with("profile = \"paper\"\nalpha = 0.1"), "lambda: must be positive"},
		{"paper without rounds", with("profile = \"paper\"\nlambda = 1.0"), "rounds: must be at least 1"},
		{"paper schedule", with("profile = \"paper\"\nlambda = 1.0\nrounds = 3\nschedule = \"rising\""), "schedule: accountant"},
		{"bad output", with("output = \"best\""), "output: must be one of"},
		{"bad radius", with("radius = \"big\""), "radius: must be"},
		{"column twice", texts.Minimal + "[[columns]]\nname = \"a\"\n", "\"a\" appears twice"},
		{"negative scale", texts.Minimal + "[[columns]]\nname = \"c\"\nscale = -1.0\n", "columns[2].scale: must be"},
		{"zero scale", texts.Minimal + "[[columns]]\nname = \"c\"\nscale = 0\n", "columns[2].scale: must be positive, got 0"},
		{"type", with("rounds = \"many\""), "toml: line"},
		{"no components", with("components = 0"), "components: must be positive, got 0"},
		{"negative components", with("components = -1"), "components: must be in 1..100, got -1"},
		{"too many components", with("components = 3"), "components: 3 of 2 columns: ask for no more"},
		{"bad method", with("method = \"svd\""), "method: must be one of"},
		{"bad subspace", with("subspace = \"lanczos\""), "subspace: must be one of"},
		{"deflated covariance", with("method = \"covariance\"\nsubspace = \"deflation\""), "subspace: is of method"},
		{"bad center", with("center = \"median\""), "center: must be one of"},
		{"pairs of units", with("center = \"pairs\"\nunit = \"patient\""), "center: \"pairs\" needs one row per unit"},
		{"unit is a column", with("unit = \"a\""), "unit: \"a\" is also a data column"},
		{"share without use", with("center_share = 0.1"), "center_share: has no effect"},
		{"share of all", with("center = \"private\"\ncenter_share = 1.0"), "center_share: must be in (0, 1)"},
		{"shares of too much", with("center = \"private\"\ncenter_share = 0.9"), "epsilon: at least 0.1 of the budget"},
		{"zero share", with("radius_share = 0.0"), "radius_share: must be positive"},
		{"bad lambda", with("lambda = \"best\""), "lambda: must be \"private\" or a number"},
		{"lambda without use", with("lambda = \"private\""), "lambda: \"private\" is bought for radius = \"paper\" alone"},
		{"range without lambda", with("lambda_range = [1.0, 2.0]"), "lambda_range: needs lambda"},
		{"range upside down", with("lambda = \"private\"\nradius = \"paper\"\nlambda_range = [2.0, 1.0]"), "lambda_range: must be two numbers"},
		{"range of one", with("lambda = \"private\"\nradius = \"paper\"\nlambda_range = [2.0]"), "lambda_range: must be two numbers"},
		{"bound without use", with("method = \"power\"\nnorm_bound = 2.0"), "norm_bound: has no effect"},
		{"bad bound", with("method = \"covariance\"\nnorm_bound = -2.0"), "norm_bound: must be in"},
		{"word bound", with("method = \"covariance\"\nnorm_bound = \"large\""), "norm_bound: must be \"private\""},
		{"auto with a radius", with("method = \"auto\"\nradius = 2.0"), "method: \"auto\" compares a private radius"},
		{"bad variance", with("accountant = \"paper\"\nlambda = 1.0\nradius = \"paper\"\ncenter = \"private\""), "center: accountant = \"paper\""},
		{"paper of two", with("accountant = \"paper\"\nlambda = 1.0\nradius = \"paper\"\ncomponents = 2"), "components: accountant = \"paper\""},
		{"paper distributed", with("accountant = \"paper\"\nlambda = 1.0\nradius = \"paper\"\nnoise = \"distributed\""), "noise: accountant = \"paper\""},
		{"bad noise", with("noise = \"local\""), "noise: must be one of"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := proposal.ParseSpec([]byte(c.text))
			if _, ok := errors.AsType[*proposal.FieldError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := proposal.ParseSpec([]byte("\ufeff" + strings.ReplaceAll(texts.Minimal, "\n", "\r\n"))); err != nil {
		t.Errorf("a byte order mark and CRLF: %v", err)
	}
	if _, err := plan(t, texts.Minimal, 100); err == nil || !strings.Contains(err.Error(), "at least 2 sites") {
		t.Fatalf("one site: %v", err)
	}
	if _, err := plan(t, texts.Minimal, make([]int, 65)...); err == nil {
		t.Fatal("65 sites were accepted")
	}
	if _, err := plan(t, texts.Minimal, 1<<40, 1<<40, 1); err == nil || !strings.Contains(err.Error(), "2^40") {
		t.Fatalf("too many units: %v", err)
	}
	huge := strings.Replace(texts.Minimal, "epsilon = 1.0\ndelta = 1e-6", "epsilon = 1e-12\ndelta = 1e-15", 1)
	if _, err := plan(t, huge, 1<<40-4, 1, 1); err == nil || !strings.Contains(err.Error(), "ring") {
		t.Fatalf("a ring that cannot hold the sum: %v", err)
	}
	t.Logf("figure: %d bad inputs: studies", 5+len(cases))
}

func TestRadiusAsNumberOrText(t *testing.T) {
	for _, v := range []string{"12.5", `"12.5"`} {
		p := mustPlan(t, strings.Replace(texts.Minimal, "delta", "radius = "+v+"\ndelta", 1), 1000, 1000)
		if p.Radius != 12.5 || len(p.Queries) != 24 {
			t.Fatalf("radius = %s: R = %v, %d queries", v, p.Radius, len(p.Queries))
		}
	}
}

// TestProposalIsItsBytes: parsing fills nothing in that the bytes do not say.
func TestProposalIsItsBytes(t *testing.T) {
	p := mustPlan(t, texts.Minimal, 10, 20, 30)
	again, err := proposal.Propose(p.Proposal.Spec, p.Proposal.Roster, ed25519.PublicKey(p.Proposal.Coordinator), [32]byte(p.Proposal.Nonce))
	if err != nil {
		t.Fatal(err)
	}
	if proposal.DigestOf(again) != p.Digest {
		t.Fatal("a parsed proposal writes other bytes: some parameter is not under the digest")
	}
	for _, field := range []string{"rounds = 12", "radius = ", "accountant = ", "schedule = ", "output = ", "on_dropout = ", "round = ", "missing = "} {
		if !strings.Contains(string(again), field) {
			t.Errorf("the proposal does not say %q", field)
		}
	}
}

func TestStartIsAUnitVectorOfTheDigest(t *testing.T) {
	p := mustPlan(t, texts.Minimal, 10, 20, 30)
	a, b := p.Start().X, p.Start().X
	if math.Abs(linalg.Norm(a)-1) > 1e-12 || a[0] != b[0] {
		t.Fatalf("x_0 = %v, then %v", a, b)
	}
	q := mustPlan(t, texts.Minimal, 10, 20, 31)
	if q.Start().X[0] == a[0] {
		t.Fatal("two studies have the same x_0")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(texts.Minimal))
	spec, _ := proposal.ParseSpec([]byte(texts.Minimal))
	r := texts.Roster(5, 6, 7)
	body, err := proposal.Propose(spec, r, ed25519.PublicKey(r[0].Identity), [32]byte{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	for _, text := range texts.Studies {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		proposal.ParseSpec(text)
		p, err := NewPlan(text)
		if err != nil {
			return
		}
		if p.Bits == 0 || len(p.Queries) == 0 || p.Slots > proposal.MaxSlots || !(p.Rho > 0) {
			t.Fatalf("a plan with %d bits, %d queries, %d slots, ρ = %v", p.Bits, len(p.Queries), p.Slots, p.Rho)
		}
	})
}
