package rowcache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/dataset"
)

// ab asks for b before a, so that an order taken from the file shows.
var ab = []dataset.Column{{Name: "b", Scale: 1}, {Name: "a", Offset: 10, Scale: 2}}

// one asks for a column as it is.
func one(name string) dataset.Request {
	return dataset.Request{Columns: []dataset.Column{{Name: name, Scale: 1}}, Missing: dataset.MissingError}
}

// write makes a file and returns its path.
func write(t testing.TB, text string) string { return writeAs(t, "data.csv", []byte(text)) }

func writeAs(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// bigFile has several chunks of rows.
func bigFile() string { return "a,b\n" + strings.Repeat("12,3\n", 150_000) }
