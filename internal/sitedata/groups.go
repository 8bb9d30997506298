package sitedata

import (
	"math"
	"slices"
)

// When the values of a column lie in two groups, as rows in two units of measurement do. The two
// halves of one group, however skewed, are about 1 to 2 apart.
const (
	groupsApart = 3.5  // least distance of the groups' medians, in the sum of their spreads
	leastGroup  = 0.05 // share of the values
	groupValues = 200  // least number of values
	groupTexts  = 10   // least number of different values in each group: codes are in no unit
)

// groups returns the medians of two groups that sorted values lie in, and the share of the second;
// ok is false where they do not lie apart. Positive values are compared by their ratios.
func groups(sorted []float64) (low, high, share float64, ok bool) {
	n := len(sorted)
	if n < groupValues || math.IsInf(sorted[0], 0) || math.IsInf(sorted[n-1], 0) {
		return 0, 0, 0, false
	}
	v := slices.Clone(sorted)
	if v[0] > 0 {
		for i := range v {
			v[i] = math.Log(v[i])
		}
	}
	total := 0.0
	for _, x := range v {
		total += x
	}
	// the split with the most variance between its parts (Otsu 1979)
	at, most, sum := 0, -1.0, 0.0
	least := int(math.Ceil(leastGroup * float64(n)))
	for k := 1; k <= n-least; k++ {
		sum += v[k-1]
		apart := sum/float64(k) - (total-sum)/float64(n-k)
		if between := float64(k) * float64(n-k) * apart * apart; k >= least && between > most {
			at, most = k, between
		}
	}
	a, b := v[:at], v[at:]
	if different(a) < groupTexts || different(b) < groupTexts {
		return 0, 0, 0, false
	}
	spread := func(v []float64) float64 { return (rank(v, 0.75) - rank(v, 0.25)) / 1.349 }
	if !(rank(b, 0.5)-rank(a, 0.5) > groupsApart*(spread(a)+spread(b))) {
		return 0, 0, 0, false
	}
	return rank(sorted[:at], 0.5), rank(sorted[at:], 0.5), float64(n-at) / float64(n), true
}

// rank is a quantile of sorted values.
func rank(sorted []float64, q float64) float64 { return sorted[int(q*float64(len(sorted)-1)+0.5)] }

// different counts different values, as far as groupTexts.
func different(sorted []float64) int {
	n := 0
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			n++
		}
		if n == groupTexts {
			break
		}
	}
	return n
}
