package proposal

import (
	"fmt"
	"strconv"
)

// Standardizes reports whether the study learns the constants of some column.
func (s Spec) Standardizes() bool { return s.Standardize == StandardizePrivate }

// detail names what of a study counts or scales columns one by one, the first that there is: from
// it the coordinator's leader would read, with central noise, what a single site holds. Empty if
// there is nothing.
func (s Spec) detail() string {
	if s.Standardizes() {
		return `standardize = "private"`
	}
	if s.Leveled() > 0 {
		return "a column with levels"
	}
	if s.KeepsGaps() {
		return fmt.Sprintf("missing = %q", s.Missing)
	}
	return ""
}

// checkDetail refuses central noise where columns are counted one by one and nobody said that it is
// meant.
func (s *Spec) checkDetail() error {
	why := s.detail()
	switch {
	case s.CentralDetail && why == "":
		return FieldErrorf("central_detail", "has no effect: the study asks for nothing of single columns")
	case s.CentralDetail && s.Noise == NoiseDistributed:
		return FieldErrorf("central_detail", `has no effect with noise = "distributed": nobody sees an exact sum`)
	case why != "" && s.Noise == NoiseCentral && !s.CentralDetail:
		return FieldErrorf("noise", `%s needs "distributed": with "central" the coordinator's leader reads a site's exact sums for each column or value that no other site has; `+
			`central_detail = true accepts this, and is shown to every site`, why)
	}
	return nil
}

// learnConstants marks the columns whose constants the study learns: with standardize = "private"
// those that have none.
func (s *Spec) learnConstants() {
	for i := range s.Columns {
		c := &s.Columns[i]
		if s.Standardize == StandardizePrivate && c.Offset == 0 && c.Scale == 0 && c.Levels == nil {
			def(&c.Standardize, StandardizePrivate)
		}
		if c.Standardize == StandardizePrivate {
			def(&s.Standardize, StandardizePrivate)
		}
	}
	def(&s.Standardize, StandardizeNone)
}

// checkStandardize checks what goes with constants that a study learns.
func (s *Spec) checkStandardize() error {
	learned := 0
	for i, c := range s.Columns {
		field := "columns[" + strconv.Itoa(i) + "].standardize"
		switch {
		case c.Standardize == "":
			continue
		case c.Standardize != StandardizePrivate:
			return FieldErrorf(field, "must be %q or left out, got %.80q", StandardizePrivate, c.Standardize)
		case !s.Standardizes():
			return FieldErrorf(field, `is not possible with standardize = "none" of the study`)
		case c.Levels != nil:
			return FieldErrorf(field, "cannot be given with levels, which are centered and scaled by their released counts")
		case c.Offset != 0 || c.Scale != 0 && c.Scale != 1:
			return FieldErrorf(field, "the study learns this column's constants: leave offset and scale out")
		}
		learned++
	}
	switch {
	case !s.Standardizes():
		return nil
	case learned == 0 && len(s.Columns) > 0:
		return FieldErrorf("standardize", "has no effect: every column has an offset and a scale")
	case s.Profile == ProfilePaper || s.Accountant == AccountantPaper:
		return FieldErrorf("standardize", "the paper has no charge for learned constants: give every column's offset and scale, or leave profile and accountant out")
	case s.Center != CenterPrivate:
		return FieldErrorf("center", `must be "private" or left out where constants are learned, got %q`, s.Center)
	case s.Start != nil:
		return FieldErrorf("start", "needs public constants: vectors found at other scales point elsewhere")
	}
	return nil
}
