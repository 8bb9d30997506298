package frame

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 queries", 1: "1 query", 2: "2 queries"} {
		if got := Count(n, "query", "queries"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
