package dataset

import (
	"encoding/binary"
	"math"
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
	two := s.Recipe(Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Missing: MissingError})
	one := s.Recipe(Request{Columns: []Column{{"a" + string(between) + "b", 0, 1}}, Missing: MissingError})
	if two == one {
		t.Error("one column is taken for two")
	}
}
