package clip

// tally counts the rows of one unit by bins, and is empty between units.
type tally struct {
	counts []uint64
	filled []int // the bins whose counts may be above 0
}

func newTally(bins int) tally { return tally{counts: make([]uint64, bins)} }

// add counts n more in a bin. A unit has at most 2^22 rows: nothing overflows.
func (t *tally) add(bin int, n uint64) {
	if t.counts[bin] == 0 {
		t.filled = append(t.filled, bin)
	}
	t.counts[bin] += n
}

// average adds the counts to acc, divided by how many rows there were, and empties the tally. It
// rounds down, so that what a unit has in bins of which each row is in one adds up to one at most.
func (t *tally) average(acc []uint64, rows uint64) {
	for _, bin := range t.filled {
		acc[bin] += t.counts[bin] * one / max(1, rows)
		t.counts[bin] = 0
	}
	t.filled = t.filled[:0]
}
