package coordinator

import (
	"testing"

	"covey/internal/query"
	covey "covey/proto/covey/v1"
)

// TestEveryKindHasANumber: a kind without its own number on the wire would be asked for as another.
func TestEveryKindHasANumber(t *testing.T) {
	seen := map[covey.Kind]query.Kind{}
	for _, d := range query.Kinds() {
		n := kind(d.Kind)
		if other, taken := seen[n]; taken || n == covey.Kind_KIND_UNSPECIFIED {
			t.Errorf("%s is number %d, as is %q", d.Kind, n, other)
		}
		seen[n] = d.Kind
	}
}
