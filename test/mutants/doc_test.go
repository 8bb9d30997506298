// Package mutants builds the system with one promise broken at a time and runs the test that must
// see it (build tag mutants). Nothing in the tree changes: the compiler is given other text for a
// file.
package mutants
