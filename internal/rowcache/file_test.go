package rowcache

import (
	"os"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
)

// ab asks for b before a, so that an order taken from the file shows.
var ab = []dataset.Column{{Name: "b", Scale: 1}, {Name: "a", Offset: 10, Scale: 2}}

// one asks for a column as it is.
func one(name string) dataset.Request {
	return dataset.Request{Columns: []dataset.Column{{Name: name, Scale: 1}}, Missing: dataset.MissingError}
}

// write makes a file and returns its path.
func write(t testing.TB, text string) string { return cost.File(t, "data.csv", []byte(text)) }

// bigFile has several chunks of rows.
func bigFile() string { return "a,b\n" + strings.Repeat("12,3\n", 150_000) }

// TestWrites: in whatever sizes rows come, whole pieces of writeSize are written, each from a
// multiple of it.
func TestWrites(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := newDraft(root, dir, dataset.Float64)
	if err != nil {
		t.Fatal(err)
	}
	defer d.abandon()
	written, pieces := int64(0), 0
	for range 100 {
		if err := d.take(make([]float64, 12_345)); err != nil {
			t.Fatal(err)
		}
		info, err := d.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if size := info.Size(); size != written {
			if size != written+writeSize {
				t.Fatalf("%d bytes are written from %d on", size-written, written)
			}
			written, pieces = size, pieces+1
		}
	}
	if pieces != 100*12_345*8/writeSize {
		t.Errorf("%d pieces", pieces)
	}
}
