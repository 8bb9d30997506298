package result

import (
	"math"
	"slices"

	"covey/internal/study"
)

// explain fills explained variance in, where it was bought and noise left something of how large
// scores are, and puts the components in its order.
func (r *Result) explain(c study.Course, releases []study.Release) {
	unknown := slices.ContainsFunc(releases, func(rel study.Release) bool {
		return (rel.Kind == study.KindVariance || rel.Kind == study.KindTotal) && rel.Unread()
	})
	rows, spread, note := c.RowsPerUnit(), 0.0, varianceNote
	if c.PerUnit > 0 {
		note = varianceNoteOfUnits
	}
	var order []int
	for _, rel := range releases {
		z := rel.Z()
		// of z/rows, both noised, to first order
		around := func(v float64) [2]float64 {
			half := normal95 * math.Hypot(rel.Tau(), v*spread) / rows
			return [2]float64{max(0, v-half), max(0, v+half)}
		}
		switch rel.Kind {
		case study.KindRows:
			spread = rel.Tau()
		case study.KindVariance:
			order = rel.ByVariance()
			for i := range z {
				z[i] /= rows
			}
			components := r.Components
			r.Components = nil
			for _, i := range order {
				v := max(0, z[i])
				r.Components = append(r.Components, components[i])
				r.ExplainedVariance = append(r.ExplainedVariance, v)
				r.VarianceInterval = append(r.VarianceInterval, around(z[i]))
			}
		case study.KindTotal:
			z[0] /= rows
			r.TotalVariance = max(0, z[0])
			total := around(z[0])
			r.TotalInterval = &total
			for _, v := range r.ExplainedVariance {
				ratio := 0.0
				if r.TotalVariance > 0 {
					ratio = min(1, v/r.TotalVariance)
				}
				r.VarianceRatio = append(r.VarianceRatio, ratio)
			}
			r.VarianceNote = note
		}
	}
	if unknown {
		r.forget(VarianceUnread)
	}
}

// forget takes explained variance back, for a reason; but for the order, which pictures have, too.
func (r *Result) forget(why string) {
	r.ExplainedVariance, r.VarianceInterval, r.VarianceRatio, r.TotalVariance, r.TotalInterval = nil, nil, nil, 0, nil
	r.VarianceNote = why
}

// VarianceUnknown reports whether explained variance was bought and is not known; VarianceNote says
// why.
func (r *Result) VarianceUnknown() bool { return r.VarianceNote != "" && r.ExplainedVariance == nil }

// mostSpread is the half-width of the total's interval, of the total, up to which it sets scales: a
// scale errs by half as much.
const mostSpread = 0.5

// A component's variance in correlations is off by Σ_j δ_j (x_j² - 1/d), where δ_j is the logarithm
// of column j's variance over its learned scale squared, all within what a study keeps of values.
const (
	// tailDoubt is a standard deviation of δ in addition to that from noise: scales come from
	// values kept within other limits than those summed later, which matters if tails are heavy.
	tailDoubt = 0.08
	// valueDoubt is tailDoubt of a column of which one value has more than half of the units, by
	// power iteration.
	valueDoubt, moreThanHalf = 0.14, 0.5
	// Of a column of which one value has even more units, mostPower or mostMoment by method, others
	// are far from it and are cut off, so that δ is as low as by -valuePower or -valueMoment: flags
	// of 3 to 8% of the units have that. All such columns err alike. A covariance sets their scales
	// once more.
	mostPower, valuePower   = 0.65, 0.75
	mostMoment, valueMoment = 0.85, 0.55
	// Where mostAlike of the columns have one value in mostPower of the units, their scales err
	// against each other, and by how much is not known.
	mostAlike = 0.8
	// scalesBelow is how many standard deviations an interval reaches below: directions were looked
	// for in columns of these scales, and lean to those that are too small.
	scalesBelow = 3
)

// VarianceUnread is the note of a result whose explained variance was bought but is not known:
// nobody knows where the scores behind it were clipped.
const VarianceUnread = "explained variance is not known: there are too few units at this ε to tell how large scores are"

// varianceOneValue is the same of a result of which nothing tells how far learned scales err.
const varianceOneValue = "explained variance is not known: most columns have one value in most units, and what learned scales leave of the others is not known"

// varianceNote says what the intervals cover, varianceNoteOfUnits where a variance was divided by a
// noised number of rows per unit.
const (
	varianceNote = "each interval covers, with probability 0.95, the effect of the noise on the variance of these rows along the component, after clipping; " + varianceNot

	varianceNoteOfUnits = "each interval covers, with probability of about 0.95, the effect of the noise on the variance of these rows along the component, after clipping, and on the number of kept rows per unit; " + varianceNot

	varianceNot = "it holds for a component picked before looking: of several nearly equal variances the first listed is too high, since they are listed by the noised ones; it covers neither how other rows from the same source would vary (with few rows for the columns, new rows have less variance), nor what clipping took from the largest rows, which lowers the variance (with heavy tails, by much)"

	varianceNotLearned = "; with learned constants it describes values kept within 3 scales of their center, in these values' own deviations, and covers about what errors of learned scales add: if most of a column is one value, components that depend on other columns can have up to a third less variance than is given, and intervals are wider; if columns are skewed or have heavy tails, the values themselves are less correlated, and their variances are lower, in tests by up to a quarter: no released value shows by how much"
)

// normal95 is the half-width of a normal law's central 95% in standard deviations.
const normal95 = 1.959963984540054
