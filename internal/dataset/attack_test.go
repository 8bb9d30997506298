package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoHeaderLineInErrors: the first record of a file without a header line is a person's, and an
// error, which goes to logs, has none of its words for names that may be meant.
func TestNoHeaderLineInErrors(t *testing.T) {
	for text, near := range map[string]bool{"Canaryson,63,f\nOther,64,m\n": false, "canary_son,age,sex\n1,64,0\n": true} {
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(Source{Path: path}, Request{Columns: []Column{{Name: "canary", Scale: 1}}, Missing: MissingError}, ReadOptions{})
		e, ok := errors.AsType[*Error](err)
		if !ok || (len(e.Near) > 0) != near || !near && strings.Contains(err.Error(), "Canaryson") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
