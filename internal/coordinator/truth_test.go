package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// say is a message of a site.
func (f *federation) say(site int, m *covey.SiteMessage) {
	f.t.Helper()
	if err := f.c.hears(f.sites[site].link, m); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

func (f *federation) refuse(site int, r *covey.Refusal) {
	f.t.Helper()
	r.Study = f.plan.Digest[:]
	f.say(site, &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: r}})
}

// holds is a site's word, with its signature, that it signed u in the open slot.
func (f *federation) holds(site int, u ...int) *covey.Refusal {
	f.t.Helper()
	s := f.sites[site]
	signature, err := s.setup.SignRelease(site, s.identity, s.query, u)
	if err != nil {
		f.t.Fatal(err)
	}
	r := &covey.Refusal{Query: uint32(s.ask.Query), Slot: uint32(s.query.Slot), Code: covey.Code_CODE_HELD, Context: s.query.Context[:], Signature: signature}
	for _, i := range u {
		r.Survivors = append(r.Survivors, uint32(i))
	}
	return r
}

// asked is a study whose sites are at a query, and have not answered.
func asked(t *testing.T, sites int, change func(*proposal.Spec)) *federation {
	f := newFederation(t, sites, change)
	for _, s := range f.sites {
		s.mute = muteUploads
	}
	f.pump(nil)
	return f
}

// answer lets the sites' uploads of the open slot come.
func (f *federation) answer() {
	for i, s := range f.sites {
		if s.mute = nil; !s.down {
			f.say(i, &covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{
				Study: f.plan.Digest[:], Query: uint32(s.ask.Query), Slot: uint32(s.query.Slot), Masked: s.uploads[s.query.Slot]}}})
		}
	}
}

// TestHeldOfOneSite: R7, R4. One corrupt site of ten says, with a right signature of its own, that
// it signed a U: every sum is over all that are connected, in the first slot, in either mode, and
// the site is named.
func TestHeldOfOneSite(t *testing.T) {
	for _, c := range []struct {
		mode string
		u    []int
		away int
	}{
		{proposal.DropoutContinue, []int{0, 4, 5, 6, 7, 8, 9}, -1},
		{proposal.DropoutContinue, []int{0, 1, 2, 3, 4, 5, 9}, 9},
	} {
		t.Run(c.mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := asked(t, 10, func(s *proposal.Spec) { s.OnDropout = c.mode })
				defer func() { f.c.Close() }()
				if c.away >= 0 {
					f.drop(c.away)
				}
				f.refuse(4, f.holds(4, c.u...))
				f.answer()
				v := f.finish()
				if v.Status != round.StatusCompleted {
					t.Fatalf("%+v", v)
				}
				for _, r := range f.releases() {
					if want := 10 - min(1, 1+c.away); len(r.Survivors) != want || r.Slot != r.Query {
						t.Errorf("query %d is over %v, in slot %d", r.Query, r.Survivors, r.Slot)
					}
				}
				if !slices.Contains(v.Faults, outline.Fault{Site: f.sites[4].name, Code: study.CodeHeld}) {
					t.Errorf("nobody is named: %+v", v.Faults)
				}
			})
		})
	}
}

// TestHeldIsChecked: R7. What a site holds is of this slot and this context, lawful and signed by
// itself, or it counts for nothing.
func TestHeldIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := asked(t, 5, nil)
		defer func() { f.c.Close() }()
		m := f.c.machine.lock()
		defer f.c.machine.unlock()
		s := m.remember(f.plan.Digest, m.studies[f.plan.Digest])
		for name, change := range map[string]func(*covey.Refusal){
			"":                   func(*covey.Refusal) {},
			"another context":    func(r *covey.Refusal) { r.Context = bytes.Repeat([]byte{1}, 32) },
			"another's":          func(r *covey.Refusal) { r.Signature = f.holds(2, 0, 1, 2, 3).Signature },
			"another U's":        func(r *covey.Refusal) { r.Signature = f.holds(1, 1, 2, 3, 4).Signature },
			"of too few":         func(r *covey.Refusal) { r.Survivors = []uint32{0, 1, 2} },
			"of whom there none": func(r *covey.Refusal) { r.Survivors = []uint32{0, 1, 2, 9} },
		} {
			r := f.holds(1, 0, 1, 2, 3)
			change(r)
			s.faults = nil
			no := wire.Refusal{Header: wire.Header{Query: int(r.GetQuery()), Slot: int(r.GetSlot())}, Code: study.CodeHeld,
				Context: r.GetContext(), Survivors: ints(r.GetSurvivors()), Signature: r.GetSignature()}
			got, ok := heard(s, 1, no).(round.Refused)
			if good := name == ""; !ok || (got.Held != nil) != good || (len(s.faults) == 0) != good {
				t.Errorf("%s: %+v, faults %v", name, got, s.faults)
			}
		}
	})
}

// TestAdoptedResultFitsThePlan: R7. A result that a site shows is adopted only if it is of the open
// query, fits the plan, follows from the releases before it and has the coordinator's signature.
func TestAdoptedResultFitsThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		backup := len(f.log.all())
		f.finish()
		good := f.releases()[0]
		f.crash(backup)
		m := f.c.machine.lock()
		defer f.c.machine.unlock()
		s := m.remember(f.plan.Digest, m.studies[f.plan.Digest])
		setup := inside[*secagg.Setup](s, "setup")
		for name, change := range map[string]func(*study.Release){
			"":                  func(*study.Release) {},
			"another query":     func(r *study.Release) { r.Query++ },
			"another charge":    func(r *study.Release) { r.Rho /= 2 },
			"too few survivors": func(r *study.Release) { r.Survivors = r.Survivors[:3] },
			"another study's":   func(r *study.Release) { r.Study[0] ^= 1 },
			"a value less":      func(r *study.Release) { r.Noised = r.Noised[1:] },
			"no such slot":      func(r *study.Release) { r.Slot = f.plan.Slots },
			"another history":   func(r *study.Release) { r.Previous[0] ^= 1 },
			"another radius":    func(r *study.Release) { r.Radius, r.Grid = 2*r.Radius, 2*r.Grid },
			"another x":         func(r *study.Release) { r.X = slices.Clone(r.X); slices.Reverse(r.X) },
		} {
			r := good
			change(&r)
			raw, err := r.Encode()
			if err != nil {
				t.Fatal(err)
			}
			list := make([][]byte, 5)
			for i, site := range f.sites {
				if r.Query < len(f.plan.Queries) { // an error where no site would sign
					list[i], _ = setup.SignRelease(i, site.identity, f.plan.Summed(setup.Transcript(), r.Ask()), r.Survivors)
				}
			}
			signed := &wire.Final{Encoded: raw, Signature: ed25519.Sign(f.auth.SigningKey(), study.SigningInput(raw)), Certificate: setup.Pack(list)}
			no := wire.Refusal{Code: study.CodeFinal, Final: signed}
			adopts := func() bool {
				_, ok := heard(s, 1, no).(round.Adopt)
				return ok
			}
			adopted := adopts()
			if adopted != (name == "") {
				t.Errorf("%s: adopted: %v", name, adopted)
			}
			signed.Signature[0] ^= 1
			if adopts() {
				t.Errorf("%s: adopted with another signature", name)
			}
			signed.Signature[0] ^= 1
			list[0], list[1] = nil, nil
			signed.Certificate = setup.Pack(list)
			if adopts() {
				t.Errorf("%s: adopted with three signatures of four", name)
			}
		}
	})
}

// TestTwoAnnouncementsConvict: R20. A site that announced otherwise to an earlier leader is
// convicted by what another shows; what proves nothing names nobody but who says it.
func TestTwoAnnouncementsConvict(t *testing.T) {
	for name, c := range map[string]struct {
		first            func(f *federation, cfg secagg.Config) []byte
		code             study.Code
		culprit, accuser string
	}{
		"another that it signed": {func(f *federation, cfg secagg.Config) []byte { return f.announcement(cfg, 1, 1) }, study.CodeBadAnnouncement, "site-1", ""},
		"the same":               {func(f *federation, cfg secagg.Config) []byte { return f.state().Announcement(1) }, study.CodeBadAnnouncement, "", "site-0"},
		"of another study": {func(f *federation, cfg secagg.Config) []byte { cfg.Study[0] ^= 1; return f.announcement(cfg, 1, 1) },
			study.CodeBadAnnouncement, "", "site-0"},
		"signed by another": {func(f *federation, cfg secagg.Config) []byte { return f.announcement(cfg, 1, 0) }, study.CodeBadAnnouncement, "", "site-0"},
		"cut short": {func(f *federation, cfg secagg.Config) []byte { a := f.announcement(cfg, 1, 1); return a[:len(a)-1] },
			study.CodeBadAnnouncement, "", "site-0"},
		"nothing": {func(*federation, secagg.Config) []byte { return nil }, study.CodeBadRefusal, "site-0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 5, nil)
				defer func() { f.c.Close() }()
				f.sites[0].mute = func(m *covey.SiteMessage) bool { return m.GetBoxes() != nil }
				f.pump(nil)
				f.refuse(0, &covey.Refusal{Code: covey.Code_CODE_BAD_ANNOUNCEMENT, Culprit: 2, Announcement: c.first(f, f.plan.Setup())})
				v := f.finish()
				if v.Status != round.StatusEnded || v.Code != c.code || v.Culprit != c.culprit || v.Accuser != c.accuser {
					t.Errorf("%s: culprit %q, accuser %q", v.Code, v.Culprit, v.Accuser)
				}
			})
		})
	}
}

// announcement is one with new secrets, signed with the key of by.
func (f *federation) announcement(cfg secagg.Config, site, by int) []byte {
	f.t.Helper()
	secrets, err := secagg.NewSecrets(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	raw, err := secagg.Announce(cfg, site, secrets, f.sites[by].identity)
	if err != nil {
		f.t.Fatal(err)
	}
	return raw
}

// TestAccusations: R20. Who dealt wrong shares is convicted by the site that opened the box, with
// the keys that open it; an accusation that proves nothing convicts who makes it; who signed two
// boxes is convicted by either; of what was only relayed nobody is named.
func TestAccusations(t *testing.T) {
	accuse := func(code covey.Code, culprit uint32, evidence func(f *federation) []byte) func(*federation) *covey.Refusal {
		return func(f *federation) *covey.Refusal {
			no := &covey.Refusal{Code: code, Culprit: culprit}
			if evidence != nil {
				no.Evidence = evidence(f)
			}
			return no
		}
	}
	box := func(f *federation) []byte { return f.boxOf(1, 4) }
	for name, c := range map[string]struct {
		no               func(f *federation) *covey.Refusal
		code             study.Code
		culprit, accuser string
	}{
		"a good box": {accuse(covey.Code_CODE_BAD_SHARE, 2, func(f *federation) []byte {
			return f.sites[4].setup.Accusation(*f.sites[4].secrets, box(f))
		}), study.CodeBadRefusal, "site-4", ""},
		"a word alone": {accuse(covey.Code_CODE_BAD_SHARE, 2, nil), study.CodeBadRefusal, "site-4", ""},
		"with another's keys": {accuse(covey.Code_CODE_BAD_SHARE, 2, func(f *federation) []byte {
			return f.sites[4].setup.Accusation(*f.sites[3].secrets, box(f))
		}), study.CodeBadRefusal, "site-4", ""},
		"what was relayed": {accuse(covey.Code_CODE_BAD_BOX, 0, nil), study.CodeBadBox, "", "site-4"},
		"two, and a word":  {accuse(covey.Code_CODE_BAD_BOX, 2, nil), study.CodeBadRefusal, "site-4", ""},
		"a box that holds nothing": {accuse(covey.Code_CODE_BAD_SHARE, 2, func(f *federation) []byte {
			return f.sites[4].setup.Accusation(*f.sites[4].secrets, f.sealed(1, 4, true))
		}), study.CodeBadShare, "site-1", ""},
		"two with one site's tags": {accuse(covey.Code_CODE_BAD_BOX, 2, func(f *federation) []byte {
			return f.record(f.sealed(1, 4, false))
		}), study.CodeBadBox, "", "site-4"},
		"two with other tags": {accuse(covey.Code_CODE_BAD_BOX, 2, func(f *federation) []byte {
			return f.record(f.sealed(1, 4, true))
		}), study.CodeBadBox, "site-1", ""},
		"two with other tags, of another": {accuse(covey.Code_CODE_BAD_BOX, 1, func(f *federation) []byte {
			return f.record(f.sealed(1, 4, true))
		}), study.CodeBadBox, "", "site-4"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 5, nil)
				defer func() { f.c.Close() }()
				f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetConfirmation() != nil }
				f.pump(nil)
				f.refuse(4, c.no(f))
				v := f.finish()
				if v.Status != round.StatusEnded || v.Code != c.code || v.Culprit != c.culprit || v.Accuser != c.accuser {
					t.Errorf("%s: culprit %q, accuser %q", v.Code, v.Culprit, v.Accuser)
				}
				if log := f.logs.String(); c.accuser != "" && !strings.Contains(log, "accuser="+c.accuser) {
					t.Error("the log says nothing of it")
				}
			})
		})
	}
}
