package profile

import (
	"math"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// want is what a study asks of a column.
type want struct {
	number        bool // its cells are read as numbers
	constants     bool // offset and scale say where values lie
	offset, scale float64
	plausible     []float64 // the lowest and the highest value, where the constants are learned
	within        []float64 // the same, whether or not they are
	measure       string
	texts         bool // its cells are read as reading says
	reading       dataset.Reading
}

// words is what its cells are read as.
func (w *want) words() string {
	switch {
	case len(w.reading.Levels) > 0:
		return "levels"
	case w.reading.As == dataset.Boolean:
		return "true or false"
	}
	return "dates"
}

// has reports whether a column's quantiles are where the study has its values: between plausible
// ones, or with the middle within far scales of the offset and a spread of narrow to 1/narrow
// scales.
func (w *want) has(q []float64, far, narrow float64) bool {
	if !w.constants {
		return q[0] >= w.plausible[0] && q[4] <= w.plausible[1]
	}
	off, wide := math.Abs(q[2]-w.offset)/w.scale, (q[3]-q[1])/1.349/w.scale
	return off <= far && wide >= narrow && wide <= 1/narrow
}

// wanted returns what the study asks of a column; nil without a study.
func (s *sight) wanted(name string) *want {
	if s.spec == nil {
		return nil
	}
	i, ok := s.asked[name]
	if !ok {
		return nil
	}
	c := s.spec.Columns[i]
	number := len(c.Levels) == 0 && c.As == proposal.AsNumber
	w := &want{number: number, texts: !number, constants: number && c.Standardize != proposal.StandardizePrivate && c.Scale > 0, offset: c.Offset, scale: c.Scale, measure: c.Measure}
	if number && len(c.Range) == 2 {
		if w.within = c.Range; !w.constants {
			w.plausible = c.Range
		}
	}
	if !number {
		w.reading = s.readings[i]
	}
	return w
}
