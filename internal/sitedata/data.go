// Package sitedata passes the rows that package dataset reads to the kernel, and has the errors for
// a data set that a study cannot use.
//
// # Rules
//
// Rules of docs/protocol.md about a site's rows, at length. internal/dataset keeps most of them;
// those of profiles, databases and levels are in internal/profile, internal/dataset/mariadb and
// internal/answer.
//
//   - DATA-1: The SHA-256 MUST be of exactly the bytes that were parsed, to the last one. A file
//     written to meanwhile MUST be refused.
//   - DATA-2: A value that is not finite or not below 2^480 (2^128 for float32) in magnitude MUST
//     be in no sum: an operator's approval is refused before the study starts, a policy's leaves
//     the row out (DATA-9). What offset and scale take beyond is brought to the nearest value
//     below, which for d ≤ 2^20 the kernel takes (C1).
//   - DATA-3: These MUST be refused (values as in DATA-9), by file, line and column, never with a
//     value or text of the file: infinities, numbers beyond float64, other text, ragged rows,
//     broken quotes, missing columns, header names (by position) that are given twice, blank lines
//     before the last row, UTF-16 that the site did not configure, an empty file, no rows.
//   - DATA-4: Missing MUST be exactly an empty field, `NA`, or `nan` in any case, less spaces and
//     tabs, and what the site's configuration names. It is a fault with `missing = "error"`. With
//     `"drop-row"` the row becomes zeros, with `"fill"` and `"zero"` its cell a gap, and a value
//     at fault MUST be a missing one there, unless the site's configuration, never the proposal,
//     is strict. A gap's place MUST hold 0, and no NaN MUST reach the kernel.
//   - DATA-5: Rows with the same text in the unit column (less spaces and tabs at its ends) MUST
//     be one unit, wherever they are: 7, 07 and 7.0 are three.
//   - DATA-6: A missing unit (empty, NA, nan) MUST be a fault whatever `missing` says, as MUST a
//     unit column that is also a data column.
//   - DATA-7: A unit all of whose rows are dropped MUST keep its place.
//   - DATA-8: Whether a file is refused MUST NOT depend on offsets and scales.
//   - DATA-9: Until the first upload no value of a column MUST decide what a site sends: verdict,
//     code, and whether a proposal waits. Where a policy approves, rows with a value at fault
//     become zeros, and all rows are read.
//   - DATA-10: In a column with levels any text that is no level, and is not missing, MUST be the
//     column's `other`, and in one that is read as a boolean or a date any other text missing: a
//     function of the cell alone, never a fault.
//   - DATA-16: What a mapping makes of a cell MUST be a function of that cell and of the mapping,
//     which is fixed before the proposal. A converted number beyond the bound MUST be brought to
//     it, and whether a cell is refused MUST NOT depend on factors. The unit MUST NOT be
//     converted.
//   - DATA-20: A folder's files MUST all be opened before one is read, in the order of their
//     names' bytes. The folder MUST be refused if a second listing, or a file's identity, size or
//     time, differs, if a file lies outside of it, or if columns differ. Errors MUST name a file
//     by its place.
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
	return "the data set has another number of units than the roster says: bring back the rows that it had, or run agent reload, which tells the coordinator the new number, and let the study be proposed again"
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
