// Package sitedata takes the rows that dataset reads to the kernel, and holds the errors of a data
// set that a study cannot use.
package sitedata

import (
	"errors"
	"fmt"

	"covey/internal/clip"
	"covey/internal/dataset"
	"covey/internal/study"
)

// DataError is a data set that a study cannot use. Err names file, line and
// column, never a value.
type DataError struct {
	Dataset string
	Err     error
}

func (e *DataError) Error() string { return fmt.Sprintf("data set %q: %v", e.Dataset, e.Err) }

// Code tells the fault to the coordinator: one of the schema by a code of its own, whatever is in
// the rows; any other is "data".
func (e *DataError) Code() study.Code {
	if at, ok := errors.AsType[*dataset.Error](e.Err); ok {
		switch at.Schema {
		case dataset.SchemaColumns:
			return study.CodeColumns
		case dataset.SchemaFormat:
			return study.CodeFormat
		}
	}
	return study.CodeData
}

// Unwrap returns the fault.
func (e *DataError) Unwrap() error { return e.Err }

// UnitsError is a data set of another size than the roster says.
type UnitsError struct{ Has, Roster int }

func (e *UnitsError) Error() string {
	return "the data set has another number of units than the roster says"
}

// Matrix returns rows as the kernel takes them, without copying values that lie unit by unit.
func Matrix(r *dataset.Rows) (*clip.Matrix, error) {
	switch narrow := r.Values32 != nil; {
	case r.Gaps != nil && narrow: // no row is left out
		return clip.NewGapped(r.D, r.Values32, r.Gaps, r.Unit)
	case r.Gaps != nil:
		return clip.NewGapped(r.D, r.Values, r.Gaps, r.Unit)
	case narrow && r.Unit == nil:
		return clip.NewMatrix32(r.D, r.Values32, r.Absent...)
	case narrow:
		return clip.NewUnits32(r.D, r.Values32, r.Unit, r.Absent...)
	case r.Unit == nil:
		return clip.NewMatrix(r.D, r.Values, r.Absent...)
	}
	return clip.NewUnits(r.D, r.Values, r.Unit, r.Absent...)
}
