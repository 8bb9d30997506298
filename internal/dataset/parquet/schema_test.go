package parquet

import (
	"strings"
	"testing"

	"covey/internal/dataset"
)

// checkSchema compares what an error says in words with what it says of the schema: faults in rows
// have none.
func checkSchema(t *testing.T, e *dataset.Error) {
	t.Helper()
	want := dataset.Schema("")
	for words, schema := range map[string]dataset.Schema{
		"has this name": dataset.SchemaColumns, "have this name": dataset.SchemaColumns,
		"is not a number": dataset.SchemaFormat, "is not one value a row": dataset.SchemaFormat, "INT96 cannot be": dataset.SchemaFormat,
	} {
		if strings.Contains(e.Reason, words) {
			want = schema
		}
	}
	if e.Schema != want {
		t.Errorf("%v: schema %q, want %q", e, e.Schema, want)
	}
}
