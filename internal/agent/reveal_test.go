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
)

// ghosts are the sites of a large roster that are no agents: their messages are made here.
type ghosts struct {
	cfg     secagg.Config
	keys    map[int]ed25519.PrivateKey
	secrets map[int]secagg.Secrets
	heads   [][]byte
	bodies  [][]byte
	nonces  [][]byte
}

// newGhosts proposes a study of n sites of which the first is an agent, and makes the others'
// announcements.
func newGhosts(t *testing.T, n int) (*standIn, *ghosts) {
	t.Helper()
	c := newStandIn(t, 2, autoPolicy, nil)
	spec := c.plan.Proposal.Spec
	spec.Corrupt, spec.Dropout, spec.SpareSlots = 3, 0.05, 1
	roster := c.plan.Proposal.Roster[:1]
	g := &ghosts{keys: map[int]ed25519.PrivateKey{}, secrets: map[int]secagg.Secrets{},
		heads: make([][]byte, n), bodies: make([][]byte, n), nonces: make([][]byte, n)}
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
	c.approve()
	g.cfg = c.plan.Setup(0)
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
	g.secrets[i], g.nonces[i] = sec, g.cfg.Nonce(i, sec)
	if g.heads[i], g.bodies[i], err = g.cfg.Split(i, raw); err != nil {
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
	// a second graph
	refused(s, wire.Announce{Header: wire.Header{Study: id, Attempt: 1}}, study.CodeOutOfOrder)
	var err error
	if g.heads[0], g.bodies[0], err = g.cfg.Split(0, own); err != nil {
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
	// Somebody who has seen the nonce makes another announcement: it comes too late.
	first := slices.Clone(g.heads)
	firstNonces, firstBodies := slices.Clone(g.nonces), slices.Clone(g.bodies)
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
	dealt := want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Nonces: firstNonces}).Boxes
	s.restart()
	if again := want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Nonces: firstNonces}).Boxes; !slices.EqualFunc(dealt, again, bytes.Equal) {
		t.Fatal("other boxes after a restart")
	}
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Nonces: g.nonces}, study.CodeBadAnnouncement)
	// What it holds comes from the dealers that the graph names, with their bodies.
	board, err := secagg.VerifyHeads(g.cfg, first)
	if err != nil {
		t.Fatal(err)
	}
	setup, err := board.Draw(firstNonces)
	if err != nil {
		t.Fatal(err)
	}
	if len(dealt) != c.plan.Thresholds.Holders || len(dealt) == n {
		t.Fatalf("%d boxes", len(dealt))
	}
	var received, bodies [][]byte
	g.secrets[7] = kept
	for _, share := range setup.Graph().Held(0) {
		made, err := setup.Deal(share.Dealer, g.secrets[share.Dealer])
		if err != nil {
			t.Fatal(err)
		}
		received, bodies = append(received, made[share.X-1]), append(bodies, firstBodies[share.Dealer])
	}
	wrong := slices.Clone(bodies)
	wrong[0] = bodies[1]
	refused(s, wire.Confirm{Header: wire.Header{Study: id}, Boxes: received, Bodies: wrong}, study.CodeBadShare)
	refused(s, wire.Confirm{Header: wire.Header{Study: id}, Boxes: received}, study.CodeBadShare)
	confirmed := want[wire.Confirmation](s, wire.Confirm{Header: wire.Header{Study: id}, Boxes: received, Bodies: bodies}).Signature
	if err := setup.CheckConfirmation(0, confirmed); err != nil {
		t.Fatal(err)
	}
}
