package result

import "strconv"

// ShareText is a component's part of the total variance, in percent, with a decimal where the
// noise leaves one known. Components count from 0. Ratios were bought.
func (r *Result) ShareText(component int) string {
	in, decimals := r.VarianceInterval[component], 1
	if in[1]-in[0] > 0.1*r.ExplainedVariance[component] {
		decimals = 0
	}
	return strconv.FormatFloat(100*r.VarianceRatio[component], 'f', decimals, 64) + "%"
}
