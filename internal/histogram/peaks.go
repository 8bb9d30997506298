package histogram

import "math"

// dips is how many standard deviations two peaks are above what lies between them. With near, where
// noise is not large, nearDips do for a peak of nearPeak within reach of the fullest bin: when
// noise alone makes one, now and then, the clip that is too high costs little.
const dips, nearDips, nearPeak = 5, 4, 5

// TwoPeaks reports whether lengths have two peaks that stand out, and clearly less between them, in
// bins of one to four together. Lengths of elliptical rows have one peak, whatever their tail.
// Clusters whose centers differ in length have several, and what is short there is another kind of
// row, not a part of the same. The lowest bin, which holds the rows that were left out, does not
// count. With near a lower peak is enough around the fullest bin.
func (h Noised) TwoPeaks(near bool) bool {
	noised := h.Counts
	for width := 1; width <= 4; width *= 2 {
		s := h.Spread * math.Sqrt(float64(width))
		floor := StandsOut(s, len(noised)/width)
		for first := 1; first <= width; first++ {
			counts := make([]float64, 0, len(noised)/width)
			fullest := 0
			for at := first; at+width <= len(noised); at += width {
				count := 0.0
				for _, v := range noised[at : at+width] {
					count += float64(v)
				}
				if counts = append(counts, count); count > counts[fullest] {
					fullest = len(counts) - 1
				}
			}
			around := counts[max(0, fullest-reach/width):min(len(counts), fullest+reach/width+1)]
			if separated(counts, floor, dips*s) || near && separated(around, nearPeak*s, nearDips*s) {
				return true
			}
		}
	}
	return false
}

// separated reports whether two counts reach floor and are at least dip above one between them.
func separated(counts []float64, floor, dip float64) bool {
	before := make([]float64, len(counts)) // the highest count before each
	highest := 0.0
	for i, count := range counts {
		before[i] = highest
		highest = max(highest, count)
	}
	highest = 0 // of those behind
	for i := len(counts) - 1; i >= 0; i-- {
		peak := min(before[i], highest)
		if peak >= floor && peak-max(0, counts[i]) >= dip {
			return true
		}
		highest = max(highest, counts[i])
	}
	return false
}
