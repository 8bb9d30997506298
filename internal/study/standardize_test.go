package study

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/standardize"
	"covey/test/texts"
)

// TestStandardizeKeys: which columns are learned, what that needs, and what it does not go with.
func TestStandardizeKeys(t *testing.T) {
	s, err := proposal.ParseSpec([]byte(texts.Learning))
	if err != nil {
		t.Fatal(err)
	}
	var learned []string
	for _, c := range s.Columns {
		if c.Standardize == proposal.StandardizePrivate {
			learned = append(learned, c.Name)
			if c.Offset != 0 || c.Scale != 1 {
				t.Errorf("%+v", c)
			}
		}
	}
	if !slices.Equal(learned, []string{"a", "b", "c", "d"}) || s.Noise != proposal.NoiseDistributed || s.Center != proposal.CenterPrivate || s.CenterShare != 0 {
		t.Errorf("learned are %q, noise %q, center %q for %g", learned, s.Noise, s.Center, s.CenterShare)
	}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := proposal.ParseSpec(text); err != nil || fmt.Sprint(again) != fmt.Sprint(s) {
		t.Errorf("resolved again it is\n%+v, %v, not\n%+v", again, err, s)
	}
	one := strings.Replace(strings.Replace(texts.Learning, `standardize = "private"`, "", 1), `name = "a"`, "name = \"a\"\nstandardize = \"private\"", 1)
	for _, name := range []string{"b", "c", "d"} {
		one = strings.Replace(one, fmt.Sprintf("name = %q", name), fmt.Sprintf("name = %q\nscale = 1", name), 1)
	}
	if s, err = proposal.ParseSpec([]byte(one)); err != nil || s.Standardize != proposal.StandardizePrivate || s.Noise != proposal.NoiseDistributed {
		t.Errorf("one column that asks for it: %q, %v", s.Standardize, err)
	}
	if s, err = proposal.ParseSpec([]byte(texts.With(texts.Learning, "central_detail = true"))); err != nil || s.Noise != proposal.NoiseCentral {
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
		text := texts.With(strings.Replace(texts.Learning, `explained_variance = "none"`, "", 1), lines)
		_, err := proposal.ParseSpec([]byte(text))
		if bad, ok := errors.AsType[*proposal.FieldError](err); !ok || bad.Field != field {
			t.Errorf("%s: %v, want %s to be at fault", lines, err, field)
		}
	}
	for text, field := range map[string]string{
		texts.With(texts.Four, "central_detail = true"): "central_detail",
		strings.Replace(texts.Learning, `name = "a"`, "name = \"a\"\nstandardize = \"private\"\noffset = 1.0\nscale = 2.0", 1):      "columns[0].standardize",
		strings.Replace(texts.Learning, `name = "a"`, "name = \"a\"\nstandardize = \"private\"\nlevels = [\"x\"]", 1):               "columns[0].standardize",
		strings.Replace(texts.Learning, `name = "b"`, "name = \"b\"\nstandardize = \"exactly\"\nscale = 1", 1):                      "columns[1].standardize",
		texts.With(texts.Four, `standardize = "private"`):                                                                           "standardize",
		texts.With(strings.Replace(texts.Four, "[[columns]]", "[[columns]]\nstandardize = \"private\"", 1), `standardize = "none"`): "columns[0].standardize",
	} {
		_, err := proposal.ParseSpec([]byte(text))
		if bad, ok := errors.AsType[*proposal.FieldError](err); !ok || bad.Field != field {
			t.Errorf("%v, want %s to be at fault", err, field)
		}
	}
	// What is refused with central noise says what the leader would read.
	if _, err = proposal.ParseSpec([]byte(texts.With(texts.Learning, `noise = "central"`))); err == nil {
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
	p := mustPlan(t, texts.Learning, 2000, 2000, 2000)
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
	at := func(n int) (*Plan, error) { return plan(t, texts.Learning, n, n, n) }
	warned := standardize.NeededUnits(p.D, p.fullMultiplier, standardize.WarnScore)
	if small, err := at(warned/3 - 1); err != nil || !strings.Contains(strings.Join(small.Warnings(), "\n"), fmt.Sprintf("%d units would do", warned)) {
		t.Errorf("fewer than %d units: %v", warned, err)
	}
	least := standardize.NeededUnits(p.D, p.fullMultiplier, standardize.RefuseScore)
	_, err := at(least/3 - 1)
	if bad, ok := errors.AsType[*proposal.FieldError](err); !ok || bad.Field != "standardize" || !strings.Contains(bad.Reason, fmt.Sprintf("%d units would do", least)) {
		t.Errorf("fewer than %d units: %v", least, err)
	}
	if _, err := at(least/3 + 1); err != nil {
		t.Errorf("%d units: %v", least, err)
	}
	// of units at two sites a study learns as from half as many
	if two, err := plan(t, texts.With(texts.Learning, "sites_per_unit = 2"), 2000, 2000, 2000); err != nil || math.Abs(two.Learning.Score-standardize.Score(3000, 5, p.fullMultiplier)) > 1e-12 {
		t.Errorf("at two sites the score is %v, %v", two.Learning.Score, err)
	}
	if testing.Short() {
		return
	}
	wide := texts.Learning[:strings.Index(texts.Learning, "[[columns]]")]
	most := proposal.MaxValues / query.TreeBins
	var names strings.Builder
	for j := range most + 1 {
		fmt.Fprintf(&names, "[[columns]]\nname = \"c%d\"\n", j)
	}
	_, err = plan(t, wide+"method = \"power\"\n"+names.String(), 1<<30, 1<<30)
	if bad, ok := errors.AsType[*proposal.FieldError](err); !ok || bad.Field != "standardize" || !strings.Contains(bad.Reason, fmt.Sprintf("at most %d columns", most)) {
		t.Errorf("%d columns: %v", most+1, err)
	}
}

// TestCorrelation: the released diagonal makes of a covariance one of correlations, as far as its
// noise allows, and leaves known columns and those that are left out as they are.
func TestCorrelation(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Learning, `method = "covariance"`), 40_000, 40_000, 40_000)
	diagonal := []float64{1, 1.44, 0.64, 0, 9}
	m := Moment{Tau: 1e-3}
	for i := range p.D {
		for j := i; j < p.D; j++ {
			v := diagonal[i]
			if j > i {
				v = 0.5 * math.Sqrt(diagonal[i]*diagonal[j])
			}
			m.Packed = append(m.Packed, v)
		}
	}
	out, factors := m.correlation(p.Layout, []float64{1, 1, 1, 0, 1})
	for j, want := range []float64{1, 1.2, 0.8, 1, 1} {
		if math.Abs(factors[j]-want) > 0.01 {
			t.Errorf("column %d: a factor of %v, want %v", j, factors[j], want)
		}
	}
	// What the diagonal leaves open replaces what moments did.
	scale := []float64{1, 1, 1, 0, 1}
	none := Release{Kind: KindMoment, Grid: 1e-3, Units: 1, Radius: 1, Scale: make([]float64, p.D), Sigma: 100 * 1024, Noised: make([]int64, len(m.Packed))}
	if c, err := p.Correlation([]Release{none}); err == nil || !strings.Contains(err.Error(), "every column is left out") {
		t.Errorf("of no column: %v, %v", c, err)
	}
	release := Release{Kind: KindMoment, Grid: 1e-3, Units: 1, Radius: 1, Scale: scale, Sigma: 100 * 1024}
	for _, v := range m.Packed {
		release.Noised = append(release.Noised, int64(math.Round(1000*v)))
	}
	for method, want := range map[string][]float64{proposal.MethodCovariance: {0.0949, 0.0678, 0.1386, 0, 0}, proposal.MethodPower: {0.4, 0.4, 0.4, 0, 0}} {
		c := Course{Method: method, Scale: scale, Columns: []standardize.Column{{Doubt: 0.4}, {Doubt: 0.4}, {Doubt: 0.4}, {Doubt: 0.4}, {Doubt: 0.4}}}
		for j, got := range p.ScaleDoubts(c, []Release{release}) {
			if math.Abs(got-want[j]) > 1e-3 {
				t.Errorf("by %s the scale of column %d has a doubt of %v, want %v", method, j, got, want[j])
			}
		}
	}
	s := out.matrix(p.D)
	if math.Abs(s.At(0, 0)-1) > 0.01 || math.Abs(s.At(1, 1)-1) > 0.01 || math.Abs(s.At(2, 2)-1) > 0.01 || s.At(4, 4) != 9 {
		t.Errorf("the diagonal is %v, %v, %v and %v", s.At(0, 0), s.At(1, 1), s.At(2, 2), s.At(4, 4))
	}
}
