package profile

import (
	"fmt"
	"slices"
)

// severalText says what several rows of a person do without a unit.
const severalText = "A person with several rows counts as several people: privacy covers one of these rows, and a result's bounds are too good"

// again counts rows with the values of another in all columns that are looked at, as a join leaves
// them behind: one of each visit, say. Rows with a missing value are not counted.
type again struct {
	seen  map[uint64]bool // hashes of rows, and whether several have it
	row   uint64          // of the row under way
	gap   bool            // it has a missing value
	begun bool
	rows  int // that were counted
	most  bool
}

// next ends a row and begins another.
func (a *again) next() {
	if a.seen == nil {
		a.seen = map[uint64]bool{}
	}
	if a.begun && !a.gap && !a.most {
		_, old := a.seen[a.row]
		a.seen[a.row] = old
		a.rows++
		a.most = len(a.seen) >= mostIDs
	}
	a.row, a.gap, a.begun = 0, false, true
}

// Rows are taken for repeated if so many of the different ones come several times, and so many
// times more than pairs of rows would by chance, were columns independent: few columns of rounded
// numbers have many. A column has so many numbers.
const (
	repeatedPart = 0.1
	beyondChance = 10
	leastRich    = 100
)

// repeats warns of rows that come several times, where nothing says whose they are. Of zeros and of
// other frequent rows there may be many without that: each is one of the different ones.
func (s *sight) repeats() {
	s.again.next()
	a, rich := s.again, false
	chance := float64(s.again.rows) * float64(s.again.rows) / 2 // of pairs that are equal
	for j, c := range s.columns {
		switch {
		case c == nil || s.label[j] == "":
		case c.unused != "": // nobody saw its cells
			return
		default:
			different, equal := ties(c.sample)
			rich = rich || different >= leastRich
			chance *= equal
		}
	}
	several := 0
	for _, twice := range a.seen {
		if twice {
			several++
		}
	}
	if s.unit >= 0 || s.r.Unit != "" || !rich || float64(several) < max(repeatedPart*float64(len(a.seen)), beyondChance*chance) {
		return
	}
	s.look("", AboutID, fmt.Sprintf("%d rows have only %d different rows of values in these columns, %d of which come several times, and unit is not set: does an export or a join repeat people? %s", a.rows, len(a.seen), several, severalText))
}

// ties returns how many different values a sample has, and which share of its pairs is equal: 1
// where nothing is known.
func ties(sample []float64) (different int, equal float64) {
	n, pairs, run := len(sample), 0, 0
	if n < 2 {
		return n, 1
	}
	sorted := slices.Sorted(slices.Values(sample))
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			different, run = different+1, 0
		}
		pairs += run
		run++
	}
	return different, float64(pairs) / (float64(n) * float64(n-1) / 2)
}
