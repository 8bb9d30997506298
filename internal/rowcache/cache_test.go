package rowcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/test/cost"
	"covey/test/rows"
)

// files lists a cache's folder.
func files(t testing.TB, c *Cache) []string {
	t.Helper()
	names, err := c.names()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A cache holds what Read gives, unit by unit, whatever the shape, the units, the
// precision, the missing values and the levels.
func TestCacheIsRead(t *testing.T) {
	dir := t.TempDir()
	c := rows.Open(t, Open)
	n := 0
	same := func(t rapid.TB, many, d, units int, salt uint32, missing dataset.Missing, precision dataset.Precision, levels bool) {
		noise := func(i, j int) uint32 {
			return crc32.Checksum(binary.LittleEndian.AppendUint64(nil, uint64(salt)<<32^uint64(i)<<12^uint64(j)), castagnoli)
		}
		q := dataset.Request{Missing: missing, Precision: precision}
		var text strings.Builder
		text.WriteString("who")
		for j := range d {
			q.Columns = append(q.Columns, dataset.Column{Name: fmt.Sprint("c", j), Offset: 1, Scale: 3})
			fmt.Fprintf(&text, ",c%d", j)
		}
		for i := range many {
			fmt.Fprintf(&text, "\n%d", noise(i, -1)%uint32(max(1, units)))
			for j := range d {
				if noise(i, j)%89 == 0 {
					text.WriteString(",NA")
				} else {
					fmt.Fprintf(&text, ",%d.%d", noise(i, j)%1000, noise(j, i)%100000)
				}
			}
		}
		if units > 0 {
			q.Unit = "who"
		}
		if levels {
			q.Readings = make([]dataset.Reading, d)
			q.Readings[0].Levels = []string{"x", fmt.Sprintf("%d.%d", noise(0, 0)%1000, noise(0, 0)%100000)}
		}
		n++
		s := dataset.Source{Path: filepath.Join(dir, fmt.Sprint(n, ".csv"))}
		if err := os.WriteFile(s.Path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := rows.Together(r)
		for _, owner := range []string{"a", "a", "b"} {
			stored, err := c.Load(s, q, owner, dataset.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(stored.Verify(), stored.Check()); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(&stored.Rows, want) {
				t.Fatalf("%+v\nwant %+v", stored.Rows, want)
			}
			stored.Close()
		}
		if err := c.Retain(func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
	}
	// rows of a unit far apart, with gaps in them: one draw in ten is like that
	same(t, 2000, 70, 400, 1, dataset.MissingGaps, dataset.Float64, true)
	rapid.Check(t, func(t *rapid.T) {
		many := rapid.SampledFrom([]int{1, 2, 5, 300, 2000}).Draw(t, "rows")
		d := rapid.SampledFrom([]int{1, 3, 70}).Draw(t, "d")
		units := rapid.SampledFrom([]int{0, 1, 3, 400}).Draw(t, "units")
		salt := rapid.Uint32().Draw(t, "salt")
		missing := rapid.SampledFrom([]dataset.Missing{dataset.MissingDropRow, dataset.MissingGaps}).Draw(t, "missing")
		precision := rapid.SampledFrom([]dataset.Precision{"", dataset.Float64, dataset.Float32}).Draw(t, "precision")
		same(t, many, d, units, salt, missing, precision, rapid.Bool().Draw(t, "levels"))
	})
}

var abRequest = dataset.Request{Columns: ab, Missing: dataset.MissingError}

// One conversion serves every load of the same bytes under any name, and another
// recipe or other bytes, of the same length and time too, are another file.
func TestCacheIsPinned(t *testing.T) {
	c := rows.Open(t, Open)
	path := write(t, "a,b\n12,3\n")
	s := dataset.Source{Path: path}
	first := rows.Load(t, c.Load, s, abRequest, "a")
	inode := func(st *Stored) os.FileInfo {
		i, err := st.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	moved := dataset.Source{Path: write(t, "a,b\n12,3\n")}
	for _, again := range []*Stored{rows.Load(t, c.Load, s, abRequest, "a"), rows.Load(t, c.Load, moved, abRequest, "a"), rows.Load(t, c.Load, s, abRequest, "b")} {
		if !os.SameFile(inode(first), inode(again)) {
			t.Error("converted again")
		}
	}
	for name, q := range map[string]dataset.Request{
		"precision": {Columns: ab, Missing: dataset.MissingError, Precision: dataset.Float32},
		"missing":   {Columns: ab, Missing: dataset.MissingDropRow},
		"order":     {Columns: []dataset.Column{ab[1], ab[0]}, Missing: dataset.MissingError},
		"offset":    {Columns: []dataset.Column{ab[0], {Name: "a", Offset: 0, Scale: 2}}, Missing: dataset.MissingError},
		"scale":     {Columns: []dataset.Column{ab[0], {Name: "a", Offset: 10, Scale: 1}}, Missing: dataset.MissingError},
		"unit":      {Columns: ab[:1], Unit: "a", Missing: dataset.MissingError},
		"column":    {Columns: ab[:1], Missing: dataset.MissingError},
	} {
		before := len(files(t, c))
		rows.Load(t, c.Load, s, q, "a")
		if len(files(t, c)) != before+1 {
			t.Errorf("another %s is no other recipe", name)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, []byte("a,b\n12,4\n"), 0o600), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	changed := rows.Load(t, c.Load, s, abRequest, "a")
	if changed.Values[0] != 4 || changed.SHA256 != sha256.Sum256([]byte("a,b\n12,4\n")) || first.Values[0] != 3 {
		t.Errorf("%v, %v", changed.Values, first.Values)
	}
	for _, name := range files(t, c) {
		if n, ok := parseName(name); ok && n.owner == "a" && n.pin != short(changed.SHA256) {
			t.Errorf("%s is of what the file held once", name)
		}
	}
}

// Files and folder are the owner's alone, and nobody writes to what is finished.
func TestCacheModes(t *testing.T) {
	c := rows.Open(t, Open)
	rows.Load(t, c.Load, dataset.Source{Path: write(t, "a,b\n12,3\n")}, abRequest, "a")
	dir, err := os.Stat(c.dir)
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("folder %v, %v", dir.Mode(), err)
	}
	for _, name := range files(t, c) {
		if f, err := os.Stat(filepath.Join(c.dir, name)); err != nil || f.Mode().Perm() != 0o400 {
			t.Errorf("%s: %v, %v", name, f.Mode(), err)
		}
	}
	d, err := newDraft(c.root, c.dir, dataset.Float64)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := d.file.Stat(); err != nil || f.Mode().Perm() != 0o600 {
		t.Errorf("while it is written: %v, %v", f.Mode(), err)
	}
	d.file.Close() // a crash
	if c, err = Open(c.dir); err != nil {
		t.Fatal(err)
	}
	if names := files(t, c); len(names) != 1 || strings.HasSuffix(names[0], temporary) {
		t.Errorf("after a crash: %v", names)
	}
}

// A source that is refused leaves nothing behind.
func TestRefusedSourceLeavesNothing(t *testing.T) {
	c := rows.Open(t, Open)
	for _, text := range []string{"a,b\n12,3\n12,x\n", "a,b\n", "", "a,b\n1,2\n1\n"} {
		if stored, err := c.Load(dataset.Source{Path: write(t, text)}, abRequest, "a", dataset.ReadOptions{}); err == nil || stored != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if names := files(t, c); len(names) > 0 {
		t.Error(names)
	}
	path := write(t, "")
	if _, err := Open(path); err == nil {
		t.Error("a file is no folder")
	}
}

// Whoever drops its rows drops them for itself alone; Retain keeps whom it should.
func TestDrop(t *testing.T) {
	c := rows.Open(t, Open)
	s := dataset.Source{Path: write(t, "a,b\n12,3\n")}
	open := rows.Load(t, c.Load, s, abRequest, "a")
	rows.Load(t, c.Load, s, abRequest, "b")
	if err := c.Drop("a"); err != nil {
		t.Fatal(err)
	}
	if names := files(t, c); len(names) != 1 || !strings.HasSuffix(names[0], ".b.rows") {
		t.Error(names)
	}
	if err := open.Check(); err != nil || open.Values[0] != 3 {
		t.Errorf("dropped rows that are open: %v", err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "junk"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Retain(func(owner string) bool { return owner == "b" }); err != nil {
		t.Fatal(err)
	}
	if names := files(t, c); len(names) != 1 || !strings.HasSuffix(names[0], ".b.rows") {
		t.Error(names)
	}
}

// rewrite changes a cache file's bytes.
func rewrite(t testing.TB, c *Cache, change func([]byte) []byte) {
	t.Helper()
	for _, name := range files(t, c) {
		path := filepath.Join(c.dir, name)
		old, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err == nil {
			err = os.WriteFile(path, change(old), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Any flipped bit and any other length is found: when it is opened, and the rows are then
// made again, or by Verify.
func TestDamage(t *testing.T) {
	c := rows.Open(t, Open)
	s := dataset.Source{Path: write(t, "who,a,b\np,12,3\nq,12,4\np,NA,5\n")}
	q := dataset.Request{Columns: ab, Unit: "who", Missing: dataset.MissingDropRow}
	want := rows.Load(t, c.Load, s, q, "a").Rows
	size := int(rows.Load(t, c.Load, s, q, "a").size)
	for i := range size {
		bit := 8*i + i%8
		if i >= headerSize+4 && i < pageSize {
			continue // is not read
		}
		var damaged []byte
		rewrite(t, c, func(old []byte) []byte {
			old[bit/8] ^= 1 << (bit % 8)
			damaged = old
			return old
		})
		path := filepath.Join(c.dir, files(t, c)[0])
		stored, err := c.Load(s, q, "a", dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := stored.Verify(); err != nil {
			if err := c.Discard(stored); err != nil {
				t.Fatal(err)
			}
			stored = rows.Load(t, c.Load, s, q, "a")
		}
		if used, err := os.ReadFile(path); err != nil || bytes.Equal(used, damaged) {
			t.Fatalf("bit %d of byte %d is not seen", bit%8, bit/8)
		}
		if !reflect.DeepEqual(stored.Rows, want) {
			t.Fatalf("byte %d: other rows", bit/8)
		}
		stored.Close()
	}
	for _, cut := range []func([]byte) []byte{
		func(b []byte) []byte { return nil }, func(b []byte) []byte { return b[:100] }, func(b []byte) []byte { return b[:len(b)-1] },
		func(b []byte) []byte { return append(b, 0) }, func(b []byte) []byte { return bytes.Repeat([]byte{7}, len(b)) },
	} {
		rewrite(t, c, cut)
		if stored := rows.Load(t, c.Load, s, q, "a"); !reflect.DeepEqual(stored.Rows, want) {
			t.Fatal("other rows")
		}
	}
}

// A file that is cut short while it is open is seen by Check, and reading it under
// Guard is an error and no crash.
func TestCutWhileOpen(t *testing.T) {
	c := rows.Open(t, Open)
	stored := rows.Load(t, c.Load, dataset.Source{Path: write(t, bigFile())}, abRequest, "a")
	if err := os.Chmod(stored.path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(stored.path, pageSize); err != nil {
		t.Fatal(err)
	}
	if err := stored.Check(); err == nil || !strings.Contains(err.Error(), "was written to after it was opened") {
		t.Error(err)
	}
	sum := 0.0
	err := stored.Guard(func() error {
		for _, v := range stored.Values {
			sum += v
		}
		return nil
	})
	if _, ok := errors.AsType[*dataset.Error](err); !ok {
		t.Errorf("%v, %v", err, sum)
	}
	if err := stored.Verify(); err == nil {
		t.Error("verified")
	}
	defer func() {
		if recover() != "a bug" {
			t.Error("Guard hides what is no fault of memory")
		}
	}()
	stored.Guard(func() error { panic("a bug") })
}

// Nothing about a file's rows is printed.
func TestStoredIsRedacted(t *testing.T) {
	stored := rows.Load(t, rows.Open(t, Open).Load, dataset.Source{Path: write(t, "a,b\n414,3\n")}, one("a"), "a")
	if text := fmt.Sprintf("%v %+v %#v %s", stored, stored, stored, stored); strings.Contains(text, "414") {
		t.Error(text)
	}
}

// dataset.Float32 rounds once and refuses what it cannot hold.
func TestFloat32(t *testing.T) {
	q := dataset.Request{Columns: []dataset.Column{{Name: "a", Offset: 0, Scale: 1}}, Missing: dataset.MissingError, Precision: dataset.Float32}
	r, err := dataset.Read(dataset.Source{Path: write(t, "a\n0.1\n3.4028235e38\n-3.40282356e38\n1e-50\n")}, q, dataset.ReadOptions{})
	if err != nil || r.Values != nil || !slices.Equal(r.Values32, []float32{0.1, 3.4028235e38, -3.4028235e38, 0}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{"3.4028236e38", "-1e39"} {
		path := write(t, "a\n1\n"+text+"\n")
		if _, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{}); err == nil || err.Error() != path+`: line 3, column "a": the value is beyond float32` {
			t.Error(err)
		}
	}
}

// Whatever the bytes: a typed error, or rows of a shape that fits the file.
func FuzzStored(f *testing.F) {
	c := rows.Open(f, Open)
	for _, text := range []string{"u,a,b\np,12,3\nq,12,4\np,NA,5\n", "u,a,b\np,1,2\n"} {
		for _, q := range []dataset.Request{{Columns: ab, Missing: dataset.MissingDropRow}, {Columns: ab, Unit: "u", Missing: dataset.MissingDropRow, Precision: dataset.Float32}} {
			rows.Load(f, c.Load, dataset.Source{Path: write(f, text)}, q, "a")
		}
	}
	rows.Load(f, c.Load, dataset.Source{Path: write(f, "u,a,b\np,12,3\nq,,x\np,NA,5\n")}, dataset.Request{Columns: ab, Unit: "u", Missing: dataset.MissingGaps}, "a")
	for _, name := range files(f, c) {
		raw, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:headerSize], raw[pageSize:])
	}
	f.Fuzz(func(t *testing.T, head, rest []byte) {
		page := make([]byte, pageSize)
		copy(page[:headerSize], head)
		binary.LittleEndian.PutUint64(page[56:], uint64(pageSize+len(rest)))
		binary.LittleEndian.PutUint32(page[headerSize:], crc32.Checksum(page[:headerSize], castagnoli))
		path := cost.File(t, "x"+suffix, append(page, rest...))
		stored, err := openStored(path, [32]byte(page[64:]), [32]byte(page[96:]))
		if err != nil {
			if _, ok := errors.AsType[*dataset.Error](err); !ok {
				t.Fatal(err)
			}
			return
		}
		defer stored.Close()
		if len(stored.Values)+len(stored.Values32) != stored.Rows.Rows*stored.D || stored.Unit != nil && len(stored.Unit) != stored.Rows.Rows || stored.Dropped != len(stored.Absent) ||
			stored.Gaps != nil && len(stored.Gaps) != stored.Rows.Rows*dataset.GapStride(stored.D) {
			t.Fatalf("%+v", stored.head)
		}
		stored.Verify()
	})
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Neither making a cache file nor opening one takes memory for its values.
func TestCacheMemory(t *testing.T) {
	const many, d = 40_000, 50 // 16 MB of values
	var text bytes.Buffer
	q := dataset.Request{Missing: dataset.MissingError}
	for j := range d {
		q.Columns = append(q.Columns, dataset.Column{Name: fmt.Sprint("c", j), Offset: 0, Scale: 1})
		fmt.Fprintf(&text, "c%d,", j)
	}
	text.WriteString("who\n")
	line := strings.Repeat("1,", d)
	for i := range many {
		fmt.Fprintf(&text, "%s%d\n", line, i%100) // not unit by unit
	}
	s := dataset.Source{Path: cost.File(t, "data.csv", text.Bytes())}
	text = bytes.Buffer{}
	q.Unit = "who"
	c := rows.Open(t, Open)
	before := heap()
	most := uint64(0)
	stored, err := c.Load(s, q, "a", dataset.ReadOptions{Progress: func(read, total int64) {
		if read > total/2 {
			most = max(most, heap())
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	after := heap()
	if limit := uint64(4 << 20); most > before+limit || after > before+limit {
		t.Errorf("%d bytes before, %d while it is made, %d after", before, most, after)
	}
	if len(stored.Values) != many*d || stored.Units != 100 {
		t.Error(len(stored.Values))
	}
}

// Retain leaves a file that is being written, which no name says whose it is yet.
func TestRetainLeavesDrafts(t *testing.T) {
	c := rows.Open(t, Open)
	d, err := newDraft(c.root, c.dir, dataset.Float64)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Retain(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(files(t, c), d.name) {
		t.Error("the draft is gone")
	}
	if err := d.abandon(); err != nil {
		t.Error(err)
	}
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
