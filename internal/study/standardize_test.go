package study

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/query"
	"covey/internal/standardize"
)

// learning is a study of five columns, the last of which is scaled as it says.
const learning = `
name = "learning"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
standardize = "private"
explained_variance = "none"
[[columns]]
name = "a"
[[columns]]
name = "b"
[[columns]]
name = "c"
[[columns]]
name = "d"
[[columns]]
name = "known"
offset = 3.0
scale = 2.0
`

// learningAll is one of four columns that are all learned.
var learningAll = strings.Replace(learning[:strings.Index(learning, "[[columns]]\nname = \"known\"")], "explained_variance = \"none\"\n", "", 1)

// TestStandardizeKeys: which columns are learned, what that needs, and what it does not go with.
func TestStandardizeKeys(t *testing.T) {
	s, err := ParseSpec([]byte(learning))
	if err != nil {
		t.Fatal(err)
	}
	var learned []string
	for _, c := range s.Columns {
		if c.Standardize == StandardizePrivate {
			learned = append(learned, c.Name)
			if c.Offset != 0 || c.Scale != 1 {
				t.Errorf("%+v", c)
			}
		}
	}
	if !slices.Equal(learned, []string{"a", "b", "c", "d"}) || s.Noise != NoiseDistributed || s.Center != CenterPrivate || s.CenterShare != 0 {
		t.Errorf("learned are %q, noise %q, center %q for %g", learned, s.Noise, s.Center, s.CenterShare)
	}
	again := s
	again.Columns = slices.Clone(s.Columns)
	if err := again.resolve(); err != nil || fmt.Sprint(again) != fmt.Sprint(s) {
		t.Errorf("resolved again it is\n%+v, %v, not\n%+v", again, err, s)
	}
	one := strings.Replace(strings.Replace(learning, `standardize = "private"`, "", 1), `name = "a"`, "name = \"a\"\nstandardize = \"private\"", 1)
	for _, name := range []string{"b", "c", "d"} {
		one = strings.Replace(one, fmt.Sprintf("name = %q", name), fmt.Sprintf("name = %q\nscale = 1", name), 1)
	}
	if s, err = ParseSpec([]byte(one)); err != nil || s.Standardize != StandardizePrivate || s.Noise != NoiseDistributed {
		t.Errorf("one column that asks for it: %q, %v", s.Standardize, err)
	}
	if s, err = ParseSpec([]byte(with(learning, "central_detail = true"))); err != nil || s.Noise != NoiseCentral {
		t.Errorf("with central_detail: %q, %v", s.Noise, err)
	}
	for lines, field := range map[string]string{
		`noise = "central"`: "noise",
		"noise = \"distributed\"\ncentral_detail = true": "central_detail",
		`center = "public"`:      "center",
		`center = "pairs"`:       "center",
		`center_share = 0.1`:     "center_share",
		`profile = "paper"`:      "standardize",
		`start = { file = "x" }`: "start",
		`method = "principal"`:   "method",
	} {
		if lines == `profile = "paper"` {
			lines += "\nalpha = 0.5\nlambda = 1.0\nexplained_variance = \"none\""
		}
		text := with(strings.Replace(learning, `explained_variance = "none"`, "", 1), lines)
		_, err := ParseSpec([]byte(text))
		if bad, ok := errors.AsType[*FieldError](err); !ok || bad.Field != field {
			t.Errorf("%s: %v, want %s to be at fault", lines, err, field)
		}
	}
	for text, field := range map[string]string{
		with(four, "central_detail = true"): "central_detail",
		strings.Replace(learning, `name = "a"`, "name = \"a\"\nstandardize = \"private\"\noffset = 1.0\nscale = 2.0", 1): "columns[0].standardize",
		strings.Replace(learning, `name = "a"`, "name = \"a\"\nstandardize = \"private\"\nlevels = [\"x\"]", 1):          "columns[0].standardize",
		strings.Replace(learning, `name = "b"`, "name = \"b\"\nstandardize = \"exactly\"\nscale = 1", 1):                 "columns[1].standardize",
		with(four, `standardize = "private"`): "standardize",
		with(strings.Replace(four, "[[columns]]", "[[columns]]\nstandardize = \"private\"", 1), `standardize = "none"`): "columns[0].standardize",
	} {
		_, err := ParseSpec([]byte(text))
		if bad, ok := errors.AsType[*FieldError](err); !ok || bad.Field != field {
			t.Errorf("%v, want %s to be at fault", err, field)
		}
	}
	// What is refused with central noise says what the leader would read.
	if _, err = ParseSpec([]byte(with(learning, `noise = "central"`))); err == nil {
		t.Fatal("central noise is accepted")
	}
	for _, part := range []string{`standardize = "private"`, "leader reads", "reads a site's exact sums", "central_detail = true"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

// TestStandardizePlan: constants come first, before whatever is asked about rows that they scale,
// for shares that public numbers give; a study that is small is warned of, and one that is smaller
// is refused, with the number of units that would do.
func TestStandardizePlan(t *testing.T) {
	p := mustPlan(t, learning, 2000, 2000, 2000)
	var kinds []Kind
	for _, q := range p.Queries[:4] {
		kinds = append(kinds, q.Kind)
	}
	if !slices.Equal(kinds, []Kind{KindOctaves, KindTree, KindMoments, KindMoments}) || p.Queries[3].Round != 1 {
		t.Errorf("it begins with %q", kinds)
	}
	if w := p.Warnings(); slices.ContainsFunc(w, func(w string) bool { return strings.Contains(w, "plain column") }) {
		t.Errorf("%d units are warned of: %q", p.N, w)
	}
	at := func(n int) (*Plan, error) { return plan(t, learning, n, n, n) }
	warned := standardize.NeededUnits(p.D, p.fullMultiplier, standardize.WarnScore)
	if small, err := at(warned/3 - 1); err != nil || !strings.Contains(strings.Join(small.Warnings(), "\n"), fmt.Sprintf("%d units would do", warned)) {
		t.Errorf("fewer than %d units: %v", warned, err)
	}
	least := standardize.NeededUnits(p.D, p.fullMultiplier, standardize.RefuseScore)
	_, err := at(least/3 - 1)
	if bad, ok := errors.AsType[*FieldError](err); !ok || bad.Field != "standardize" || !strings.Contains(bad.Reason, fmt.Sprintf("%d units would do", least)) {
		t.Errorf("fewer than %d units: %v", least, err)
	}
	if _, err := at(least/3 + 1); err != nil {
		t.Errorf("%d units: %v", least, err)
	}
	wide := learning[:strings.Index(learning, "[[columns]]")]
	most := MaxValues / query.TreeBins
	var names strings.Builder
	for j := range most + 1 {
		fmt.Fprintf(&names, "[[columns]]\nname = \"c%d\"\n", j)
	}
	_, err = plan(t, wide+"method = \"power\"\n"+names.String(), 1<<30, 1<<30)
	if bad, ok := errors.AsType[*FieldError](err); !ok || bad.Field != "standardize" || !strings.Contains(bad.Reason, fmt.Sprintf("at most %d columns", most)) {
		t.Errorf("%d columns: %v", most+1, err)
	}
	// of units at two sites a study learns as from half as many
	if two, err := plan(t, with(learning, "sites_per_unit = 2"), 2000, 2000, 2000); err != nil || math.Abs(two.Score()-standardize.Score(3000, 5, p.fullMultiplier)) > 1e-12 {
		t.Errorf("at two sites the score is %v, %v", two.Score(), err)
	}
}

// lawOf is what a study of laws N(mean, deviation²) of each column would release to any of the
// first queries, without noise. Those of deviation 0 are constant.
func lawOf(p *Plan, a Ask, means, deviations []float64) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(a.Query)))
	const draws = 4000
	out := make([]float64, p.Queries[a.Query].Values)
	of := p.Single(a.Kind)
	for range draws {
		for at, j := range of {
			if p.counted(j) {
				if a.Kind == KindMoments { // a coordinate that is left out
					out[len(of)+at] += 1.0 / draws
				}
				continue
			}
			y := means[j] + deviations[j]*rng.NormFloat64()
			z := y
			if a.Scale != nil {
				if a.Scale[j] == 0 {
					continue
				}
				z = (y - a.Center[j]) / a.Scale[j]
			}
			limit := p.Limit(p.Queries[a.Query], j)
			z = max(-limit, min(z, limit))
			switch a.Kind {
			case KindOctaves:
				for _, b := range query.AppendOctaves(nil, y) {
					out[at*query.OctaveBins+b] += 1.0 / draws
				}
			case KindTree:
				for _, b := range query.AppendTree(nil, z) {
					out[at*query.TreeBins+b] += 1.0 / draws
				}
			case KindMoments:
				out[at] += 2 * z / draws
				out[len(of)+at] += z * z / draws
			}
		}
	}
	return out
}

// learned is the course after the queries that learn constants.
func learned(t *testing.T, p *Plan, means, deviations []float64) (Course, []Release) {
	t.Helper()
	c := p.Start()
	var releases []Release
	for c.Query < 4 {
		a, err := p.NewAsk(c, c.Query, 0)
		if err == nil {
			err = p.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		var noised []int64
		for _, v := range lawOf(p, a, means, deviations) {
			noised = append(noised, int64(v*float64(p.N)/a.Grid))
		}
		r, err := p.NewRelease(a, []int{0, 1, 2}, noised)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	return c, releases
}

// TestLearnedCourse: center and scale of each column follow from the releases, a known column keeps
// its scale and gets a center, a column of one value is left out, and no vector of the course has a
// part in it. A study that learns fewer columns than it has components ends.
func TestLearnedCourse(t *testing.T) {
	p := mustPlan(t, with(learning, `method = "power"`, `rows = "plain"`, "components = 2"), 40_000, 40_000, 40_000)
	means, deviations := []float64{100, -3, 7, 0, 0.5}, []float64{5, 0.05, 0, 1e6, 1}
	c, _ := learned(t, p, means, deviations)
	for j, d := range deviations {
		switch {
		case j == 2:
			if c.Scale[j] != 0 || c.Center[j] != 0 || c.Columns[j].Out != standardize.Constant {
				t.Errorf("a column of one value has %+v", c.Columns[j])
			}
			continue
		case j == 4:
			if c.Scale[j] != 1 {
				t.Errorf("a known column has the scale %v", c.Scale[j])
			}
		case math.Abs(c.Scale[j]/d-1) > 0.1:
			t.Errorf("column %d has the scale %v, its deviation is %v", j, c.Scale[j], d)
		}
		if math.Abs(c.Center[j]-means[j]) > 0.1*d {
			t.Errorf("column %d has the center %v, its mean is %v", j, c.Center[j], means[j])
		}
	}
	for _, v := range split(c.X, p.D) {
		if v[2] != 0 || math.Abs(norm(v)-1) > 1e-12 {
			t.Errorf("the first step is asked along %v", v)
		}
	}
	if c.End != "" {
		t.Errorf("it ended: %s", c.End)
	}
	still, _ := learned(t, p, means, []float64{0, 0, 0, 1e6, 0})
	if still.End != "" { // the known column and one other
		t.Errorf("two columns are too few for two components: %s", still.End)
	}
	three := mustPlan(t, with(learning, `method = "power"`, `rows = "plain"`, "components = 3"), 40_000, 40_000, 40_000)
	if still, _ = learned(t, three, means, []float64{0, 0, 0, 1e6, 0}); still.End != CodeNoScale {
		t.Errorf("two columns of three that are wanted: %q", still.End)
	}
}

// TestScaleIsChecked: an ask has the scales that follow from the releases and no others, on every
// query about scaled rows and on no other; and they are in its context.
func TestScaleIsChecked(t *testing.T) {
	p := mustPlan(t, learning, 40_000, 40_000, 40_000)
	c, _ := learned(t, p, []float64{100, -3, 7, 0, 0.5}, []float64{5, 0.05, 0, 1e6, 1})
	good, err := p.NewAsk(c, c.Query, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Check(good), p.CheckCourse(c, good)); err != nil {
		t.Fatal(err)
	}
	change := func(of []float64, j int, v float64) []float64 {
		of = slices.Clone(of)
		of[j] = v
		return of
	}
	for name, a := range map[string]struct {
		change func(*Ask)
		check  bool // Check refuses it, else CheckCourse alone
	}{
		"none":                 {func(a *Ask) { a.Scale = nil }, true},
		"one fewer":            {func(a *Ask) { a.Scale = a.Scale[1:] }, true},
		"below zero":           {func(a *Ask) { a.Scale = change(a.Scale, 0, -1) }, true},
		"not a number":         {func(a *Ask) { a.Scale = change(a.Scale, 0, math.NaN()) }, true},
		"infinite":             {func(a *Ask) { a.Scale = change(a.Scale, 0, math.Inf(1)) }, true},
		"too small":            {func(a *Ask) { a.Scale = change(a.Scale, 0, 0x1p-301) }, true},
		"too large":            {func(a *Ask) { a.Scale = change(a.Scale, 0, 0x1p301) }, true},
		"another":              {func(a *Ask) { a.Scale = change(a.Scale, 0, a.Scale[0]*(1+1e-8)) }, false},
		"a column is left out": {func(a *Ask) { a.Scale = change(a.Scale, 1, 0) }, false},
		"a column is taken in": {func(a *Ask) { a.Scale = change(a.Scale, 2, 1) }, false},
		// in deviations of 0.05
		"a small column's place": {func(a *Ask) { a.Center = change(a.Center, 1, a.Center[1]+1e-6) }, false},
	} {
		bad := good
		a.change(&bad)
		check, course := p.Check(bad), p.CheckCourse(c, bad)
		if _, ok := errors.AsType[*MismatchError](course); !ok || (check != nil) != a.check {
			t.Errorf("%s: Check says %v, CheckCourse %v", name, check, course)
		}
		if p.Context([32]byte{}, bad) == p.Context([32]byte{}, good) {
			t.Errorf("%s: has the same context", name)
		}
	}
	first, err := p.NewAsk(p.Start(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if first.Scale = []float64{1, 1, 1, 1, 1}; p.Check(first) == nil {
		t.Error("scales of the first query, which nothing was learned before, are accepted")
	}
	public := mustPlan(t, four, 90_000, 90_000)
	a, err := public.NewAsk(public.Start(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if a.Scale = []float64{1, 1, 1, 1}; public.Check(a) == nil {
		t.Error("scales in a study of public constants are accepted")
	}
}

// TestCorrelation: the released diagonal makes of a covariance one of correlations, as far as its
// noise allows, and leaves known columns and those that are left out as they are.
func TestCorrelation(t *testing.T) {
	p := mustPlan(t, with(learning, `method = "covariance"`), 40_000, 40_000, 40_000)
	diagonal := []float64{1, 1.44, 0.64, 0, 9}
	m := secondMoment{tau: 1e-3}
	for i := range p.D {
		for j := i; j < p.D; j++ {
			v := diagonal[i]
			if j > i {
				v = 0.5 * math.Sqrt(diagonal[i]*diagonal[j])
			}
			m.packed = append(m.packed, v)
		}
	}
	out, factors := p.correlation(m, []float64{1, 1, 1, 0, 1})
	for j, want := range []float64{1, 1.2, 0.8, 1, 1} {
		if math.Abs(factors[j]-want) > 0.01 {
			t.Errorf("column %d: a factor of %v, want %v", j, factors[j], want)
		}
	}
	s := out.matrix(p.D)
	if math.Abs(s.At(0, 0)-1) > 0.01 || math.Abs(s.At(1, 1)-1) > 0.01 || math.Abs(s.At(2, 2)-1) > 0.01 || s.At(4, 4) != 9 {
		t.Errorf("the diagonal is %v, %v, %v and %v", s.At(0, 0), s.At(1, 1), s.At(2, 2), s.At(4, 4))
	}
}

// TestVerifyRefusesOtherScales: a result with other scales, means or left-out columns than its
// releases lead to does not verify, even if the coordinator's key signs it.
func TestVerifyRefusesOtherScales(t *testing.T) {
	text := with(learning, `method = "covariance"`)
	spec, err := ParseSpec([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	sites := roster(40_000, 40_000, 40_000)
	body, err := Propose(spec, sites, signer.Public().(ed25519.PublicKey), [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	c, releases := learned(t, p, []float64{100, -3, 7, 0, 0.5}, []float64{5, 0.05, 0, 1e6, 1})
	for c.Query < len(p.Queries) {
		a, err := p.NewAsk(c, c.Query, 0)
		if err != nil {
			t.Fatal(err)
		}
		noised := make([]int64, p.Queries[a.Query].Values)
		for i, v := range noised {
			noised[i] = v + 1000*int64(i%7)
		}
		if a.Kind == KindHistogram {
			noised[260] = int64(float64(p.N) / a.Grid)
		} else {
			for i, at := 0, 0; i < p.D; i++ { // a diagonal
				noised[at] = int64(float64(p.N) * float64(i+1) / 4 / a.Grid)
				at += p.D - i
			}
		}
		r, err := p.NewRelease(a, []int{0, 1, 2}, noised)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	var signed []SignedRelease
	for _, r := range releases {
		signed = append(signed, signRelease(t, r))
	}
	result := signResult(t, body, signed)
	file := func(r *Result) []byte {
		input, err := r.signingInput()
		if err != nil {
			t.Fatal(err)
		}
		r.Signature = ed25519.Sign(signer, input)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if _, err := Verify(file(result)); err != nil {
		t.Fatal(err)
	}
	if len(result.LeftOut) != 1 || result.LeftOut[0] != (LeftOut{"c", standardize.Constant}) || result.ScaleNote == "" {
		t.Errorf("left out are %v", result.LeftOut)
	}
	// of the known column, in its own units: (x - 3)/2 has the mean 0.5
	if result.Offset[4] != 3 || result.Scale[4] != 2 || math.Abs(result.Mean[4]-0.5) > 0.05 {
		t.Errorf("a known column has offset %v, scale %v, mean %v", result.Offset[4], result.Scale[4], result.Mean[4])
	}
	for what, change := range map[string]func(*Result){
		"scale_":     func(r *Result) { r.Scale = slices.Clone(r.Scale); r.Scale[0] *= 1.001 },
		"mean_":      func(r *Result) { r.Mean = slices.Clone(r.Mean); r.Mean[1] += 0.001 },
		"left_out_":  func(r *Result) { r.LeftOut = []LeftOut{{"b", standardize.Constant}} },
		"scale_note": func(r *Result) { r.ScaleNote = "exact" },
	} {
		bad := *result
		change(&bad)
		_, err := Verify(file(&bad))
		if wrong, ok := errors.AsType[*VerifyError](err); !ok || wrong.What != what {
			t.Errorf("%s was changed: %v", what, err)
		}
	}
	// A release about other scales, signed again with all that follows.
	other := releases[4]
	other.Scale = slices.Clone(other.Scale)
	other.Scale[0] *= 2
	forged := slices.Clone(signed)
	forged[4] = signRelease(t, other)
	bad := *result
	bad.Signed, bad.Releases = forged, append(slices.Clone(releases[:4]), append([]Release{other}, releases[5:]...)...)
	if _, err := Verify(file(&bad)); err == nil || !strings.Contains(err.Error(), "scale") {
		t.Errorf("a release about other scales: %v", err)
	}
}
