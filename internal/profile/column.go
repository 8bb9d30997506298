package profile

import (
	"math"
	"math/rand/v2"
	"slices"

	"covey/internal/dataset"
)

// Bounds of what a profile shows: quantiles of a column only from so many values and units on, a
// text only from so many units on.
const (
	leastValues = 50
	leastUnits  = 10
)

// Bounds of what is kept of a column, whatever the file's length.
const (
	sampleMost  = 4096    // numbers of a column
	sampleLeast = 128     // likewise, where there are many columns
	sampleAll   = 4 << 20 // numbers of all columns
	mostLevels  = 1000    // texts of a column that are told apart
	maxLevel    = 100     // bytes of a text
	mostIDs     = 1 << 20 // values of a column that may be an identifier
)

// tally counts and remembers where the first was.
type tally struct{ count, first int }

func (t *tally) add(at int) {
	if t.count == 0 {
		t.first = at
	}
	t.count++
}

// level is a text of a column.
type level struct {
	rows  int
	units []int // the first leastUnits
}

// column gathers what a profile shows of one column. Its numbers are the source's, before any
// conversion: a conversion would hide a code such as 99.
type column struct {
	from            dataset.From
	within          []float64 // the study's lowest and highest value, in its unit; nil without
	outside         int       // numbers that are not
	values, missing int       // numbers, and cells without one
	gap             int       // where the first of missing is
	unread          tally     // texts that the study does not read
	dates           dates     // how texts have dates, of a column that is read as days
	endless         tally     // dates of dataset.NoDate
	whole           int       // numbers without a fraction
	kinds           map[string]*tally
	stand           map[string]*tally // texts of stands
	coded           [len(codes)]tally // by codes
	written         map[int][]string  // how cells of text write them, a few of each
	levels          map[string]*level // of cells that are no numbers
	more            bool              // other levels
	least, most     float64
	last            float64 // number
	rises           int     // numbers that are one more than the one before
	sample          []float64
	units           []int  // of numbers, the first leastUnits
	hash            uint64 // of all cells in order
	grouped         groups // how cells have the decimal mark
	ids             map[string]struct{}
	manyIDs         bool
	unused          string // why its type is no number's
	fits            bool   // it is what the study reads, if not numbers
}

func newColumn(identifier bool) *column {
	c := &column{least: math.Inf(1), most: math.Inf(-1)}
	if identifier {
		c.ids = map[string]struct{}{}
	}
	return c
}

// mostWritten is how many ways to write one code are kept.
const mostWritten = 4

// in is a number of the column in the study's unit of measurement.
func (c *column) in(v float64) float64 {
	if c.from.Multiply != 0 {
		v *= c.from.Multiply
	}
	return v + c.from.Add
}

// out reports whether a number of the column is outside the study's range.
func (c *column) out(v float64) bool {
	v = c.in(v)
	return c.within != nil && (v < c.within[0] || v > c.within[1])
}

// number takes a cell's number, and its field where that is text.
func (c *column) number(v float64, field string, at, unit, room int, random *rand.Rand) {
	c.values++
	if v == math.Trunc(v) {
		c.whole++
	}
	if c.out(v) {
		c.outside++
	}
	c.least, c.most = min(c.least, v), max(c.most, v)
	if v == c.last+1 {
		c.rises++
	}
	c.last = v
	c.units = withUnit(c.units, unit)
	if i := slices.Index(codes[:], v); i >= 0 {
		c.coded[i].add(at)
		if w := c.written[i]; field != "" && len(w) < mostWritten && !slices.Contains(w, field) {
			if c.written == nil {
				c.written = map[int][]string{}
			}
			c.written[i] = append(w, clone(field))
		}
	}
	if len(c.sample) < room {
		c.sample = append(c.sample, v)
	} else if i := random.IntN(c.values); i < room {
		c.sample[i] = v
	}
}

// without takes a missing cell.
func (c *column) without(at int) {
	if c.missing == 0 {
		c.gap = at
	}
	c.missing++
}

// other takes a cell that is no number; own says that its text is a level of the study, whatever it
// stands for elsewhere.
func (c *column) other(field string, own bool, at, unit int) {
	kind, stand := notNumber(field)
	if own {
		kind, stand = isText, ""
	}
	if c.kinds == nil {
		c.kinds, c.stand = map[string]*tally{}, map[string]*tally{}
	}
	count(c.kinds, kind, at)
	if kind == isDate && dataset.IsNoDate(field) {
		c.endless.add(at)
	}
	if stand != "" {
		count(c.stand, stand, at)
		return
	}
	c.text(field, unit)
}

// texts is how many cells are no numbers and stand for no missing value.
func (c *column) texts() (n int) {
	for kind, t := range c.kinds {
		if kind != isStand {
			n += t.count
		}
	}
	return n
}

// text takes a cell as a category.
func (c *column) text(field string, unit int) {
	l := c.levels[field]
	switch {
	case l != nil:
	case len(c.levels) == mostLevels || len(field) > maxLevel:
		c.more = true
		return
	default:
		if c.levels == nil {
			c.levels = map[string]*level{}
		}
		l = &level{}
		c.levels[clone(field)] = l
	}
	l.rows++
	l.units = withUnit(l.units, unit)
}

func (c *column) id(field string) {
	if c.ids == nil || field == "" {
		return
	}
	if _, ok := c.ids[field]; !ok && len(c.ids) == mostIDs {
		c.manyIDs = true
		return
	} else if !ok {
		c.ids[clone(field)] = struct{}{}
	}
}

func clone(s string) string { return string([]byte(s)) }

func count(m map[string]*tally, key string, at int) {
	if m[key] == nil {
		m[key] = &tally{}
	}
	m[key].add(at)
}

// withUnit adds a unit to the first leastUnits.
func withUnit(units []int, unit int) []int {
	if len(units) < leastUnits && unit >= 0 && !slices.Contains(units, unit) {
		units = append(units, unit)
	}
	return units
}

// shown reports whether quantiles may be said.
func (c *column) shown() bool { return c.values >= leastValues && len(c.units) >= leastUnits }

// quantiles are the 5th, 25th, 50th, 75th and 95th; nil where there are too few values.
func (c *column) quantiles() []float64 {
	if !c.shown() {
		return nil
	}
	return c.order()
}

// sampled is how many of the column's numbers quantiles are of; 0: of all.
func (c *column) sampled() int {
	if len(c.sample) == c.values {
		return 0
	}
	return len(c.sample)
}

// order is the same of any number of values, for comparisons alone.
func (c *column) order() []float64 {
	out := c.raw()
	for i, v := range out {
		out[i] = c.in(v)
	}
	slices.Sort(out)
	return out
}

// raw is the same in the source's unit of measurement.
func (c *column) raw() (out []float64) {
	if len(c.sample) == 0 {
		return nil
	}
	slices.Sort(c.sample)
	for _, q := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		out = append(out, c.sample[int(q*float64(len(c.sample)-1)+0.5)])
	}
	return out
}

// far counts the sample's numbers that lie a hundred spreads from the middle and are no code.
func (c *column) far() (n int) {
	q := c.raw()
	if q == nil {
		return 0
	}
	wide := q[4] - q[0]
	for _, v := range c.sample {
		if wide > 0 && math.Abs(v-q[2]) > 100*wide && !slices.Contains(codes[:], v) {
			n++
		}
	}
	return n
}
