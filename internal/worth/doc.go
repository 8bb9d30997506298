// Package worth tells what a result is worth, from released values and public constants alone: the
// share of variance that its components capture, how far each may be from the direction that
// endless rows would show, which components can be told apart, and what none of this covers. It is
// post-processing, so it costs no privacy. Nothing of it is signed: every reader computes it anew.
// Constants are frozen; docs/experiments.md has their coverage.
package worth
