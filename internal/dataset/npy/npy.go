// Package npy reads NPY files and NPZ archives of them, which NumPy writes, for package dataset. A
// program that imports it can.
package npy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"covey/internal/dataset"
)

func init() {
	dataset.Register(dataset.NPY, func(src *dataset.File) (dataset.Table, error) { return openArray(src) })
	dataset.Register(dataset.NPZ, func(src *dataset.File) (dataset.Table, error) { return openArchive(src) })
}

// table is an NPY file, or an NPZ archive of several. A matrix is the table, C or Fortran order;
// each vector of an archive is a column beside it, under its own name. Numbers are float32,
// float64 and integers; NaN is a missing value. Text may be the unit, booleans are text.
type table struct {
	src   *dataset.File
	parts []*part
	names []string
	of    []place // of each name
	n     int

	places map[string]int // of names; nil until one is looked for
}

// part is one array of a file.
type part struct {
	*array
	name string
	// open returns the bytes of the values from the first on.
	open func() (io.ReadCloser, error)
	// at reads them from any offset; nil where they are compressed.
	at io.ReaderAt
}

// place says where a column's values are.
type place struct {
	part   *part
	column int
}

func openArray(src *dataset.File) (*table, error) {
	t := &table{src: src}
	a, err := readArray(io.NewSectionReader(src, 0, src.Size()))
	if err == nil && a.length() != src.Size()-a.begin {
		err = errLength
	}
	if err != nil {
		return nil, t.bad("", err)
	}
	data := io.NewSectionReader(src, a.begin, a.length())
	t.parts = []*part{{array: a, at: data, open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(data, 0, a.length())), nil
	}}}
	return t, t.nameColumns(src.Names())
}

// nameColumns names the columns: the matrix's by names, or c0 and so on, then the vectors.
func (t *table) nameColumns(names []string) error {
	var matrix *part
	alone := len(t.parts) == 1
	for _, p := range t.parts {
		switch {
		case p.vector && (p.name != "" || !alone):
			continue
		case matrix != nil:
			return t.bad(p.name, arrayFault("a second matrix; an archive has one at most"))
		}
		matrix = p
	}
	if matrix != nil {
		if len(names) > 0 && len(names) != matrix.d {
			return &dataset.Error{File: t.src.Path(), Reason: fmt.Sprintf("names has %d names, the matrix %d columns", len(names), matrix.d)}
		}
		for j := range matrix.d {
			name := fmt.Sprintf("c%d", j)
			if len(names) > 0 {
				name = names[j]
			}
			t.names, t.of = append(t.names, name), append(t.of, place{matrix, j})
		}
	} else if len(names) > 0 {
		return &dataset.Error{File: t.src.Path(), Reason: "names are given, but there is no matrix; vectors have names of their own"}
	}
	for _, p := range t.parts {
		if p != matrix {
			t.names, t.of = append(t.names, dataset.Trim(p.name)), append(t.of, place{p, 0})
		}
		if p.n != t.parts[0].n {
			return t.bad(p.name, arrayFault("has another number of rows than the first array"))
		}
	}
	t.n = t.parts[0].n
	if i, j := dataset.Twins(t.names); j > 0 {
		return &dataset.Error{Schema: dataset.SchemaColumns, File: t.src.Path(), Column: t.names[i], Reason: "two columns have this name"}
	}
	return nil
}

// bad words a fault of an array, or of the whole file if it has no name.
func (t *table) bad(array string, err error) *dataset.Error {
	_, ours := errors.AsType[arrayFault](err)
	if _, file := errors.AsType[*fs.PathError](err); !ours && !file {
		err = errZip // the archive's own words, or an end that comes too early
	}
	if array == "" {
		return dataset.Unreadable(t.src.Path(), err)
	}
	return &dataset.Error{File: t.src.Path(), Reason: fmt.Sprintf("array %q: %v", array, err)}
}

// Header implements dataset.Table.
func (t *table) Header() []string { return t.names }

func (t *table) find(name string) (place, error) {
	if t.places == nil {
		t.places = map[string]int{}
		for i, n := range t.names {
			if n = dataset.Trim(n); t.places[n] == 0 {
				t.places[n] = i + 1 // the first of a name
			}
		}
	}
	if i := t.places[name]; i > 0 {
		return t.of[i-1], nil
	}
	return place{}, &dataset.Error{Schema: dataset.SchemaColumns, File: t.src.Path(), Column: name, Reason: fmt.Sprintf("none of the %d columns has this name", len(t.names)), Near: dataset.Near(name, t.names)}
}

// Rows implements dataset.Table.
func (t *table) Rows(b dataset.Builder) error {
	s := &scan{table: t, most: t.n, shared: map[*part]*feed{}}
	defer s.close()
	var bad dataset.Unfit
	for j, c := range b.Columns() {
		at, err := t.find(c.Name)
		if err != nil {
			return bad.Or(err)
		}
		reason, text := "", at.part.dtype.text()
		switch {
		case text && !b.Texts(j) && at.part.dtype.kind == 'b':
			reason = `its dtype is boolean and no number: let the study read it as "boolean", or convert it with a.astype(float)`
		case text && !b.Texts(j):
			reason = "its dtype is text and no number"
		case !text && b.Reading(j).As == dataset.Days:
			reason = "its dtype is a number; a date must be text"
		}
		if reason != "" {
			bad.Add(&dataset.Error{Schema: dataset.SchemaFormat, File: t.src.Path(), Column: c.Name, Reason: reason})
			continue
		}
		v, err := s.view(c.Name)
		if err != nil {
			return bad.Or(err)
		}
		s.columns = append(s.columns, v)
	}
	if err := bad.Or(nil); err != nil {
		return err
	}
	if b.Unit() != "" {
		var err error
		if s.unit, err = s.view(b.Unit()); err != nil {
			return err
		}
	}
	// an archive may lie about its rows
	b.Reserve(float64(min(int64(t.n), t.src.Size())))
	return s.send(b)
}
