package layout

import (
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/standardize"
)

// mixed has a number whose constants are learned, one with an indicator, and two levels.
func mixed() Layout {
	return Of(proposal.Spec{Columns: []proposal.Column{
		{Name: "age", Standardize: proposal.StandardizePrivate},
		{Name: "weight", Scale: 1, Indicator: true},
		{Name: "sex", Levels: []string{"F", "M"}},
	}})
}

// TestPlaces: numbers, indicators and levels stand in the order of their columns.
func TestPlaces(t *testing.T) {
	l := mixed()
	if len(l.Coordinates) != 6 || !slices.Equal(l.Places(), []int{0, 1, 3}) || !slices.Equal(l.Own(), []int{-1, 2, -1, -1, -1, -1}) {
		t.Fatalf("%d coordinates, columns begin at %v, gaps at %v", len(l.Coordinates), l.Places(), l.Own())
	}
	if first, width := l.Indicators(); !slices.Equal(first, []int{3}) || !slices.Equal(width, []int{3}) {
		t.Errorf("levels begin at %v, of width %v", first, width)
	}
	if !slices.Equal(l.Single(query.Tree), []int{0, 1}) || !slices.Equal(l.Single(query.Moments), []int{0, 1, 2, 3, 4, 5}) {
		t.Errorf("asked singly: %v, moments: %v", l.Single(query.Tree), l.Single(query.Moments))
	}
	for j := range l.Coordinates {
		if l.Learns(j) != (j == 0) || l.Leveled(j) != (j > 2) || l.Counted(j) != (j > 1) {
			t.Errorf("coordinate %d: learns %v, a level %v, counted %v", j, l.Learns(j), l.Leveled(j), l.Counted(j))
		}
	}
}

// TestLeftOut: a rare level joins the others, which are left out if they are rare themselves.
func TestLeftOut(t *testing.T) {
	l := mixed()
	for _, c := range []struct {
		scale []float64
		why   []standardize.Reason
		joins []int
	}{
		{[]float64{1, 1, 1, 1, 1, 1}, []standardize.Reason{"", "", "", "", "", ""}, nil},
		{[]float64{1, 1, 0, 1, 0, 1}, []standardize.Reason{"", "", Even, "", Joined, ""}, []int{0, 1, 2, 3, 5, 5}},
		{[]float64{1, 1, 1, 1, 0, 0}, []standardize.Reason{"", "", "", "", Rare, Rare}, nil},
		{[]float64{1, 1, 1, 0, 0, 0}, []standardize.Reason{"", "", "", Single, Single, Single}, nil},
	} {
		if got := l.WhyLeftOut(c.scale); !slices.Equal(got, c.why) {
			t.Errorf("%v: left out are %q, want %q", c.scale, got, c.why)
		}
		if got := l.JoinLevels(c.scale); !slices.Equal(got, c.joins) {
			t.Errorf("%v: joined are %v, want %v", c.scale, got, c.joins)
		}
	}
}
