package parquet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"covey/internal/dataset"
)

// window is how many rows' levels and indices are unpacked at a time: a run of a few bytes may be
// of all rows of a row group.
const window = 1024

// cursor goes through a column's rows.
type cursor struct {
	pages  *pages
	left   int    // rows of the page that are in no window yet
	levels []byte // of the window's rows; nil: every row has a value
	row    int    // next of the window
	length int    // its rows
	at     int    // next of the values
	values pageValues
	buffer []float64
	words  [][]byte
	text   []byte
	uuid   bool // texts are UUIDs, which are spelled as in other formats
	bytes  bool // they may be bytes that are no text

	ones    []byte // memory of levels and values.index
	indices []int32
}

// begin goes to a row group, of so many rows.
func (c *cursor) begin(m *format.ColumnMetaData, rows int64) {
	c.pages.begin(m, rows)
	c.left, c.row, c.length = 0, 0, 0
}

// turn goes to the next window that has rows.
func (c *cursor) turn() error {
	for c.row == c.length {
		for c.left == 0 {
			if err := c.pages.next(); err != nil {
				return err
			}
			c.left, c.at, c.values = c.pages.rows, 0, c.pages.values
		}
		n := c.left
		if c.values.indexed {
			n = min(n, window)
		}
		c.levels = nil
		present := n
		if c.pages.optional {
			all, err := c.pages.levels.ones(n)
			if err != nil {
				return err
			}
			if n = min(n, window); all > 0 {
				n, present = all, all
			} else {
				c.ones = slices.Grow(c.ones[:0], n)[:n]
				if err := unpackRuns(&c.pages.levels, c.ones); err != nil {
					return err
				}
				if present = countOnes(c.ones); present < n {
					c.levels = c.ones
				}
			}
		}
		if c.values.indexed {
			c.indices = slices.Grow(c.indices[:0], present)[:present]
			c.at, c.values.index = 0, c.indices
			if err := unpackRuns(&c.pages.index, c.indices); err != nil {
				return err
			}
		}
		if c.values.len()-c.at < present {
			return errPage
		}
		c.left -= n
		c.row, c.length = 0, n
	}
	return nil
}

var errPage = errors.New("a page does not hold what it says")

// countOnes counts the rows that have a value: levels are 1 at most, as find saw.
func countOnes(levels []byte) int { return bytes.Count(levels, []byte{1}) }

// pageValues are a page's values that are there, by type; with a dictionary they are the
// dictionary's, and index says which; one beyond it is caught as a panic of its own (careful).
type pageValues struct {
	index   []int32
	indexed bool
	doubles []float64
	floats  []float32
	int32s  []int32
	int64s  []int64
	uint32s []uint32
	uint64s []uint64
	bytes   []byte   // of texts, or of values of size bytes, or of bits
	offsets []uint32 // of texts
	size    int
	count   int // of values where the slices above do not tell
}

func (v *pageValues) len() int {
	switch {
	case v.indexed:
		return len(v.index)
	case v.offsets != nil:
		return len(v.offsets) - 1
	case v.size > 0:
		return len(v.bytes) / v.size
	case v.bytes != nil:
		return min(v.count, 8*len(v.bytes))
	}
	return len(v.doubles) + len(v.floats) + len(v.int32s) + len(v.int64s) + len(v.uint32s) + len(v.uint64s)
}

// numbers returns the next n rows' numbers, good until the next call; NaN where a row has no value.
func (c *cursor) numbers(n int) ([]float64, error) {
	if err := c.turn(); err != nil {
		return nil, err
	}
	v := &c.values
	if v.doubles != nil && !v.indexed && c.levels == nil && c.length-c.row >= n {
		out := v.doubles[c.at : c.at+n] // as they lie in the page
		c.at += n
		c.row += n
		return out, nil
	}
	if cap(c.buffer) < n {
		c.buffer = make([]float64, n)
	}
	out := c.buffer[:n]
	for done := 0; done < n; {
		if err := c.turn(); err != nil {
			return nil, err
		}
		take := min(n-done, c.length-c.row)
		if c.levels == nil {
			v.copy(out[done:done+take], c.at)
			c.at += take
		} else {
			present := countOnes(c.levels[c.row : c.row+take])
			v.copy(out[done:done+present], c.at)
			c.at += present
			spread(out[done:done+take], c.levels[c.row:c.row+take], present)
		}
		c.row += take
		done += take
	}
	return out, nil
}

// cells returns what the next n rows' values as text are to column j of b, good until the next
// call; NaN where a row has no value.
func (c *cursor) cells(n int, b dataset.Builder, j int) ([]float64, error) {
	if cap(c.buffer) < n {
		c.buffer = make([]float64, n)
	}
	out := c.buffer[:n]
	for i := range out {
		if err := c.turn(); err != nil {
			return nil, err
		}
		out[i] = math.NaN()
		if c.levels == nil || c.levels[c.row] == 1 {
			c.text = c.text[:0]
			out[i] = b.Cell(j, c.word())
		}
		c.row++
	}
	return out, nil
}

// days returns the next n rows' dates as column j of b takes them.
func (c *cursor) days(n int, b dataset.Builder, j int) ([]float64, error) {
	out, err := c.numbers(n)
	for i, v := range out {
		out[i] = b.Day(j, v) // of integers, and so in the buffer
	}
	return out, err
}

// spread moves the first present values to where levels has a 1, from the last on, and puts
// NaN elsewhere.
func spread(out []float64, levels []byte, present int) {
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i] == 0 {
			out[i] = math.NaN()
			continue
		}
		present--
		out[i] = out[present]
	}
}

// copy puts values from the at-th on into out, as float64: exact but for integers beyond 2^53,
// which become the nearest, as their digits in a CSV file would.
func (v *pageValues) copy(out []float64, at int) {
	if v.indexed {
		index := v.index[at : at+len(out)]
		switch {
		case v.doubles != nil:
			lookup(out, v.doubles, index)
		case v.floats != nil:
			lookup(out, v.floats, index)
		case v.int32s != nil:
			lookup(out, v.int32s, index)
		case v.int64s != nil:
			lookup(out, v.int64s, index)
		case v.uint32s != nil:
			lookup(out, v.uint32s, index)
		default:
			lookup(out, v.uint64s, index)
		}
		return
	}
	switch {
	case v.doubles != nil:
		copy(out, v.doubles[at:])
	case v.floats != nil:
		widen(out, v.floats[at:])
	case v.int32s != nil:
		widen(out, v.int32s[at:])
	case v.int64s != nil:
		widen(out, v.int64s[at:])
	case v.uint32s != nil:
		widen(out, v.uint32s[at:])
	default:
		widen(out, v.uint64s[at:])
	}
}

type stored interface {
	float64 | float32 | int32 | int64 | uint32 | uint64
}

func widen[T stored](out []float64, in []T) {
	in = in[:len(out)]
	for i, v := range in {
		out[i] = float64(v)
	}
}

func lookup[T stored](out []float64, table []T, index []int32) {
	for i, at := range index {
		out[i] = float64(table[at])
	}
}

// maxWords bounds the texts of the rows of a block, beside a page's: of 4 KiB each where a block is
// longest. A page may be a few bytes that stand for a long text, and rows have a page each.
const maxWords = 64 << 20

// texts returns the next n rows' values as text, good until the next call. Of a row without a value
// it is empty. An integer is its digits; a floating-point number is its shortest digits.
func (c *cursor) texts(n int) ([][]byte, error) {
	c.words, c.text = c.words[:0], c.text[:0]
	for len(c.words) < n {
		if err := c.turn(); err != nil {
			return nil, err
		}
		if len(c.text) > maxWords {
			return nil, &dataset.Error{File: c.pages.t.src.Path(), Column: c.pages.column, Reason: fmt.Sprintf("units that follow one another take more than %d MiB: is this column the unit?", maxWords>>20)}
		}
		var word []byte
		if c.levels == nil || c.levels[c.row] == 1 {
			switch word = c.word(); {
			case c.uuid:
				word = c.spelled(word)
			case c.bytes:
				from := len(c.text)
				c.text = dataset.AppendID(c.text, word, c.values.size > 0)
				word = c.text[from:len(c.text):len(c.text)]
			}
		}
		c.row++
		c.words = append(c.words, word)
	}
	return c.words, nil
}

// spelled returns a UUID's text, good as long as other texts.
func (c *cursor) spelled(id []byte) []byte {
	from := len(c.text)
	for _, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if len(c.text) > from {
			c.text = append(c.text, '-')
		}
		c.text = hex.AppendEncode(c.text, part)
	}
	return c.text[from:len(c.text):len(c.text)]
}

// word returns the next value as text: a dictionary's own bytes, which stay, or a copy, as a page's
// are the next page's too.
func (c *cursor) word() []byte {
	v, at := &c.values, c.at
	c.at++
	if v.indexed {
		at = int(v.index[at])
		switch {
		case v.offsets != nil:
			return v.bytes[v.offsets[at]:v.offsets[at+1]]
		case v.size > 0:
			return v.bytes[at*v.size : (at+1)*v.size]
		}
	}
	from := len(c.text)
	c.text = v.append(c.text, at)
	return c.text[from:len(c.text):len(c.text)]
}

func (v *pageValues) append(out []byte, at int) []byte {
	switch {
	case v.offsets != nil:
		return append(out, v.bytes[v.offsets[at]:v.offsets[at+1]]...)
	case v.size > 0:
		return append(out, v.bytes[at*v.size:(at+1)*v.size]...)
	case v.bytes != nil:
		return strconv.AppendBool(out, v.bytes[at/8]>>(at%8)&1 == 1)
	case v.doubles != nil:
		return dataset.AppendNumber(out, v.doubles[at], 64)
	case v.floats != nil:
		return dataset.AppendNumber(out, float64(v.floats[at]), 32)
	case v.int32s != nil:
		return strconv.AppendInt(out, int64(v.int32s[at]), 10)
	case v.int64s != nil:
		return strconv.AppendInt(out, v.int64s[at], 10)
	case v.uint32s != nil:
		return strconv.AppendUint(out, uint64(v.uint32s[at]), 10)
	}
	return strconv.AppendUint(out, v.uint64s[at], 10)
}
