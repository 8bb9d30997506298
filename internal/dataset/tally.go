package dataset

import "strings"

// What a source may hold at most: a row's unit is kept in 32 bits, and the length of a file of all
// values stays within an int64 by far.
const (
	MaxRows   = 1<<31 - 1
	MaxValues = 1 << 48
)

// tally is what is known of rows besides their values.
type tally struct {
	rows    int
	before  int // of them, in the files before this one
	dropped int
	faulty  int
	fault   *Error // the first

	seen  map[string]int // the units' numbers
	units []int32        // of the rows; nil without a unit column

	// Of the rows from first on, which are all but in a [Stream].
	first  int
	gaps   []byte
	absent []int

	streams bool     // rows are handed on and forgotten
	names   []string // then the units of the rows from first on, in place of units
}

// next is the number of the row to come in its file.
func (t *tally) next() int { return t.rows - t.before + 1 }

// number returns a unit's number. It keeps nothing of the field's line.
func (t *tally) number(field string) int {
	i, ok := t.seen[field]
	if !ok {
		i = len(t.seen)
		t.seen[strings.Clone(field)] = i
	}
	return i
}

// cover makes gaps as long as n rows from first on need.
func (t *tally) cover(n, stride int) {
	if want := n * stride; len(t.gaps) < want {
		t.gaps = append(t.gaps, make([]byte, want-len(t.gaps))...)
	}
}

// coverAll makes gaps as long as all rows need; if none of them has one, there stay none.
func (t *tally) coverAll(stride int) {
	if len(t.gaps) > 0 {
		t.cover(t.rows-t.first, stride)
	}
}

// drop counts the row to come as dropped.
func (t *tally) drop() {
	t.absent = append(t.absent, t.rows-t.first)
	t.dropped++
}

// forget lets go of all that is known of single rows.
func (t *tally) forget() {
	t.first, t.gaps, t.absent, t.names = t.rows, t.gaps[:0], t.absent[:0], t.names[:0]
}

// unitColumn returns [Rows.Unit].
func (t *tally) unitColumn() []int {
	if t.units == nil {
		return nil
	}
	out := make([]int, len(t.units))
	for i, u := range t.units {
		out[i] = int(u)
	}
	return out
}
