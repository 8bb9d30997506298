package result

import (
	"slices"
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
	r.Scale[2] = 7
	if err := r.SetStart(&s); err == nil {
		t.Error("components of another scale are taken")
	}
}
