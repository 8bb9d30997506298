package study

import (
	"slices"
	"testing"
)

// TestAgainIsShort: what is said of many completed studies hides no other warning.
func TestAgainIsShort(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{"a", "b", "c"}, []string{"a", "b", "c"}},
		{[]string{"a", "b", "c", "d", "e"}, []string{"a", "b", "c", "2 more completed studies asked the same"}},
	} {
		in := slices.Clone(c.in)
		if got := Again(c.in); !slices.Equal(got, c.want) || !slices.Equal(c.in, in) {
			t.Errorf("%q became %q, of %q", in, got, c.in)
		}
	}
}
