package worth

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// Where the study gives a column's constants, its rows have a mean near the offset and a variance
// near the scale's square. A site that has the column in another unit of measurement moves the mean
// by many scales, and adds a variance that nothing else of the table shares.
const (
	farMean      = 3    // scales from the offset, beyond the center's noise
	aloneLoading = 0.95 // squared, of a component that is one column
	wideVariance = 10   // squared scales, that the interval of the component's variance is above
	wideTotal    = 3    // squared scales a column, that the total variance is above
	mostDoubted  = 5    // columns that are named
)

const constantsWhy = "a unit of measurement or an offset may be wrong at a site"

// doubted says which constants released values speak against.
func doubted(p *study.Plan, r *result.Result) []string {
	spec := p.Proposal.Spec
	given := func(j int) bool { // offset 0 and scale 1 say nothing of a column: it is taken as it is
		at := p.Layout.Coordinates[j]
		c := spec.Columns[at.Column]
		return at.Level < 0 && !at.Gap && c.Standardize != proposal.StandardizePrivate && (c.Offset != 0 || c.Scale != 1)
	}
	var out, far []string
	if names := spiked(p, r, leastVaried); len(names) > 0 {
		out = append(out, fmt.Sprintf("Learned scales are in doubt for %s: one value is frequent there, or noise hides the others. Such a scale can be a hundredth of the column's standard deviation, so that its scores show nothing else, or a million times it, so that the column plays no part. Give these columns a scale, or levels.", listed(names)))
	}
	noise := normal95 * math.Sqrt(centerVariance(r))
	for j, v := range r.Mean {
		if given(j) && math.Abs(v)-noise > farMean {
			far = append(far, fmt.Sprintf("%q (%.1f scales)", r.Columns[j], v))
		}
	}
	if len(far) > 0 {
		out = append(out, fmt.Sprintf("Released means lie far from their offsets for %s: %s.", listed(far), constantsWhy))
	}
	all := len(r.LeftOut) == 0
	for j := range r.Columns {
		all = all && given(j)
	}
	if all && r.TotalInterval != nil && r.TotalInterval[0] > float64(wideTotal*r.D) {
		out = append(out, fmt.Sprintf("The total variance is %.0f squared scales over %d columns; each would have about one if its scale were its standard deviation. Scales are far too small, or a unit of measurement is wrong at a site.", r.TotalVariance, r.D))
	}
	for i, c := range r.Components {
		if i == len(r.VarianceInterval) { // not bought
			break
		}
		for j, x := range c {
			if x*x > aloneLoading && given(j) && r.VarianceInterval[i][0] > wideVariance {
				out = append(out, fmt.Sprintf("Component %d is the column %q alone, with a variance of %.0f squared scales: %s.", i+1, r.Columns[j], r.ExplainedVariance[i], constantsWhy))
			}
		}
	}
	return out
}

// listed joins names, of more than mostDoubted the first ones and a count.
func listed(names []string) string {
	if more := len(names) - mostDoubted; more > 0 {
		names = append(slices.Clone(names[:mostDoubted]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
