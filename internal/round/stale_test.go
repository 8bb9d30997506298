package round

import (
	"reflect"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// after replays a study's log up to and with the first entry of a kind, or all of it for "".
func (h *harness) after(kind EntryKind) *State {
	h.t.Helper()
	s := &State{}
	for _, e := range h.log {
		if _, err := s.Step(Committed{e}); err != nil {
			h.t.Fatal(err)
		}
		if e.Kind == kind {
			break
		}
	}
	return s
}

// TestStaleEntries: an entry that another one has decided already is stale, and changes nothing.
// The log may hold any of these: two leaders, or one that did not hear of its entry's commit,
// propose them.
func TestStaleEntries(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.run()
	h.want(StatusCompleted)
	prepared, survivors := *h.last(EntryPrepared, 0, 0), *h.last(EntrySurvivors, 0, 0)
	opening, released := *h.last(EntryOpening, 0, 0), *h.last(EntryReleased, 0, 0)
	n := len(h.log)
	drafted, completed := h.log[n-2], h.log[n-1]
	other := proposed(t, 5, func(s *proposal.Spec) { s.Rounds = 3 })
	another := func(e Entry, change func(*Entry)) Entry { change(&e); return e }
	again := prepared
	again.Announcements = slices.Clone(prepared.Announcements)
	again.Announcements[0] = []byte("another")
	certificate := slices.Clone(opening.Certificate)
	certificate[0] = []byte("another")
	for name, c := range map[string]struct {
		after EntryKind
		entry Entry
	}{
		"proposed twice":             {EntryProposed, Entry{Kind: EntryProposed, Study: proposal.DigestOf(other), Body: other}},
		"proposed while it runs":     {EntryPrepared, h.log[0]},
		"setup twice":                {EntryPrepared, again},
		"setup of no announcements":  {EntryDecided, another(prepared, func(e *Entry) { e.Announcements = nil })},
		"survivors of a later slot":  {EntryPrepared, another(survivors, func(e *Entry) { e.Slot++ })},
		"survivors of a later query": {EntryPrepared, another(survivors, func(e *Entry) { e.Query++ })},
		"opening without survivors":  {EntryPrepared, opening},
		"opening twice":              {EntryOpening, another(opening, func(e *Entry) { e.Certificate = certificate })},
		"opening of a slot released": {EntryReleased, opening},
		"released twice":             {EntryReleased, released},
		"drafted before the end":     {EntryPrepared, drafted},
		"drafted twice":              {EntryDrafted, another(drafted, func(e *Entry) { e.Draft = []byte("another") })},
		"completed while it runs":    {EntryReleased, completed},
		"completed by nobody":        {EntryDrafted, another(completed, func(e *Entry) { e.Attestations = make([][]byte, 5) })},
		"abandoned after the end":    {"", another(survivors, func(e *Entry) { e.Kind = EntryAbandoned })},
		"ended after the end":        {"", Entry{Kind: EntryEnded, Code: study.CodeAborted}},
	} {
		s := h.after(c.after)
		if c.after == EntryDecided { // all of them
			s = &State{}
			for _, e := range h.log[:slices.IndexFunc(h.log, func(e Entry) bool { return e.Kind == EntryPrepared })] {
				if _, err := s.Step(Committed{e}); err != nil {
					t.Fatal(err)
				}
			}
		}
		before, plan := s.Durable, s.Plan()
		if _, err := s.Step(Committed{c.entry}); !stale(err) {
			t.Errorf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(s.Durable, before) || s.Plan() != plan {
			t.Errorf("%s: the state changed", name)
		}
	}
	s := &State{}
	for _, e := range h.log[:n-2] {
		if _, err := s.Step(Committed{e}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Step(Committed{completed}); !stale(err) || s.Status != StatusSigning {
		t.Errorf("completed without a draft: %v, %s", err, s.Status)
	}
}

// TestAbandonmentsLeaveASlotForEveryQuery: however many are committed, each query that is left has
// a slot.
func TestAbandonmentsLeaveASlotForEveryQuery(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.run()
	s := h.after(EntryPrepared)
	spare := s.plan.Slots - s.plan.Queries.Left(0)
	for i := range spare + 3 {
		_, err := s.Step(Committed{Entry{Kind: EntryAbandoned, Study: h.log[0].Study, Query: 0, Slot: s.Slot}})
		if (err == nil) != (i < spare) {
			t.Fatalf("abandonment %d of a study with %d spare slots: %v", i+1, spare, err)
		}
	}
	if s.Slot != spare || s.plan.Queries.Left(s.Query) > s.plan.Slots-s.Slot {
		t.Errorf("slot %d of %d is open, %d queries are left", s.Slot, s.plan.Slots, s.plan.Queries.Left(s.Query))
	}
}

// TestRunningWithoutSetupIsRefused: a snapshot of a study that runs holds its setup.
func TestRunningWithoutSetupIsRefused(t *testing.T) {
	h := newHarness(t, 3, nil)
	h.run()
	d := h.after(EntryPrepared).Durable
	if _, err := Restore(d); err != nil {
		t.Fatal(err)
	}
	d.Announcements = nil
	if s, err := Restore(d); err != errUnfit || s != nil {
		t.Errorf("%v", err)
	}
}
