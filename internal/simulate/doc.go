// Package simulate runs studies in one process on rows in the clear, to show what a plan would find
// before it costs any budget. Every query goes through the steps that it takes in a federation: the
// plan's ask, each site's clipped and rounded integers (package answer), the exact sampler's noise,
// the release, and the plan's next step. Keys and masks are left out: the masks of a sum cancel, so
// that the integers that are added up and released are the same.
//
// Nothing here is private: what it reports compares results with the pooled rows. No ledger is
// opened, and a simulated result proves nothing ([result.ReadSimulated]).
package simulate
