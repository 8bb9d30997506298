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
// Nothing is learned from the data: no column is centered, scaled, guessed or
// reordered.
//
// CSV is read here. The reader of any other format is a package beneath this one, which registers
// itself ([Register], [RegisterQuery]): it is given a [File], or a [Query], and hands each row's
// fields to a [Builder].
//
// The rules are in internal/sitedata.
package dataset
