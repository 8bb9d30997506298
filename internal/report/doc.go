// Package report writes what an analyst takes away from a study: a NumPy archive
// with scikit-learn's names, a CSV table, and plots. All of it is post-processing of
// a [result.Result] and as private as that is. The same result gives the same bytes.
//
// Nothing here checks signatures: read a file with result.Verify first.
package report
