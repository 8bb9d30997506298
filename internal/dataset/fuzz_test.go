package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

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

// reads holds a reader to its word over any bytes: a typed error, or rows that fit together, of which
// Inspect says the same.
func reads(t *testing.T, name string, raw []byte, q Request) {
	t.Helper()
	s := Source{Path: writeAs(t, name, raw)}
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

type otherKinds struct {
	Who string   `parquet:"who,delta"`
	A   int64    `parquet:"a,delta"`
	B   *float64 `parquet:"b,optional,split"`
	C   int32    `parquet:"c,delta"`
	D   float32  `parquet:"d,split"`
}

// Whatever the footer, of pages as they were written: a typed error, or rows.
func FuzzParquet(f *testing.F) {
	b, c, e := 2.5, float32(3), int64(4)
	rows := []allKinds{{Who: "p", A: 1, B: &b, C: &c, D: 7, E: &e, F: 8, H: 9, J: 10, K: 11}, {Who: "q", A: 2}, {Who: "p", A: 3, B: &b}}
	more := []otherKinds{{Who: "pine", A: 1, B: &b, C: 2, D: 3}, {Who: "pint", A: 2}, {Who: "pine", A: 3, B: &b}}
	var pages [][]byte
	add := func(path string) {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		n := len(raw) - 8 - int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
		for _, unit := range []bool{true, false} {
			f.Add(raw[n:len(raw)-8], byte(len(pages)), unit, byte(3*len(pages)))
		}
		pages = append(pages, raw[:n])
	}
	for i, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Lz4Raw, &parquet.Brotli} {
		options := []parquet.WriterOption{parquet.Compression(codec), parquet.DataPageVersion(1 + i%2)}
		add(writeParquet(f, rows, options...))
		add(writeParquet(f, more, options...))
	}
	names := strings.Split("a b c d e f h j k g", " ")
	f.Fuzz(func(t *testing.T, footer []byte, file byte, unit bool, first byte) {
		q := Request{Missing: MissingDropRow}
		for i := range 4 {
			q.Columns = append(q.Columns, Column{Name: names[(int(first)+i)%len(names)], Scale: 1})
		}
		if unit {
			q.Unit = "who"
		}
		raw := slices.Concat(pages[int(file)%len(pages)], footer)
		reads(t, "x.parquet", append(binary.LittleEndian.AppendUint32(raw, uint32(len(footer))), "PAR1"...), q)
	})
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
			bounded(t, 64<<20, func() { reads(t, "x.csv.gz", packed, q) })
			reads(t, "x.csv.gz", text, q)
			return
		}
		plain, err := Read(Source{Path: writeAs(t, "x.csv", text)}, q, ReadOptions{})
		unpacked, err2 := Read(Source{Path: writeAs(t, "x.csv.gz", packed)}, q, ReadOptions{})
		if (err == nil) != (err2 == nil) || err == nil && (plain.Rows != unpacked.Rows || !bytes.Equal(doubles(plain.Values...), doubles(unpacked.Values...))) {
			t.Fatalf("plain: %v, packed: %v", err, err2)
		}
	})
}

// Whatever the connection string: nothing of it in an error, and no panic.
func FuzzDSN(f *testing.F) {
	for _, s := range []string{"host=db.example user=covey dbname=clinic sslmode=verify-full password=swordfish", "postgres://u:swordfish@h:1/d?sslmode=disable", "postgres://[::1]:x/", "host='a b", "service=x", "  "} {
		f.Add(s)
	}
	for _, name := range []string{"PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGSERVICE", "PGDATABASE", "PGSSLMODE"} {
		f.Setenv(name, "") // a fuzzing machine's own
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "x.dsn")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		q := Query{DSNFile: path, SQL: "SELECT 1"}
		c, err := q.config()
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.File != path || c != nil) {
			t.Fatalf("%#v", err)
		}
		if err != nil && err.Error() != (&Error{File: path, Reason: "no connection string is there"}).Error() &&
			!strings.Contains(err.Error(), "is no connection string, such as") && !strings.Contains(err.Error(), "is longer than") {
			t.Fatal(err)
		}
		q.describe(func(string) {})
	})
}

// A cache file's name is taken apart as it was put together, or is none.
func FuzzCacheName(f *testing.F) {
	f.Add(cached{"00ff", "11", "a-b"}.String())
	f.Add("." + suffix)
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := parseName(name); ok && n.String() != name {
			t.Fatalf("%q is taken for %q", name, n)
		}
	})
}
