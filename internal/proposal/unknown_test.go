package proposal

import (
	"strings"
	"testing"
)

// TestUnknownNames: a reference that several studies match is answered with their digests, the
// newest few.
func TestUnknownNames(t *testing.T) {
	e := &UnknownError{Ref: "blood"}
	if e.Error() != `no study "blood": "study list" shows all` {
		t.Errorf("%v", e)
	}
	for i := range maxMatches + 2 {
		e.Matches = append(e.Matches, Digest{byte(i + 1)})
	}
	text := e.Error()
	if !strings.Contains(text, "7 studies match") || !strings.Contains(text, "010000000000, 0200") || strings.Contains(text, "060000000000") || strings.Contains(text, "0100000000000") {
		t.Errorf("%v", e)
	}
}
