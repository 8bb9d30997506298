package query

import "math"

// The kinds of query.
const (
	Power     Kind = "power"
	Histogram Kind = "histogram" // of the norms of another kind's vectors
	Mean      Kind = "mean"
	Moment    Kind = "moment"
	Variance  Kind = "variance"
	Total     Kind = "total"
	Rows      Kind = "rows"
	Lambda    Kind = "lambda" // groups by their top eigenvalue's octave
	Select    Kind = "select" // the same within lambda_range, one chosen

	Octaves Kind = "octaves" // units by each column's magnitude
	Tree    Kind = "tree"    // units by each column's place in a bracket
	Moments Kind = "moments" // of each column alone: z and z²
	Levels  Kind = "levels"  // units by their level in each column with levels
	Filled  Kind = "filled"  // of each column, the share of a unit's rows without a value

	Scores  Kind = "scores"  // units by their score on each component
	Picture Kind = "picture" // units by their scores on two components, in each group
)

// table has a row for every kind. Its order has no meaning.
var table = []Definition{
	{
		Kind: Power, Title: "power step", Tag: "t",
		Sends:      "the sum of {units} clipped vectors of {values} numbers",
		Directions: Iterate, Centered: true,
		Values: func(d, k int) int { return d * k }, Delta: anywhere, Map: power,
	},
	{
		Kind: Mean, Title: "mean of the columns", Tag: "mean",
		Sends: "the sum of {units} clipped rows of {values} numbers",
		Steps: 2, Centered: true, // coarse, then fine
		Values: func(d, _ int) int { return d }, Delta: anywhere, Map: mean,
	},
	{
		Kind: Moment, Title: "covariance", Tag: "YᵀY",
		Sends:    "the sum of {units} clipped second-moment matrices of {values} numbers",
		Centered: true,
		Values:   func(d, _ int) int { return d * (d + 1) / 2 }, Delta: acute, Map: moment,
	},
	{
		Kind: Variance, Title: "explained variance", Tag: "var",
		Sends:      "the sum of {units} clipped lengths along {values} components",
		Directions: Components, Centered: true,
		Values: func(_, k int) int { return k }, Delta: acute, Map: variance,
	},
	{
		Kind: Total, Title: "total variance", Tag: "tot",
		Sends:    "the sum of {units} clipped squared lengths, one number",
		Centered: true,
		Values:   one, Delta: single, Map: total,
	},
	{
		Kind: Rows, Title: "rows kept per unit", Tag: "rows",
		Sends:  "the clipped number of kept rows of {units} units, one number",
		Values: one, Delta: single, Map: rows,
	},
	{
		Kind: Histogram, Title: "norms for the clip radius", Tag: "R",
		Sends:  "the counts of {units} units in {values} bins of size",
		Counts: true, Centered: true,
		Values: func(_, _ int) int { return HistogramBins },
	},
	{
		Kind: Filled, Title: "cells without a value", Tag: "gaps",
		Sends:  "the sum of {units} units' shares of empty cells in {values} columns",
		Counts: true,
		// of columns, which may be fewer
		Values: func(d, _ int) int { return d }, CountDelta: shares,
	},
	{
		Kind: Lambda, Title: "scale Λ", Tag: "Λ",
		Sends:  "the counts of groups of units in {values} octaves of their largest variance",
		Counts: true, Centered: true,
		Values: func(_, _ int) int { return GroupBins },
	},
	{
		Kind: Select, Title: "scale Λ, chosen", Tag: "Λ",
		Sends:  "the counts of groups of units in {values} octaves of their largest variance",
		Counts: true, Centered: true,
		Values: func(_, _ int) int { return GroupBins }, // lambda_range leaves fewer
	},
	{
		Kind: Octaves, Title: "magnitudes of the columns", Tag: "|x|",
		Sends:  "the counts of {units} units in {values} bins, 32 of magnitude for each column of numbers",
		Counts: true,
		Values: func(d, _ int) int { return OctaveBins * d }, CountDelta: oneHots(OctaveBins, len(OctaveLevels)),
	},
	{
		Kind: Tree, Title: "places of the columns", Tag: "tree",
		Sends:  "the counts of {units} units in {values} bins, 104 of place for each column of numbers",
		Counts: true, Centered: true,
		Values: func(d, _ int) int { return TreeBins * d }, CountDelta: oneHots(TreeBins, len(TreeLevels)),
	},
	{
		Kind: Moments, Title: "moments of the columns", Tag: "z²",
		Sends: "the sums of {units} clipped values and squares of each column of numbers, {values} in all",
		Steps: 2, Counts: true, Centered: true,
		Values: func(d, _ int) int { return 2 * d }, CountDelta: moments,
	},
	{
		Kind: Levels, Title: "levels of the columns", Tag: "lvl",
		Sends:  "the counts of {units} units in {values} places, 65 for each column with levels",
		Counts: true,
		// a column with levels is two numbers of a row at least
		Values: func(d, _ int) int { return LevelBins * (d / 2) }, CountDelta: oneHots(LevelBins, 1),
	},
	{
		Kind: Scores, Title: "scores on each component", Tag: "s",
		Sends:      "the counts of {units} units in {values} bins, 32 of score for each component",
		Directions: Components, Counts: true, Centered: true,
		Values: func(_, k int) int { return ScoreBins * k }, CountDelta: oneHots(ScoreBins, 1),
	},
	{
		Kind: Picture, Title: "picture of two components", Tag: "xy",
		Sends:      "the counts of {units} units in {values} bins of their scores on two components, 256 for each group",
		Directions: Components, Counts: true, Centered: true,
		// of one group
		Values: func(_, _ int) int { return PictureBins * PictureBins }, CountDelta: picture,
	},
}

func one(_, _ int) int { return 1 }

// power is y (yᵀX): a vector for each direction, one after another.
func power(sum, row, x []float64) {
	for at := 0; at < len(x); at += len(row) {
		s := dot(row, x[at:at+len(row)])
		for j, v := range row {
			sum[at+j] += s * v
		}
	}
}

// mean is y.
func mean(sum, row, _ []float64) {
	for j, v := range row {
		sum[j] += v
	}
}

// moment is the upper triangle of y yᵀ row by row, entries off the diagonal times √2. Its size is
// the trace Σ‖y‖², which is never below the L2 norm.
func moment(sum, row, _ []float64) {
	at := 0
	for i, a := range row {
		for j, b := range row[i:] {
			if j == 0 {
				sum[at] += a * b
			} else {
				sum[at] += math.Sqrt2 * a * b
			}
			at++
		}
	}
}

// variance is (x_lᵀy)² for each direction.
func variance(sum, row, x []float64) {
	for l := range sum {
		s := dot(row, x[l*len(row):(l+1)*len(row)])
		sum[l] += s * s
	}
}

// total is ‖y‖².
func total(sum, row, _ []float64) { sum[0] += dot(row, row) }

// rows is 1. A row that was left out counts 0: no map has it.
func rows(sum, _, _ []float64) { sum[0]++ }

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
