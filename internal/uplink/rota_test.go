package uplink

import (
	"errors"
	"slices"
	"testing"

	"covey/internal/enroll"
)

// TestHintsAreFollowedOnce: AG-22. In turn, and between them what one of them named;
// a hint of a hint is not followed.
func TestHintsAreFollowedOnce(t *testing.T) {
	r := rota{configured: []string{"a", "b", "c", "d", "e"}}
	answers := map[string]error{
		"a": errors.New("refused"),
		"b": &enroll.NotLeaderError{Addresses: []string{"d", "e"}},
		"c": &enroll.NotLeaderError{},
		// each takes the other for the leader
		"d": &enroll.NotLeaderError{Addresses: []string{"b"}},
		"e": errors.New("refused"),
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
	if want := []string{"a", "b", "d", "e", "c", "d", "b", "e", "a", "b"}; !slices.Equal(tried, want) {
		t.Errorf("tried %v, want %v", tried, want)
	}
	if waits != 6 { // but where a hint is next
		t.Errorf("waited %d times in ten", waits)
	}
}

// TestAttackHintsElsewhere: a coordinator cannot send an agent to an address that its configuration
// does not name, nor again and again to one.
func TestAttackHintsElsewhere(t *testing.T) {
	r := rota{configured: []string{"a:1", "b:1"}}
	tried := map[string]int{}
	for range 20 {
		address := r.next()
		tried[address]++
		if r.heard(&enroll.NotLeaderError{Addresses: []string{"10.0.0.7:22", "a:2", "A:1", "printer.local:9100"}}) != true {
			t.Fatal("it does not say that all are elsewhere")
		}
		if r.atOnce() {
			t.Fatal("an address that is not configured is not waited for")
		}
	}
	if len(tried) != 2 || tried["a:1"] != 10 {
		t.Errorf("tried %v", tried)
	}
	r.next()
	if r.heard(&enroll.NotLeaderError{Addresses: []string{"10.0.0.7:22", "b:1", "b:1", "b:1"}}) || !slices.Equal(r.hints, []string{"b:1"}) {
		t.Errorf("hints %q", r.hints)
	}
}

// A link that this site ended itself is made again where it was.
func TestRotaAgain(t *testing.T) {
	r := rota{configured: []string{"a:1", "b:1"}}
	first, second := r.next(), r.next()
	r.again()
	if again := r.next(); again != second || first == second {
		t.Errorf("%s, %s, again %s", first, second, again)
	}
}
