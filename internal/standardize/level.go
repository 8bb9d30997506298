package standardize

import "math"

// RareSigmas is how many standard deviations of its noise a level's released count has at least,
// or the level joins its column's other texts: 1/√p of a count that is mostly noise would make a
// few rows longer than all others.
const RareSigmas = 4.0

// LevelShares returns the shares of a column's levels, and of all other texts, which are last, by
// their noised counts: 0 for those that are left out. They add up to one, or are all 0 where less
// than two are left, which tell no row from another.
func LevelShares(counts []float64, sigma, least float64) []float64 {
	out := make([]float64, len(counts))
	other := len(counts) - 1
	joined, kept, total := 1, 0, 0.0
	rest := counts[other]
	for l, n := range counts[:other] {
		if n >= max(RareSigmas*sigma, least) {
			out[l] = n
			total += n
			kept++
		} else {
			rest += n
			joined++
		}
	}
	if rest >= max(RareSigmas*sigma*math.Sqrt(float64(joined)), least) {
		out[other] = rest
		total += rest
		kept++
	}
	if kept < 2 {
		clear(out)
		return out
	}
	for l := range out {
		out[l] /= total
	}
	return out
}
