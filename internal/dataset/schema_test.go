package dataset

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// built is a builder of rows that nobody keeps.
func built(t rapid.TB, word string, q Request, m Mapping) *builder {
	t.Helper()
	b, err := newBuilder("x", word, q, m)
	if err != nil {
		t.Fatal(err)
	}
	b.sink = func([]float64) error { return nil }
	return b
}

// checkSchema compares what an error says in words with what it says of the schema: faults in rows
// have none.
func checkSchema(t *testing.T, e *Error) {
	t.Helper()
	want := Schema("")
	for words, schema := range map[string]Schema{
		"has this name": SchemaColumns, "have this name": SchemaColumns, "of the header are the same": SchemaColumns, "one field with another name": SchemaColumns,
		"UTF-16": SchemaFormat, "ZIP archive": SchemaFormat, "form of .xls": SchemaFormat, "with gzip": SchemaFormat, "its type is not a number": SchemaFormat, "its dtype is text": SchemaFormat, "is not one value a row": SchemaFormat, "INT96 cannot be": SchemaFormat,
	} {
		if strings.Contains(e.Reason, words) {
			want = schema
		}
	}
	if e.Schema != want {
		t.Errorf("%v: schema %q, want %q", e, e.Schema, want)
	}
}
