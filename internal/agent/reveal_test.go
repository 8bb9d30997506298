package agent

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// ghosts are the sites of a large roster that are no agents: their messages are made here.
type ghosts struct {
	cfg     secagg.Config
	keys    map[int]ed25519.PrivateKey
	secrets map[int]secagg.Secrets
	heads   [][]byte
	seals   [][]byte // ML-KEM keys
	bodies  [][]byte
	nonces  [][]byte
}

// newGhosts proposes a study of n sites of which the first is an agent, and makes the others'
// announcements.
func newGhosts(t *testing.T, n int) (*standIn, *ghosts) {
	t.Helper()
	c := newStandIn(t, 2, autoPolicy, nil)
	spec := c.plan.Proposal.Spec
	spec.Corrupt, spec.Dropout, spec.SpareSlots, spec.OnDropout = 3, 0.05, 1, proposal.DropoutContinue
	roster := c.plan.Proposal.Roster[:1]
	g := &ghosts{keys: map[int]ed25519.PrivateKey{}, secrets: map[int]secagg.Secrets{},
		heads: make([][]byte, n), seals: make([][]byte, n), bodies: make([][]byte, n), nonces: make([][]byte, n)}
	for i := 1; i < n; i++ {
		seed := sha256.Sum256(fmt.Append(nil, "ghost ", i))
		g.keys[i] = ed25519.NewKeyFromSeed(seed[:])
		roster = append(roster, proposal.Member{Name: fmt.Sprintf("ghost-%d", i), Identity: proposal.Key(g.keys[i].Public().(ed25519.PublicKey)), Units: 10})
	}
	c.sites = c.sites[:1]
	for _, m := range roster[1:] {
		c.sites[0].config.Policy.Peers[m.Name] = pki.Fingerprint([]byte(m.Identity))
	}
	c.propose(spec, roster)
	if d := want[wire.Decision](c.sites[0], wire.Proposal{Body: c.body}); d.Verdict != study.VerdictPending { // of so few corrupt sites
		t.Fatalf("%+v", d)
	}
	must.Do(t, c.sites[0].agent.Decisions.Approve(c.plan.Digest))
	g.cfg = c.plan.Setup()
	for i := 1; i < n; i++ {
		g.announce(t, i)
	}
	return c, g
}

// announce makes a ghost's announcement, another one each time.
func (g *ghosts) announce(t *testing.T, i int) {
	t.Helper()
	sec, err := secagg.NewSecrets(g.cfg)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := secagg.Announce(g.cfg, i, sec, g.keys[i])
	if err != nil {
		t.Fatal(err)
	}
	g.secrets[i], g.nonces[i] = sec, sec.Nonce[:]
	if g.heads[i], g.seals[i], g.bodies[i], err = g.cfg.Split(i, raw); err != nil {
		t.Fatal(err)
	}
}

// TestNonceComesAfterTheBoard: A15. A site shows its nonce for the first set of heads that it has
// checked and stored, and for no other; it takes part in one setup; it draws the graph
// from those heads and the nonces that they commit to, deals once, and confirms what it was dealt.
func TestNonceComesAfterTheBoard(t *testing.T) {
	const n = 66
	c, g := newGhosts(t, n)
	s, id := c.sites[0], c.plan.Digest
	// it has not announced itself
	refused(s, wire.Reveal{Header: wire.Header{Study: id}, Announcements: g.heads}, study.CodeOutOfOrder)
	own := want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed
	// there is no second graph
	same(t, "announcement", own, want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed)
	var err error
	if g.heads[0], g.seals[0], g.bodies[0], err = g.cfg.Split(0, own); err != nil {
		t.Fatal(err)
	}
	// no heads on record
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Nonces: g.nonces}, study.CodeOutOfOrder)
	// that is the complete graph's
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: g.heads}, study.CodeOutOfOrder)
	bad := slices.Clone(g.heads)
	bad[7] = slices.Clone(bad[7])
	bad[7][len(bad[7])-1] ^= 1
	if no := refused(s, wire.Reveal{Header: wire.Header{Study: id}, Announcements: bad}, study.CodeBadAnnouncement); no.Culprit != 8 {
		t.Errorf("culprit %d, want 8", no.Culprit)
	}
	g.nonces[0] = want[wire.Nonce](s, wire.Reveal{Header: wire.Header{Study: id}, Announcements: g.heads}).Nonce
	// A graph without somebody's nonce, least of all this site's, is the coordinator's to choose.
	for _, few := range [][][]byte{nil, g.nonces[1:], g.nonces[:n-1]} {
		refused(s, wire.Deal{Header: wire.Header{Study: id}, Nonces: few}, study.CodeBadAnnouncement)
		if _, ok, err := s.session(c).journal.Setup("nonces"); ok || err != nil {
			t.Errorf("%d nonces are on record (%v)", len(few), err)
		}
	}
	// Somebody who has seen the nonce makes another announcement: it comes too late.
	first := slices.Clone(g.heads)
	firstNonces, firstSeals, firstBodies := slices.Clone(g.nonces), slices.Clone(g.seals), slices.Clone(g.bodies)
	kept := g.secrets[7]
	g.announce(t, 7)
	refused(s, wire.Reveal{Header: wire.Header{Study: id}, Announcements: g.heads}, study.CodeBadAnnouncement)
	if no := refused(s, wire.Deal{Header: wire.Header{Study: id}, Nonces: g.nonces}, study.CodeBadAnnouncement); no.Culprit != 8 {
		t.Errorf("culprit %d, want 8", no.Culprit)
	}
	s.restart()
	if again := want[wire.Nonce](s, wire.Reveal{Header: wire.Header{Study: id}, Announcements: first}).Nonce; !bytes.Equal(again, firstNonces[0]) {
		t.Fatal("another nonce after a restart")
	}
	// The graph names whom it seals to; their keys are those that the heads on record name.
	board, err := secagg.VerifyHeads(g.cfg, first)
	if err != nil {
		t.Fatal(err)
	}
	setup, err := board.Draw(firstNonces)
	if err != nil {
		t.Fatal(err)
	}
	g.secrets[7], g.seals[7] = kept, firstSeals[7]
	seals := g.of(g.seals, setup.Graph().Recipients(0))
	for name, keys := range map[string][][]byte{"none": nil, "one too few": seals[1:], "another's": with(seals, 3, seals[4]), "altered": flipped(seals, 3, 5)} {
		if no := refused(s, wire.Deal{Header: wire.Header{Study: id}, Nonces: firstNonces, Keys: keys}, study.CodeBadAnnouncement); no.Culprit != 0 {
			t.Errorf("%s: culprit %d of keys that the coordinator relayed", name, no.Culprit)
		}
		if _, ok, err := s.session(c).journal.Setup("boxes"); ok || err != nil {
			t.Errorf("%s: boxes are on record (%v)", name, err)
		}
	}
	deal := wire.Deal{Header: wire.Header{Study: id}, Nonces: firstNonces, Keys: seals}
	// announcements have no place in it, not even those on record
	refused(s, wire.Deal{Header: deal.Header, Nonces: deal.Nonces, Keys: deal.Keys, Announcements: first}, study.CodeOutOfOrder)
	dealt := want[wire.Boxes](s, deal).Boxes
	s.restart()
	if again := want[wire.Boxes](s, deal).Boxes; !slices.EqualFunc(dealt, again, bytes.Equal) {
		t.Fatal("other boxes after a restart")
	}
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Nonces: g.nonces, Keys: seals}, study.CodeBadAnnouncement)
	for i, to := range setup.Graph().Recipients(0) {
		if err := setup.CheckBox(0, to, dealt[i]); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(dealt); n != len(seals) || n < c.plan.Thresholds.Holders || n == 65 {
		t.Fatalf("%d boxes", n)
	}
	// What it holds comes from the dealers that the graph names, with their bodies, and from those
	// that own a pair with it.
	var received [][]byte
	for _, from := range setup.Graph().Senders(0) {
		received = append(received, g.boxTo(t, setup, from, 0))
	}
	var dealers []int
	for _, share := range setup.Graph().Held(0) {
		dealers = append(dealers, share.Dealer)
	}
	bodies := g.of(firstBodies, dealers)
	confirm := func(boxes, bodies [][]byte) wire.Message {
		return wire.Confirm{Header: wire.Header{Study: id}, Boxes: boxes, Bodies: bodies}
	}
	for name, bad := range map[string]wire.Message{
		"another's body": confirm(received, with(bodies, 0, bodies[1])), "no bodies": confirm(received, nil),
		"a body altered": confirm(received, flipped(bodies, 0, 40)), "a box altered": confirm(flipped(received, 0, 40), bodies),
		"a box too few": confirm(received[1:], bodies), "another's box": confirm(with(received, 0, received[1]), bodies),
	} {
		if no := refused(s, bad, study.CodeBadBox); no.Culprit != 0 || no.Evidence != nil {
			t.Errorf("%s: culprit %d of what the coordinator relayed", name, no.Culprit)
		}
	}
	confirmed := want[wire.Confirmation](s, confirm(received, bodies))
	if err := setup.CheckConfirmation(0, confirmed.Signature); err != nil {
		t.Fatal(err)
	}
	if err := setup.CheckStatement(0, confirmed.Deposits, confirmed.Statement, received); err != nil {
		t.Fatal(err)
	}
	s.restart()
	again := want[wire.Confirmation](s, confirm(received, bodies))
	same(t, "confirmation", confirmed.Signature, again.Signature)
	same(t, "deposits", confirmed.Deposits, again.Deposits)
	// A new leader begins the setup again: all of it is answered from the record.
	same(t, "announcement", own, want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed)
	same(t, "nonce", firstNonces[0], want[wire.Nonce](s, wire.Reveal{Header: wire.Header{Study: id}, Announcements: first}).Nonce)
	if again := want[wire.Boxes](s, deal).Boxes; !slices.EqualFunc(dealt, again, bytes.Equal) {
		t.Fatal("other boxes for a new leader")
	}
	// It is told the tags of the boxes that left, and the deposits.
	recalled := want[wire.Recalled](s, wire.Recall{Header: wire.Header{Study: id}})
	same(t, "tags", recalled.Tags, setup.Tags(0, dealt))
	same(t, "recalled deposits", recalled.Deposits, confirmed.Deposits)
}

// of picks what a list has of some sites.
func (g *ghosts) of(list [][]byte, sites []int) [][]byte {
	var out [][]byte
	for _, i := range sites {
		out = append(out, list[i])
	}
	return out
}

// boxTo is what a ghost seals for a site.
func (g *ghosts) boxTo(t *testing.T, setup *secagg.Setup, from, to int) []byte {
	t.Helper()
	recipients := setup.Graph().Recipients(from)
	boxes, err := setup.Deal(from, g.secrets[from], g.keys[from], g.of(g.seals, recipients))
	if err != nil {
		t.Fatal(err)
	}
	return boxes[slices.Index(recipients, to)]
}
