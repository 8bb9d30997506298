package dataset

import (
	"errors"
	"math"
	"slices"
	"testing"

	"covey/test/cost"
)

// reads holds a reader to its word over any bytes: a typed error, or rows that fit together, of
// which Inspect says the same.
func reads(t *testing.T, name string, raw []byte, q Request) {
	t.Helper()
	s := Source{Path: cost.File(t, name, raw)}
	r, err := Read(s, q, ReadOptions{})
	if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Reason == "" || r != nil) {
		t.Fatalf("%+v, %#v", r, err)
	}
	info, seen := Inspect(s, q.Unit, ReadOptions{})
	if _, ok := errors.AsType[*Error](seen); seen != nil && !ok {
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

// Whatever was packed, and however it was damaged: the packed text is read as the text is, and
// any other bytes are a typed error or rows.
func FuzzGzip(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "", "u,a,b\np,1,2\nq,NA,4\n"} {
		whole := pack(f, text)
		f.Add([]byte(text), uint16(0), byte(0))
		f.Add([]byte(text), uint16(len(whole)-1), byte(1))
		f.Add([]byte(text), uint16(3), byte(4))
	}
	q := Request{Columns: ab, Missing: MissingDropRow}
	f.Fuzz(func(t *testing.T, text []byte, at uint16, flip byte) {
		packed := pack(t, string(text))
		if flip != 0 {
			packed[int(at)%len(packed)] ^= flip
			cost.Bounded(t, 64<<20, func() { reads(t, "x.csv.gz", packed, q) })
			reads(t, "x.csv.gz", text, q)
			return
		}
		plain, err := Read(Source{Path: cost.File(t, "x.csv", text)}, q, ReadOptions{})
		unpacked, err2 := Read(Source{Path: cost.File(t, "x.csv.gz", packed)}, q, ReadOptions{})
		if (err == nil) != (err2 == nil) || err == nil && (plain.Rows != unpacked.Rows || !slices.EqualFunc(plain.Values, unpacked.Values, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })) {
			t.Fatalf("plain: %v, packed: %v", err, err2)
		}
	})
}
