// Package coordinator runs the effects of internal/round: it holds the links of
// the sites, opens masked sums, makes them private and publishes what the log
// has committed (docs/protocol.md). What it knows for good is in Machine,
// which changes only through the Log; everything else dies with the process and
// is asked for again.
package coordinator
