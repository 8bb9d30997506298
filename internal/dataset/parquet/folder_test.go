package parquet

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"covey/internal/dataset"
	"covey/internal/rowcache"
	"covey/test/rows"
)

type visit struct {
	Who  string
	A, B float64
}

// parts writes rows to a folder, so many to each file, under names whose order is that of the rows.
func parts(t testing.TB, rows []visit, sizes ...int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "visits")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, n := range sizes {
		move(t, writeParquet(t, rows[:n]), filepath.Join(dir, fmt.Sprintf("part-%d.parquet", 5+i)))
		rows = rows[n:]
	}
	return dir
}

func move(t testing.TB, from, to string) {
	t.Helper()
	before := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(from, before, before), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
}

func visits(n int) (out []visit) {
	for i := range n {
		out = append(out, visit{fmt.Sprintf("p%d", i*7%31), float64(i), 1 / float64(1+i)})
		if i%13 == 5 {
			out[i].B = math.NaN()
		}
	}
	return out
}

func inFolder(dir string) dataset.Source { return dataset.Source{Path: dir, Format: dataset.Parquet} }

// A folder of files is one data set: its rows are those of one file that holds them all, in memory
// and from a cache, which is found again for as long as no file changes.
func TestParquetFolder(t *testing.T) {
	all := visits(9000)
	q := dataset.Request{Columns: []dataset.Column{{Name: "B", Scale: 2}, {Name: "A", Offset: 1, Scale: 3}}, Unit: "Who", Missing: dataset.MissingDropRow}
	want, err := dataset.Read(dataset.Source{Path: writeParquet(t, all)}, q, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := parts(t, all, 1, 250, 0, 8000, 749)
	s, c := inFolder(dir), rows.Open(t, rowcache.Open)
	got, err := dataset.Read(s, q, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pin := got.SHA256
	want.SHA256 = pin
	if !reflect.DeepEqual(got, want) {
		t.Error("other rows than of one file")
	}
	for range 2 {
		stored := rows.Load(t, c.Load, s, q, "a")
		if !reflect.DeepEqual(&stored.Rows, rows.Together(want)) {
			t.Error("other rows from the cache")
		}
	}
	info, err := dataset.Inspect(s, "Who", dataset.ReadOptions{})
	if err != nil || info.Rows != 9000 || info.Units != 31 || info.SHA256 != pin || strings.Join(info.Header, " ") != "Who A B" {
		t.Errorf("%+v, %v", info, err)
	}
	if err := os.Rename(filepath.Join(dir, "part-9.parquet"), filepath.Join(dir, "part-4.parquet")); err != nil {
		t.Fatal(err)
	}
	if now := rows.Load(t, c.Load, s, q, "a"); now.SHA256 == pin || reflect.DeepEqual(now.Values, want.Values) {
		t.Error("files in another order are the same data set")
	}
}

// A fault names its file by its place, and a row in it; never the file's name or a value.
func TestBadParquetFolder(t *testing.T) {
	rows := visits(30)
	for name, c := range map[string]struct {
		change func(dir string)
		want   string
	}{
		"a missing value": {func(dir string) { move(t, writeParquet(t, rows[14:20]), filepath.Join(dir, "part-6.parquet")) }, `: file 2 of 3: row 5, column "B": the value is missing`},
		"other columns": {func(dir string) {
			move(t, writeParquet(t, []struct{ Who, A string }{{"x", "y"}}), filepath.Join(dir, "part-7.parquet"))
		}, ": file 3 of 3: its columns or their types are not those of the first file"},
		"another type": {func(dir string) {
			move(t, writeParquet(t, []struct {
				Who  int64
				A, B float64
			}{{1, 2, 3}}), filepath.Join(dir, "part-7.parquet"))
		}, ": file 3 of 3: its columns or their types are not those of the first file"},
		"another order": {func(dir string) {
			move(t, writeParquet(t, []struct {
				A, B float64
				Who  string
			}{{1, 2, "x"}}), filepath.Join(dir, "part-7.parquet"))
		}, ": file 3 of 3: its columns or their types are not those of the first file"},
		"damaged": {func(dir string) {
			if err := os.Truncate(filepath.Join(dir, "part-6.parquet"), 100); err != nil {
				t.Fatal(err)
			}
		}, ": file 2 of 3: cannot be read: not Parquet"},
		"empty": {func(dir string) {
			if err := os.WriteFile(filepath.Join(dir, "part-8.parquet"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, ": file 4 of 4: cannot be read: not Parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := parts(t, rows[:5], 2, 2, 1)
			c.change(dir)
			_, err := dataset.Read(inFolder(dir), dataset.Request{Columns: []dataset.Column{{Name: "A", Scale: 1}, {Name: "B", Scale: 1}}, Unit: "Who", Missing: dataset.MissingError}, dataset.ReadOptions{})
			if _, ok := errors.AsType[*dataset.Error](err); !ok || !strings.Contains(err.Error(), dir+c.want) || strings.Contains(err.Error(), "part-") {
				t.Errorf("%v", err)
			}
		})
	}
	// A CSV file's name is not a folder's.
	dir := filepath.Join(t.TempDir(), "a.csv")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Inspect(dataset.Source{Path: dir}, "", dataset.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
}

// A folder that changes while its rows are read is refused, whatever was read of it.
func TestParquetFolderChanges(t *testing.T) {
	rows := visits(40)
	q := dataset.Request{Columns: []dataset.Column{{Name: "A", Scale: 1}}, Missing: dataset.MissingError}
	for name, change := range map[string]func(dir string) error{
		"added":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "z.parquet"), nil, 0o600) },
		"removed": func(dir string) error { return os.Remove(filepath.Join(dir, "part-7.parquet")) },
		"replaced": func(dir string) error {
			move(t, writeParquet(t, rows[:10]), filepath.Join(dir, "part-7.parquet"))
			return nil
		},
		"read first": func(dir string) error {
			move(t, writeParquet(t, rows[:10]), filepath.Join(dir, "part-5.parquet"))
			return nil
		},
	} {
		dir := parts(t, rows, 10, 10, 10, 10)
		_, err := dataset.Read(inFolder(dir), q, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		first := true
		_, err = dataset.Read(inFolder(dir), q, dataset.ReadOptions{Progress: func(read, total int64) {
			if read > total/2 && first {
				first = false
				if err := change(dir); err != nil {
					t.Error(err)
				}
			}
		}})
		if first || err == nil || !strings.HasSuffix(err.Error(), "changed while it was read") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := dataset.Read(inFolder(dir), q, dataset.ReadOptions{}); err != nil && name != "added" || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, read again: %v", name, err)
		}
	}
}
