// Package worth computes what a result is worth, from released values and public constants alone:
// the share of variance that its components capture, how far each may be from the direction that
// infinitely many rows would show, which components are separated from all others, and what these
// figures do not cover. It is post-processing, so it costs no privacy. None of it is signed: every
// reader computes it anew. Constants are frozen; docs/experiments.md has their coverage.
package worth
