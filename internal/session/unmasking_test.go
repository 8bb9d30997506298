package session

import (
	"testing"

	"covey/internal/aggregate"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// TestBadDealer: an opening that finds a dealer in U guilty ends the study with its name; what it
// lacks is asked for.
func TestBadDealer(t *testing.T) {
	ask := study.Ask{Query: 3, Slot: 4}
	if got := Failed(ask, &secagg.DealerError{Site: 2}); got != (round.OpenFailed{Query: 3, Slot: 4, Code: study.CodeBadDealer, Culprit: study.SeatOf(2)}) {
		t.Errorf("%+v", got)
	}
	if got := Failed(ask, aggregate.ErrNoSum); got != (round.OpenFailed{Query: 3, Slot: 4, Code: study.CodeInternal}) {
		t.Errorf("%+v", got)
	}
	for _, err := range []error{&secagg.ProofsError{}, &secagg.KeysError{}, &secagg.TagsError{}} {
		if !Lacks(err) {
			t.Errorf("%T ends a study", err)
		}
	}
	if Lacks(&secagg.DealerError{}) || Lacks(aggregate.ErrNoSum) {
		t.Error("waits for nothing")
	}
}
