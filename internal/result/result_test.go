package result

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/layout"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/standardize"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestStudies runs one study of every kind to its result: every ask and release passes
// the sites' checks, the charges add up to the ledger's reservation, and the signed
// result verifies.
func TestStudies(t *testing.T) {
	for name, text := range texts.Studies {
		for _, wide := range []bool{false, true} { // auto takes either branch
			if wide && !strings.Contains(text, "auto") {
				continue
			}
			t.Run(fmt.Sprint(name, " ", wide), func(t *testing.T) {
				p, body, releases := runs.Run(t, text, wide)
				signed := signReleases(t, releases)
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
				result := made(t, p, body, signed)
				text := file(t, result)
				v, err := Verify(text)
				if readAlike(t, text, v, err); err != nil {
					t.Fatal(err)
				}
				checkResult(t, p, result, wide)
			})
		}
	}
}

func checkResult(t *testing.T, p *study.Plan, r *Result, wide bool) {
	t.Helper()
	s := p.Proposal.Spec
	if len(r.Components) != s.MostComponents() || r.K != s.MostComponents() {
		t.Fatalf("%d components", len(r.Components))
	}
	if why := linalg.Orthonormal(linalg.Flat(r.Components), p.D); why != "" {
		t.Errorf("components: %s", why)
	}
	if s.Components < 4 && s.Lambda == "" { // in order, signs by convention
		for i, x := range r.Components {
			if x[i] < 0.95 {
				t.Errorf("component %d is %v", i, x)
			}
		}
	}
	if method := map[bool]string{true: proposal.MethodCovariance, false: proposal.MethodPower}[wide]; s.Method == proposal.MethodAuto && (r.Method != method || !strings.Contains(r.MethodWhy, "B²")) {
		t.Errorf("auto took %s: %s", r.Method, r.MethodWhy)
	}
	// what the released total makes of learned scales; 1 where none were
	unit := 1.0
	for _, rel := range r.Releases {
		if rel.Kind == study.KindTotal && s.Standardizes() {
			unit = math.Sqrt(rel.Z()[0] / max(1, r.PerUnit) / r.TotalVariance)
		}
	}
	if s.Standardizes() && s.ExplainedVariance == proposal.VariancePrivate && r.TotalVariance != float64(p.D) {
		t.Errorf("total variance %v of %d learned columns", r.TotalVariance, p.D)
	}
	if mean := r.Mean[0] * unit; s.Center == proposal.CenterPrivate && math.Abs(mean-3) > 0.05*3 {
		t.Errorf("mean %v", r.Mean)
	}
	if s.ExplainedVariance == proposal.VarianceNone {
		if r.ExplainedVariance != nil || r.TotalInterval != nil || r.VarianceNote != "" {
			t.Error("explained variance was not bought")
		}
		return
	}
	if runs.Decides(p) { // intervals are wider than what they are of
		return
	}
	perUnit := 1.0
	if s.Unit != "" {
		perUnit = 2
	}
	spread := 0.0 // of rows per unit
	for _, rel := range r.Releases {
		if rel.Kind == study.KindRows {
			spread = rel.Tau()
		}
		half := func(v float64) float64 {
			return 1.96 * math.Hypot(rel.Tau(), v*unit*unit*spread) / perUnit / (unit * unit)
		}
		if b, half := r.TotalInterval, half(r.TotalVariance); rel.Kind == study.KindTotal && math.Abs((b[1]-b[0])/2-half) > 1e-2*half {
			t.Errorf("interval %v of the total, want ± %v", b, half)
		}
		v, ofTotal := r.ExplainedVariance[0], 0.0
		if unit != 1 { // a ratio's
			ofTotal = (r.TotalInterval[1] - r.TotalInterval[0]) / 2 / r.TotalVariance
		}
		if b, half := r.VarianceInterval[0], math.Hypot(half(v), v*ofTotal); rel.Kind == study.KindVariance && unit != 1 { // scales err, too
			if b[0] > v-half || b[1] < v+half || b[1]-b[0] > 4*half {
				t.Errorf("interval %v, want more than ± %v", b, half)
			}
		} else if rel.Kind == study.KindVariance && math.Abs((b[1]-b[0])/2-half) > 1e-2*half {
			t.Errorf("interval %v, want ± %v", b, half)
		}
	}
	for i, v := range r.ExplainedVariance {
		want := 1 / float64(i+1) / perUnit
		// the paper's R needs more units than these
		if v := v * unit * unit; math.Abs(v-want) > 0.1*want && s.Lambda == "" {
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

func TestOutputs(t *testing.T) {
	p := runs.MustPlan(t, strings.Replace(texts.Minimal, "delta", "radius = 3.0\nrounds = 4\ndelta", 1), 1000, 1000, 1000)
	var releases []study.Release
	c := p.Start()
	for i := range p.Queries {
		a, err := p.NewAsk(c, i)
		if err != nil {
			t.Fatal(err)
		}
		// A signal along (3, 4)/5, far above the noise.
		r, err := p.NewRelease(a, []int{0, 1, 2}, []int64{3 << 40, 4 << 40})
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	res, err := New(p, releases)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{proposal.OutputLast, proposal.OutputPooled} {
		if v := res.Outputs[name][0]; math.Abs(v[0]-0.6) > 1e-12 || math.Abs(v[1]-0.8) > 1e-12 {
			t.Errorf("%s = %v", name, v)
		}
	}
	if res.Output != proposal.OutputLast {
		t.Errorf("auto chose %s at noise-to-signal %v", res.Output, res.NoiseToSignal)
	}
	if _, err := New(p, releases[1:]); err == nil {
		t.Error("a result was made of too few releases")
	}
}

// TestResultSaysAdjacency: a result says what its ε is for; one that says otherwise than its
// proposal does not verify.
func TestResultSaysAdjacency(t *testing.T) {
	p, body, releases := runs.Run(t, texts.With(texts.Four, "sites_per_unit = 2"), false)
	signed := signReleases(t, releases)
	r := made(t, p, body, signed)
	v, err := Verify(file(t, r))
	if err != nil || v.Adjacency != study.AdjacencyReplaceOne || v.SitesPerUnit != 2 || r.Adjacency != study.AdjacencyReplaceOne || r.SitesPerUnit != 2 {
		t.Fatalf("%+v, %v", v, err)
	}
	if !strings.Contains(r.VarianceNote, "a component picked before looking") {
		t.Errorf("the note is %q", r.VarianceNote)
	}
	for name, change := range map[string]func(*Result){
		"adjacency":      func(r *Result) { r.Adjacency = "add-remove" },
		"sites_per_unit": func(r *Result) { r.SitesPerUnit = 3 },
	} {
		other := *r
		change(&other)
		reseal(t, &other)
		if _, err := Verify(file(t, &other)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same releases of levels are the same study on every processor, to the last digit.
func TestLevelsGolden(t *testing.T) {
	p, _, releases := runs.Run(t, texts.Studies["levels, private mean"], false)
	r, err := New(p, releases)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q", r.LeftOut); got != `[{"b=y" "joined"} {"d=yes" "single"} {"d=other" "single"}]` {
		t.Error(got)
	}
	want := []string{
		"levels were scaled by their released shares",
		`too rare by their noised counts, so their rows count as the column's other: "b=y"`,
		`left out, since the column has fewer than two levels that stand out from the noise: "d=yes", "d=other"`,
	}
	if got := r.LevelsText(); got != strings.Join(want, "; ") {
		t.Error(got)
	}
	if r.LearnedText() != "" || r.ScaleNote != "" || !strings.Contains(r.LevelsNote, "factor analysis of mixed data") {
		t.Errorf("%q, %q, %q", r.LearnedText(), r.ScaleNote, r.LevelsNote)
	}
	got := ""
	for j := 1; j < 5; j++ { // b's
		got += fmt.Sprintf("%s %.4f %.4f, ", r.Columns[j], r.Scale[j], r.Mean[j])
	}
	if got != "b=x 0.7071 0.7071, b=y 1.0000 0.0000, b=z 0.5477 0.5477, b=other 0.4473 0.4473, " {
		t.Error(got)
	}
}

// TestVerifyRefusesOtherScales: a result with other scales, means or left-out columns than its
// releases lead to does not verify, even if the coordinator's key signs it.
func TestVerifyRefusesOtherScales(t *testing.T) {
	body, err := texts.Propose(texts.With(texts.Learning, `method = "covariance"`), 40_000, 40_000, 40_000)
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	c, releases := runs.Learned(t, p, []float64{100, -3, 7, 0, 0.5}, []float64{5, 0.05, 0, 1e6, 1})
	_, releases = runs.Take(t, p, c, releases, len(p.Queries), func(a study.Ask) []int64 {
		noised := make([]int64, p.Queries[a.Query].Values)
		for i, v := range noised {
			noised[i] = v + 1000*int64(i%7)
		}
		if a.Kind == study.KindHistogram {
			noised[260] = int64(float64(p.N) / a.Grid)
		} else {
			for i, at := 0, 0; i < p.D; i++ { // a diagonal
				noised[at] = int64(float64(p.N) * float64(i+1) / 4 / a.Grid)
				at += p.D - i
			}
		}
		return noised
	})
	signed := signReleases(t, releases)
	result := signResult(t, body, signed)
	if _, err := Verify(resealed(t, result)); err != nil {
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
		_, err := Verify(resealed(t, &bad))
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
	bad.Signatures, bad.Releases = signatures(forged), append(slices.Clone(releases[:4]), append([]study.Release{other}, releases[5:]...)...)
	if _, err := Verify(resealed(t, &bad)); err == nil || !strings.Contains(err.Error(), "scale") {
		t.Errorf("a release about other scales: %v", err)
	}
}

// TestLearnedText: of levels that are left out it is said beside, so that learned columns are all
// that this speaks of.
func TestLearnedText(t *testing.T) {
	r := &Result{D: 22, ScaleNote: "x", LevelsNote: "y", LeftOut: []LeftOut{{"ward=other", layout.Rare}}}
	if got := r.LearnedText(); strings.Contains(got, "no column was left out") || !strings.HasSuffix(got, "none of these columns was left out") {
		t.Error(got)
	}
	if got := r.LevelsText(); !strings.Contains(got, `left out, since too few rows have them by the noised counts: "ward=other"`) {
		t.Error(got)
	}
	r.LeftOut = append(r.LeftOut, LeftOut{"age", standardize.Constant})
	if got := r.LearnedText(); !strings.Contains(got, `left out, and with no part in any component, are "age" (`) || strings.Contains(got, "22") {
		t.Error(got)
	}
}

// standardized runs a study that learns every scale, to the course after its last release.
func standardized(t *testing.T) (*study.Plan, study.Course, []study.Release) {
	t.Helper()
	p, _, releases := runs.Run(t, texts.Studies["standardized"], false)
	c := p.Start()
	for i, rel := range releases {
		var err error
		if c, err = p.Next(c, rel, releases[:i]); err != nil {
			t.Fatal(err)
		}
	}
	return p, c, releases
}

// TestIntervalsCoverScales: the errors of learned scales are in the interval of a component's
// variance as far as its loadings differ, for what all columns share the total has set.
func TestIntervalsCoverScales(t *testing.T) {
	p, c, releases := standardized(t)
	want := p.UnitTrace(c)
	one, even, alone := make([]float64, p.D), make([]float64, p.D), 0.0
	for j, s := range c.Scale {
		if s == 0 {
			continue
		}
		if even[j] = 1 / math.Sqrt(want); alone == 0 {
			one[j], alone = 1, 1
		}
	}
	for j, doubt := range p.ScaleDoubts(c, releases) {
		if c.Scale[j] != 0 && !(doubt > 0) {
			t.Errorf("column %d has a scale without doubt", j)
		}
		part := one[j] - even[j]*even[j]
		alone += part * part * (doubt*doubt + 0.08*0.08)
	}
	alone = math.Sqrt(alone - 1)
	r := &Result{
		Components: [][]float64{even, one}, ExplainedVariance: []float64{2, 2}, VarianceInterval: [][2]float64{{2, 2}, {2, 2}},
		TotalVariance: want, TotalInterval: &[2]float64{want, want},
	}
	r.standard(p, c, releases)
	for i, off := range []float64{0, alone} {
		b := r.VarianceInterval[i]
		if math.Abs(b[0]-2*max(0, 1-3*off)) > 1e-9 || math.Abs(b[1]-2*(1+1.959964*off)) > 1e-6 {
			t.Errorf("interval %d of scales that err by %v is %v", i, off, b)
		}
	}
	if alone < 0.05 {
		t.Errorf("a column alone is known to %v", alone)
	}
}

// TestIntervalsOfMostlyOneValue: where one column has one value in most units, the variance of a
// component along it can be higher than is given, and of another lower; a covariance, which sets
// scales once more, bears more such units. Where most columns are like that nothing is given.
func TestIntervalsOfMostlyOneValue(t *testing.T) {
	p, c, releases := standardized(t)
	want := p.UnitTrace(c)
	at := slices.IndexFunc(c.Scale, func(s float64) bool { return s != 0 })
	along, across := make([]float64, p.D), make([]float64, p.D)
	along[at], across[slices.IndexFunc(c.Scale[at+1:], func(s float64) bool { return s != 0 })+at+1] = 1, 1
	var every []int
	for j := range along {
		every = append(every, j)
	}
	learned := func(method string, x []float64, most float64, columns ...int) *Result {
		c := c
		c.Columns = slices.Clone(c.Columns)
		for j := range c.Columns {
			c.Columns[j].Most = 0
		}
		for _, j := range columns {
			c.Columns[j].Most = most
		}
		r := &Result{
			Method: method, Components: [][]float64{x}, ExplainedVariance: []float64{2}, VarianceInterval: [][2]float64{{1.9, 2.1}}, VarianceRatio: []float64{2 / want},
			TotalVariance: want, TotalInterval: &[2]float64{want, want}, VarianceNote: varianceNote,
		}
		r.standard(p, c, releases)
		return r
	}
	for _, c := range []struct {
		method     string
		x          []float64
		most       float64
		down, upTo float64
	}{
		{proposal.MethodPower, along, 0.7, 0, 2 * 0.75 * (1 - 1/want)},
		{proposal.MethodPower, across, 0.7, 2 * 0.75 / want, 0},
		{proposal.MethodCovariance, along, 0.9, 0, 2 * 0.55 * (1 - 1/want)},
		{proposal.MethodCovariance, across, 0.9, 2 * 0.55 / want, 0},
		{proposal.MethodCovariance, across, 0.8, 0, 0},
	} {
		few := 0.0
		if c.method == proposal.MethodPower {
			few = 0.6 // less well known, no more
		}
		plain, got := learned(c.method, c.x, few, at).VarianceInterval[0], learned(c.method, c.x, c.most, at).VarianceInterval[0]
		if math.Abs(plain[0]-got[0]-c.down) > 1e-9 || math.Abs(got[1]-plain[1]-c.upTo) > 1e-9 {
			t.Errorf("%s, %v of a column are one value: %v, else %v; want %v more below, %v above", c.method, c.most, got, plain, c.down, c.upTo)
		}
		if none := learned(c.method, c.x, 0).VarianceInterval[0]; few > 0 && !(plain[0] < none[0]-0.01 && plain[1] > none[1]+0.01) {
			t.Errorf("half of a column is one value: %v, else %v", plain, none)
		}
		if r := learned(c.method, c.x, 0.7, every...); !r.VarianceUnknown() || r.VarianceNote != varianceOneValue || r.VarianceRatio != nil || r.TotalInterval != nil || r.TotalVariance != 0 {
			t.Errorf("%s, all columns are mostly one value: %v in %v, %q", c.method, r.ExplainedVariance, r.VarianceInterval, r.VarianceNote)
		}
	}
}

// TestScalesBesideLevels: where all other columns have levels the total tells by how much learned
// scales are too small, as far as it and the levels' shares are known, and sets none.
func TestScalesBesideLevels(t *testing.T) {
	text := texts.Studies["standardized"] + "[[columns]]\nname = \"ward\"\nlevels = [\"x\", \"y\", \"z\"]\n[[columns]]\nname = \"sold\"\nlevels = [\"yes\"]\n"
	p, _, releases := runs.Run(t, text, false)
	c := p.Start()
	for i, rel := range releases {
		var err error
		if c, err = p.Next(c, rel, releases[:i]); err != nil {
			t.Fatal(err)
		}
	}
	levels, tau, learned := p.LevelTrace(c, releases)
	sum, in := 0.0, 0.0
	for j, at := range p.Layout.Coordinates {
		switch {
		case c.Scale[j] == 0:
		case at.Level >= 0:
			sum += 1 - c.Scale[j]*c.Scale[j]
		default:
			in++
		}
	}
	if in == 0 || sum == 0 || learned != in || math.Abs(levels-sum) > 1e-12 || !(tau > 0) {
		t.Fatalf("levels have %v ± %v, beside %v learned columns; want %v and %v", levels, tau, learned, sum, in)
	}
	for half, want := range map[float64]string{0.1: " weigh 1.50 times (95%: ", 0.4: " weigh 1.50 times (95%: ", 0.9: "between 0.65 and 1"} {
		own := 1.5 * learned
		r := &Result{Scale: []float64{1}, ScaleNote: scaleNoteUnset, TotalVariance: levels + own, TotalInterval: &[2]float64{levels + own*(1-half), levels + own*(1+half)}}
		if unit := r.standard(p, c, releases); unit != 1 || r.Scale[0] != 1 || !strings.Contains(r.ScaleNote, want) || !strings.Contains(r.ScalesText(), want) || strings.HasPrefix(r.ScalesText(), "scale_") {
			t.Errorf("± %v: scales times %v, %q", half, unit, r.ScaleNote)
		}
		wide := math.Hypot(own*half, 1.96*tau)
		if ends := fmt.Sprintf("%.2f to %.2f,", (own-wide)/learned, (own+wide)/learned); half < 0.5 && !strings.Contains(r.ScaleNote, ends) {
			t.Errorf("the note has other bounds than %s %q", ends, r.ScaleNote)
		}
	}
	if _, _, learned := p.LevelTrace(c, nil); learned != 0 {
		t.Error("there are no levels without their release")
	}
}

// TestNoisyTotalSetsNoScale: a total variance that is mostly noise says nothing of scales. It would
// make them as small, and variances as large, as noise happens to be.
func TestNoisyTotalSetsNoScale(t *testing.T) {
	p, c, releases := standardized(t)
	for half, set := range map[float64]bool{0.1: true, 0.4: true, 0.6: false, 20: false} {
		r := &Result{Scale: []float64{1}, Mean: []float64{1}, TotalVariance: 1e-3, TotalInterval: &[2]float64{1e-3 * (1 - half), 1e-3 * (1 + half)}}
		if unit := r.standard(p, c, releases); (unit != 1) != set || (r.Scale[0] != 1) != set || (r.TotalVariance != 1e-3) != set {
			t.Errorf("a total of 1 ± %v sets scales by %v", half, unit)
		}
	}
}

// TestWeakVarianceKeepsItsInterval: where an interval ends at 0, since noise is above the variance,
// scales that the total sets change its unit alone: the upper end stays as far off as noise
// reaches.
func TestWeakVarianceKeepsItsInterval(t *testing.T) {
	p, c, releases := standardized(t)
	// Of noise within 0.3: a variance of 1, one of 0.1, and one that noise took to -0.1.
	r := &Result{TotalVariance: 2, TotalInterval: &[2]float64{2, 2}, ExplainedVariance: []float64{1, 0.1, 0}, VarianceInterval: [][2]float64{{0.7, 1.3}, {0, 0.4}, {0, 0.2}}}
	ratio := p.UnitTrace(c) / 2
	even := make([]float64, p.D) // errors of single scales are not in what all columns share
	for j := range even {
		even[j] = math.Sqrt(p.UnitTraceOf(c, j) / p.UnitTrace(c))
	}
	r.Components = [][]float64{even, even, even}
	r.standard(p, c, releases)
	for i, want := range [][2]float64{{0.7, 1.3}, {0, 0.4}, {0, 0.2}} {
		if got := r.VarianceInterval[i]; math.Abs(got[0]-ratio*want[0]) > 1e-12 || math.Abs(got[1]-ratio*want[1]) > 1e-12 {
			t.Errorf("variance %d is in %v, want %v times %v", i+1, got, ratio, want)
		}
	}
}
