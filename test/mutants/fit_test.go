//go:build mutants

package mutants

import (
	"testing"

	"covey/test/overlay"
)

// TestEditsFit: what each mutant changes is in the tree. It builds nothing, so that a moved line
// shows in a second.
func TestEditsFit(t *testing.T) {
	for _, m := range mutants() {
		if _, err := overlay.Write(t.TempDir(), m.edits); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
