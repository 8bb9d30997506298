package result

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"covey/internal/frame"
)

// ShareText is a component's part of the total variance, in percent, with a decimal where the noise
// leaves one known. Where noise made the variance larger than the total, or nothing of it, the text
// is the end of the share that both intervals leave known, if any. No rounding makes all or nothing
// of a share. Components count from 0. Ratios were bought.
func (r *Result) ShareText(component int) string {
	if r.D-len(r.LeftOut) == 1 { // there is no other direction, whatever the noise made of both
		return "100%"
	}
	v, in, share := r.ExplainedVariance[component], r.VarianceInterval[component], r.VarianceRatio[component]
	low, high, decimals := 0.0, math.Inf(1), 1
	if t := r.TotalInterval; t != nil {
		low, high = in[0]/t[1], in[1]/t[0] // NaN of 0/0
		if t[1]-t[0] > 0.1*r.TotalVariance {
			decimals = 0
		}
	}
	if in[1]-in[0] > 0.1*v {
		decimals = 0
	}
	switch {
	case share >= 1 && low >= 0.01 && low < 1: // else the intervals contradict each other: a clip made them so
		return "≥ " + strconv.FormatFloat(math.Floor(100*low), 'f', 0, 64) + "%"
	case share <= 0 && high <= 0.99:
		return "≤ " + strconv.FormatFloat(math.Ceil(100*high), 'f', 0, 64) + "%"
	case share >= 1 || share <= 0:
		return "unknown part"
	}
	return frame.Percent(share, decimals)
}

// Shares are the components' parts of the total variance for code that computes with them: NaN
// where noise made all or nothing of one, as [Result.ShareText] has no number then either.
func (r *Result) Shares() []float64 {
	out := slices.Clone(r.VarianceRatio)
	for i, v := range out {
		switch {
		case r.D-len(r.LeftOut) == 1:
			out[i] = 1
		case v >= 1 || v <= 0:
			out[i] = math.NaN()
		}
	}
	return out
}

// ShareNotes are sentences, without their periods, on what a reader of the first n components'
// [Result.ShareText] would stop at: signs, and shares that add up to more than all.
func (r *Result) ShareNotes(n int) (out []string) {
	printed, sum, beyond, unknown := 0.0, 0.0, false, false
	for i := range min(n, len(r.VarianceRatio)) {
		share := r.ShareText(i)
		shown, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
		if err != nil { // it is said to be above or below a bound
			shown = 100 * r.VarianceRatio[i]
		}
		printed, sum = printed+shown, sum+r.VarianceRatio[i]
		beyond = beyond || strings.HasPrefix(share, "≥") || strings.HasPrefix(share, "≤")
		unknown = unknown || strings.HasPrefix(share, "unknown")
	}
	if beyond {
		out = append(out, "≥, ≤: noise made the variance larger than the total, or left none of it; the bound (95%) is the one that both intervals allow")
	}
	if unknown {
		out = append(out, "unknown part: the two intervals leave any part, or contradict each other, as where one was clipped shorter")
	}
	if printed > 100.05 && sum > 1 { // else only rounding makes it so
		out = append(out, "these shares add up to more than 100%: both the variances and the total have noise")
	}
	return out
}
