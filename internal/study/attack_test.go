package study

import (
	"math"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/test/texts"
)

// A column is of levels, which counts scale, or of a number whose constants are learned: of both it
// would be scaled twice, and a study could ask for standardization that learns nothing.
func TestLevelsAreNotStandardized(t *testing.T) {
	spec := strings.Replace(texts.Leveled, `levels = ["yes"]`, `levels = ["yes"]
standardize = "private"`, 1)
	spec = texts.With(spec, `center = "private"`)
	_, err := proposal.ParseSpec([]byte(spec))
	if err == nil || !strings.Contains(err.Error(), "standardize") {
		t.Errorf("a column of levels that is standardized: %v", err)
	}
}

// Levels are counted of units before any are paired: the ring has room for all of them, whatever
// the other queries need.
func TestRingHoldsCountsOfUnpairedUnits(t *testing.T) {
	text := texts.With(texts.Leveled, `center = "pairs"`, `method = "power"`, "radius = 1.0", `explained_variance = "none"`)
	text = strings.NewReplacer(`levels = ["yes"]`, "scale = 1", "epsilon = 1.0", "epsilon = 8.0", `center = "public"\n`, "").Replace(text)
	for units := 1000; units < 1<<20; units += units / 50 {
		p := mustPlan(t, text, units, units, units)
		q := p.Queries[0]
		if q.Kind != KindLevels {
			t.Fatal(q.Kind)
		}
		if all, bound := 3*float64(units)/query.ColumnGrid, math.Ldexp(1, int(p.Bits)-1); all >= bound {
			t.Fatalf("3·%d units of one level are 2^%.2f, in a ring of %d bits", units, math.Log2(all), p.Bits)
		}
	}
}
