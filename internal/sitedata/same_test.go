package sitedata

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/dataset"
)

// TestFiguresNameWhatTellsSitesApart: with central noise the operator is told of each column that
// has one value on over 95% of this site's rows, and of no other; with distributed noise of none.
func TestFiguresNameWhatTellsSitesApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows := &dataset.Rows{Rows: 1000, Units: 1000, D: 4}
	for i := range rows.Rows {
		rare, half := 0.0, float64(i%2)
		if i%25 == 0 { // 4%
			rare = 1
		}
		rows.Values = append(rows.Values, rng.NormFloat64(), rare, half, 7)
	}
	columns := []dataset.Column{{Name: "a", Scale: 1}, {Name: "rare", Scale: 1}, {Name: "half", Scale: 1}, {Name: "ours", Scale: 1}}
	f := LookAt(rows, columns, slices.Repeat([]dataset.Reading{{Learned: true}}, 4)...)
	const says = "central noise lets the coordinator's leader read their exact sums"
	if all := strings.Join(f.Warnings(), "\n"); strings.Contains(all, says) {
		t.Errorf("with distributed noise: %s", all)
	}
	f.Central = true
	var got []string
	for _, w := range f.Warnings() {
		if strings.Contains(w, says) {
			got = append(got, w)
		}
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], `column "rare" has one value on 96% of the rows here`) || !strings.HasPrefix(got[1], `column "ours" has one value on 100% of the rows here`) {
		t.Errorf("%q", got)
	}
}

// TestLearnedColumnsHaveNoUnit: of a column whose constants the study learns, no unit of
// measurement is expected, and nobody is asked about it.
func TestLearnedColumnsHaveNoUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	rows := &dataset.Rows{Rows: 1000, Units: 1000, D: 2}
	for i := range rows.Rows {
		rows.Values = append(rows.Values, 1e6+1e4*rng.NormFloat64(), 5000*float64(i%10/9))
	}
	f := LookAt(rows, []dataset.Column{{Name: "far", Scale: 1}, {Name: "zeros", Scale: 1}}, slices.Repeat([]dataset.Reading{{Learned: true}}, 2)...)
	if w := f.Warnings(); len(w) > 0 {
		t.Errorf("%q", w)
	}
	if s := f.Columns[1].Spread; s < 1400 || s > 1600 { // 5000·√(0.1·0.9)
		t.Errorf("a spread of %v", s)
	}
}

// TestColumnsThatAreHardToLearn: the site is told of columns whose scale a study can learn wrong,
// or leave out, and of none of which the study gives the scale.
func TestColumnsThatAreHardToLearn(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	rows := &dataset.Rows{Rows: 1000, Units: 1000, D: 3}
	for i := range rows.Rows {
		rare := 1.0
		if i%20 == 0 { // 5%
			rare = 2
		}
		rows.Values = append(rows.Values, rare, 2020+math.Round(2*rng.NormFloat64()), 50+10*rng.NormFloat64())
	}
	columns := []dataset.Column{{Name: "yes", Scale: 1}, {Name: "year", Scale: 1}, {Name: "age", Scale: 1}}
	for _, learned := range []bool{true, false} {
		said := strings.Join(LookAt(rows, columns, slices.Repeat([]dataset.Reading{{Learned: learned}}, 3)...).Warnings(), "\n")
		if strings.Contains(said, `column "yes" has one value on 95% of the rows here, and the study learns`) != learned ||
			strings.Contains(said, `column "year" lies more than 500 of its spreads from 0`) != learned || strings.Count(said, "the study learns its scale") > 2 {
			t.Errorf("learned %t: %s", learned, said)
		}
	}
}

// TestNoWarningIsNotInOrder: of a column whose constants the study learns and that has no range, or
// of which too few values are here to hold against one, it is said that nothing is checked.
func TestNoWarningIsNotInOrder(t *testing.T) {
	low := 1.0
	plausible := []float64{1, 2}
	for name, c := range map[string]struct {
		column ColumnFigure
		said   bool
	}{
		"learned":                   {ColumnFigure{Learned: true, Low: &low, Measure: "cm"}, true},
		"learned, with a range":     {ColumnFigure{Learned: true, Low: &low, Range: plausible}, false},
		"learned, of few values":    {ColumnFigure{Learned: true, Range: plausible}, true},
		"learned, without a value":  {ColumnFigure{Learned: true, Unread: true}, false},
		"learned, true or false":    {ColumnFigure{Learned: true, Low: &low, Boolean: true}, false},
		"learned, dates":            {ColumnFigure{Learned: true, Low: &low, Since: "2000-01-01"}, false},
		"constants of the proposer": {ColumnFigure{Low: &low}, false},
		"levels":                    {ColumnFigure{Levels: 2}, false},
	} {
		f := Figures{Columns: []ColumnFigure{{Name: "other", Low: &low}, c.column}}
		sent, err := json.Marshal(f) // as the agent's socket sends it
		if err == nil {
			f = Figures{}
			err = json.Unmarshal(sent, &f)
		}
		if err != nil {
			t.Fatal(err)
		}
		if said := f.Unchecked(); (said != "") != c.said || c.said && !strings.HasPrefix(said, "Of 1 of these 2 columns nothing checks the unit") {
			t.Errorf("%s: %q", name, said)
		} else if few := strings.Contains(said, "fewer than 50 values"); few != (name == "learned, of few values") {
			t.Errorf("%s: %q", name, said) // a range that the proposer gives is not denied
		}
	}
}
