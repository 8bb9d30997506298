// Package sheet writes one page about a study, for an ethics board or a data protection officer:
// what was asked, who approved it, which columns, what left each site, what the privacy parameters
// mean, what the result is worth, and what is not covered. It is HTML for printing on one sheet of
// A4, with no script and no request to anywhere. It holds released values and public sizes alone.
package sheet
