package rowcache

import (
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
