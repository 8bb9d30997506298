//go:build postgres

package postgres

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"covey/internal/dataset"
	"covey/internal/rowcache"
)

func openCache(t testing.TB) *rowcache.Cache {
	t.Helper()
	c, err := rowcache.Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// load is Load and Verify.
func load(t testing.TB, c *rowcache.Cache, s dataset.Source, q dataset.Request, owner string) *rowcache.Stored {
	t.Helper()
	stored, err := c.Load(s, q, owner, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stored.Close() })
	if err := errors.Join(stored.Verify(), stored.Check()); err != nil {
		t.Fatal(err)
	}
	return stored
}

// together is r with the rows of a unit one after another.
func together(r *dataset.Rows) *dataset.Rows {
	out := *r
	out.Values, out.Values32, out.Unit, out.Absent = nil, nil, nil, nil
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
	}
	return &out
}
