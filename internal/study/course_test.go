package study

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// four has four columns and buys what a study of public offsets buys by default. four is a study of
// four columns. All of it is in the digest, which draws the start of the iteration; from some
// starts a few rounds are not enough.
const four = `
name = "four"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
center = "public"
deadlines = { round = "1m", tick = "100ms" }
[[columns]]
name = "a"
scale = 1
[[columns]]
name = "b"
scale = 1
[[columns]]
name = "c"
scale = 1
[[columns]]
name = "d"
scale = 1
`

// with is the text with more lines, of which a center takes the text's place.
func with(text string, lines ...string) string {
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "center =") }) {
		text = strings.Replace(text, "center = \"public\"\n", "", 1)
	}
	return strings.Replace(text, "delta = 1e-6", "delta = 1e-6\n"+strings.Join(lines, "\n"), 1)
}

// studies are a study of every kind.
var studies = map[string]string{
	"default":          four,
	"block":            with(four, "components = 2"),
	"all components":   with(four, "components = 4", "rounds = 3"),
	"deflation":        with(four, "components = 3", `subspace = "deflation"`, "rounds = 20"),
	"covariance":       with(four, "components = 2", `method = "covariance"`),
	"public bound":     with(four, `method = "covariance"`, "norm_bound = 3.0"),
	"auto":             with(four, "components = 2", `method = "auto"`),
	"auto, no tail":    with(four, `method = "auto"`, `explained_variance = "none"`),
	"private mean":     with(four, `center = "private"`),
	"pairs":            with(four, `center = "pairs"`),
	"units":            with(four, `unit = "patient"`, `center = "private"`),
	"private scale":    with(four, `lambda = "private"`, `radius = "paper"`, "rounds = 3"),
	"scale in a range": with(four, `lambda = "private"`, `lambda_range = [0.1, 20.0]`, `radius = "paper"`, "rounds = 3"),
	"distributed":      with(four, `noise = "distributed"`, `center = "private"`, "components = 2"),
	"distributed auto": with(four, `noise = "distributed"`, `method = "auto"`),
	"distributed range": with(four, `noise = "distributed"`, `lambda = "private"`, `lambda_range = [0.1, 20.0]`, `radius = "paper"`,
		"rounds = 3"),
	"standardized": with(learningAll, `method = "power"`, `rows = "plain"`, "rounds = 12"),
	"standardized by deflation": with(learningAll, "central_detail = true", "components = 2", `subspace = "deflation"`, "rounds = 20",
		`explained_variance = "private"`, `missing = "drop-row"`),
	"everything": with(four, `noise = "distributed"`, `method = "auto"`, `center = "private"`, `unit = "patient"`, `subspace = "deflation"`,
		"components = 2", "rounds = 24"),
}

// answerOf makes an answer up: sums of n units whose first coordinate is strongest and
// whose mean is (3, 0, 0, 0), with noise of the law's size.
func answerOf(p *Plan, a Ask, rng *rand.Rand, wide bool) []int64 {
	q := p.Queries[a.Query]
	n := float64(p.N)
	v := make([]float64, q.Values)
	put := func(j int, x float64) { v[j] = n * x / a.Grid }
	switch q.Kind {
	case KindPower:
		for i := range len(a.X) / p.D {
			for j := range p.D {
				put(i*p.D+j, a.X[i*p.D+j]/float64(j+1))
			}
		}
	case KindMean:
		mean := 3.0
		if len(a.Center) > 0 {
			mean -= a.Center[0]
		}
		if p.Proposal.Spec.Unit != "" {
			mean *= 2 // rows a unit
		}
		put(0, mean)
	case KindMoment:
		at := 0
		for j := range p.D {
			put(at, 1/float64(j+1))
			at += p.D - j
		}
	case KindVariance:
		for i, x := range split(a.X, p.D) {
			sum := 0.0
			for j := range x {
				sum += x[j] * x[j] / float64(j+1)
			}
			put(i, sum)
		}
	case KindTotal:
		put(0, 1+1./2+1./3+1./4)
	case KindRows:
		put(0, 2)
	case KindLevels:
		answerLevels(p, put)
	case KindScores:
		for l := range p.K() {
			put(l*ScoreBins+16+l, 1)
		}
	case KindPicture:
		x, y := p.Pair(q)
		put((8+x)*PictureBins+8+y, 1)
	case KindLambda:
		put(256, 0.9*float64(p.Groups)/n)
	case KindSelect:
		put(4, 0.9*float64(p.Groups)/n)
	case KindOctaves, KindTree, KindMoments:
		for j, x := range lawOf(p, a, []float64{3, 0, 0, 0}, []float64{1, 1, 1, 1}) {
			put(j, x)
		}
	case KindHistogram:
		j := 256
		if p.OnSphere(q) {
			j = 230
		}
		if q.Of == KindPower == wide && (wide || q.Of == KindTotal) {
			j = 290
		}
		put(j, 1)
	}
	out := make([]int64, len(v))
	sigma := a.Sigma.Float()
	if p.Honest > 0 {
		sigma *= math.Sqrt(float64(p.Thresholds.Sites) / float64(p.Honest))
	}
	for i := range v {
		if fewest(p) { // noise would leave nothing, and no count stand out of it
			out[i] = int64(math.Round(v[i]))
			if q.Kind == KindHistogram {
				out[i] *= 1 << 20
			}
			continue
		}
		out[i] = int64(math.Round(v[i] + sigma*rng.NormFloat64()))
	}
	if p.Chooses(a.Query) {
		out = []int64{4}
	}
	return out
}

// fewest reports whether a plan is of so few units that auto has a choice.
func fewest(p *Plan) bool { return p.method() == MethodAuto }

// runStudy takes a whole study of five sites, checking each step as sites do.
func runStudy(t *testing.T, text string, wide bool) (*Plan, []byte, []Release, []SignedRelease) {
	t.Helper()
	spec, err := ParseSpec([]byte(iterating(text)))
	if err != nil {
		t.Fatal(err)
	}
	sites := roster(40_000, 50_000, 60_000, 70_000, 80_000)
	if strings.Contains(text, `"auto"`) {
		sites = roster(20, 20, 20, 20, 20)
	}
	body, err := Propose(spec, sites, signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	c, last := p.Start(), -1
	var releases []Release
	var signed []SignedRelease
	for c.Query < len(p.Queries) {
		if !p.Follows(last, c.Query) {
			t.Fatalf("query %d does not follow %d", c.Query, last)
		}
		if left := p.Left(c.Query); left > p.Slots-len(releases) || left < 1 {
			t.Fatalf("%d queries left at query %d, after %d of %d slots", left, c.Query, len(releases), p.Slots)
		}
		a, err := p.NewAsk(c, len(releases), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(a); err != nil {
			t.Fatal(err)
		}
		r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, answerOf(p, a, rng, wide))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckRelease(r, 0); err != nil {
			t.Fatal(err)
		}
		last = c.Query
		if p.Ends(last) != (p.Left(last) == 1) {
			t.Fatalf("query %d: ends %v, left %d", last, p.Ends(last), p.Left(last))
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		if c.End != "" {
			t.Fatalf("query %d ends the study: %s", last, c.End)
		}
		releases = append(releases, r)
		signed = append(signed, signRelease(t, r))
	}
	if !p.Ends(last) {
		t.Fatalf("the study ended with query %d, and more may follow it", last)
	}
	return p, body, releases, signed
}

// TestStudies runs one study of every kind to its result: every ask and release passes
// the sites' checks, the charges add up to the ledger's reservation, and the signed
// result verifies.
func TestStudies(t *testing.T) {
	for name, text := range studies {
		for _, wide := range []bool{false, true} { // auto takes either branch
			if wide && !strings.Contains(text, "auto") {
				continue
			}
			t.Run(fmt.Sprint(name, " ", wide), func(t *testing.T) {
				p, body, releases, signed := runStudy(t, text, wide)
				rho := 0.0
				for _, r := range releases {
					rho += r.Rho
				}
				if math.Abs(rho-p.Rho) > 1e-12*p.Rho {
					t.Errorf("ρ = %v is charged, %v reserved", rho, p.Rho)
				}
				if spent, err := p.Curve().Epsilon(p.Rho, 1e-6); err != nil || spent > 1 {
					t.Errorf("spends ε = %v, %v", spent, err)
				}
				result, err := SignResult(body, signed, signer, approvalsOf(p)...)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := Verify(file(t, result)); err != nil {
					t.Fatal(err)
				}
				checkResult(t, p, result, wide)
			})
		}
	}
}

func checkResult(t *testing.T, p *Plan, r *Result, wide bool) {
	t.Helper()
	s := p.Proposal.Spec
	if len(r.Components) != s.mostComponents() || r.K != s.mostComponents() {
		t.Fatalf("%d components", len(r.Components))
	}
	if why := orthonormal(flat(r.Components), p.D); why != "" {
		t.Errorf("components: %s", why)
	}
	if s.Components < 4 && s.Lambda == "" { // in order, signs by convention
		for i, x := range r.Components {
			if x[i] < 0.95 {
				t.Errorf("component %d is %v", i, x)
			}
		}
	}
	if method := map[bool]string{true: MethodCovariance, false: MethodPower}[wide]; s.Method == MethodAuto && (r.Method != method || !strings.Contains(r.MethodWhy, "B²")) {
		t.Errorf("auto took %s: %s", r.Method, r.MethodWhy)
	}
	if mean := r.Mean[0]; s.Center == CenterPrivate && math.Abs(mean-3) > 0.05*3 {
		t.Errorf("mean %v", r.Mean)
	}
	if s.ExplainedVariance == VarianceNone {
		if r.ExplainedVariance != nil || r.TotalInterval != nil || r.VarianceNote != "" {
			t.Error("explained variance was not bought")
		}
		return
	}
	if fewest(p) { // intervals are wider than what they are of
		return
	}
	perUnit := 1.0
	if s.Unit != "" {
		perUnit = 2
	}
	spread := 0.0 // of rows per unit
	for _, rel := range r.Releases {
		if rel.Kind == KindRows {
			spread = rel.Tau()
		}
		half := func(v float64) float64 { return 1.96 * math.Hypot(rel.Tau(), v*spread) / perUnit }
		if b, half := r.TotalInterval, half(r.TotalVariance); rel.Kind == KindTotal && math.Abs((b[1]-b[0])/2-half) > 1e-2*half {
			t.Errorf("interval %v of the total, want ± %v", b, half)
		}
		if b, half := r.VarianceInterval[0], half(r.ExplainedVariance[0]); rel.Kind == KindVariance && math.Abs((b[1]-b[0])/2-half) > 1e-2*half {
			t.Errorf("interval %v, want ± %v", b, half)
		}
	}
	for i, v := range r.ExplainedVariance {
		want := 1 / float64(i+1) / perUnit
		// the paper's R needs more units than these
		if math.Abs(v-want) > 0.1*want && s.Lambda == "" {
			t.Errorf("explained variance %d is %v, want %v", i, v, want)
		}
		if b := r.VarianceInterval[i]; !(b[0] <= v && v <= b[1]) {
			t.Errorf("interval %v of %v", b, v)
		}
		if i > 0 && v > r.ExplainedVariance[i-1] {
			t.Error("components are not in order")
		}
		if math.Abs(r.VarianceRatio[i]-v/r.TotalVariance) > 1e-12 {
			t.Errorf("ratio %v", r.VarianceRatio[i])
		}
	}
}

// TestFollows: after a branch is taken the other is closed, and no query is left out.
func TestFollows(t *testing.T) {
	p := mustPlan(t, with(four, `method = "auto"`, "rounds = 2"), 30, 30, 30)
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
			if got := p.Follows(last, next); got != allowed[[2]int{last, next}] {
				t.Errorf("query %d after %d: %v", next, last, got)
			}
		}
	}
	none := mustPlan(t, with(four, `method = "auto"`, `explained_variance = "none"`, "rounds = 1"), 30, 30, 30)
	for query, want := range []bool{false, false, true, false, false, true} {
		if none.Ends(query) != want {
			t.Errorf("query %d of %v ends: %v", query, none.Queries[query].Kind, !want)
		}
	}
}

// TestShares: what a study buys costs what docs/privacy.md says, and both branches of
// auto cost the same.
func TestShares(t *testing.T) {
	p := mustPlan(t, with(four, `method = "auto"`, `center = "private"`, `unit = "patient"`), 30, 30, 30)
	rho, branch := map[Kind]float64{}, map[string]float64{}
	for _, q := range p.Queries {
		kind := q.Kind
		if kind == KindHistogram {
			kind = q.Of
		}
		if q.Branch == "" || q.Branch == MethodPower {
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
	if math.Abs(branch[MethodPower]-branch[MethodCovariance]) > 1e-9 {
		t.Errorf("branches cost %v", branch)
	}
}

// TestScaleRefuses: with too few units a private Λ is refused, and the error says
// how many are needed; where no octave stands out the study ends.
func TestScaleRefuses(t *testing.T) {
	text := with(four, `lambda = "private"`, `radius = "paper"`, "rounds = 3")
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
	a, err := p.NewAsk(p.Start(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDistributedPlan: σ_i² times the honest sites is at least σ², the release says what
// was added, and rosters that leave nobody honest are refused (docs/privacy.md).
func TestDistributedPlan(t *testing.T) {
	text := with(four, `noise = "distributed"`)
	for n := 2; n <= 20; n++ {
		sites := slices.Repeat([]int{20_000}, n)
		p, err := plan(t, text, sites...)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.Thresholds.MinSurvivors - max(1, p.Thresholds.Corrupt); p.Honest != want {
			t.Fatalf("%d sites: %d honest, want %d", n, p.Honest, want)
		}
		if p.Proposal.Spec.OnDropout != DropoutContinue {
			t.Fatal("distributed noise may go on without a site")
		}
		for _, q := range p.Queries {
			total, err := p.Sigma(q, 1)
			if err != nil {
				t.Fatal(err)
			}
			share, err := p.Share(total)
			if err != nil {
				t.Fatal(err)
			}
			if carried := share.Float() * math.Sqrt(float64(p.Honest)); carried < total.Float()*(1-1e-12) {
				t.Fatalf("%d sites, %s: %d shares carry σ = %v of %v", n, q.Kind, p.Honest, carried, total.Float())
			}
			if total.Float() < q.Multiplier*p.Sensitivity(q, 1)*(1-1e-12) || q.Lanes != q.Values {
				t.Fatalf("%s: σ = %v, %d lanes", q.Kind, total.Float(), q.Lanes)
			}
		}
	}
}
