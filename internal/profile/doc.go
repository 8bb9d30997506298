// Package profile describes a data set to its own site and finds what does not fit a study: all
// faults of all columns at once, with the lines of agent.toml that would fix them.
//
// A [Report] describes the site's rows without any noise. It MUST NOT leave the site: nothing here
// writes a file, a log line or a message, and no error carries a value. What it says of single
// values is bounded all the same, since screens are copied: quantiles from the 5th to the 95th of
// columns with at least 50 values of 10 units, texts that 10 units have. It proposes no number that
// it took from the data: factors come from a fixed table of units of measurement.
//
// # Rules
//
// Rules of docs/protocol.md that this package keeps, at length.
//
//   - DATA-17: A profile MUST NOT be written, logged or sent, MUST NOT reach an output that is no
//     terminal unless the operator says so, and MUST have quantiles only of 50 values of 10 units
//     and texts only of 10 units. It MUST propose only factors of a fixed table.
package profile
