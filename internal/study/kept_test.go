package study

import (
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestNothingKept: what noise leaves of no rows is divided by no less than noise.
func TestNothingKept(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Minimal, `missing = "drop-row"`, "rounds = 1"), 9000, 9000, 9000, 9000, 9000)
	q := p.Queries[0]
	c := p.Start()
	a, err := p.NewAsk(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []int64{-1 << 40, 0} {
		r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, []int64{v})
		if err != nil {
			t.Fatal(err)
		}
		next, err := p.Next(c, r, nil)
		if err != nil || q.Kind != KindRows || next.PerUnit < 2*r.Tau()*(1-1e-12) {
			t.Errorf("%s leaves %v rows per unit, the noise is %v, %v", q.Kind, next.PerUnit, r.Tau(), err)
		}
	}
}

// TestPaperCountsNothing: Algorithm 1's own τ has no charge for a count.
func TestPaperCountsNothing(t *testing.T) {
	_, err := proposal.ParseSpec([]byte(texts.With(texts.Minimal, `profile = "paper"`, "lambda = 1.0", "rounds = 2", `missing = "drop-row"`)))
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("paper with rows left out: %v", err)
	}
}

// TestLengthsAreOfKeptRows: rows that are left out fill the lowest bin of a histogram of lengths,
// which stands out of any noise. The radius is still the quantile of the others, or nothing where
// noise hides these: never the lowest bin's edge, of rows that are 1e-19 long.
func TestLengthsAreOfKeptRows(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Minimal, `missing = "drop-row"`), 3000, 3000, 4000)
	q := Query{Kind: KindHistogram, Of: KindPower}
	for kept, read := range map[float64]bool{1: true, 0.5: true, 0.2: true, 0.03: false} {
		r := Release{Noised: make([]int64, HistogramBins), Sigma: 30 << 10, Grid: 1, Units: 10_000}
		r.Noised[0] = int64((1 - kept) * 10_000)
		for j := 256; j < 276; j++ {
			r.Noised[j] = int64(kept * 10_000 / 20)
		}
		course := Course{Radii: map[Kind]float64{}, PerUnit: kept}
		(&transition{p, q, r, nil, &course}).radius()
		got := course.Radii[KindPower]
		if read && !(got > BinEdge(263) && got < BinEdge(276)) || !read && got != defaultRadius {
			t.Errorf("with %v of the rows the radius is %v; rows end at %v", kept, got, BinEdge(275))
		}
		rows := Release{Query: 0, Noised: []int64{int64(kept * 10_000)}, Sigma: 10 << 10, Grid: 1, Units: 10_000}
		r.Query = slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindHistogram })
		if p.Queries[0].Kind != KindRows || r.Query < 0 || p.Queries[r.Query].Of == KindVariance {
			t.Fatalf("queries are %v", p.Queries)
		}
		if p.Unread([]Release{rows, r}) == read {
			t.Errorf("with %v of the rows, unread is %v", kept, read)
		}
	}
}

// TestLengthsAreOfUnitsWithRows: the same of units of several rows, where the count of kept rows
// does not say how many units have none.
func TestLengthsAreOfUnitsWithRows(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Minimal, `missing = "drop-row"`, `unit = "id"`), 3000, 3000, 4000)
	q := Query{Kind: KindHistogram, Of: KindPower}
	for with, read := range map[float64]bool{1: true, 0.5: true, 0.2: true, 0.03: false, 0: false} {
		r := Release{Noised: make([]int64, HistogramBins), Sigma: 30 << 10, Grid: 1, Units: 10_000}
		r.Noised[0] = int64((1 - with) * 10_000)
		for j := 256; j < 276; j++ {
			r.Noised[j] = int64(with * 10_000 / 20)
		}
		for _, perUnit := range []float64{max(with, 0.01), 3} {
			course := Course{Radii: map[Kind]float64{}, PerUnit: perUnit}
			(&transition{p, q, r, nil, &course}).radius()
			got := course.Radii[KindPower]
			if read && !(got > BinEdge(263) && got < BinEdge(276)) || !read && got != defaultRadius {
				t.Errorf("with %v of the units, of %v rows, the radius is %v; rows end at %v", with, perUnit, got, BinEdge(275))
			}
		}
	}
}

// TestShortUnitsAreNotEmptyOnes: where rows are kept of more units than a histogram shows, most of
// them are too short to be counted; where units are empty, nothing is short.
func TestShortUnitsAreNotEmptyOnes(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Minimal, `missing = "drop-row"`, `unit = "id"`), 3000, 3000, 4000)
	counted := slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindRows })
	lengths := slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindHistogram && q.Of == KindPower })
	if counted < 0 || lengths < 0 {
		t.Fatalf("queries are %v", p.Queries)
	}
	for _, c := range []struct {
		perUnit, most, shown float64
		short                bool
	}{
		{3, 8, 0, true}, {3, 8, 0.1, true}, {3, 8, 0.2, false}, {3, 8, 1, false}, {1.5, 8, 0.5, false},
		{0.3, 6, 0.1, false}, {0.3, 6, 0, true}, {0.02, 6, 0, false}, {0, 6, 0, false}, {0, 6, 0.9, false},
	} {
		rows := Release{Query: counted, Kind: KindRows, Noised: []int64{int64(c.perUnit * 10_000)}, Radius: c.most, Sigma: 10 << 10, Grid: 1, Units: 10_000}
		r := Release{Query: lengths, Kind: KindHistogram, Noised: make([]int64, HistogramBins), Sigma: 30 << 10, Grid: 1, Units: 10_000}
		r.Noised[0], r.Noised[260] = int64((1-c.shown)*10_000), int64(c.shown*10_000)
		if got := p.Below([]Release{rows, r}); got != c.short {
			t.Errorf("%+v: short is %v", c, got)
		}
	}
}
