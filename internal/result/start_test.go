package result

import (
	"slices"
	"strings"
	"testing"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/test/texts"
)

// TestSetStart: a study starts at a result's components, of the same columns alone.
func TestSetStart(t *testing.T) {
	vectors := []float64{0, 0.6, 0.8, 0, 0, 0.8, -0.6, 0}
	s, err := proposal.ParseSpec([]byte(texts.With(texts.Four, `method = "power"`, "components = 2")))
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{D: 4, Digest: proposal.Digest{9}, Columns: []string{"a", "b", "c", "d"}, Offset: make([]float64, 4), Scale: []float64{1, 1, 1, 1}, Components: linalg.Split(vectors, 4)}
	if err := r.SetStart(&s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Start.Vectors, vectors) || s.Start.Result != r.Digest {
		t.Errorf("the start is %v", s.Start)
	}
	for want, change := range map[string]func(*Result){
		`column "c" has 0 and 7, the study 0 and 1`:          func(r *Result) { r.Scale = []float64{1, 1, 7, 1} },
		`column 2 is "x", want "b"`:                          func(r *Result) { r.Columns = []string{"a", "x", "c", "d"} },
		"must have at least the study's 2 components, got 1": func(r *Result) { r.Components = r.Components[:1] },
		"must have the study's 4 columns, got 3":             func(r *Result) { r.D = 3 },
	} {
		other := *r
		change(&other)
		if err := other.SetStart(&s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
