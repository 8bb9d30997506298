package profile

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// severalText says what several rows of a person do without a unit.
const severalText = "A person with several rows counts as several people: privacy covers one of these rows, and a result's bounds are too good"

// again counts rows with the values of another in all columns that are looked at, as a join leaves
// them behind: one of each visit, say. Rows with a missing value are not counted.
type again struct {
	seen  map[uint64]bool // hashes of rows, and whether several have it
	row   uint64          // of the row under way
	at    int             // it is there
	gap   bool            // it has a missing value
	begun bool
	rows  int               // without a missing value
	often map[uint64]*tally // hashes of frequent rows, of how many at least (Misra and Gries 1982)
	left  uint              // bits of a hash that are 0 in those of seen: of too many rows a part is looked at
}

// mostSeen is how many different rows are looked at.
const mostSeen = mostIDs

// next ends a row and begins another.
func (a *again) next(at int) {
	if a.seen == nil {
		a.seen, a.often = map[uint64]bool{}, map[uint64]*tally{}
	}
	if a.begun && !a.gap {
		a.rows++
		a.count(a.row, a.at)
		if bits.TrailingZeros64(a.row) >= int(a.left) {
			_, old := a.seen[a.row]
			a.seen[a.row] = old
		}
		for len(a.seen) > mostSeen {
			a.left++
			maps.DeleteFunc(a.seen, func(hash uint64, _ bool) bool { return bits.TrailingZeros64(hash) < int(a.left) })
		}
	}
	a.row, a.at, a.gap, a.begun = 0, at, false, true
}

// mostOften is how many different rows are counted at a time. One that comes more often than once
// in so many rows is among them at the end.
const mostOften = 200

// count counts a row, or where others have all counters takes one off each.
func (a *again) count(row uint64, at int) {
	if a.often[row] == nil && len(a.often) < mostOften {
		a.often[row] = &tally{}
	}
	if t := a.often[row]; t != nil {
		t.add(at)
		return
	}
	for other, t := range a.often {
		if t.count--; t.count == 0 {
			delete(a.often, other)
		}
	}
}

// sameRows is the share of rows that are one row, beyond that of independent columns, from which
// the site is asked about them.
const sameRows = 0.03

// same asks about rows that are one row, as of records that were filled in. Divided by their
// lengths, short ones count like others, and a twentieth of them shows in no result.
func (s *sight) same() {
	a, rich, chance, most := s.again, false, 1.0, tally{}
	for j, c := range s.columns {
		switch {
		case c == nil || s.label[j] == "":
		case c.unused != "": // nobody saw its cells
			return
		default:
			different, common := commonest(c.sample)
			rich = rich || different >= leastRich
			chance *= common
		}
	}
	for _, t := range a.often {
		if t.count > most.count {
			most = *t
		}
	}
	if part := float64(most.count) / float64(max(1, a.rows)); rich && most.count >= leastUnits && part > chance+sameRows {
		s.look("", AboutSame, fmt.Sprintf("about %.0f%% of the rows have the same values in all of these columns, one of them at %s %d: are they measurements? Such rows can be taken for a component, and a result may not show it; leave them out if they are not", 100*part, placed(s.r.Lines), most.first))
	}
}

// commonest returns how many different values a sample has, and the share of the most common one: 1
// where nothing is known.
func commonest(sample []float64) (different int, share float64) {
	if len(sample) == 0 {
		return 0, 1
	}
	_, cells := counted(slices.Sorted(slices.Values(sample)))
	return len(cells), float64(slices.Max(cells)) / float64(len(sample))
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
	s.again.next(0)
	a, rich := s.again, false
	// of pairs that are equal, in the part that is looked at
	chance := math.Ldexp(float64(a.rows)*float64(a.rows)/2, -int(a.left))
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
	if s.unit >= 0 || s.r.Unit != "" || !rich || several == 0 || float64(several) < max(repeatedPart*float64(len(a.seen)), beyondChance*chance) {
		return
	}
	about := ""
	if a.left > 0 {
		about = "about "
	}
	s.look("", AboutID, fmt.Sprintf("%d rows have only %s%d different rows of values in these columns, %[2]s%[4]d of which come several times, and unit is not set: does an export or a join repeat people? %[5]s", a.rows, about, len(a.seen)<<a.left, several<<a.left, severalText))
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
