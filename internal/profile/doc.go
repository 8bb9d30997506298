// Package profile says what a data set holds and what of it does not fit a study, for the site's
// own eyes: all faults of all columns at once, with the lines of agent.toml that would mend them.
//
// A [Report] is of the site's rows without any noise. It MUST NOT leave the site: nothing here
// writes a file, a log line or a message, and no error carries a value. What it says of single
// values is bounded all the same, since screens are copied: quantiles from the 5th to the 95th of
// columns with at least 50 values of 10 units, texts that 10 units have. It proposes no number that
// it took from the data: factors come from a fixed table of units of measurement.
package profile
