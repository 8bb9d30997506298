package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// coded is the report on one column of n cells; code, if any, is in a share of them.
func coded(t *testing.T, n int, code string, share float64, c proposal.Column, keys string, cell func(r *rand.Rand) string) *Report {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range n {
		v := cell(r)
		if r.Float64() < share {
			v = code
		}
		fmt.Fprintf(&text, "%s,%d.5\n", v, i)
	}
	c.Name = "x"
	spec := &proposal.Spec{Missing: proposal.MissingDropRow, Columns: []proposal.Column{c}}
	return profiled(t, text.String(), keys, spec)
}

func normal(mean, sd float64, digits int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return strconv.FormatFloat(mean+sd*r.NormFloat64(), 'f', digits, 64) }
}

func whole(f func(r *rand.Rand) float64) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return strconv.Itoa(int(f(r))) }
}

// TestCodesAreFound: a code that no spread shows is one that fills many cells, that a gap parts
// from a scale, or that the study's range leaves out. The file's numbers count, not converted ones.
func TestCodesAreFound(t *testing.T) {
	likert := whole(func(r *rand.Rand) float64 { return 1 + float64(r.IntN(5)) })
	for _, c := range []struct {
		name, code string
		n          int
		share      float64
		column     proposal.Column
		keys, why  string
		cell       func(*rand.Rand) string
	}{
		{"weight", "99", 2000, 0.3, proposal.Column{}, "", "many times more than", normal(78, 14, 1)},
		{"rounded weight", "99", 2000, 0.3, proposal.Column{}, "", "many times more than", func(r *rand.Rand) string {
			if r.IntN(3) == 0 {
				return normal(78, 14, 1)(r)
			}
			return strconv.Itoa(10 * int(math.Round(7.8+1.4*r.NormFloat64())))
		}},
		{"systolic", "99", 2000, 0.3, proposal.Column{}, "", "many times more than", normal(130, 18, 0)},
		{"many cells", "99", 40000, 0.08, proposal.Column{}, "", "many times more than", normal(130, 18, 0)},
		{"after a factor", "99", 2000, 0.3, proposal.Column{}, "[dataset.columns]\nx = { multiply = 88.4 }\n", "many times more than", normal(85, 12, 1)},
		{"after a negative factor", "999", 2000, 0.1, proposal.Column{}, "[dataset.columns]\nx = { multiply = -2, add = 5 }\n", "far from all others", normal(130, 18, 0)},
		{"likert", "9", 4000, 0.04, proposal.Column{}, "", "with a gap below", likert},
		{"likert to 7", "9", 300, 0.04, proposal.Column{}, "", "with a gap below", whole(func(r *rand.Rand) float64 { return 1 + float64(r.IntN(7)) })},
		{"sex", "9", 500, 0.03, proposal.Column{}, "", "with a gap below", whole(func(r *rand.Rand) float64 { return 1 + float64(r.IntN(2)) })},
		{"many, and a range", "9", 4000, 0.1, proposal.Column{Standardize: proposal.StandardizePrivate, Range: []float64{1, 5}}, "", "with a gap below", likert},
		{"rare, by the range", "8", 4000, 0.001, proposal.Column{Standardize: proposal.StandardizePrivate, Range: []float64{1, 5}}, "", "outside the study's range", likert},
		{"by the range in its unit", "9", 4000, 0.001, proposal.Column{Standardize: proposal.StandardizePrivate, Range: []float64{10, 50}}, "[dataset.columns]\nx = { multiply = 10 }\n", "outside the study's range", likert},
	} {
		r := coded(t, c.n, c.code, c.share, c.column, c.keys, c.cell)
		if text := fmt.Sprint(r.Look); !strings.Contains(text, c.code+", "+c.why) || strings.Contains(text, "another unit") {
			t.Errorf("%s: %s", c.name, text)
		}
		if text := strings.Join(r.Paste, "\n"); !strings.Contains(text, `missing_values = ["`+c.code+`"]`) {
			t.Errorf("%s: %s", c.name, text)
		}
		if q := r.Columns[0].Quantiles; !slices.IsSorted(q) {
			t.Errorf("%s: %v", c.name, q)
		}
	}
}

// TestValuesAreNoCodes: values that look like codes are often values.
func TestValuesAreNoCodes(t *testing.T) {
	for name, cell := range map[string]func(*rand.Rand) string{
		"ages":       whole(func(r *rand.Rand) float64 { return min(99, 80+9*r.NormFloat64()) }),
		"ages to 99": whole(func(r *rand.Rand) float64 { return 90 + float64(r.IntN(10)) }),
		"saturation": whole(func(r *rand.Rand) float64 { return min(100, 97+2*r.NormFloat64()) }),
		"pain":       whole(func(r *rand.Rand) float64 { return float64(r.IntN(11)) }),
		"likert":     whole(func(r *rand.Rand) float64 { return 1 + float64(r.IntN(9)) }),
		"doses":      whole(func(r *rand.Rand) float64 { return math.Pow(2, float64(r.IntN(4))) }),
		"apgar":      whole(func(r *rand.Rand) float64 { return max(0, 10-math.Floor(r.ExpFloat64())) }),
		"count":      whole(func(r *rand.Rand) float64 { return math.Floor(1.5 * r.ExpFloat64()) }),
		"mostly 0": whole(func(r *rand.Rand) float64 {
			if r.IntN(20) > 0 {
				return 0
			}
			return math.Floor(40 * r.ExpFloat64())
		}),
		"some large": whole(func(r *rand.Rand) float64 {
			if r.IntN(20) > 0 {
				return 0
			}
			return 70 + math.Floor(100*r.ExpFloat64())
		}),
		"mostly 9": whole(func(r *rand.Rand) float64 {
			if r.IntN(20) > 0 {
				return 9
			}
			return float64(r.IntN(11))
		}),
		"tens":       whole(func(r *rand.Rand) float64 { return 10 * math.Round(13+1.8*r.NormFloat64()) }),
		"half whole": func(r *rand.Rand) string { return normal(9, 2, r.IntN(2))(r) },
		"skewed":     func(r *rand.Rand) string { return strconv.FormatFloat(math.Exp(1.5+r.NormFloat64()), 'f', 0, 64) },
		"thousands":  normal(900, 120, 0),
	} {
		for _, n := range []int{60, 400, 4000} {
			r := coded(t, n, "", 0, proposal.Column{}, "", cell)
			for _, l := range r.Look {
				if l.About == AboutCode && !strings.Contains(l.Text, "1 value is 99, far") { // of a long tail
					t.Errorf("%s, %d cells: %s", name, n, l.Text)
				}
			}
		}
	}
}

// TestRangeIsCounted: how many values the study's range leaves out is counted, in all cells.
func TestRangeIsCounted(t *testing.T) {
	i := 0
	r := coded(t, 10000, "", 0, proposal.Column{Standardize: proposal.StandardizePrivate, Range: []float64{0, 89.5}}, "", whole(func(*rand.Rand) float64 { i++; return float64(i % 100) }))
	if text := fmt.Sprint(r.Look); !strings.Contains(text, "1000 of its 10000 values lie outside the study's plausible range, 0 to 89.5") {
		t.Error(text)
	}
	// A few on either side count together.
	i = 0
	r = coded(t, 1000, "", 0, proposal.Column{Standardize: proposal.StandardizePrivate, Range: []float64{3, 96}}, "", whole(func(*rand.Rand) float64 { i++; return float64(i % 100) }))
	if text := fmt.Sprint(r.Look); !strings.Contains(text, "60 of its 1000 values lie outside") {
		t.Error(text)
	}
	r = coded(t, sampleMost+1, "", 0, proposal.Column{}, "", normal(0, 1, 3))
	if r.Columns[0].Sample != sampleMost {
		t.Errorf("quantiles of %d", r.Columns[0].Sample)
	}
	if r = coded(t, 4000, "", 0, proposal.Column{}, "", normal(0, 1, 3)); r.Columns[0].Sample != 0 {
		t.Errorf("quantiles of %d", r.Columns[0].Sample)
	}
}

// TestPaddedLevels: as the study reads it, 09 is a level or none, and 9.0 missing, where 9 is.
func TestPaddedLevels(t *testing.T) {
	spec := &proposal.Spec{Missing: "gaps", Columns: []proposal.Column{{Name: "month", Levels: []string{"09", "10"}}}}
	r := profiled(t, "month\n"+strings.Repeat("09\n9.0\n10\n08\n", 10), "missing_values = [\"9\", \"8\"]\n", spec)
	if c := r.Columns[0]; c.Missing != 10 || !strings.Contains(looks(r, AboutLevels), "10 cells hold none of the study's levels") {
		t.Errorf("%d missing; %s", c.Missing, looks(r, AboutLevels))
	}
}
