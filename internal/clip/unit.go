package clip

import (
	"fmt"
	"slices"
)

// MaxUnitRows is the most rows of a unit. The argument that the sensitivity of a moment has no
// slack (package comment) needs a quarter of it times 2^-53 to stay well below 2^-30.
const MaxUnitRows = 1 << 22

// UnitError reports a unit column that does not say whose each row is. Row is the row's place,
// counted from 0, or -1 if no one row is at fault.
type UnitError struct {
	Row   int
	Bound string
}

func (e *UnitError) Error() string {
	if e.Row < 0 {
		return "clip: unit column " + e.Bound
	}
	return fmt.Sprintf("clip: row %d: unit %s", e.Row, e.Bound)
}

// NewUnits is [NewMatrix] for units of one or more rows: unit[i] says which unit row i belongs to,
// and every one of 0…u-1 has a row. Rows are put unit by unit, in the order in which they came
// within a unit. It takes ownership of values, which it puts in order in place, not
// of unit. No rows is a valid matrix.
//
// What is released of a unit may depend on the order of its own rows, in the last bits. A unit's
// number is public: it places the unit in [Groups], so it must not depend on other units' values.
// Besides the errors of NewMatrix, which name rows as they came, a [*UnitError] reports numbers out
// of range, a unit without a row, and one of more than [MaxUnitRows].
func NewUnits(d int, values []float64, unit []int, absent ...int) (*Matrix, error) {
	m, err := NewMatrix(d, values, absent...)
	if err != nil {
		return nil, err
	}
	return m.grouped(unit)
}

// NewUnits32 is [NewUnits] for values stored as float32, as [NewMatrix32] is for rows.
func NewUnits32(d int, values []float32, unit []int, absent ...int) (*Matrix, error) {
	m, err := NewMatrix32(d, values, absent...)
	if err != nil {
		return nil, err
	}
	return m.grouped(unit)
}

// grouped makes the rows of a new matrix those of units.
func (m *Matrix) grouped(unit []int) (*Matrix, error) {
	rows := m.Rows()
	if len(unit) != rows {
		return nil, &UnitError{-1, fmt.Sprintf("has %d entries for %d rows", len(unit), rows)}
	}
	n, grouped := 0, true
	for i, u := range unit {
		if u < 0 || u >= rows {
			return nil, &UnitError{i, "is not in 0 to rows-1"}
		}
		n = max(n, u+1)
		grouped = grouped && (i == 0 || unit[i-1] <= u)
	}
	starts := make([]int, n+1)
	for i, u := range unit {
		starts[u+1]++
		if starts[u+1] > MaxUnitRows {
			return nil, &UnitError{i, "has more than 2^22 rows"}
		}
	}
	for u := range n {
		if starts[u+1] == 0 {
			return nil, &UnitError{-1, "leaves out a number below its largest"}
		}
		starts[u+1] += starts[u]
	}
	m.starts = starts
	if grouped {
		return m, nil
	}
	next, to := append([]int(nil), starts...), make([]int, rows)
	norms, gone := make([]float64, rows), make([]bool, rows)
	for i, u := range unit {
		at := next[u]
		next[u]++
		to[i] = at
		norms[at] = m.norms[i]
		if m.absent != nil {
			gone[at] = m.absent[i]
		}
	}
	m.norms = norms
	if m.gaps != nil {
		order(gapStride(m.d), m.gaps, slices.Clone(to))
	}
	m.values.order(m.d, to) // no second copy of the rows
	if m.absent != nil {
		m.absent = gone
	}
	return m, nil
}
