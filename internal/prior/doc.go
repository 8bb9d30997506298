// Package prior simulates studies by power iteration, of rows whose spectra are drawn from a public
// family, and says which of them show about what a study showed. Results are bounded by them, and
// proposals predicted: approximate Bayesian computation with a regression on what is shown
// (Beaumont, Zhang and Balding 2002). It knows nothing of results: rounds in, draws out.
package prior
