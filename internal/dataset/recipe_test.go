package dataset

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// No name can be chosen so that two requests have one recipe, and one's rows are taken for the
// other's: each word has its length before it.
func TestRecipeIsOfOneRequest(t *testing.T) {
	var between []byte
	for _, v := range []float64{0, 1} {
		between = binary.LittleEndian.AppendUint64(between, math.Float64bits(v))
	}
	s := Source{Path: "x.csv"}
	two := s.recipe(Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Missing: MissingError})
	one := s.recipe(Request{Columns: []Column{{"a" + string(between) + "b", 0, 1}}, Missing: MissingError})
	if two == one {
		t.Error("one column is taken for two")
	}
}

// Retain leaves a file that is being written, which no name says whose it is yet.
func TestRetainLeavesDrafts(t *testing.T) {
	c := openCache(t)
	d, err := newDraft(c.root, c.dir, Float64)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Retain(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(files(t, c), d.name) {
		t.Error("the draft is gone")
	}
	if err := d.abandon(); err != nil {
		t.Error(err)
	}
}
