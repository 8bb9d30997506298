package proposal

import (
	"fmt"
	"slices"
)

// KeepsGaps reports whether rows keep cells without a value, as gaps.
func (s Spec) KeepsGaps() bool { return s.Missing == MissingZero || s.Missing == MissingFill }

// Indicators returns how many columns have a coordinate for missing values.
func (s Spec) Indicators() int {
	n := 0
	for _, c := range s.Columns {
		if c.Indicator {
			n++
		}
	}
	return n
}

// checkIndicators checks what goes with coordinates for missing values.
func (s *Spec) checkIndicators() error {
	i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Indicator })
	switch {
	case i < 0:
		return nil
	case !s.KeepsGaps():
		return FieldErrorf(fmt.Sprintf("columns[%d].indicator", i), `has no effect unless missing is "fill" or "zero", which keep cells without a value`)
	case s.Start != nil:
		return FieldErrorf("start", "needs public constants: vectors found at other shares of missing values point elsewhere")
	}
	return nil
}
