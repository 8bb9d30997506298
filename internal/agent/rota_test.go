package agent

import (
	"errors"
	"slices"
	"testing"
)

// TestHintsAreFollowedOnce: AG-22. In turn, and between them what one of them named;
// a hint of a hint is not followed.
func TestHintsAreFollowedOnce(t *testing.T) {
	r := rota{configured: []string{"a", "b", "c"}}
	answers := map[string]error{
		"a": errors.New("refused"),
		"b": &notLeaderError{[]string{"d", "e"}},
		"c": &notLeaderError{},
		"d": &notLeaderError{[]string{"e", "d"}}, // each takes the other for the leader
		"e": &notLeaderError{[]string{"d", "e"}},
	}
	var tried []string
	waits := 0
	for range 10 {
		address := r.next()
		tried = append(tried, address)
		r.heard(answers[address])
		if !r.atOnce() {
			waits++
		}
	}
	if want := []string{"a", "b", "d", "e", "c", "a", "b", "d", "e", "c"}; !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	if waits != 6 { // after a, e and c
		t.Errorf("waited %d times in ten", waits)
	}
}
