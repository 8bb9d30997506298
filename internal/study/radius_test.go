package study

import (
	"slices"
	"testing"

	"covey/test/texts"
)

// TestUnread: a study is told of whose lengths were not read, and of what nothing depends on it is
// not.
func TestUnread(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `method = "covariance"`, `explained_variance = "none"`), 90_000, 90_000)
	for i, q := range p.Queries {
		if q.Kind != KindHistogram {
			continue
		}
		full, empty := make([]int64, HistogramBins), make([]int64, HistogramBins)
		full[250] = 180_000
		r := Release{Query: i, Kind: KindHistogram, Sigma: 1 << 10, Units: 180_000, Grid: 1}
		r.Noised = full
		if p.Unread([]Release{r}) {
			t.Errorf("query %d (%s) counts as not read", i, q.Of)
		}
		r.Noised = empty
		if !p.Unread([]Release{r}) {
			t.Errorf("query %d (%s) counts as read", i, q.Of)
		}
	}
}

// TestUnreadVariance: where noise leaves nothing of how large scores are, the clip is what else is
// known to bound them, never a number that knows nothing of the rows, without saying so.
func TestUnreadVariance(t *testing.T) {
	for _, c := range []struct {
		unit  string
		radii map[Kind]float64
		want  float64
	}{
		{"", map[Kind]float64{}, defaultRadius},
		{"", map[Kind]float64{KindMean: 3}, 36},
		{"", map[Kind]float64{KindMean: defaultRadius}, defaultRadius},
		{"", map[Kind]float64{KindMean: 3, KindTotal: 50}, 50},
		{"", map[Kind]float64{KindMean: 3, KindTotal: defaultRadius}, 36},
		{"unit = \"who\"", map[Kind]float64{KindMean: 3}, defaultRadius}, // a mean of rows that may cancel
	} {
		p := mustPlan(t, texts.With(texts.Four, c.unit, `explained_variance = "private"`), 90_000, 90_000)
		at := slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindHistogram && q.Of == KindVariance })
		course := Course{Radii: c.radii}
		r := Release{Query: at, Noised: make([]int64, HistogramBins), Sigma: 10 << 10, Units: 180_000, Grid: 1}
		(&transition{p, p.Queries[at], r, nil, &course}).radius()
		got := Release{Radius: course.Radii[KindVariance]}
		if got.Radius != c.want || got.Unread() != (c.want == defaultRadius) {
			t.Errorf("%q, %v: %v, unread %v, want %v", c.unit, c.radii, got.Radius, got.Unread(), c.want)
		}
	}
	for j := range HistogramBins {
		if r := BinEdge(j); r == defaultRadius || 2*r == defaultRadius {
			t.Errorf("bin %d ends at the default", j)
		}
	}
}

// TestUnreadIsAsked: where noise leaves nothing of the lengths of rows that are very long or very
// short, what bounds them instead may lie beyond any histogram. Sites answer under it.
func TestUnreadIsAsked(t *testing.T) {
	for _, c := range []struct {
		text string
		bin  int // of the lengths of rows, as far as they are read; -1 for none
	}{
		{"method = \"covariance\"\nnorm_bound = 1e12", -1},
		{"method = \"covariance\"\nnorm_bound = 1e-12", -1},
		{"method = \"covariance\"\nnorm_bound = 1e30", -1},
		{"method = \"power\"", 500},
		{"method = \"power\"", 10},
	} {
		p := mustPlan(t, texts.With(texts.Four, c.text, `center = "private"`, `explained_variance = "private"`), 90_000, 90_000)
		course := p.Start()
		var releases []Release
		beyond := false
		for course.Query < len(p.Queries) {
			q := p.Queries[course.Query]
			a, err := p.NewAsk(course, course.Query)
			if err == nil {
				err = p.Check(a)
			}
			if err != nil {
				t.Fatalf("%s: %s of %s: %v", c.text, q.Kind, q.Of, err)
			}
			beyond = beyond || !q.Kind.Definition().Counts && (a.Radius < BinEdge(0) || a.Radius > BinEdge(HistogramBins-1))
			noised := make([]int64, q.Values)
			switch {
			case q.Kind == KindHistogram && q.Of == KindMean && c.bin >= 0:
				noised[c.bin] = int64(float64(p.N) / a.Grid)
			case q.Kind == KindPower:
				noised[0] = 1 << 30
			case q.Kind == KindMoment:
				noised[0], noised[p.D] = 1<<31, 1<<30
			}
			r, err := p.NewRelease(a, []int{0, 1}, noised)
			if err != nil {
				t.Fatal(err)
			}
			if course, err = p.Next(course, r, releases); err != nil {
				t.Fatal(err)
			}
			releases = append(releases, r)
		}
		if !beyond {
			t.Errorf("%s: no radius is beyond a histogram", c.text)
		}
	}
}
