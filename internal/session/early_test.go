package session

import (
	"crypto/ed25519"
	"log/slog"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/texts"
)

// inSetup returns the session of a study of three sites that have all approved.
func inSetup(t *testing.T) *Session {
	t.Helper()
	s := proposed(t, 3)
	for i := range 3 {
		if _, err := s.State.Step(round.Committed{Entry: round.Entry{Kind: round.EntryDecided, Study: s.Plan.Digest, Site: i, Verdict: study.VerdictApproved}}); err != nil {
			t.Fatal(err)
		}
	}
	if s.State.Status != round.StatusSetup {
		t.Fatal(s.State.Status)
	}
	return s
}

// proposed returns the session of a study that nobody has approved.
func proposed(t *testing.T, sites int) *Session {
	t.Helper()
	spec, err := proposal.ParseSpec([]byte(texts.Minimal))
	if err != nil {
		t.Fatal(err)
	}
	body, err := proposal.Propose(spec, texts.Roster(slices.Repeat([]int{1000}, sites)...), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	state := &round.State{}
	if _, err := state.Step(round.Committed{Entry: round.Entry{Kind: round.EntryProposed, Study: proposal.DigestOf(body), Body: body}}); err != nil {
		t.Fatal(err)
	}
	return New(state, slog.New(slog.DiscardHandler), func(f Fault) { t.Errorf("a site is blamed: %+v", f) })
}

// TestMessagesThatNobodyAskedFor: what a site sends before its time, or of a slot that is not open,
// is no event, blames nobody and stops nothing.
func TestMessagesThatNobodyAskedFor(t *testing.T) {
	of := func(s *Session) map[string]wire.Message {
		h := wire.Header{Study: s.Plan.Digest}
		return map[string]wire.Message{
			"upload":    wire.Upload{Header: h, Masked: make([]byte, s.Plan.Queries[0].Bytes)},
			"signature": wire.Signature{Header: h, Signature: make([]byte, 64)},
			"shares":    wire.Shares{Header: h, Shares: make([]byte, 32)},
			"proof":     wire.Proof{Header: h, Dealer: study.SeatOf(1), Proof: make([]byte, 32)},
			"keys":      wire.PairKeys{Header: h, Keys: make([]byte, 32)},
			"recalled":  wire.Recalled{Header: h},
		}
	}
	unasked := func(s *Session, when, name string, m wire.Message) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s %s: %v", name, when, r)
			}
		}()
		if event, job := s.Hear(0, m); event != nil || job != nil {
			t.Errorf("%s %s: %+v, or a job", name, when, event)
		}
	}
	s := inSetup(t)
	early := of(s)
	early["nonce"] = wire.Nonce{Header: wire.Header{Study: s.Plan.Digest}, Nonce: make([]byte, 32)}
	early["boxes"] = wire.Boxes{Header: wire.Header{Study: s.Plan.Digest}, Boxes: make([][]byte, 2)}
	early["confirmation"] = wire.Confirmation{Header: wire.Header{Study: s.Plan.Digest}}
	for name, m := range early {
		unasked(s, "before the setup", name, m)
	}
	s.setup = new(secagg.Setup)
	for name, m := range of(s) {
		unasked(s, "while the study is set up", name, m)
	}
	for _, code := range []study.Code{study.CodeBadShare, study.CodeBadBox, study.CodeBadAnnouncement} {
		for _, culprit := range []study.Seat{study.SeatOf(1), study.Nobody} {
			s := inSetup(t)
			m := wire.Refusal{Header: wire.Header{Study: s.Plan.Digest}, Code: code, Culprit: culprit, Evidence: make([]byte, 64)}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%s of %v before the setup: %v", code, culprit, r)
					}
				}()
				if event, _ := s.Hear(0, m); event.(round.Refused).Proven {
					t.Errorf("%s before the setup convicts: %+v", code, event)
				}
			}()
		}
	}
	unasked(proposed(t, proposal.MaxComplete+1), "before all have approved", "announcement", wire.Announcement{Signed: make([]byte, 100)})
}

// TestLateUploads: an upload that comes while U is on its way to the log is held only if it can be
// one, and a slot that was left lacks nothing any more.
func TestLateUploads(t *testing.T) {
	s := inSetup(t)
	var faults []Fault
	s.faulty = func(f Fault) { faults = append(faults, f) }
	s.setup, s.State.Status = new(secagg.Setup), round.StatusRunning
	events := []round.Event{round.Led{Connected: []int{0, 1, 2}}, round.Uploaded{Site: 0}, round.Uploaded{Site: 1}, round.Uploaded{Site: 2}}
	for _, e := range events {
		if _, err := s.State.Step(e); err != nil {
			t.Fatal(err)
		}
	}
	if !s.State.Closing() {
		t.Fatal("no U is on its way")
	}
	h := wire.Header{Study: s.Plan.Digest}
	for _, more := range []int{-1, 1} {
		s.Hear(1, wire.Upload{Header: h, Masked: make([]byte, s.Plan.Queries[0].Bytes+more)})
	}
	if len(faults) != 2 || faults[0].Site != 1 || faults[0].Code != study.CodePlanMismatch || len(s.late) > 0 {
		t.Errorf("faults %+v, %d uploads are held", faults, len(s.late))
	}
	if s.Hear(1, wire.Upload{Header: h, Masked: make([]byte, s.Plan.Queries[0].Bytes)}); len(s.late) != 1 {
		t.Errorf("%d uploads are held", len(s.late))
	}
	left := &Unmasking{session: s, ask: study.Ask{Slot: 1}, sum: []uint64{7}, opening: new(secagg.Opening)}
	sum := left.sum
	if e := left.Resume(&secagg.KeysError{From: []int{0}}); e != nil || left.sum != nil || sum[0] != 0 {
		t.Errorf("of a slot that was left: %+v, and the sum is %v", e, sum)
	}
}
