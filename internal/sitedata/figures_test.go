package sitedata

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// TestFiguresFindUnits: a unit of measurement that is not the study's is found in both directions,
// and a column that is as the study expects is not. The rows are seeded.
func TestFiguresFindUnits(t *testing.T) {
	var rng *rand.Rand
	const n = 20_000
	for name, c := range map[string]struct {
		value func(i int) float64
		says  string // in the one warning; empty: there is none
	}{
		"as expected":            {func(int) float64 { return 90 + 20*rng.NormFloat64() }, ""},
		"an offset a scale off":  {func(int) float64 { return 110 + 20*rng.NormFloat64() }, ""},
		"heavy tails":            {func(int) float64 { return 90 + 20*rng.NormFloat64()/math.Sqrt(rng.Float64()+0.01) }, ""},
		"µmol/L for mg/dL":       {func(int) float64 { return 1.0 + 0.2*rng.NormFloat64() }, "lies 4.45 scales below the study's offset"},
		"a thousandth":           {func(int) float64 { return 0.09 + 0.02*rng.NormFloat64() }, "lies 4.5 scales below"},
		"a thousand times":       {func(int) float64 { return 90_000 + 20_000*rng.NormFloat64() }, "e+03 scales above"},
		"far by a heavy side":    {func(i int) float64 { return 90 + float64(i%4/3)*1000 }, "lies 12.5 scales above"},
		"nearly constant":        {func(int) float64 { return 90 + rng.NormFloat64() }, "spreads over 0.05 of the study's scales"},
		"wide":                   {func(int) float64 { return 90 + 140*rng.NormFloat64() }, "spreads over 7 of the study's scales"},
		"constant":               {func(int) float64 { return 90 }, "has the same value in every row"},
		"a missing value's code": {func(i int) float64 { return 90 + 20*rng.NormFloat64() - float64(i/(n-1))*9999 }, "has one value more than 100 scales away"},
		"mostly equal":           {func(i int) float64 { return 90 + 40*float64(i%10/9) }, ""},
	} {
		rng = rand.New(rand.NewPCG(3, 9)) // the same for each, in whatever order they come
		rows := &dataset.Rows{Rows: n, Units: n, D: 1}
		for i := range n {
			rows.Values = append(rows.Values, (c.value(i)-90)/20)
		}
		f := LookAt(rows, []dataset.Column{{Name: "x", Offset: 90, Scale: 20}})
		got := strings.Join(f.Columns[0].Warnings, "; ")
		if c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
	// pixels / 255, where the study has 0 to 255
	rows := &dataset.Rows{Rows: n, Units: n, D: 1}
	for i := range n {
		rows.Values = append(rows.Values, float64(i%256)/255/255)
	}
	if f := LookAt(rows, []dataset.Column{{Name: "p", Scale: 255}}); !strings.Contains(strings.Join(f.Warnings(), ""), `column "p" is near zero everywhere, at most 0.0039 scales`) {
		t.Errorf("pixels of another scale: %q", f.Warnings())
	}
}

// TestDatesThatStandForMissing: a code among dates, be it the first or the last that there are, is
// asked about, whether or not the study gives constants; old dates and one year's are not. The rows
// are seeded.
func TestDatesThatStandForMissing(t *testing.T) {
	const n, day9999, day1900, day1 = 4000, 2921939, -36524, -730119 // since 2000-01-01
	admitted := func(rng *rand.Rand) float64 { return 7300 + 1500*rng.Float64() }
	born := func(rng *rand.Rand) float64 { return -10_000 + 8000*rng.NormFloat64() }
	for _, c := range []struct {
		name  string
		value func(*rand.Rand) float64
		code  float64
		cells int
		as    dataset.As
		asks  bool
	}{
		{"admissions", admitted, 0, 0, dataset.Days, false},
		{"births", born, 0, 0, dataset.Days, false},
		{"one year", func(rng *rand.Rand) float64 { return 7300 + 5*rng.Float64() }, 7300 - 3000, 1, dataset.Days, false},
		{"some long ago", admitted, 7300 - 5000, 40, dataset.Days, false},
		{"9999-12-31", admitted, day9999, 1, dataset.Days, true},
		{"1900-01-01", admitted, day1900, 200, dataset.Days, true},
		{"0001-01-01 among births", born, day1, 900, dataset.Days, true},
		{"numbers", admitted, day9999, 1, dataset.Number, false},
	} {
		for _, scale := range []float64{1, 1e5} { // learned, and given
			rng := rand.New(rand.NewPCG(3, 9))
			rows := &dataset.Rows{Rows: n, Units: n, D: 1}
			for i := range n {
				v := c.value(rng)
				if i < c.cells {
					v = c.code
				}
				rows.Values = append(rows.Values, v/scale)
			}
			f := LookAt(rows, []dataset.Column{{Name: "x", Scale: scale}}, dataset.Reading{As: c.as, Learned: scale == 1})
			if asks := strings.Contains(strings.Join(f.Warnings(), ""), `column "x" has dates far from most others`); asks != c.asks {
				t.Errorf("%s, scale %v: %q", c.name, scale, f.Warnings())
			}
		}
	}
}

// TestDatesAreShownAsDates: figures of a column that counts days are for people dates again, by the
// day that the study counts from, and those of numbers are not.
func TestDatesAreShownAsDates(t *testing.T) {
	rows := &dataset.Rows{Rows: 60, Units: 60, D: 1}
	for i := range 60 {
		rows.Values = append(rows.Values, float64(i)) // with an offset of 366
	}
	for as, want := range map[dataset.As][5]string{
		dataset.Days:   {"2021-01-31", "2021-01-04", "2021-02-26", "days", "2021-02-01"},
		dataset.Number: {"396", "369", "422", "", "397"},
	} {
		f := LookAt(rows, []dataset.Column{{Name: "x", Offset: 366, Scale: 1}}, dataset.Reading{As: as, Epoch: 18262}) // 2020-01-01
		f.Beside([]proposal.Column{{Name: "x", Range: []float64{0, 397}}})
		c := f.Columns[0]
		if said := strings.Join(c.Warnings, ""); !strings.Contains(said, "above "+want[4]+", which the proposer calls") {
			t.Errorf("%s: %q", as, said)
		}
		if got := [3]string{c.Text(c.Median), c.Text(*c.Low), c.Text(*c.High)}; got != [3]string(want[:3]) || c.LengthText(20.5) != strings.TrimSpace("20.5 "+want[3]) || c.LengthText(1) != strings.TrimSuffix(strings.TrimSpace("1 "+want[3]), "s") {
			t.Errorf("%s: %q, lengths %q and %q", as, got, c.LengthText(20.5), c.LengthText(1))
		}
	}
	for since, want := range map[string]string{"": "0.12345678 to 366", "2020-01-01": "2020-01-01 to 2021-01-01"} {
		c := ColumnFigure{Since: since}
		if got := c.RangeText([]float64{0.12345678, 366}); got != want || c.RangeText(nil) != "" {
			t.Errorf("since %q: the range is %q, want %q", since, got, want)
		}
	}
	if c := (ColumnFigure{Since: "2000-01-01"}); c.Text(1e38) != "1e+38" {
		t.Errorf("far beyond all dates: %q", c.Text(1e38))
	}
}

// TestFiguresAreBounded: what is kept of rows does not grow with their number, and median and
// spread of 100,000 rows are within 5% of a scale of theirs.
func TestFiguresAreBounded(t *testing.T) {
	const d = 700
	l, rng := newLook(d), rand.New(rand.NewPCG(3, 8))
	row := make([]float64, d)
	for range 100_000 {
		for j := range 3 {
			row[j] = 0.5 + 2*rng.NormFloat64()
		}
		l.see(row, false)
	}
	if got := cap(l.sample); got > 2*sampleValues {
		t.Errorf("%d values are kept", got)
	}
	for j := range 3 {
		if f := l.column(j, dataset.Column{Name: "x", Offset: 10, Scale: 4}, dataset.Number); math.Abs(f.Median-12) > 1 || math.Abs(f.Spread-8) > 1 {
			t.Errorf("column %d has the median %v and the spread %v", j, f.Median, f.Spread)
		}
	}
}

// TestFiguresOfFaults: rows left out are counted, and above 5% said first; whatever is in them is
// no error.
func TestFiguresOfFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 100 {
		b := fmt.Sprint(i % 7)
		switch {
		case i < 4:
			b = "NA"
		case i < 8:
			b = "41.5x"
		}
		fmt.Fprintf(&text, "%d,%s\n", i%5, b)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	q := dataset.Request{Columns: []dataset.Column{{Name: "a", Offset: 2, Scale: 2}, {Name: "b", Offset: 3, Scale: 2}}, Missing: dataset.MissingDropRow}
	for _, missing := range []dataset.Missing{dataset.MissingError, dataset.MissingDropRow} {
		q.Missing = missing
		f, err := Look(dataset.Source{Path: path}, q)
		if err != nil || f.Rows != 100 || f.Dropped != 8 || f.Faulty != 4 {
			t.Fatalf("%+v, %v", f, err)
		}
		w := strings.Join(f.Warnings(), "\n")
		if !strings.Contains(w, `4 of this site's 100 rows have a value at fault, the first: `+path+`: line 6, column "b": not a number`) ||
			!strings.Contains(w, "8 of this site's 100 rows (8%) are left out") || strings.Contains(w, "41.5") {
			t.Errorf("%s", w)
		}
		if refused := strings.Contains(w, `4 of this site's 100 rows have a missing value, and the study has missing = "error"`); refused != (missing == dataset.MissingError) {
			t.Errorf("missing = %q: %s", missing, w)
		}
	}
	// None is left: there is nothing to say, and nothing fails.
	if err := os.WriteFile(path, []byte("a,b\n1,\n2,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Look(dataset.Source{Path: path}, q); err != nil || f.Dropped != 2 || !strings.Contains(strings.Join(f.Columns[0].Warnings, ""), "no values") {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestZeroIsShownAsZero: a flag's 0 comes back from its scaled value as 0, not as what rounding
// left.
func TestZeroIsShownAsZero(t *testing.T) {
	rows := &dataset.Rows{Rows: 1000, Units: 1000, D: 1}
	for i := range 1000 {
		rows.Values = append(rows.Values, (float64(i%10/7)-0.3)/0.5)
	}
	f := LookAt(rows, []dataset.Column{{Name: "x", Offset: 0.3, Scale: 0.5}}).Columns[0]
	if f.Median != 0 || math.Signbit(f.Median) || *f.Low != 0 || math.Abs(*f.High-1) > 1e-6 {
		t.Errorf("median %v, %v to %v", f.Median, *f.Low, *f.High)
	}
}
