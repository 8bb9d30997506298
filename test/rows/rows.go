// Package rows compares readers of files with the cache of rows in tests. It knows package
// rowcache's types by their methods alone, so that the cache's own tests can use it.
package rows

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
)

// Open opens a cache in a folder of the test's, with [rowcache.Open].
func Open[C io.Closer](t testing.TB, open func(dir string) (C, error)) C {
	t.Helper()
	c, err := open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Stored is what a cache's Load returns.
type Stored interface {
	Verify() error
	Check() error
	Close() error
}

// Load is a cache's Load, Verify and Check.
func Load[S Stored](t testing.TB, load func(dataset.Source, dataset.Request, string, dataset.ReadOptions) (S, error), s dataset.Source, q dataset.Request, owner string) S {
	t.Helper()
	stored, err := load(s, q, owner, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stored.Close() })
	if err := errors.Join(stored.Verify(), stored.Check()); err != nil {
		t.Fatal(err)
	}
	return stored
}

// Together is r with the rows of a unit one after another.
func Together(r *dataset.Rows) *dataset.Rows {
	out := *r
	out.Values, out.Values32, out.Unit, out.Absent, out.Gaps = nil, nil, nil, nil, nil
	at := make([]int, r.Rows)
	for i := range at {
		at[i] = i
	}
	if r.Unit != nil {
		slices.SortStableFunc(at, func(i, j int) int { return r.Unit[i] - r.Unit[j] })
		out.Unit = []int{}
	}
	for place, i := range at {
		if r.Values != nil {
			out.Values = append(out.Values, r.Values[i*r.D:(i+1)*r.D]...)
		} else {
			out.Values32 = append(out.Values32, r.Values32[i*r.D:(i+1)*r.D]...)
		}
		if r.Unit != nil {
			out.Unit = append(out.Unit, r.Unit[i])
		}
		if slices.Contains(r.Absent, i) {
			out.Absent = append(out.Absent, place)
		}
		if stride := dataset.GapStride(r.D); r.Gaps != nil {
			out.Gaps = append(out.Gaps, r.Gaps[i*stride:][:stride]...)
		}
	}
	return &out
}

// Read holds a reader to its word over any bytes: a typed error, or rows that fit together, of
// which Inspect says the same.
func Read(t *testing.T, name string, raw []byte, q dataset.Request) {
	t.Helper()
	s := dataset.Source{Path: cost.File(t, name, raw)}
	r, err := dataset.Read(s, q, dataset.ReadOptions{})
	if e, ok := errors.AsType[*dataset.Error](err); err != nil && (!ok || e.Reason == "" || r != nil) {
		t.Fatalf("%+v, %#v", r, err)
	}
	info, seen := dataset.Inspect(s, q.Unit, dataset.ReadOptions{})
	if _, ok := errors.AsType[*dataset.Error](seen); seen != nil && !ok {
		t.Fatal(seen)
	}
	if err != nil {
		return
	}
	if r.Rows < 1 || len(r.Values) != r.Rows*r.D || r.D != len(q.Columns) || len(r.Absent) != r.Dropped || r.Units > r.Rows {
		t.Fatalf("%d rows, %d columns, %d values, %d dropped, %d units", r.Rows, r.D, len(r.Values), r.Dropped, r.Units)
	}
	if seen == nil && (info.Rows != r.Rows || info.Units != r.Units || info.SHA256 != r.SHA256) {
		t.Fatalf("read as %d rows, %d units, inspected as %+v", r.Rows, r.Units, info)
	}
}
