// Package analysis is the rules of what an analyst may propose and is told: which proposals fit the
// federation of the moment, how many there may be, which counts of units are told, and what of a
// study shows (docs/protocol.md, "Analysts"). It reads no clock and keeps nothing but Counts.
package analysis
