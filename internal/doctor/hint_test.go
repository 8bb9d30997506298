package doctor

import (
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/sitedata"
)

// TestHints: a column of another name and a missing value have a remedy of their own, which is not
// in the message that goes into logs.
func TestHints(t *testing.T) {
	for want, fault := range map[string]*dataset.Error{
		`has ["Age (years)"]`:     {Schema: dataset.SchemaColumns, Column: "age", Reason: "none of the header's 2 fields has this name", Near: []string{"Age (years)"}},
		`missing = "fill"`:        {Row: 3, Column: "age", Reason: "the value is missing", Value: true},
		"fix the file at the nam": {Row: 3, Column: "age", Reason: "not a number", Value: true},
	} {
		f := found(CheckColumns, "study s", "", &sitedata.DataError{Dataset: "icu", Err: fault})
		if !strings.Contains(f.Do, want) || strings.Contains(f.Result, "years") || strings.Contains(f.Err.Error(), "years") {
			t.Errorf("%q: %q, want %q", f.Result, f.Do, want)
		}
	}
}
