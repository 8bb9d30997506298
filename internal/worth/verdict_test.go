package worth

import (
	"strings"
	"testing"

	"covey/internal/result"
	"covey/internal/study"
)

// TestVerdictDoesNotFlatter: what speaks against a result is in its one line, whatever the figure.
func TestVerdictDoesNotFlatter(t *testing.T) {
	yes, no := true, false
	good := func() *Report {
		return &Report{Share: &Share{Estimate: 0.97, Lower: 0.95}, Components: []Component{{Number: 1, Separated: true}, {Number: 2, Separated: true}}, Alarm: &no}
	}
	for _, c := range []struct {
		name     string
		change   func(*Report, *result.Result)
		trust    Trust
		headline string
		doubt    string
	}{
		{"nothing", func(*Report, *result.Result) {}, Sound, "At least 95.0% of the variance that 2 components could capture; about 97.0%", ""},
		{"alarm", func(o *Report, _ *result.Result) { o.Alarm = &yes }, Doubtful, "At least 95.0%", "do not rely on the bounds"},
		{"unfinished", func(o *Report, _ *result.Result) { o.Unfinished = true }, Doubtful, "At least", "had not finished"},
		{"heavy tails unseen", func(_ *Report, r *result.Result) { r.TotalInterval = nil }, Doubtful, "At least 95.0%", "heavy tails may have gone unseen"},
		{"tails of learned columns", func(_ *Report, r *result.Result) { r.TotalInterval, r.ScaleNote = nil, "learned" }, Sound, "At least 95.0%", ""},
		{"a low bound", func(o *Report, _ *result.Result) { o.Share = &Share{Estimate: 0.55, Lower: 0.45} }, Doubtful, "At least 45.0%", "wide"},
		{"a wide bound", func(o *Report, _ *result.Result) { o.Share = &Share{Estimate: 0.99, Lower: 0.7} }, Doubtful, "At least 70.0%", "wide"},
		{"a guess is as good", func(o *Report, _ *result.Result) { o.Share.Blind = 0.96 }, Doubtful, "At least 95.0%", "this share says little"},
		{"a guess is nearly as good", func(o *Report, _ *result.Result) { o.Share.Blind = 0.94 }, Doubtful, "At least 95.0%", "this share says little"},
		{"a guess is good", func(o *Report, _ *result.Result) { o.Share.Blind = 0.8 }, Sound, "At least 95.0%", ""},
		{"the only one not separated", func(o *Report, _ *result.Result) { o.Components = o.Components[:1]; o.Components[0].Separated = false }, Doubtful, "At least", "The component cannot be told apart"},
		{"one not separated", func(o *Report, _ *result.Result) { o.Components[1].Separated = false }, Doubtful, "At least", "1 of 2 components"},
		{"a level left out", func(_ *Report, r *result.Result) {
			r.LeftOut, r.LevelsNote = []result.LeftOut{{Column: "x=other"}}, "of levels"
		}, Doubtful, "At least", "1 of 5 numbers of a row are left out"},
		{"columns left out", func(_ *Report, r *result.Result) { r.LeftOut = []result.LeftOut{{Column: "x"}} }, Doubtful, "At least", "1 of 5 columns are left out"},
		{"as many components as columns", func(_ *Report, r *result.Result) { r.D = 2 }, Doubtful, "As many components as columns", "their share says nothing"},
		{"as many as are left", func(_ *Report, r *result.Result) {
			r.LeftOut = []result.LeftOut{{Column: "x"}, {Column: "y"}, {Column: "z"}}
		}, Doubtful, "As many components as columns", "their share says nothing"},
		{"rows left out", func(_ *Report, r *result.Result) {
			r.RowsKept, r.RowsKeptInterval, r.Releases = 700, &[2]float64{650, 750}, []study.Release{{Kind: study.KindRows, Units: 1000}}
		}, Doubtful, "At least", "Rows kept: about 700 (95%: 650 to 750) of 1000 rows, the others had a missing value"},
		{"a site away", func(_ *Report, r *result.Result) {
			r.N, r.Releases = 1000, []study.Release{{Kind: study.KindMoment, Units: 1000}, {Kind: study.KindMoment, Units: 400}}
		}, Doubtful, "At least", "Some sums lacked a site: 400 of 1000 units"},
		{"few rows left out", func(_ *Report, r *result.Result) {
			r.RowsKept, r.RowsKeptInterval, r.Releases = 960, &[2]float64{930, 990}, []study.Release{{Kind: study.KindRows, Units: 1000}}
		}, Sound, "At least", ""},
		{"simulated", func(_ *Report, r *result.Result) { r.Simulated = true }, Unknown, "Simulated", "nobody signed it"},
		{"noise alone", func(o *Report, _ *result.Result) { o.Share = nil }, Unknown, "Nothing stands out from the noise", "may be noise alone"},
		{"not calibrated", func(o *Report, _ *result.Result) { o.Share, o.Uncalibrated = nil, "the paper's profile" }, Unknown, "cannot be stated", "the paper's profile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, r := good(), &result.Result{K: 2, D: 5, TotalInterval: &[2]float64{4, 6}}
			c.change(out, r)
			v := out.Verdict(r)
			if v.Trust != c.trust || !strings.Contains(v.Headline, c.headline) || !strings.Contains(strings.Join(v.Doubts, " "), c.doubt) || c.doubt == "" && len(v.Doubts) > 0 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestLimitOfRows: the sentence about a limit on a unit's rows names the limit that was in force,
// and there is no sentence without a limit.
func TestLimitOfRows(t *testing.T) {
	for _, c := range []struct {
		unit   string
		radius float64
		want   string
	}{
		{"id", 6.727, "At most 6.7 rows of one unit are counted, a limit read from noised counts. If no unit has more, nothing is lost."},
		{"id", 1.0625, "Noise hid how many rows units have, so each unit counts as one row."},
		{"", 1, ""},
	} {
		r := &result.Result{Unit: c.unit, PerUnit: 1, Releases: []study.Release{{Kind: study.KindMean, Radius: 3}, {Kind: study.KindRows, Radius: c.radius}}}
		if got := limited(r); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q: %q", c.want, got)
		}
	}
	if got := limited(&result.Result{Unit: "id"}); got != "" {
		t.Errorf("no rows were counted: %q", got)
	}
}
