// Package study turns a proposal into a plan: parameters to rounds, radius,
// grid, ring, noise, slots and the queries in order (docs/protocol.md). It
// is pure and runs the same on both sides: the coordinator proposes with it,
// an agent checks every query against it, and neither trusts the other's
// numbers.
package study
