package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/study"
	"covey/internal/worth"
)

// TestUnequalUnits: where few units have most rows, the clip of their number takes more off than
// the interval of rows kept covers, and a reader is told.
func TestUnequalUnits(t *testing.T) {
	const d, sites, units = 4, 5, 1600
	s := spec(t, d, "unit = \"u\"\nmissing = \"drop-row\"\n")
	s.Epsilon = 1
	rng := rand.New(rand.NewPCG(6, 6))
	rows := 0
	x := over(t, Trials{Spec: s, Times: 1, Key: [32]byte{4}}, sites, func(int) *dataset.Rows {
		r := &dataset.Rows{Units: units, D: d}
		for u := range units {
			for range 1 + int(3*math.Exp(1.2*rng.NormFloat64())) {
				for j := range d {
					r.Values = append(r.Values, rng.NormFloat64()/float64(1+j))
				}
				r.Unit = append(r.Unit, u)
			}
		}
		r.Rows = len(r.Unit)
		rows += r.Rows
		return r
	})
	_, r, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.RowsKeptInterval[1] >= float64(rows) {
		t.Errorf("%v holds %d: is the number of rows not clipped now?", *r.RowsKeptInterval, rows)
	}
	report, err := worth.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	limit := 0.0
	for _, rel := range r.Releases {
		if rel.Kind == study.KindRows {
			limit = rel.Radius
		}
	}
	told := fmt.Sprintf("At most %.1f rows of one unit are counted, a limit read from noised counts. If no unit has more, nothing is lost.", limit)
	if !slices.ContainsFunc(report.Sentences, func(s string) bool { return strings.Contains(s, told) }) {
		t.Errorf("nothing is told of it: %q", report.Sentences)
	}
}

// TestOutsideThePromise: tables for which the share's bound would not hold, each with what a reader
// is told of them. Where released values show heavy tails no bound is given.
func TestOutsideThePromise(t *testing.T) {
	const d, each, sites = 12, 1600, 5
	for _, c := range []struct {
		name, keys string
		cell       func(site, j int, normal float64) float64
		bounds     int
		told       string
	}{
		{"log-normal columns", "", func(_, _ int, v float64) float64 { return math.Exp(v) }, 0, "heavy tails"},
		{"a code in a column", "", func(_, j int, v float64) float64 {
			if j == 2 && v > 3 {
				return 40
			}
			return v
		}, 3, "single columns are skewed or heavy-tailed"},
		{"sites of other means, in pairs", "center = \"pairs\"\n", func(site, j int, v float64) float64 { return v + 2*math.Sin(float64(1+7*site+j*j)) }, 3, "variance within sites"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spec(t, d, "method = \"covariance\"\ncomponents = 2\n"+c.keys)
			rng := rand.New(rand.NewPCG(5, 5))
			x := over(t, Trials{Spec: s, Times: 3, Key: [32]byte{3}}, sites, func(site int) *dataset.Rows {
				r := &dataset.Rows{Rows: each, Units: each, D: d, Values: make([]float64, each*d)}
				for i := range each {
					one, two := rng.NormFloat64(), rng.NormFloat64()
					for j := range d {
						v := one*math.Sin(float64(3*j)) + two*math.Cos(float64(5*j)) + 0.8*rng.NormFloat64()
						r.Values[i*d+j] = c.cell(site, j, v)
					}
				}
				return r
			})
			studies, first, err := x.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r := Sum(studies, 0); r.Bounds != c.bounds || r.Held != 0 || r.Captured.Median > 0.95 {
				t.Errorf("%d bounds, %d held, captured %+v: is it in the promise now?", r.Bounds, r.Held, r.Captured)
			}
			report, err := worth.Read(first)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(report.Sentences, func(s string) bool { return strings.Contains(s, c.told) }) {
				t.Errorf("%q is not told: %q", c.told, report.Sentences)
			}
		})
	}
}

// TestShortRowsOnTheSphere: rows at the mean have the direction of the center's noise once they are
// divided by their lengths, and rows of zeros that of the mean. Neither has a bound, whatever the
// unit of measurement; normal rows have one.
func TestShortRowsOnTheSphere(t *testing.T) {
	const d, sites = 12, 5
	for _, c := range []struct {
		name   string
		each   int
		unit   float64
		keys   string
		row    func(i int, row []float64)
		told   string
		bounds int
	}{
		{"normal rows", 1600, 1, "rows = \"sphere\"", func(int, []float64) {}, "", 2},
		{"normal rows, in small units", 1600, 1e-3, "rows = \"sphere\"", func(int, []float64) {}, "", 2},
		{"normal rows, in large units", 1600, 1e3, "rows = \"sphere\"", func(int, []float64) {}, "", 2},
		{"few normal rows", 500, 1e-3, "rows = \"sphere\"", func(int, []float64) {}, "as many as noise can hide", 0},
		{"one in five at the mean", 1600, 1e-3, "rows = \"sphere\"\nexplained_variance = \"none\"", func(i int, row []float64) {
			if i%5 == 0 {
				clear(row)
			}
		}, "that of the center's noise", 0},
		{"one in four zeros", 1600, 1, "rows = \"sphere\"", func(i int, row []float64) {
			if i%4 == 0 {
				clear(row)
				return
			}
			for j := range row {
				row[j] += 0.3
			}
		}, "short rows, such as rows of zeros, have a direction", 0},
		{"one in four zeros, no explained variance", 1600, 1, "rows = \"sphere\"\nexplained_variance = \"none\"", func(i int, row []float64) {
			if i%4 == 0 {
				clear(row)
				return
			}
			for j := range row {
				row[j] += 0.3
			}
		}, "more of them point along the components", 0},
		{"one in four zeros, rows as they are", 1600, 1, "rows = \"plain\"", func(i int, row []float64) {
			if i%4 == 0 {
				clear(row)
				return
			}
			for j := range row {
				row[j] += 0.3
			}
		}, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spec(t, d, "method = \"power\"\nnoise = \"central\"\n"+c.keys)
			s.Epsilon = 1
			rng := rand.New(rand.NewPCG(5, 5))
			x := over(t, Trials{Spec: s, Times: 2, Key: [32]byte{3}}, sites, func(int) *dataset.Rows {
				r := &dataset.Rows{Rows: c.each, Units: c.each, D: d, Values: make([]float64, c.each*d)}
				for i := range c.each {
					row := r.Values[i*d : (i+1)*d]
					for j := range row {
						row[j] = rng.NormFloat64() / math.Sqrt(1+0.5*float64(j))
					}
					c.row(i, row)
					for j := range row {
						row[j] *= c.unit
					}
				}
				return r
			})
			studies, first, err := x.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sum := Sum(studies, 0)
			if sum.Bounds != c.bounds || sum.Held != sum.Bounds {
				t.Errorf("%d bounds, %d held, captured %+v", sum.Bounds, sum.Held, sum.Captured)
			}
			report, err := worth.Read(first)
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(report.Sentences, " "); !strings.Contains(all, c.told) || (c.bounds > 0) == strings.Contains(all, "short rows count little") {
				t.Errorf("%q is not told: %q", c.told, report.Sentences)
			}
		})
	}
}

// TestSharesOfTwoScales: where a tenth of the rows is ten times as large as others, explained and
// total variance are of what each one's own clip left, and no share is shown. Normal rows have one.
func TestSharesOfTwoScales(t *testing.T) {
	const d, each, sites = 8, 2400, 5
	for _, missing := range []string{"error", "fill"} {
		for _, factor := range []float64{1, 10} {
			t.Run(fmt.Sprintf("%s %g", missing, factor), func(t *testing.T) {
				s := spec(t, d, "method = \"covariance\"\nnoise = \"distributed\"\nmissing = \""+missing+"\"\n")
				s.Epsilon = 1
				rng := rand.New(rand.NewPCG(9, 9))
				x := over(t, Trials{Spec: s, Times: 1, Key: [32]byte{3}}, sites, func(int) *dataset.Rows {
					r := &dataset.Rows{Rows: each, Units: each, D: d, Values: make([]float64, each*d)}
					for i := range each {
						by := 1.0
						if i%10 == 0 {
							by = factor
						}
						for j := range d {
							r.Values[i*d+j] = by * rng.NormFloat64() / math.Sqrt(1+float64(j))
						}
					}
					return r
				})
				_, r, err := x.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				report, err := worth.Read(r)
				if err != nil {
					t.Fatal(err)
				}
				wide := factor > 1
				told := strings.Contains(strings.Join(report.Sentences, " "), "No component's share of the total variance is shown")
				shown := len(report.Shown(r).VarianceRatio)
				if told != wide || (shown == 0) != wide || len(r.VarianceRatio) != 1 {
					t.Errorf("told %v, %d shares shown, ratios %v: %q", told, shown, r.VarianceRatio, report.Sentences)
				}
				if v := report.Verdict(r); wide && v.Trust == worth.Sound {
					t.Error("the verdict is sound")
				}
			})
		}
	}
}
