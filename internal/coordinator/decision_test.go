package coordinator

import (
	"crypto/ed25519"
	"encoding/json"
	"testing"
	"testing/synctest"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestDecisionsMustBeSigned: an approval without the site's signature, with another site's,
// of another study's digest, or a rejection's signature under an approval, counts for nothing.
func TestDecisionsMustBeSigned(t *testing.T) {
	for name, forge := range map[string]func(f *federation, d *covey.Decision){
		"unsigned":      func(_ *federation, d *covey.Decision) { d.Signature = nil },
		"another's":     func(f *federation, d *covey.Decision) { d.Signature = f.word(1, f.plan.Digest, "approved", "") },
		"another study": func(f *federation, d *covey.Decision) { d.Signature = f.word(0, proposal.Digest{1}, "approved", "") },
		"another word":  func(f *federation, d *covey.Decision) { d.Signature = f.word(0, f.plan.Digest, "rejected", "") },
		"another reason": func(f *federation, d *covey.Decision) {
			d.Verdict, d.Code = covey.Verdict_VERDICT_REJECTED, covey.Code_CODE_DATA
			d.Signature = f.word(0, f.plan.Digest, "rejected", study.CodeBudget)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 3, nil)
				defer f.c.Close()
				f.sites[0].corrupt = func(m *covey.SiteMessage) {
					if d := m.GetDecision(); d != nil {
						forge(f, d)
					}
				}
				f.pump(nil)
				v := f.view()
				if v.Status != round.StatusProposed || len(v.Waiting) != 1 || v.Waiting[0] != "site-0" {
					t.Fatalf("%s, waiting for %v: the forged word counts", v.Status, v.Waiting)
				}
				if len(v.Faults) != 1 || v.Faults[0] != (outline.Fault{Site: "site-0", Code: study.CodeNotApproved}) {
					t.Errorf("faults %v", v.Faults)
				}
				if words, _ := f.c.Decisions(f.plan.Digest); len(words) != 2 {
					t.Errorf("%d decisions on record, want the two that are signed", len(words))
				}
			})
		})
	}
}

func (f *federation) word(site int, d proposal.Digest, word study.Verdict, code study.Code) []byte {
	return study.SignDecision(f.sites[site].identity, d, word, code)
}

// TestApprovalsAreKept: the log's replay, a snapshot and the result show every site's signature.
func TestApprovalsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		f.finish()
		check := func(where string) {
			t.Helper()
			words, _ := f.c.Decisions(f.plan.Digest)
			if len(words) != 3 {
				t.Fatalf("%s: %d decisions", where, len(words))
			}
			for i, w := range words {
				if !study.CheckDecision(f.plan.Proposal.Roster[i], f.plan.Digest, w.Verdict, w.Code, w.Signature) || w.At.IsZero() {
					t.Errorf("%s: %s's decision does not check", where, w.Site)
				}
			}
			r, err := f.c.Result(f.plan.Digest)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := result.Verify(text); err != nil || !v.Approved {
				t.Errorf("%s: the result: %+v, %v", where, v, err)
			}
		}
		check("as it went")
		f.crash(-1)
		check("replayed")
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine()
		if err := restored(m, raw); err != nil {
			t.Fatal(err)
		}
		f.restart(m, nil)
		check("from a snapshot")
	})
}

// TestLogRefusesForgedDecision: a decision in the log with a wrong signature changes no
// coordinator's state, nor does one without.
func TestLogRefusesForgedDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		e := round.Entry{Study: f.plan.Digest, Kind: round.EntryDecided, Site: 0, Verdict: study.VerdictApproved}
		for _, signature := range [][]byte{make([]byte, ed25519.SignatureSize), nil} {
			if err := f.c.apply(entry{Round: &e, Signature: signature}); err == nil {
				t.Fatal("a decision with a wrong signature was applied")
			}
			if v := f.view(); v.Sites[0].Verdict == study.VerdictApproved {
				t.Fatal("and counts")
			}
		}
		if words, _ := f.c.Decisions(f.plan.Digest); len(words) != 0 {
			t.Errorf("shown as signed: %v", words)
		}
	})
}
