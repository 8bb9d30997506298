package session

import (
	"crypto/ed25519"
	"log/slog"
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
	spec, err := proposal.ParseSpec([]byte(texts.Minimal))
	if err != nil {
		t.Fatal(err)
	}
	body, err := proposal.Propose(spec, texts.Roster(1000, 1000, 1000), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	digest, state := proposal.DigestOf(body), &round.State{}
	entries := []round.Entry{{Kind: round.EntryProposed, Study: digest, Body: body}}
	for i := range 3 {
		entries = append(entries, round.Entry{Kind: round.EntryDecided, Study: digest, Site: i, Verdict: study.VerdictApproved})
	}
	for _, e := range entries {
		if _, err := state.Step(round.Committed{Entry: e}); err != nil {
			t.Fatal(err)
		}
	}
	if state.Status != round.StatusSetup {
		t.Fatal(state.Status)
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
	for _, code := range []study.Code{study.CodeBadShare, study.CodeBadBox} {
		s := inSetup(t)
		m := wire.Refusal{Header: wire.Header{Study: s.Plan.Digest}, Code: code, Culprit: study.SeatOf(1), Evidence: make([]byte, 64)}
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("%s before the setup: %v", code, r)
				}
			}()
			if event, _ := s.Hear(0, m); event.(round.Refused).Proven {
				t.Errorf("%s before the setup convicts: %+v", code, event)
			}
		}()
	}
}
