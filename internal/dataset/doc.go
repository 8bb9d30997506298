// Package dataset reads a site's file into rows × columns of finite
// float64 values in row-major order, each (v - offset) / scale with the public
// constants of the approved proposal (docs/protocol.md).
//
// A file is read once, from its first byte to its last, and validated while it is
// read: either every value that a study will use is in order, or the whole file is
// refused with an [*Error] that names file, line and column and never a value
// (promise P6). It has to end here. An abort inside a study that depends on data
// would itself be a release, and a NaN would become a huge integer in a sum. The
// SHA-256 is of the very bytes that were parsed, so what a study pins is what it
// computes on, whatever happens to the file meanwhile.
//
// A row is one of the units that privacy is promised to, or a unit is all rows with
// one value of a unit column ("patient_id"). What leaves the site of that column is
// the number of its values, which is public as the number of units always is.
//
// Nothing is learned from the data: no column is centred, scaled, guessed or
// reordered.
//
// A format is a file of this package that opens a [source], gives each row's
// fields to a [builder] and ends with [source.finish]. CSV is the first.
//
// # Rules
//
// The rules of docs/protocol.md about a site's rows, at length. Some are kept by internal/agent,
// internal/answer and internal/profile.
//
//   - DATA-1: The SHA-256 MUST be of exactly the bytes that were parsed, to the last one. A file
//     written to meanwhile MUST be refused.
//   - DATA-2: A value that is not finite or not below 2^480 (2^128 for float32) in magnitude MUST
//     be in no sum: an operator's approval is refused before the study starts, a policy's leaves
//     the row out (DATA-9). What offset and scale take beyond is brought to the nearest value
//     below, which for d ≤ 2^20 the kernel takes (C1).
//   - DATA-3: These MUST be refused (values as in DATA-9), by file, line and column, never with a
//     value or text of the file: infinities, numbers beyond float64, other text, ragged rows,
//     broken quotes, missing columns, doubled header names (by position), blank lines before the
//     last row, UTF-16 that the site did not configure, an empty file, no rows.
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
//   - DATA-11: A level whose released count is below 4σ or 0.2% of the units MUST be among its
//     column's other texts in every later sum, and no other level: by the scales of the ask, which
//     follow from the release (AG-40).
//   - DATA-16: What a mapping makes of a cell MUST be a function of that cell and of the mapping,
//     which is fixed before the proposal. A converted number beyond the bound MUST be brought to
//     it, and whether a cell is refused MUST NOT depend on factors. The unit MUST NOT be
//     converted.
//   - DATA-17: A profile MUST NOT be written, logged or sent, MUST NOT reach an output that is no
//     terminal unless the operator says so, and MUST have quantiles only of 50 values of 10 units
//     and texts only of 10 units. It MUST propose only factors of a fixed table.
//   - DATA-20: A folder's files MUST all be opened before one is read, in the order of their
//     names' bytes. The folder MUST be refused if a second listing, or a file's identity, size or
//     time, differs, if a file lies outside of it, or if columns differ. Errors MUST name a file
//     by its place.
//   - DATA-21: A database MUST be asked one statement in one read-only snapshot. A server MUST get
//     no file of the site, and its text MUST be in no error. Over TCP, MariaDB's certificate MUST
//     be verified.
package dataset
