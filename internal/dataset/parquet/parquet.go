// Package parquet reads Parquet files for package dataset. A program that imports it can.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"

	"covey/internal/dataset"
	"covey/internal/memory"
)

// parquetTable is a Parquet file. Columns of numbers are FLOAT, DOUBLE, and INT32 and INT64
// that stand for integers; null is a missing value, and so is NaN. Any encoding will do, and any
// compression that the library reads right.
type parquetTable struct {
	src    *dataset.File
	file   *parquet.File
	places map[string]int // of columns by name, -1 where two have it; nil until one is looked for

	most    int64 // bytes that the footer, or the pages of all columns, may take
	held    int64 // that the pages take
	lengths [2][]int32
	gzip    *gzip.Reader
	brotli  *brotli.Reader
}

func init() { dataset.Register(dataset.Parquet, openParquet) }

func openParquet(src *dataset.File) (_ dataset.Table, err error) {
	free, known := memory.Free()
	t := &parquetTable{src: src, most: most(src.Size(), free, known)}
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
// the file. The library checks much of what it reads and panics at some of the rest.
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
	if t.places == nil {
		t.places = map[string]int{}
		for i, c := range all {
			// Names are compared as CSV's are, without the spaces around them.
			name := dataset.Trim(c.Name())
			if _, twice := t.places[name]; twice {
				i = -1
			}
			t.places[name] = i
		}
	}
	at, ok := t.places[name]
	if !ok {
		return nil, &dataset.Error{Schema: dataset.SchemaColumns, File: t.src.Path(), Column: name, Reason: fmt.Sprintf("none of the file's %d columns has this name", len(all)), Near: dataset.Near(name, t.Header())}
	}
	if at < 0 {
		return nil, &dataset.Error{Schema: dataset.SchemaColumns, File: t.src.Path(), Column: name, Reason: "two columns of the file have this name"}
	}
	c := all[at]
	if !c.Leaf() || c.Repeated() || c.MaxDefinitionLevel() > 1 {
		return nil, &dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: name, Reason: "is not one value a row, but a list or a group (write each value as a column of its own)"}
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
	var bad dataset.Unfit
	for j, c := range b.Columns() {
		at, err := t.find(c.Name)
		if e, ok := errors.AsType[*dataset.Error](err); ok && e.Schema == dataset.SchemaFormat {
			bad.Add(e)
			continue
		}
		if err != nil {
			return bad.Or(err)
		}
		if reason := unfit(at.Type(), b.Reading(j), b.Texts(j)); reason != "" {
			bad.Add(&dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: c.Name, Reason: reason})
			continue
		}
		columns = append(columns, at)
	}
	if err := bad.Or(nil); err != nil {
		return err
	}
	var who *parquet.Column
	if b.Unit() != "" {
		var err error
		if who, err = t.find(b.Unit()); err != nil {
			return err
		}
		if why := nameless(who.Type()); why != "" {
			return &dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: b.Unit(), Reason: why}
		}
	}
	// A file may lie about its rows: a value has a bit, and a row is of d values.
	b.Reserve(float64(min(t.file.NumRows(), 8*t.src.Size()/int64(max(1, len(columns))))))
	t.held = 0
	var cursors []*cursor // of columns, then of who
	defer func() {
		for _, c := range cursors {
			c.pages.keep()
		}
	}()
	for j, c := range columns {
		cursors = append(cursors, &cursor{pages: t.pages(c)})
		if b.Reading(j).As == dataset.Days {
			cursors[j].pages.day = dayUnits(c.Type())
		}
	}
	if who != nil {
		columns, cursors = append(columns, who), append(cursors, &cursor{pages: t.pages(who), uuid: isUUID(who.Type()), bytes: untyped(who.Type())})
	}
	for i := range t.file.Metadata().RowGroups {
		group := &t.file.Metadata().RowGroups[i]
		for j, c := range columns {
			cursors[j].begin(&group.Columns[c.Index()].MetaData, group.NumRows)
		}
		if err := t.group(b, group.NumRows, cursors, who != nil); err != nil {
			return err
		}
	}
	return nil
}

// group hands one row group's rows to b; the last cursor is the unit's if there is one.
func (t *parquetTable) group(b dataset.Builder, rows int64, cursors []*cursor, unit bool) error {
	var units *cursor
	if unit {
		units, cursors = cursors[len(cursors)-1], cursors[:len(cursors)-1]
	}
	fields := make([][]float64, len(cursors))
	var names [][]byte
	for left := rows; left > 0; {
		n := int(min(int64(b.Room()), left))
		for j := range cursors {
			var err error
			switch {
			case !b.Texts(j):
				fields[j], err = cursors[j].numbers(n)
			case cursors[j].pages.day > 0:
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
	return nil
}

// ends words the end of a column before its row group's.
func (t *parquetTable) ends(err error) error {
	if err == io.EOF {
		return &dataset.Error{File: t.src.Path(), Reason: "a column has fewer values than its row group has rows"}
	}
	return err
}
