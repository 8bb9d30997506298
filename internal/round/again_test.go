package round

import (
	"reflect"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// until runs effects up to the first proposal of a kind, and takes it away: it is on its way to the
// log.
func (h *harness) until(kind EntryKind) Entry {
	h.t.Helper()
	for len(h.pending) > 0 {
		if p, ok := h.pending[0].(Propose); ok && p.Entry.Kind == kind {
			h.pending = h.pending[1:]
			return p.Entry
		}
		h.one()
	}
	h.t.Fatalf("no entry %q was proposed", kind)
	return Entry{}
}

// adoption is the open query's result as a site holds it.
func (h *harness) adoption() Adopt {
	h.t.Helper()
	ask, err := h.state.Ask()
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := h.state.plan.NewRelease(ask, h.state.Survivors, make([]int64, h.state.plan.Queries[ask.Query].Values))
	if err != nil {
		h.t.Fatal(err)
	}
	raw, err := r.Encode()
	if err != nil {
		h.t.Fatal(err)
	}
	return Adopt{Release: r, Released: Released{Encoded: raw}}
}

// TestRefusalWhileAnEntryIsOnItsWay: a site that says no while an entry is on its way to the log
// ends the study no less.
func TestRefusalWhileAnEntryIsOnItsWay(t *testing.T) {
	h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	h.mute["share"] = true
	e := h.until(EntryOpening)
	h.event(Refused{Site: 3, Query: 0, Slot: 0, Code: study.CodePlanMismatch})
	h.commit(e)
	h.run()
	h.want(StatusEnded)
	if h.state.Code != study.CodePlanMismatch || h.state.Culprit != 3 {
		t.Fatalf("code %s of site %d", h.state.Code, h.state.Culprit)
	}
}

// TestNothingIsAskedOnceTheStudyEnds: where too many sites leave while a sum is opened, and its
// release comes to the log before the study's end does, no other is asked about the next query.
func TestNothingIsAskedOnceTheStudyEnds(t *testing.T) {
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		h := newHarness(t, 4, func(s *proposal.Spec) { s.OnDropout = dropout })
		for opens := false; !opens && h.one(); {
			opens = len(h.pending) > 0 && reflect.TypeOf(h.pending[0]) == reflect.TypeFor[Open]()
		}
		h.event(Refused{Site: 0, Code: study.CodeLeft})
		h.event(Refused{Site: 3, Code: study.CodeLeft})
		h.run()
		h.want(StatusEnded)
		if n := h.count("upload", 1); n != 1 || len(h.state.Releases) != 1 {
			t.Errorf("%s: %d uploads, %d releases", dropout, n, len(h.state.Releases))
		}
	}
}

// TestNothingIsOpenedOnceTheStudyEnds: while its end is on its way to the log the sum stays shut,
// whatever shares come.
func TestNothingIsOpenedOnceTheStudyEnds(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["share"] = true
	h.run()
	if h.state.Certificate == nil {
		t.Fatal("no opening is committed")
	}
	h.pending = append(h.pending, leader{h.state}.propose(Entry{Kind: EntryEnded, Code: study.CodeInternal})...)
	e := h.until(EntryEnded)
	for i := range 5 {
		h.event(Shared{i, 0, 0})
	}
	h.run()
	if h.opened["0"] != 0 {
		t.Error("the sum was opened")
	}
	h.commit(e)
	h.run()
	h.want(StatusEnded)
}

// TestLostEntryIsProposedAgain: what one message of a site asked for is not asked for again by
// another; a leader whose log did not take the entry (a lead that was to be given away and was
// kept, say) goes on all the same.
func TestLostEntryIsProposedAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    EntryKind
		prepare func(*harness)
		say     Event
		status  Status
		code    study.Code
	}{
		{"a decision", EntryDecided, func(*harness) {}, nil, StatusCompleted, study.CodeCompleted},
		{"a refusal in the setup", EntryEnded, func(h *harness) {
			for h.state.Status != StatusSetup && h.one() {
			}
			h.pending = nil
		}, Refused{Site: 2, Code: study.CodeBudget}, StatusEnded, study.CodeBudget},
		{"a refusal", EntryEnded, func(h *harness) {
			h.mute["upload"] = true
			h.run()
		}, Refused{Site: 2, Code: study.CodeLeft}, StatusEnded, study.CodeLeft},
		{"too few that are not spent", EntryEnded, func(h *harness) {
			h.mute["sign"] = true
			h.run()
			h.mute["upload"] = true
			h.expire(PhaseOpen)
			if h.state.Slot != 1 {
				h.t.Fatalf("slot %d", h.state.Slot)
			}
		}, Refused{Site: 2, Code: study.CodeHeld}, StatusEnded, study.CodeHeld},
		{"a result that a site holds", EntryReleased, func(h *harness) {
			h.mute["sign"] = true
			h.run()
		}, Adopt{}, StatusCompleted, study.CodeCompleted},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t, 3, func(s *proposal.Spec) {
				if c.code != study.CodeHeld {
					s.OnDropout = proposal.DropoutWait
				}
			})
			c.prepare(h)
			if _, ok := c.say.(Adopt); ok {
				c.say = h.adoption()
			}
			if c.say != nil {
				h.event(c.say)
			}
			h.until(c.kind) // and lost
			clear(h.mute)
			h.event(ProposeFailed{})
			h.run()
			if h.state.Status != c.status {
				t.Fatalf("the study is %s", h.state.Status)
			}
			if h.state.Code != c.code {
				t.Errorf("code %s", h.state.Code)
			}
		})
	}
}
