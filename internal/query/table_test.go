package query

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTableIsWhole: every kind has one row, and every row all that the rooms above read: words for
// pages, progress and the egress log, a number of values, and a map with its sensitivity, or
// counts.
func TestTableIsWhole(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "table.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named []Kind
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if of, ok := v.Type.(*ast.Ident); ok && of.Name == "Kind" {
				text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				named = append(named, Kind(text))
			}
		}
		return true
	})
	if len(named) < 9 || len(named) != len(Kinds()) {
		t.Fatalf("%d kinds are named, %d are in the table", len(named), len(Kinds()))
	}
	for _, k := range named {
		rows := 0
		for _, d := range Kinds() {
			if d.Kind == k {
				rows++
			}
		}
		d := k.Definition()
		if rows != 1 {
			t.Errorf("%s has %d rows in the table", k, rows)
		}
		if d.Title == "" || d.Tag == "" || len([]rune(d.Tag)) > 4 {
			t.Errorf("%s has the title %q and the tag %q", k, d.Title, d.Tag)
		}
		if sent := k.Sends(31, 17); sent == "" || strings.ContainsAny(sent, "{}") {
			t.Errorf("%s sends %q", k, sent)
		}
		if d.Values == nil {
			t.Errorf("%s has no number of values", k)
		}
		if d.Counts != (d.Map == nil) || d.Counts != (d.Delta == nil) {
			t.Errorf("%s: counts is %t, there is a map: %t, a sensitivity: %t", k, d.Counts, d.Map != nil, d.Delta != nil)
		}
		if d.Counts && d.Directions != None && (d.Directions != Components || d.CountDelta == nil) {
			t.Errorf("%s counts along an iterate", k)
		}
	}
}

// TestUnknownKind: a kind that a newer file might name has no sensitivity that noise could be
// scaled to.
func TestUnknownKind(t *testing.T) {
	d := Kind("cube").Definition()
	if d.Map != nil || !math.IsInf(d.Sensitivity(1, Grid(1), 1), 1) || d.Values(3, 1) != 1 || Kind("cube").Title("") == "" {
		t.Errorf("an unknown kind is %+v", d)
	}
	for _, k := range []Kind{Histogram, Lambda, Select} {
		if s := k.Definition().Sensitivity(1, Grid(1), 1); !math.IsInf(s, 1) {
			t.Errorf("a sum of %s has sensitivity %v", k, s)
		}
	}
}

// TestMaps: the maps, on a row and two directions that one can follow by hand.
func TestMaps(t *testing.T) {
	row, x := []float64{3, 4}, []float64{1, 0, 0.6, 0.8}
	for kind, want := range map[Kind][]float64{
		Power: {9, 12, 15, 20}, Mean: {3, 4}, Moment: {9, 12 * math.Sqrt2, 16}, Variance: {9, 25}, Total: {25}, Rows: {1},
	} {
		d := kind.Definition()
		sum := make([]float64, d.Values(2, 2))
		for range 2 { // it adds
			d.Map(sum, row, x)
		}
		for i := range sum {
			if len(sum) != len(want) || math.Abs(sum[i]-2*want[i]) > 1e-12 {
				t.Fatalf("%s of the row twice is %v, want twice %v", kind, sum, want)
			}
		}
		if !slices.Equal(row, []float64{3, 4}) || !slices.Equal(x, []float64{1, 0, 0.6, 0.8}) {
			t.Errorf("%s changes what it is given", kind)
		}
	}
}

// TestSends: both numbers stand where they belong, and one of anything is no plural.
func TestSends(t *testing.T) {
	if got := Mean.Sends(100, 7); got != "the sum of 100 clipped rows of 7 numbers" {
		t.Error(got)
	}
	for kind, want := range map[Kind]string{Variance: "along one component", Filled: "in one column", Moment: "of one number"} {
		if got := kind.Sends(100, 1); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := Histogram.Title(Mean); got != "norms for the clip radius of the mean of the columns" {
		t.Error(got)
	}
}

// TestOneNumber: a sum of one clipped number, none below 0, moves by R at most, and one grid step
// for the rounding: a covariance of one column and the variance of one component pay no more than
// the kinds that are always one number, and those have no other sensitivity.
func TestOneNumber(t *testing.T) {
	grid := Grid(3)
	for _, k := range []Kind{Moment, Variance, Total, Rows} {
		if got, want := k.Definition().Sensitivity(3, grid, 1), math.Nextafter(3/grid+1, math.Inf(1)); got != want {
			t.Errorf("%s of one number has Δ = %v, want %v", k, got, want)
		}
		if of := k.Definition(); (k == Total || k == Rows) && !math.IsInf(of.Sensitivity(3, grid, 2), 1) {
			t.Errorf("%s of two numbers has a sensitivity", k)
		}
	}
}
