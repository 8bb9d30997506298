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

// gapPlan is of a study that keeps gaps.
func gapPlan(t testing.TB, missing, noise string, lines ...string) *Plan {
	t.Helper()
	text := strings.Replace(minimal, "explained_variance = \"none\"\ncenter = \"public\"", fmt.Sprintf("missing = %q\nnoise = %q\n", missing, noise), 1)
	if noise == NoiseCentral {
		lines = append(lines, "central_detail = true")
	}
	return mustPlan(t, with(text, lines...), 9000, 9000, 9000, 9000, 9000)
}

// TestGapsAreCounted: a study that keeps gaps counts the empty cells of each column first, whatever
// the data, for a share of the budget by public sizes; no other study does. It needs distributed
// noise, or central_detail.
func TestGapsAreCounted(t *testing.T) {
	for _, missing := range []string{MissingFill, MissingZero, MissingError, MissingDropRow} {
		keeps := missing == MissingFill || missing == MissingZero
		for _, noise := range []string{NoiseCentral, NoiseDistributed} {
			text := strings.Replace(minimal, "explained_variance = \"none\"\ncenter = \"public\"", fmt.Sprintf("missing = %q\nnoise = %q\n", missing, noise), 1)
			if _, err := ParseSpec([]byte(text)); (err == nil) == (keeps && noise == NoiseCentral) {
				t.Errorf("missing %q with %s noise: %v", missing, noise, err)
			}
		}
		if !keeps {
			continue
		}
		p := gapPlan(t, missing, NoiseDistributed)
		q := p.Queries[0]
		if q.Kind != KindFilled || q.Values != len(p.Proposal.Spec.Columns) || q.Branch != "" || q.Rho/p.Rho < filledLeast*0.99 || q.Rho/p.Rho > filledMost*1.01 {
			t.Errorf("missing %q asks first for %+v", missing, q)
		}
		if i := slices.IndexFunc(p.Queries[1:], func(q Query) bool { return q.Kind == KindFilled || q.Kind == KindRows }); i >= 0 {
			t.Errorf("missing %q also asks for %+v", missing, p.Queries[1+i])
		}
		// Δ is √columns, in grid steps
		if want := math.Sqrt(float64(q.Values)) * 0x1p16; p.Sensitivity(q, 0) < want || p.Sensitivity(q, 0) > want*(1+1e-12) {
			t.Errorf("Δ is %v, want %v", p.Sensitivity(q, 0), want)
		}
	}
	if spec, err := ParseSpec([]byte(with(minimal, `missing = "fill"`))); err != nil || spec.Noise != NoiseDistributed {
		t.Errorf("a study that names no noise: %v, %v", spec.Noise, err)
	}
	if _, err := ParseSpec([]byte(with(minimal, `profile = "paper"`, "lambda = 1.0", "rounds = 2", `missing = "zero"`))); err == nil {
		t.Error("the paper has no charge for it")
	}
}

// TestAnyGapsKeepTheirEpsilon: of plans of any options that keep gaps, the count of empty cells
// costs no more than it is charged, asks are in order on every path, and the charges of every path
// stay within what the ledger reserves.
func TestAnyGapsKeepTheirEpsilon(t *testing.T) {
	rng := rand.New(rand.NewPCG(67, 68))
	plans, filled := 0, 0
	for trial := range 180 {
		s := anySpec(rng)
		s.Missing, s.Rounds = []string{MissingFill, MissingZero}[rng.IntN(2)], min(s.Rounds, 5)
		s.CentralDetail = s.Noise == NoiseCentral
		roster := anyRoster(rng)
		body, err := Propose(s, roster, signer.Public().(ed25519.PublicKey), [32]byte{byte(trial)})
		if err != nil {
			continue
		}
		p, err := NewPlan(body)
		if err != nil {
			continue
		}
		plans++
		q := p.Queries[0]
		delta := math.Sqrt(float64(q.Values)) * 0x1p16 * float64(p.SitesPerUnit())
		sigma, err := p.Sigma(q, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := sigma.Float() * sigma.Float()
		if p.Proposal.Spec.Accountant == AccountantGDP {
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
				a, err := p.NewAsk(c, len(releases), 0)
				if err == nil {
					err = p.checkVectors(p.Queries[c.Query], a)
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
				noised := make([]int64, p.released(p.Queries[c.Query]))
				for i := range noised {
					noised[i] = int64(a.Sigma.Float() * math.Exp(6*rng.NormFloat64()) * rng.NormFloat64())
				}
				if p.Chooses(c.Query) {
					noised[0] = 0
				}
				r, err := p.NewRelease(a, survivors, noised)
				if err != nil {
					t.Fatal(err)
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
	p := gapPlan(t, MissingFill, NoiseDistributed, `method = "power"`, "components = 2", "rounds = 3")
	c := p.Start()
	c.Center, c.Radii[KindPower] = make([]float64, p.D), 1
	c.Query = slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindPower && q.Round == 2 })
	honest, err := p.NewAsk(c, 0, 0)
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
		if a, err := p.NewAsk(first, 0, 0); err != nil || len(a.Fill) != 0 {
			t.Errorf("in round %d gaps are filled from %v, %v", p.Queries[first.Query].Round, a.Fill, err)
		}
		first.Query++
	}
	r, err := p.NewRelease(honest, []int{0, 1, 2, 3, 4}, make([]int64, 2*p.D))
	if err != nil || !slices.Equal(r.Fill, honest.Fill) || !slices.Equal(r.Ask(0).Fill, honest.Fill) {
		t.Errorf("a release says %v, %v", r.Fill, err)
	}
}

// filledOf is a release of shares of empty cells, with noise.
func filledOf(t testing.TB, p *Plan, rng *rand.Rand, shares []float64) Release {
	t.Helper()
	a, err := p.NewAsk(p.Start(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	noised := make([]int64, len(shares))
	for j, v := range shares {
		noised[j] = int64(v*float64(p.N)/a.Grid + a.Sigma.Float()*rng.NormFloat64())
	}
	r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, noised)
	if err != nil {
		t.Fatal(err)
	}
	if p.Honest > 0 { // all sites' shares
		more := r.Spread() / a.Sigma.Float()
		for j, v := range shares {
			mean := v * float64(p.N) / a.Grid
			r.Noised[j] = int64(mean + more*(float64(noised[j])-mean))
		}
	}
	return r
}

// columnsOf adds columns to a study's text.
func columnsOf(n int) (lines string) {
	for j := range n {
		lines += fmt.Sprintf("[[columns]]\nname = \"c%d\"\nscale = 1\n", j)
	}
	return lines
}

func wideGapPlan(t testing.TB, columns int, noise string) *Plan {
	t.Helper()
	text := minimal[:strings.Index(minimal, "[[columns]]")]
	text = strings.Replace(text, "explained_variance = \"none\"\ncenter = \"public\"", fmt.Sprintf("missing = \"fill\"\nnoise = %q\nmethod = \"covariance\"\ncentral_detail = %t\n", noise, noise == NoiseCentral), 1)
	return mustPlan(t, text+columnsOf(columns), 9000, 9000, 9000, 9000, 9000)
}

// TestFilledIntervalsCover: the share of empty cells is released with intervals of which 95% cover
// the true one: of 40 columns × 60 seeded runs at least 93% (right ones fail here with probability
// below 10^-5), in both noise modes. Columns whose shares are equal are read as equal, one that is
// empty is not taken for one of the others, and nothing is below what may be divided by.
func TestFilledIntervalsCover(t *testing.T) {
	for _, noise := range []string{NoiseCentral, NoiseDistributed} {
		const columns, runs = 40, 60
		p, rng := wideGapPlan(t, columns, noise), rand.New(rand.NewPCG(11, 12))
		covered, error, raw := 0, 0.0, 0.0
		for run := range runs {
			shares := slices.Repeat([]float64{0.2}, columns)
			if run%2 == 1 {
				shares[7] = 0.99
			}
			rel := filledOf(t, p, rng, shares)
			r := &Result{}
			r.count(p, []Release{rel})
			z := rel.Z()
			for j, interval := range r.FilledInterval {
				if interval[0] <= shares[j] && shares[j] <= interval[1] {
					covered++
				}
			}
			observed := p.observed(rel)
			if run%2 == 1 {
				if math.Abs(observed[7]-observedLeast) > 1e-9 {
					t.Errorf("an empty column is seen in %v of the rows", observed[7])
				}
				continue
			}
			for j, v := range observed {
				error += (v - 0.8) * (v - 0.8)
				raw += (z[j] - 0.2) * (z[j] - 0.2)
			}
		}
		if covered < columns*runs*93/100 {
			t.Errorf("%s: of %d intervals %d cover", noise, columns*runs, covered)
		}
		if !(error < raw/5) {
			t.Errorf("%s: equal shares are read with an error of %v, as released %v", noise, error, raw)
		}
	}
}

// TestCorrectedCovariance: a covariance of rows that are empty at random, with zeros there, is
// corrected to that of complete rows; with missing = "zero" it stays what it is.
func TestCorrectedCovariance(t *testing.T) {
	const d = 6
	p, observed := wideGapPlan(t, d, NoiseCentral), []float64{1, 0.9, 0.8, 0.5, 0.3, 0.1}
	full, m := make([]float64, 0, d*(d+1)/2), secondMoment{tau: 2}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range d {
		for j := i; j < d; j++ {
			v, seen := rng.NormFloat64(), observed[i]*observed[j]
			if i == j {
				seen = observed[i]
			}
			full, m.packed = append(full, v), append(m.packed, v*seen)
		}
	}
	got := p.corrected(m, Course{Observed: observed})
	for i, v := range got.packed {
		if !(math.Abs(v-full[i]) <= 1e-12) {
			t.Errorf("number %d is %v, want %v", i, v, full[i])
		}
	}
	square := 0.0 // of the noise, over all entries of the matrix
	for _, a := range observed {
		for _, b := range observed {
			square += 4 / (a * a * b * b) / d / d
		}
	}
	if math.Abs(got.tau-math.Sqrt(square)) > 1e-9 {
		t.Errorf("the noise is %v, want %v", got.tau, math.Sqrt(square))
	}
	p.Proposal.Spec.Missing = MissingZero
	if got := p.corrected(m, Course{Observed: observed}); !slices.Equal(got.packed, m.packed) || got.tau != m.tau {
		t.Error("zeros are corrected")
	}
}

// TestCenterIsOfValues: the center is the mean of the cells that have a value.
func TestCenterIsOfValues(t *testing.T) {
	p := gapPlan(t, MissingZero, NoiseDistributed)
	c := Course{Observed: []float64{0.5, 0.8}, Center: []float64{1, 1}}
	p.moveCenter(&c, Release{Kind: KindMean, Noised: []int64{100, 160}, Grid: 1, Units: 100})
	if math.Abs(c.Center[0]-3) > 1e-12 || math.Abs(c.Center[1]-3) > 1e-12 {
		t.Errorf("the center is %v, want 3 and 3", c.Center)
	}
}

// TestFilledText: people are told how many cells were empty and in which columns most were, in the
// result and by verify.
func TestFilledText(t *testing.T) {
	p := wideGapPlan(t, 8, NoiseDistributed)
	shares := []float64{0, 0.1, 0.6, 0.9, 0.7, 0.8, 0.75, 0.85}
	r := &Result{}
	for j := range shares {
		r.Columns = append(r.Columns, fmt.Sprint("c", j))
	}
	if text := r.FilledText(); text != "" {
		t.Errorf("without gaps: %q", text)
	}
	r.count(p, []Release{filledOf(t, p, rand.New(rand.NewPCG(1, 1)), shares)})
	text := r.FilledText()
	for _, want := range []string{"of the cells had no value and were filled from the rest of their row", "more than half of the cells are empty in \"c2\"", "and 1 more", "mostly not observed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if strings.Contains(text, `"c1"`) {
		t.Errorf("%q names a column with few gaps", text)
	}
	if v := (&Verified{gaps: text}); !slices.ContainsFunc(v.Rows(), func(row [2]string) bool { return row[1] == text }) {
		t.Error("verify does not say it")
	}
}

// TestIndicators: a coordinate that says where a column has no value follows the column's own,
// never is a gap, and is centered and scaled by the released share, as levels are; one that nearly
// all rows have or have not is left out. It needs gaps that are kept.
func TestIndicators(t *testing.T) {
	text := strings.Replace(minimal, "explained_variance = \"none\"\ncenter = \"public\"", "missing = \"fill\"\n", 1)
	text = strings.Replace(text, "name = \"b\"", "name = \"b\"\nindicator = true", 1) + "[[columns]]\nname = \"c\"\nlevels = [\"x\", \"y\"]\nindicator = true\n[[columns]]\nname = \"e\"\nscale = 1\nindicator = true\n"
	p := mustPlan(t, text, 9000, 9000, 9000, 9000, 9000)
	var names []string
	for _, at := range p.Coordinates() {
		names = append(names, at.Name)
		if at.Gap != strings.HasSuffix(at.Name, " is missing") || at.Gap && at.Level != -1 {
			t.Errorf("%+v", at)
		}
	}
	if got := strings.Join(names, ", "); got != "a, b, b is missing, c=x, c=y, c=other, c is missing, e, e is missing" || p.D != len(names) {
		t.Fatalf("coordinates %s, d = %d", got, p.D)
	}
	if got := fmt.Sprint(p.Places()); got != "[0 1 3 7]" || p.Queries[0].Values != 4 {
		t.Errorf("gaps are counted at %s, %d numbers", got, p.Queries[0].Values)
	}
	if first, width := p.Indicators(); fmt.Sprint(first, width) != "[3] [3]" {
		t.Errorf("levels are at %v, %v", first, width)
	}
	c := p.Start()
	p.readFilled(&c, filledOf(t, p, rand.New(rand.NewPCG(2, 2)), []float64{0, 0.3, 0.5, 0.001}))
	for j, want := range []float64{0, 0, 0.3, 0, 0, 0, 0.5, 0, 0} {
		scale := 1.0
		if at := p.Coordinates()[j]; at.Gap {
			scale = math.Sqrt(want)
		}
		if math.Abs(c.Center[j]-want) > 0.05 || math.Abs(c.Scale[j]-scale) > 0.05 {
			t.Errorf("%s has center %v and scale %v, want %v and %v", names[j], c.Center[j], c.Scale[j], want, scale)
		}
	}
	if c.Scale[8] != 0 || c.X[8] != 0 || p.levelsLeftOut(c)[8] != OutEven {
		t.Errorf("a coordinate that is 0 nearly everywhere has scale %v, and x is %v there", c.Scale[8], c.X[8])
	}
	for j, v := range c.Observed {
		if p.Coordinates()[j].Gap && v != 1 {
			t.Errorf("%s has a value in %v of the rows", names[j], v)
		}
	}
	for _, missing := range []string{MissingError, MissingDropRow} {
		if _, err := ParseSpec([]byte(strings.Replace(text, `"fill"`, fmt.Sprintf("%q", missing), 1))); err == nil || !strings.Contains(err.Error(), "indicator") {
			t.Errorf("missing = %q: %v", missing, err)
		}
	}
}
