package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"slices"
	"testing"
	"testing/synctest"

	"covey/internal/graph"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// newSparse is a federation of more sites than the complete graph has.
func newSparse(t *testing.T) *federation {
	return newFederation(t, proposal.MaxComplete+2, func(s *proposal.Spec) {
		s.Rounds, s.Radius, s.Corrupt, s.Dropout, s.SpareSlots = 1, "4", 3, 0.05, 1
	})
}

// TestSparseAnnouncementAgain: an announcement that comes again changes nothing, whenever it comes:
// before all are there, when the graph is drawn and not yet on record, while the study runs and
// after it.
func TestSparseAnnouncementAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("the other one of the sparse graph is enough with the race detector")
	}
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }() // the one of then
		again := func() {
			s := f.sites[7]
			if s.secrets == nil {
				return
			}
			digest := f.plan.Digest
			ask := &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: digest[:]}}}
			for _, answer := range s.handle(f, ask) {
				if err := f.c.hears(s.link, answer); err != nil {
					t.Fatal(err)
				}
			}
		}
		seen := map[string]bool{}
		for _, s := range f.sites {
			before := s.corrupt
			s.corrupt = func(m *covey.SiteMessage) {
				if before != nil {
					before(m)
				}
				switch {
				case s.index != 20:
				case m.GetNonce() != nil:
					seen["nonce"] = true
					again()
				case m.GetConfirmation() != nil: // the graph is drawn, nothing is on record
					seen["confirmation"] = true
					again()
				case m.GetUpload() != nil:
					seen["upload"] = true
					again()
				}
			}
		}
		v := f.finish()
		again()
		if v.Status != round.StatusCompleted || len(seen) != 3 {
			t.Fatalf("%s %s after %v\n%s", v.Status, v.Code, seen, f.logs.String())
		}
		if len(v.Faults) != 0 {
			t.Errorf("faults: %v", v.Faults)
		}
	})
}

// TestSparseWrongShare: a wrong share is found with its dealer away, by a leader that began after
// the setup: the helpers' proofs hold what the dealer committed to. The liar is named, and the sum
// opened without it.
func TestSparseWrongShare(t *testing.T) {
	if testing.Short() {
		t.Skip("TestSparseDropoutUnderANewLeader stays, and of the complete graph TestWrongShareIsFound")
	}
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }() // the one of then
		dealer, liar := -1, -1
		for _, s := range f.sites {
			s.corrupt = func(m *covey.SiteMessage) {
				if o := m.GetShares(); o != nil && s.index == liar {
					held := s.setup.Graph().Held(s.index)
					at := slices.IndexFunc(held, func(h graph.Share) bool { return h.Dealer == dealer })
					share := o.GetShares()
					share[len(share)-32*(len(held)-at)] ^= 1 // its low byte: still a scalar
				}
			}
		}
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		// The liar is of those whose share is used whoever else's are in; and of the dealers the
		// one whose liar comes first: the sum may be opened when half of the sites have sent their
		// shares.
		for d := len(f.sites) - 1; d > len(f.sites)/2; d-- {
			if first := slices.Min(f.sites[0].setup.Graph().Holders(d)[:f.plan.Thresholds.Threshold]); liar < 0 || first < liar {
				dealer, liar = d, first
			}
		}
		f.crash(-1)
		f.pump(func() bool { return f.state().Certificate != nil })
		f.drop(dealer)
		v := f.finish()
		if v.Status != round.StatusCompleted {
			t.Fatalf("%s %s", v.Status, v.Code)
		}
		if len(v.Faults) != 1 || v.Faults[0].Site != f.sites[liar].name || v.Faults[0].Code != study.CodeBadShare {
			t.Errorf("site %d lied, faults: %v", liar, v.Faults)
		}
		for _, site := range f.asks(isProve) {
			if !slices.Contains(f.sites[0].setup.Graph().Holders(dealer), site) {
				t.Fatalf("site %d, no holder of site %d's, was asked for a proof", site, dealer)
			}
		}
	})
}

// TestSparseDropoutUnderANewLeader: R17. A leader that began after the setup has no tags and no
// deposits but those that the sites send it again. A site drops out before it can: its own tags
// follow from its secret, and its neighbors send the keys that it had deposited. Nobody is named.
func TestSparseDropoutUnderANewLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }() // the one of then
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		if n := f.asks(isRecall); n != nil {
			t.Errorf("%d sites were asked by the leader of the setup", len(n))
		}
		const gone = 11
		f.sites[gone].down = true
		f.crash(-1)
		v := f.finish()
		if v.Status != round.StatusCompleted || len(v.Faults) != 0 {
			t.Fatalf("%s %s, faults %v", v.Status, v.Code, v.Faults)
		}
		if n := f.asks(isRecall); len(n) != len(f.sites)-1 {
			t.Errorf("%d sites were asked for their tags", len(n))
		}
		owners := f.sites[gone].setup.Graph().Owners(gone)
		asked := f.asks(isKeys)
		slices.Sort(asked)
		if asked = slices.Compact(asked); !slices.Equal(asked, owners) {
			t.Errorf("%v were asked for keys, want the owners %v", asked, owners)
		}
		for _, r := range f.releases() {
			if slices.Contains(r.Survivors, gone) {
				t.Error("the site that is gone is in U")
			}
			f.wantRight(r)
		}
	})
}

// TestSparseWrongRecall: R17. What a site sends again that the log's hashes do not name is its
// fault, and the site is left out as if it had not answered.
func TestSparseWrongRecall(t *testing.T) {
	if testing.Short() {
		t.Skip("the others of the sparse graph are enough with the race detector")
	}
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }() // the one of then
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		f.sites[5].corrupt = func(m *covey.SiteMessage) {
			change(m.GetRecalled(), func(r *covey.Recalled) { r.Tags = slices.Clone(r.GetTags()); r.Tags[40] ^= 1 })
		}
		f.sites[6].corrupt = func(m *covey.SiteMessage) {
			change(m.GetRecalled(), func(r *covey.Recalled) { r.Deposits = slices.Clone(r.GetDeposits()); r.Deposits[40] ^= 1 })
		}
		f.sites[7].corrupt = func(m *covey.SiteMessage) {
			change(m.GetRecalled(), func(r *covey.Recalled) { r.Tags, r.Deposits = nil, nil })
		}
		f.crash(-1)
		v := f.finish()
		if v.Status != round.StatusCompleted {
			t.Fatalf("%s %s", v.Status, v.Code)
		}
		var named []string
		for _, fault := range v.Faults {
			if fault.Code != study.CodeWrongDeposit {
				t.Errorf("%+v", fault)
			}
			named = append(named, fault.Site)
		}
		slices.Sort(named)
		if !slices.Equal(named, []string{"site-05", "site-06", "site-07"}) {
			t.Errorf("named: %v", named)
		}
		for _, r := range f.releases() {
			f.wantRight(r)
			if slices.Contains(r.Survivors, 5) {
				t.Error("in U without its tags")
			}
		}
	})
}

// TestSparseSetupIsForgotten: the parts of announcements that are for some sites alone are not in
// memory once the setup is on record, and tags and deposits are not in the log.
func TestSparseSetupIsForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("the others of the sparse graph are enough with the race detector")
	}
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }()
		inSetup := false
		look := func() *memory {
			m := f.c.machine.lock()
			defer f.c.machine.unlock()
			return m.sessions[f.plan.Digest]
		}
		f.pump(func() bool {
			s := look()
			inSetup = inSetup || inside[[][]byte](s, "seals") != nil && inside[[][]byte](s, "bodies") != nil && s.State.Boxes(3) != nil
			return f.state().Status == round.StatusRunning
		})
		s := look()
		seals, bodies := inside[[][]byte](s, "seals"), inside[[][]byte](s, "bodies")
		if !inSetup || seals != nil || bodies != nil || inside[*secagg.Board](s, "board") != nil || f.state().Boxes(3) != nil {
			t.Errorf("seen: %v; %d keys, %d bodies, boxes %v", inSetup, len(seals), len(bodies), f.state().Boxes(3) != nil)
		}
		d := f.state().Durable
		if n := len(f.sites); len(d.TagHashes) != n || len(d.DepositHashes) != n || d.Tags != nil || d.Deposits != nil {
			t.Errorf("%d and %d hashes, %d tags, %d deposits", len(d.TagHashes), len(d.DepositHashes), len(d.Tags), len(d.Deposits))
		}
		if len(d.TagHashes[0]) != 32*f.plan.Slots || len(d.DepositHashes[0]) != 32 {
			t.Errorf("hashes of %d and %d bytes", len(d.TagHashes[0]), len(d.DepositHashes[0]))
		}
	})
}

// TestSparsePartsAreChecked: A1. The leader finds a key for boxes that does not parse, or a
// combination that is not a number, though no head shows it, and names the site before anybody
// deals.
func TestSparsePartsAreChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("the others of the sparse graph are enough with the race detector")
	}
	for name, alter := range map[string]func(seal, body []byte){
		"key":         func(seal, _ []byte) { copy(seal, bytes.Repeat([]byte{0xff}, 64)) },
		"combination": func(_, body []byte) { copy(body[len(body)-32:], bytes.Repeat([]byte{0xff}, 32)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newSparse(t)
				defer func() { f.c.Close() }()
				s := f.sites[9]
				s.corrupt = func(m *covey.SiteMessage) {
					a := m.GetAnnouncement()
					if a == nil {
						return
					}
					head, seal, body, err := f.plan.Setup().Split(9, bytes.Clone(a.GetSigned()))
					if err != nil {
						t.Fatal(err)
					}
					ofSeal, ofBody := sha256.Sum256(seal), sha256.Sum256(body)
					at, end := bytes.Index(head, ofSeal[:]), bytes.Index(head, ofBody[:])
					alter(seal, body)
					ofSeal, ofBody = sha256.Sum256(seal), sha256.Sum256(body)
					copy(head[at:], ofSeal[:])
					copy(head[end:], ofBody[:])
					signed := head[:len(head)-ed25519.SignatureSize]
					a.Signed = slices.Concat(signed, ed25519.Sign(s.identity, signed), seal, body)
				}
				v := f.finish()
				if v.Code != study.CodeBadAnnouncement || v.Culprit != s.name {
					t.Errorf("%s of %q", v.Code, v.Culprit)
				}
				for _, m := range f.sent {
					if m.m.GetDeal() != nil {
						t.Fatal("somebody was asked to deal")
					}
				}
			})
		})
	}
}
