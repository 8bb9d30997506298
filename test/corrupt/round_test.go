package corrupt

import (
	"bytes"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/siteconfig"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	"covey/test/fed"
)

// queryOf is which query an answer is about, -1 for none.
func queryOf(m *covey.SiteMessage) int {
	switch b := m.GetBody().(type) {
	case *covey.SiteMessage_Upload:
		return int(b.Upload.GetQuery())
	case *covey.SiteMessage_ReleaseSignature:
		return int(b.ReleaseSignature.GetQuery())
	case *covey.SiteMessage_Shares:
		return int(b.Shares.GetQuery())
	}
	return -1
}

// trick is what the corrupt site does in one query.
type trick struct {
	name string
	lie  lie
	code study.Code // that it is caught at, "" for none
	in   bool       // whether its upload is in the sum, all the same
}

func upload(change func(u *covey.Upload)) lie {
	return func(m *covey.SiteMessage) []*covey.SiteMessage {
		if u := m.GetUpload(); u != nil {
			change(u)
		}
		return truth(m)
	}
}

func signature(change func(s *covey.ReleaseSignature)) lie {
	return func(m *covey.SiteMessage) []*covey.SiteMessage {
		if s := m.GetReleaseSignature(); s != nil {
			change(s)
		}
		return truth(m)
	}
}

func shares(change func(s *covey.Shares)) lie {
	return func(m *covey.SiteMessage) []*covey.SiteMessage {
		if s := m.GetShares(); s != nil {
			change(s)
		}
		return truth(m)
	}
}

// TestRounds: with on_dropout = "continue", in each query of a study the corrupt site does
// something else. Every query is released over the others, or over all where only its signature or
// shares are missing; what fails a check is named (R13, A7), what is not in time is left out (R5),
// and the result is right.
func TestRounds(t *testing.T) {
	tricks := []trick{ // few in a row leave it out, or it would not be waited for where its link ends
		{"an upload of one byte less", upload(func(u *covey.Upload) { u.Masked = u.GetMasked()[1:] }), study.CodePlanMismatch, false},
		{"an upload of one byte more", upload(func(u *covey.Upload) { u.Masked = append(u.GetMasked(), 0) }), study.CodePlanMismatch, false},
		{"no signature", quiet(func(m *covey.SiteMessage) bool { return m.GetReleaseSignature() != nil }), "", true},
		{"an upload of another width", upload(func(u *covey.Upload) { u.Masked = append(u.GetMasked(), u.GetMasked()...) }), study.CodePlanMismatch, false},
		{"a wrong signature", signature(func(s *covey.ReleaseSignature) { s.Signature[5] ^= 1 }), study.CodeBadCertificate, true},
		{"an empty upload", upload(func(u *covey.Upload) { u.Masked = nil }), study.CodePlanMismatch, false},
		{"no shares", quiet(func(m *covey.SiteMessage) bool { return m.GetShares() != nil }), "", true},
		{"no upload", quiet(func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }), "", false},
		{"shares with a byte changed", shares(func(s *covey.Shares) { s.Shares[len(s.Shares)-32] ^= 1 }), study.CodeBadShare, true},
		{"an upload of an earlier query", upload(func(u *covey.Upload) { u.Query-- }), "", false},
		{"shares cut short", shares(func(s *covey.Shares) { s.Shares = s.GetShares()[:len(s.GetShares())-32] }), study.CodeBadShare, true},
		{"an upload into an earlier slot", upload(func(u *covey.Upload) { u.Slot-- }), "", false},
		{"empty shares", shares(func(s *covey.Shares) { s.Shares = nil }), study.CodeBadShare, true},
		{"an upload into a slot that there is not", upload(func(u *covey.Upload) { u.Slot = 1 << 31 }), "", false},
		{"an upload of no study", upload(func(u *covey.Upload) { u.Study = make([]byte, 32) }), "", false},
		{"everything twice", func(m *covey.SiteMessage) []*covey.SiteMessage { return append(truth(m), m) }, "", true},
	}
	inBubble(t, func(f *bubble) {
		// The last trick comes in all queries that are left; before it, one a query.
		f.proxy.tell(func(m *covey.SiteMessage) []*covey.SiteMessage {
			q := queryOf(m)
			if q < 0 {
				return truth(m)
			}
			return tricks[min(q, len(tricks)-1)].lie(m)
		})
		d := f.study("tricks", func(s *proposal.Spec) { s.Rounds = 12 })
		caught := map[int][]study.Code{}
		v := f.When(d, func(v outline.View) bool {
			for _, fault := range v.Faults {
				if fault.Site != f.sites[mallory] {
					t.Fatalf("%s is named for %s", fault.Site, fault.Code)
				}
			}
			return fed.Over(v)
		})
		for _, fault := range v.Faults {
			if !slices.Contains(caught[fault.Query], fault.Code) {
				caught[fault.Query] = append(caught[fault.Query], fault.Code)
			}
		}
		_, releases := f.completed(d)
		if len(releases) < len(tricks) {
			t.Fatalf("%d queries for %d tricks", len(releases), len(tricks))
		}
		for q, trick := range tricks {
			if in := slices.Contains(releases[q].Survivors, mallory); in != trick.in {
				t.Errorf("%s: the sum is over %v", trick.name, releases[q].Survivors)
			}
			if trick.code == "" && len(caught[q]) > 0 || trick.code != "" && len(caught[q]) > 0 && !slices.Equal(caught[q], []study.Code{trick.code}) {
				t.Errorf("%s: caught at %v, want %q", trick.name, caught[q], trick.code)
			}
			// A signature or share that nobody waited for may never have been looked at.
			if late := trick.in && trick.code != ""; trick.code != "" && !late && len(caught[q]) == 0 {
				t.Errorf("%s: caught at nothing", trick.name)
			}
		}
	})
}

// TestUploadsOfAnyIntegers: whatever numbers a site uploads, the sum is opened and its release has
// the plan's noise and charge (P3, N10, R12): every byte string of an upload's length is one vector
// of Z_2^b, so no packing has two. The result is poisoned at most, as docs/threat-model.md says.
func TestUploadsOfAnyIntegers(t *testing.T) {
	if testing.Short() {
		t.Skip("several fleets of processes")
	}
	inBubble(t, func(f *bubble) {
		n := 0
		f.proxy.tell(upload(func(u *covey.Upload) {
			switch n++; n % 5 {
			case 0:
				fill(u.Masked, 0)
			case 1:
				fill(u.Masked, 0xff)
			case 2:
				fill(u.Masked, 0x80)
			case 3:
				rand.Read(u.Masked)
			case 4:
				fill(u.Masked, 0x7f)
			}
		}))
		for _, mode := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
			d := f.study("any "+mode, func(s *proposal.Spec) { s.Noise = mode; s.Rounds = 3 })
			v, releases, _ := f.private(d)
			if len(f.faults(v)) > 0 {
				t.Errorf("%s: %v", mode, v.Faults)
			}
			body, err := f.node.Coordinator.Body(d)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := study.NewPlan(body)
			f.Must(err)
			for _, r := range releases {
				if r.Rho != plan.Queries[r.Query].Rho || len(r.Survivors) != honest+1 {
					t.Errorf("%s: query %d: ρ = %g over %v", mode, r.Query, r.Rho, r.Survivors)
				}
			}
		}
	})
}

// TestSilence: at each step of a query that a site keeps silent at, with on_dropout = "wait", the
// study waits forever and says for whom (R4); when it speaks, the study goes on. Nothing is
// released meanwhile.
func TestSilence(t *testing.T) {
	inBubble(t, func(f *bubble) {
		for _, c := range []struct {
			name  string
			pick  func(*covey.SiteMessage) bool
			phase string
		}{
			{"upload", func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }, "upload"},
			{"decision", func(m *covey.SiteMessage) bool { return m.GetDecision() != nil }, ""},
		} {
			f.proxy.tell(quiet(c.pick))
			d := f.study(c.name, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait; s.Rounds = 2 })
			time.Sleep(3 * time.Minute)
			v := f.node.Coordinator.View(d)
			if v.Released != 0 || v.Phase != c.phase || !slices.Equal(v.Waiting, f.sites[mallory:]) {
				t.Errorf("%s: %s, phase %q, %d released, waiting for %v", c.name, v.Status, v.Phase, v.Released, v.Waiting)
			}
			f.proxy.tell(truth)
			f.proxy.cut() // asked again on a new link
			f.completed(d)
		}
		// Of five sites any four can sign and open: one that does neither is not waited for.
		f.proxy.tell(quiet(func(m *covey.SiteMessage) bool { return m.GetShares() != nil || m.GetReleaseSignature() != nil }))
		f.completed(f.study("sign and open", func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait; s.Rounds = 2 }))
	})
}

// TestAnotherSitesWords: a message counts for the site whose certificate the link has, whatever is
// in it (R13). What one site signed is nobody else's word, and a study that a site is not in hears
// nothing of it.
func TestAnotherSitesWords(t *testing.T) {
	inBubble(t, func(f *bubble) {
		// A decision over this very digest, signed by a key that is not this site's.
		d := f.played("others", func(s *proposal.Spec) { s.Rounds = 3 }, func(d proposal.Digest, _ *study.Plan) func(*covey.CoordinatorMessage) bool {
			var once sync.Once
			f.proxy.tell(func(m *covey.SiteMessage) []*covey.SiteMessage {
				if u := m.GetUpload(); u != nil {
					once.Do(func() {
						for _, other := range f.signedElsewhere(d) {
							f.proxy.say(siteMessage(other))
						}
					})
				}
				return truth(m)
			})
			return func(*covey.CoordinatorMessage) bool { return true }
		})
		f.proxy.act(nil)
		v, releases := f.completed(d)
		for _, r := range releases {
			if len(r.Survivors) != honest+1 {
				t.Errorf("query %d is over %v", r.Query, r.Survivors)
			}
		}
		if got := f.faults(v); !slices.Equal(got, []study.Code{study.CodeNotApproved}) {
			t.Errorf("caught at %v", got)
		}
		// A study without it: the message ends its link, and the study does not see it.
		f.proxy.tell(truth)
		d = f.study("without", func(s *proposal.Spec) { s.Sites = f.sites[:mallory]; s.Rounds = 2 })
		f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: d[:], Code: covey.Code_CODE_PLAN_MISMATCH}}}))
		time.Sleep(time.Second)
		if end := f.proxy.lastEnd(); !strings.Contains(end, "not in") {
			t.Errorf("the link ended with %q", end)
		}
		v, _ = f.completed(d)
		if len(v.Faults) > 0 {
			t.Errorf("faults: %v", v.Faults)
		}
	})
}

// signedElsewhere are messages with signatures of another site.
func (f *bubble) signedElsewhere(d proposal.Digest) []*covey.SiteMessage {
	other := f.siteOf(0)
	return []*covey.SiteMessage{
		{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{Study: d[:], Verdict: covey.Verdict_VERDICT_REJECTED,
			Signature: study.SignDecision(other.Identity(), d, study.VerdictRejected, study.CodeRejected), Code: covey.Code_CODE_REJECTED}}},
		{Body: &covey.SiteMessage_ReleaseSignature{ReleaseSignature: &covey.ReleaseSignature{Study: d[:], Signature: bytes.Repeat([]byte{1}, 64)}}},
	}
}

// keysOf are a site's folder without its ledger.
func keysOf(dir string) fs.FS {
	out := fstest.MapFS{}
	for _, name := range []string{"identity.key", "tls.key", "tls.crt", "ca.crt", siteconfig.File} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			out[name] = &fstest.MapFile{Data: text, Mode: 0o600}
		}
	}
	return out
}

// TestTwoAgents: a second agent runs with a copy of one site's keys, but not of its ledger. The
// newer link counts, the older one ends (R13); nothing is counted twice, and the result is right.
// The site that two speak for may lose its place in the study, not the others theirs.
func TestTwoAgents(t *testing.T) {
	inBubble(t, func(f *bubble) {
		twin := filepath.Join(f.Dir, "twin")
		f.Must(os.CopyFS(twin, keysOf(f.Sites[mallory].Dir)))
		for _, name := range []string{"identity.key", "tls.key"} {
			f.Must(os.Chmod(filepath.Join(twin, name), 0o600))
		}
		d := f.study("twins", func(s *proposal.Spec) { s.Rounds, s.Deadlines.Tick = 6, proposal.Duration(500*time.Millisecond) })
		f.When(d, func(v outline.View) bool { return v.Status == round.StatusRunning && v.Released > 0 })
		a, err := f.AgentIn(f.Sites[0], twin) // another's way to the coordinator, without the proxy
		f.Must(err)
		var work sync.WaitGroup
		f.T.Cleanup(work.Wait)
		work.Go(func() {
			if err := a.Run(f.ctx); err != nil && f.ctx.Err() == nil {
				t.Errorf("the twin: %v", err)
			}
		})
		_, releases := f.completed(d)
		t.Logf("%d queries, the last over %v", len(releases), releases[len(releases)-1].Survivors)
		// Both go on, one taking the link of the other.
		time.Sleep(time.Minute)
		if end := f.proxy.lastEnd(); !strings.Contains(end, "another link") {
			t.Errorf("the older link ended with %q", end)
		}
		if v := f.node.Coordinator.View(d); v.Status != round.StatusCompleted {
			t.Errorf("%+v", v)
		}
	})
}
