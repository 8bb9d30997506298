package coordinator

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// attest answers as an agent does: with a signature on a result of what this site holds, one ever.
func (s *fakeSite) attest(f *federation, m *covey.Attest) *covey.SiteMessage {
	no := func(code covey.Code, lacks int) *covey.SiteMessage {
		return &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: m.GetStudy(), Code: code, Lacks: uint32(lacks)}}}
	}
	e := result.Evidence{Approvals: result.Blobs(m.GetApprovals()), Proposer: m.GetProposer(), Confirmations: result.Blobs(s.confirmations)}
	var signed []result.SignedRelease
	var releases []study.Release
	c := f.plan.Start()
	for c.Query < len(f.plan.Queries) {
		held := s.finals[c.Query]
		if held == nil {
			return no(covey.Code_CODE_OUT_OF_ORDER, 1+len(signed))
		}
		release, err := study.ParseRelease(held.GetReleased())
		if err == nil {
			c, err = f.plan.Next(c, release, releases)
		}
		if err != nil {
			f.t.Fatal(err)
		}
		releases = append(releases, release)
		signed = append(signed, result.SignedRelease{Encoded: held.GetReleased(), Signature: held.GetSignature()})
		e.Certificates = append(e.Certificates, held.GetCertificate())
	}
	draft := sha256.Sum256(m.GetDraft())
	if s.drafts[draft] == nil {
		if len(s.drafts) > 0 {
			return no(covey.Code_CODE_SECOND_RESULT, 0)
		}
		bare, err := result.Draft(m.GetDraft()).Bare(f.state().Body, e)
		var signature []byte
		if err == nil {
			signature, err = bare.Attest(f.plan, f.plan.Setup(), s.identity, slices.Values(signed), nil)
		}
		if err != nil {
			f.t.Logf("%s: %v", s.name, err)
			return no(covey.Code_CODE_BAD_RESULT, 0)
		}
		s.drafts = map[[32]byte][]byte{draft: signature}
	}
	return &covey.SiteMessage{Body: &covey.SiteMessage_Attestation{Attestation: &covey.Attestation{Study: m.GetStudy(), Signature: s.drafts[draft]}}}
}

// drafted reports whether the draft of the result is in the log, and its study waits for sites.
func (f *federation) drafted() bool {
	s := f.state()
	return s.Status == round.StatusSigning && s.Draft != nil
}

// comesTo lets time pass until a condition holds.
func (f *federation) comesTo(holds func() bool) {
	f.t.Helper()
	for range 500 {
		if f.pump(holds); holds() {
			return
		}
		time.Sleep(100 * time.Millisecond) // of the bubble's clock
	}
	f.t.Fatalf("it does not come to that: %+v", f.view())
}

// TestResultIsSigned: the result is complete with the signatures of as many sites as a certificate
// has, and verifies; those that are away or refuse hold it up no longer, and until then they are
// named.
func TestResultIsSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil) // four sign
		defer func() { f.c.Close() }()
		f.comesTo(f.drafted)
		f.drop(1)
		refusing := f.sites[2]
		refusing.corrupt = func(m *covey.SiteMessage) {
			if m.GetAttestation() != nil {
				*m = covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: m.GetAttestation().GetStudy(), Code: covey.Code_CODE_SECOND_RESULT}}}
			}
		}
		f.pump(nil)
		v := f.view()
		if v.Status != round.StatusSigning || !slices.Equal(v.Waiting, []string{"site-1", "site-2"}) || v.Sites[2].Unsigned != study.CodeSecondResult || v.Sites[1].Unsigned != "" {
			t.Fatalf("%s, waiting for %v, %+v", v.Status, v.Waiting, v.Sites)
		}
		if _, err := f.c.Result(f.plan.Digest); err == nil {
			t.Fatal("a result with three signatures of four")
		}
		for _, s := range f.sites {
			if s.told(covey.Code_CODE_COMPLETED, f) {
				t.Fatalf("%s is told that the study is completed", s.name)
			}
		}
		f.connect(1)
		if v := f.finish(); v.Status != round.StatusCompleted || v.Waiting != nil || v.Sites[2].Unsigned != "" {
			t.Fatalf("%s (%s), waiting for %v", v.Status, v.Code, v.Waiting)
		}
		verified(t, f)
	})
}

func (s *fakeSite) told(code covey.Code, f *federation) bool {
	return slices.ContainsFunc(f.sent, func(m sentMessage) bool { return m.site == s.index && m.m.GetEnded().GetCode() == code })
}

// verified returns the completed study's result, whose file verifies.
func verified(t *testing.T, f *federation) *result.Result {
	t.Helper()
	r, err := f.c.Result(f.plan.Digest)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := result.Verify(file); err != nil || v.Signed != f.plan.Thresholds.Threshold {
		t.Fatalf("%+v, %v", v, err)
	}
	return r
}

// TestNextLeaderGoesOnWithTheDraft: what one leader committed the next one asks about, byte for
// byte, and a leader that lost the draft makes the same one: sites that signed sign again.
func TestNextLeaderGoesOnWithTheDraft(t *testing.T) {
	for name, lost := range map[string]bool{"the draft is in the log": false, "it is lost": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 5, nil)
				defer func() { f.c.Close() }()
				before := 0
				f.comesTo(func() bool {
					if f.state().Status == round.StatusRunning {
						before = len(f.log.all()) // the last release is among those that are lost
					}
					return f.drafted()
				})
				first := f.state().Draft
				f.drop(3)
				f.drop(4)
				f.pump(nil) // three sites sign
				keep := -1
				if lost {
					keep = before
				}
				f.crash(keep)
				f.comesTo(f.drafted)
				if got := f.state().Draft; string(got) != string(first) {
					t.Fatalf("another draft: %s, before %s", got, first)
				}
				f.connect(3)
				if v := f.finish(); v.Status != round.StatusCompleted {
					t.Fatalf("%s, waiting for %v", v.Status, v.Waiting)
				}
				verified(t, f)
				for i, s := range f.sites {
					if want := min(1, 4-i); len(s.drafts) != want {
						t.Errorf("%s signed %d results", s.name, len(s.drafts))
					}
				}
			})
		})
	}
}

// TestSecondResultIsRefused: a coordinator that makes another result of the same releases gets no
// second set of signatures: each site that signed names it.
func TestSecondResultIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.comesTo(f.drafted)
		before := len(f.log.all()) - 1
		f.pump(nil)
		if v := f.view(); v.Status != round.StatusCompleted {
			t.Fatalf("%s", v.Status)
		}
		first := verified(t, f)
		// as one on another processor makes it
		other := *first
		other.NoiseToSignal *= 1 + 1e-13
		draft, err := other.Draft()
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(entry{Round: &round.Entry{Study: f.plan.Digest, Kind: round.EntryDrafted, Draft: draft}})
		if err != nil {
			t.Fatal(err)
		}
		f.log.lines = append(f.log.all()[:before], line)
		f.crash(-1)
		f.pump(nil)
		v := f.view()
		if v.Status != round.StatusSigning || len(v.Waiting) != 5 {
			t.Fatalf("%s, waiting for %v", v.Status, v.Waiting)
		}
		for i, s := range v.Sites {
			if want := f.sites[i].drafts != nil; (s.Unsigned == study.CodeSecondResult) != want {
				t.Errorf("%s: %q", s.Name, s.Unsigned)
			}
		}
	})
}

// TestWrongAttestationIsAFault: a signature that is not the site's on the draft counts for
// nothing, and the site is named.
func TestWrongAttestationIsAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		for _, i := range []int{0, 3} {
			f.sites[i].corrupt = func(m *covey.SiteMessage) {
				if a := m.GetAttestation(); a != nil {
					a.Signature = append([]byte{a.Signature[0] ^ 1}, a.Signature[1:]...)
				}
			}
		}
		f.comesTo(f.drafted)
		f.pump(nil)
		v := f.view()
		if v.Status != round.StatusSigning || !slices.Equal(v.Waiting, []string{"site-0", "site-3"}) || !slices.Equal(v.Faults, []outline.Fault{{Site: "site-0", Query: len(f.plan.Queries), Code: study.CodeBadResult}, {Site: "site-3", Query: len(f.plan.Queries), Code: study.CodeBadResult}}) {
			t.Fatalf("%s, waiting for %v: %v", v.Status, v.Waiting, v.Faults)
		}
	})
}

// TestResultIsAtItsLastRelease: a draft has the head of the chain at the last release, whatever the
// log took since: of a leader that lost it, and of the next one, it is the same.
func TestResultIsAtItsLastRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.comesTo(f.drafted)
		first := f.state().Draft
		lines := f.log.all()
		for {
			var e entry
			if err := json.Unmarshal(lines[len(lines)-1], &e); err != nil {
				t.Fatal(err)
			}
			if e.Round != nil && e.Round.Kind == round.EntryReleased {
				break
			}
			lines = lines[:len(lines)-1]
		}
		for _, e := range []entry{
			{Invite: &membership.InviteEntry{Token: "t", Invite: membership.Invite{Site: "north", Expires: time.Now().Add(time.Hour)}}, At: time.Now()},
			{Join: &membership.JoinEntry{Token: "t", Name: "north", Key: make(proposal.Key, ed25519.PublicKeySize), Now: time.Now()}, At: time.Now()},
		} {
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		f.log.lines = lines
		f.crash(-1)
		f.comesTo(f.drafted)
		if got := f.state().Draft; string(got) != string(first) {
			t.Fatalf("another draft: %s, before %s", got, first)
		}
		if f.finish().Status != round.StatusCompleted || verified(t, f).ChainHead.Number+3 != f.chain().Head().Number {
			t.Errorf("the result is at %v of %v, want the last release, before a join, a draft and an end", verified(t, f).ChainHead, f.chain().Head())
		}
	})
}
