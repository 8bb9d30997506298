package name

import (
	"strings"
	"testing"
)

func TestValid(t *testing.T) {
	for _, s := range []string{"a", "9", "north-2", "a--b", strings.Repeat("a", 63)} {
		if !Valid(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "-", "-a", "a-", "A", "a_b", "a.b", "a/b", "a b", "é", "a\x00", "a\n", "\u200ba", strings.Repeat("a", 64)} {
		if Valid(s) {
			t.Errorf("%q is taken", s)
		}
	}
}
