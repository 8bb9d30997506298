package worth

import (
	"math"
	"strings"
	"testing"

	"covey/internal/result"
	"covey/internal/study"
	"covey/test/texts"
)

// TestDoubtedConstants: released values speak against the constants that a study gives where they
// are beyond a bound, not within it, and never against columns that are taken as they are.
func TestDoubtedConstants(t *testing.T) {
	const far, total, alone = "lie far from their offsets", "The total variance is", "alone, with a variance of"
	of := func(names string, as string) *study.Plan {
		text := texts.Four[:strings.Index(texts.Four, "[[columns]]")]
		for _, name := range names {
			text += "[[columns]]\nname = \"" + string(name) + "\"\n" + as
		}
		body, err := texts.Propose(text, 1000, 1000, 1000)
		if err != nil {
			t.Fatal(err)
		}
		p, err := study.NewPlan(body)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	given, plain := of("ab", "offset = 5.0\nscale = 2.0\n"), of("ab", "scale = 1.0\n")
	component := func(square float64) [][]float64 {
		return [][]float64{{math.Sqrt(square), math.Sqrt(1 - square)}}
	}
	for _, c := range []struct {
		mean, square, least, total float64
		want                       string
	}{
		{2.99, 0.5, 20, 5.9, ""},
		{3.01, 0.5, 20, 5.9, far},
		{-3.01, 0.5, 20, 5.9, far},
		{0, 0.949, 20, 5.9, ""},
		{0, 0.951, 10.1, 5.9, alone},
		{0, 0.951, 9.9, 5.9, ""},
		{0, 0.5, 20, 6.1, total},
	} {
		r := &result.Result{D: 2, K: 1, Columns: []string{"a", "b"}, Mean: []float64{c.mean, 0}, Components: component(c.square),
			ExplainedVariance: []float64{c.least + 1}, VarianceInterval: [][2]float64{{c.least, c.least + 2}}, TotalInterval: &[2]float64{c.total, c.total + 1}}
		got := doubted(given, r)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%+v: %q", c, got)
		}
		if got := doubted(plain, r); len(got) > 0 {
			t.Errorf("%+v, of columns taken as they are: %q", c, got)
		}
	}
	many := &result.Result{D: 7, Columns: strings.Split("abcdefg", ""), Mean: []float64{9, 9, 9, 9, 9, 9, 9}}
	if got := doubted(of("abcdefg", "offset = 5.0\nscale = 2.0\n"), many); len(got) != 1 || !strings.Contains(got[0], `"e" (9.0 scales), 2 more:`) {
		t.Errorf("%q", got)
	}
	if got := doubted(given, &result.Result{D: 2, Columns: []string{"a", "b"}, Mean: []float64{0, 0}, LeftOut: []result.LeftOut{{Column: "b"}}, TotalInterval: &[2]float64{100, 101}}); len(got) > 0 {
		t.Errorf("of columns that are left out: %q", got)
	}
}
