package limits

import (
	"strings"
	"testing"
)

// A budget below what is spent and reserved is said to be, and by how much; one that is just used
// up is not.
func TestBelow(t *testing.T) {
	for _, p := range []Population{
		{Name: "a", CapRho: 0.3, SpentRho: 0.1, ReservedRho: 0.1 + 0.1, Declared: true},
		{Name: "a", CapRho: 0.3, SpentRho: 0.1 + 0.2, Declared: true},
		{Name: "a", CapRho: 0.3, Declared: true},
		{Name: "a", SpentRho: 1}, // agent.toml has no budget of it
	} {
		if words := p.below(); words != "" {
			t.Errorf("%+v: %s", p, words)
		}
	}
	words := Population{Name: "a", CapRho: 0.25, SpentRho: 0.125, ReservedRho: 0.1875, Declared: true}.below()
	for _, want := range []string{`"a"`, "0.25", "0.125", "0.1875", "no further study", "takes nothing back"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not in %q", want, words)
		}
	}
}
