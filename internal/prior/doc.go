// Package prior simulates studies by power iteration on rows whose spectra are drawn from a public
// family, and selects those that show about the same as a given study. Results are bounded by them,
// and proposals predicted: approximate Bayesian computation with a regression on what is shown
// (Beaumont, Zhang and Balding 2002). It knows nothing of results: rounds in, draws out.
package prior
