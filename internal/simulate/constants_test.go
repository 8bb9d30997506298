package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/proposal"
	"covey/internal/worth"
)

// TestConstantsInDoubt: a column that one site of three has in another unit of measurement is
// named, of released values alone, and wherever doubts are; right constants raise no doubt,
// whatever the rows' tails.
func TestConstantsInDoubt(t *testing.T) {
	const d, sites, each = 6, 3, 3000
	for _, c := range []struct {
		name, keys string
		cell       func(site int, normal float64) float64 // of y0, in scales
		want       []string
	}{
		{"meters", "", func(site int, v float64) float64 {
			if site == 2 {
				return (1.70 + 0.1*v - 170) / 10 // a height of 170±10 cm
			}
			return v
		}, []string{`Released means lie far from their offsets for "y0" (-5.`, `Component 1 is the column "y0" alone, with a variance of `}},
		{"meters, distributed", "noise = \"distributed\"\n", func(site int, v float64) float64 { return v - 16.8*float64(site/2) }, []string{`for "y0" (-5.`, `column "y0" alone`}},
		{"meters, public center", "center = \"public\"\n", func(site int, v float64) float64 { return v - 16.8*float64(site/2) }, []string{`column "y0" alone`}},
		{"meters, pairs", "center = \"pairs\"\n", func(_ int, v float64) float64 { return 10 * v }, []string{`column "y0" alone`}}, // a wrong scale: between sites nothing is seen
		{"an offset", "", func(_ int, v float64) float64 { return v + 3.5 }, []string{`for "y0" (3.5 scales)`}},
		{"right constants", "", func(_ int, v float64) float64 { return v }, nil},
		{"a moved site", "", func(site int, v float64) float64 { return v + float64(site) }, nil},
		{"half a scale", "", func(_ int, v float64) float64 { return 2 * v }, nil},
		{"as it is", "", func(_ int, v float64) float64 { return 10*v + 50 }, nil},
		{"learned constants", "learned", func(_ int, v float64) float64 { return 10*v + 50 }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			keys, column := c.keys, []string(nil)
			if keys == "learned" {
				keys, column = "standardize = \"private\"\n", []string{""}
			}
			s := spec(t, d, "method = \"covariance\"\ncomponents = 2\n"+keys, column...)
			s.Epsilon = 2
			if keys == c.keys && c.name != "as it is" { // rows come in scales
				s.Columns[0].Offset, s.Columns[0].Scale = 170, 10
			}
			rng := rand.New(rand.NewPCG(9, 9))
			x := over(t, Trials{Spec: s, Times: 1, Key: [32]byte{6}}, sites, func(site int) *dataset.Rows {
				r := &dataset.Rows{Rows: each, Units: each, D: d}
				for range each {
					r.Values = append(r.Values, c.cell(site, rng.NormFloat64()))
					a := rng.NormFloat64()
					for range d - 1 {
						r.Values = append(r.Values, 0.8*a+0.6*rng.NormFloat64())
					}
				}
				return r
			})
			doubted(t, x, c.want)
		})
	}
	for _, shape := range []string{"n=12000,spectrum=exp0.5,sites=3,tails=4", "n=12000,spectrum=slow0.2,sites=3", "n=3000,spectrum=exp0.5,sites=3", "n=300,spectrum=exp0.3,sites=3,tails=3"} {
		for _, center := range []string{proposal.CenterPublic, proposal.CenterPrivate} {
			t.Run(shape+" "+center, func(t *testing.T) {
				t.Parallel()
				doubted(t, trials(t, spec(t, 12, fmt.Sprintf("components = 3\ncenter = %q\n", center)), shape, 1), nil)
			})
		}
	}
}

// doubted fails unless a study's result has these doubts of its constants, in order.
func doubted(t *testing.T, x Trials, want []string) {
	t.Helper()
	_, r, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report, err := worth.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(report.Sentences, "\n")
	doubts := strings.Join(report.Verdict(r).Doubts, "\n")
	if len(report.Constants) != len(want) {
		t.Fatalf("%q, want %q", report.Constants, want)
	}
	for i, text := range report.Constants {
		if !strings.Contains(text, want[i]) || !strings.Contains(all, text) || !strings.Contains(doubts, text) || !strings.Contains(text, "wrong at a site") {
			t.Errorf("%q, want %q in\n%s\n%s", text, want[i], all, doubts)
		}
	}
}
