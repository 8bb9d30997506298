package studyfile

import (
	"errors"
	"strings"
	"testing"

	"covey/internal/strict"
)

// TestLongRange: a short text stands for little memory. A range repeats its name for each column,
// and no column may have a long one.
func TestLongRange(t *testing.T) {
	long := strings.Repeat("a", 201)
	for _, text := range []string{`columns = ["` + long + `0..` + long + `99"]`, `columns = ["` + strings.Repeat("b", 1<<16) + `0..` + strings.Repeat("b", 1<<16) + `99"]`} {
		f, err := Read([]byte(text), 100_000)
		if bad, ok := errors.AsType[*strict.Error](err); !ok || !strings.Contains(bad.Reason, "200 bytes") {
			n := 0
			if f != nil {
				n = len(f.Text)
			}
			t.Errorf("%d bytes are %d: %v", len(text), n, err)
		} else if len(bad.Reason) > 300 {
			t.Errorf("an error of %d bytes", len(bad.Reason))
		}
	}
	if _, err := Read([]byte(`columns = ["`+long[:190]+`0..`+long[:190]+`99"]`), 100_000); err != nil {
		t.Error(err)
	}
}
