package parquet

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"testing"

	"covey/internal/dataset"
	"covey/internal/rowcache"
)

func writeAs(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

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

// bounded runs f and fails where it has taken more memory than limit: what a file says of its size
// is no reason to take memory.
func bounded(t *testing.T, limit uint64, f func()) {
	t.Helper()
	taken := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(taken)
	before := taken[0].Value.Uint64()
	f()
	metrics.Read(taken)
	if n := taken[0].Value.Uint64() - before; n > limit {
		t.Fatalf("%d MiB were taken", n>>20)
	}
}

// reads holds a reader to its word over any bytes: a typed error, or rows that fit together, of
// which Inspect says the same.
func reads(t *testing.T, name string, raw []byte, q dataset.Request) {
	t.Helper()
	s := dataset.Source{Path: writeAs(t, name, raw)}
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
