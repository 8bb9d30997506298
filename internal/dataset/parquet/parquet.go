// Package parquet reads Parquet files for package dataset. A program that imports it can.
package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"covey/internal/dataset"
)

// parquetTable is a Parquet file. Columns of numbers are FLOAT, DOUBLE, and INT32 and INT64
// that stand for integers; null is a missing value, and so is NaN. Any encoding will do, and any
// compression that the library reads right.
type parquetTable struct {
	src  *dataset.File
	file *parquet.File
}

func init() { dataset.Register(dataset.Parquet, openParquet) }

func openParquet(src *dataset.File) (_ dataset.Table, err error) {
	t := &parquetTable{src: src}
	err = t.careful(func() error {
		if err := t.footer(); err != nil {
			return err
		}
		t.file, err = parquet.OpenFile(src, src.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// careful runs f, which calls the library, and words its faults: their texts may hold what is in
// the file. The library checks much of what it reads and panics at some of the rest. A page may
// claim no more memory than the footer says; where that lies, the process's limit bounds it
// (docs/data.md).
func (t *parquetTable) careful(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = t.bad()
		}
	}()
	err = f()
	if _, ours := errors.AsType[*dataset.Error](err); err == nil || ours {
		return err
	}
	return t.bad()
}

func (t *parquetTable) bad() *dataset.Error {
	return &dataset.Error{File: t.src.Path(), Reason: "cannot be read: not Parquet, cut off, damaged, or of a kind that is not known here"}
}

// Header implements dataset.Table.
func (t *parquetTable) Header() []string {
	var names []string
	for _, c := range t.file.Root().Columns() {
		names = append(names, c.Name())
	}
	return names
}

// Schema tells two files apart whose columns, in order, have other names or types.
func (t *parquetTable) Schema() string {
	var out strings.Builder
	for _, c := range t.file.Root().Columns() {
		kind := "group"
		if c.Leaf() {
			kind = c.Type().String()
		}
		fmt.Fprintf(&out, "%q %s %t\n", c.Name(), kind, c.Repeated())
	}
	return out.String()
}

// find returns a column that can be used: one value a row, at the top.
func (t *parquetTable) find(name string) (*parquet.Column, error) {
	all := t.file.Root().Columns()
	// Names are compared as CSV's are, without the spaces around them.
	at := slices.IndexFunc(all, func(c *parquet.Column) bool { return dataset.Trim(c.Name()) == name })
	if at < 0 {
		return nil, &dataset.Error{Schema: dataset.SchemaColumns, File: t.src.Path(), Column: name, Reason: fmt.Sprintf("none of the file's %d columns has this name", len(all)), Near: dataset.Near(name, t.Header())}
	}
	if slices.ContainsFunc(all[at+1:], func(c *parquet.Column) bool { return dataset.Trim(c.Name()) == name }) {
		return nil, &dataset.Error{Schema: dataset.SchemaColumns, File: t.src.Path(), Column: name, Reason: "two columns of the file have this name"}
	}
	c := all[at]
	if !c.Leaf() || c.Repeated() || c.MaxDefinitionLevel() > 1 {
		return nil, &dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: name, Reason: "is not one value a row, but a list or a group"}
	}
	if why := t.packed(c); why != "" {
		return nil, &dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: name, Reason: why}
	}
	return c, nil
}

// Rows implements dataset.Table.
func (t *parquetTable) Rows(b dataset.Builder) error {
	return t.careful(func() error { return t.read(b) })
}

func (t *parquetTable) read(b dataset.Builder) error {
	var columns []*parquet.Column
	for j, c := range b.Columns() {
		at, err := t.find(c.Name)
		if err != nil {
			return err
		}
		if reason := unfit(at.Type(), b.Reading(j), b.Texts(j)); reason != "" {
			return &dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: c.Name, Reason: reason}
		}
		columns = append(columns, at)
	}
	var who *parquet.Column
	if b.Unit() != "" {
		var err error
		if who, err = t.find(b.Unit()); err != nil {
			return err
		}
		if k := who.Type().Kind(); k == parquet.Int96 {
			return &dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: b.Unit(), Reason: "an INT96 cannot be the unit"}
		}
	}
	// A file may lie about its rows: a value has a bit, and a row is of d values.
	b.Reserve(float64(min(t.file.NumRows(), 8*t.src.Size()/int64(max(1, len(columns))))))
	for i, group := range t.file.RowGroups() {
		if err := t.group(b, group, t.file.Metadata().RowGroups[i].Columns, columns, who); err != nil {
			return err
		}
	}
	return nil
}

// group returns one row group's rows to b; chunks are where its columns' pages lie.
func (t *parquetTable) group(b dataset.Builder, group parquet.RowGroup, chunks []format.ColumnChunk, columns []*parquet.Column, who *parquet.Column) error {
	var cursors []*cursor // of columns, then of who
	defer func() {
		for _, c := range cursors {
			c.close()
		}
	}()
	open := func(c *parquet.Column) *cursor {
		cursors = append(cursors, newCursor(group.ColumnChunks()[c.Index()], c, t.headers(&chunks[c.Index()].MetaData, c)))
		return cursors[len(cursors)-1]
	}
	for j, c := range columns {
		if at := open(c); b.Reading(j).As == dataset.Days {
			at.day = dayUnits(c.Type())
		}
	}
	var units *cursor
	if who != nil {
		units = open(who)
	}
	fields := make([][]float64, len(columns))
	var names [][]byte
	for left := group.NumRows(); left > 0; {
		n := int(min(int64(b.Room()), left))
		for j := range columns {
			var err error
			switch {
			case !b.Texts(j):
				fields[j], err = cursors[j].numbers(n)
			case cursors[j].day > 0:
				fields[j], err = cursors[j].days(n, b, j)
			default:
				fields[j], err = cursors[j].cells(n, b, j)
			}
			if err != nil {
				return t.ends(err)
			}
		}
		if units != nil {
			var err error
			if names, err = units.texts(n); err != nil {
				return t.ends(err)
			}
		}
		if err := b.Columnar(n, fields, names); err != nil {
			return err
		}
		left -= int64(n)
	}
	for _, c := range cursors {
		if c.row < c.length { // rows that the other columns have not: which are whose nobody knows
			return &dataset.Error{File: t.src.Path(), Reason: "a column has more values than its row group has rows"}
		}
	}
	return nil
}

// ends words the end of a column before its row group's.
func (t *parquetTable) ends(err error) error {
	if err == io.EOF {
		return &dataset.Error{File: t.src.Path(), Reason: "a column has fewer values than its row group has rows"}
	}
	return err
}

// cursor goes through a column's pages.
type cursor struct {
	heads *headers
	pages parquet.Pages
	typ   parquet.Type
	wide  bool  // unsigned
	day   int64 // how many units of a date are one; 0: it is not read as a date
	page  parquet.Page

	levels []byte // of the page's rows; nil: every row has a value
	row    int    // next of the page
	length int    // its rows
	at     int    // next of its values
	values pageValues
	buffer []float64
	words  [][]byte
	text   []byte
}

func newCursor(chunk parquet.ColumnChunk, c *parquet.Column, heads *headers) *cursor {
	return &cursor{heads: heads, pages: chunk.Pages(), typ: c.Type(), wide: unsigned(c.Type())}
}

func (c *cursor) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.pages.Close() // only read from
}

// turn goes to the next page that has rows.
func (c *cursor) turn() error {
	for c.row == c.length {
		if c.page != nil {
			parquet.Release(c.page)
			c.page = nil
		}
		if err := c.heads.next(); err != nil {
			return err
		}
		page, err := c.pages.ReadPage()
		if c.page, c.row, c.at = page, 0, 0; c.heads.own != nil { // whatever it is to the library
			c.levels, c.length, c.values = c.heads.own.levels, c.heads.own.rows, c.heads.own.values
		} else if err != nil {
			return err
		} else {
			c.levels, c.length = page.DefinitionLevels(), int(page.NumRows())
			if c.values, err = c.open(page); err != nil {
				return err
			}
		}
		present := c.length
		if len(c.levels) == 0 {
			c.levels = nil
		} else if len(c.levels) != c.length {
			return errPage
		} else if present = countOnes(c.levels); present == c.length {
			c.levels = nil
		}
		if c.values.len() < present {
			return errPage
		}
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

func (c *cursor) open(page parquet.Page) (v pageValues, err error) {
	data := page.Data()
	if d := page.Dictionary(); d != nil {
		v.index, v.indexed = data.Int32(), true
		data = d.Page().Data()
	}
	switch c.typ.Kind() {
	case parquet.Double:
		v.doubles = data.Double()
	case parquet.Float:
		v.floats = data.Float()
	case parquet.Int32:
		if c.wide {
			v.uint32s = data.Uint32()
		} else {
			v.int32s = data.Int32()
		}
	case parquet.Int64:
		if c.wide {
			v.uint64s = data.Uint64()
		} else {
			v.int64s = data.Int64()
		}
		if c.day > 1 {
			v.int64s = whole(v.int64s, c.day)
		}
	case parquet.ByteArray:
		v.bytes, v.offsets = data.ByteArray()
		if len(v.offsets) == 0 {
			v.offsets = []uint32{0}
		}
	case parquet.FixedLenByteArray:
		v.bytes, v.size = data.FixedLenByteArray()
	case parquet.Boolean:
		v.bytes, v.count = data.Boolean(), int(page.NumValues())
	default:
		return v, errPage
	}
	return v, nil
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

// texts returns the next n rows' values as text, good until the next call; empty where there
// is none. An integer is its digits; a floating-point number is its shortest digits.
func (c *cursor) texts(n int) ([][]byte, error) {
	c.words, c.text = c.words[:0], c.text[:0]
	for len(c.words) < n {
		if err := c.turn(); err != nil {
			return nil, err
		}
		var word []byte
		if c.levels == nil || c.levels[c.row] == 1 {
			word = c.word()
		}
		c.row++
		c.words = append(c.words, word)
	}
	return c.words, nil
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
