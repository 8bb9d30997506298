package secagg

import (
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/mlkem/mlkemtest"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// group is a whole setup: every site's keys, secrets and shares.
type group struct {
	cfg      Config
	keys     []ed25519.PrivateKey
	secrets  []Secrets
	whole    [][]byte // announcements
	sent     [][]byte // what everybody sees of them
	seals    [][]byte // on the sparse graph: ML-KEM keys, bodies, nonces
	bodies   [][]byte
	nonces   [][]byte
	boxes    [][][]byte // by sender, then recipient
	setup    *Setup
	received []*Received
	kept     Kept
}

// testConfig returns docs/protocol.md's thresholds for n sites.
func testConfig(n, slots int) (Config, []ed25519.PrivateKey) {
	eta := (n - 1) / 3
	q := (n+eta)/2 + 1
	cfg := Config{Study: sha256.Sum256([]byte("study")), Corrupt: eta, Quorum: q, MinSurvivors: max(q, eta+2), Slots: slots}
	var keys []ed25519.PrivateKey
	for i := range n {
		seed := sha256.Sum256(fmt.Appendf(nil, "identity %d", i))
		keys = append(keys, ed25519.NewKeyFromSeed(seed[:]))
		cfg.Identity = append(cfg.Identity, keys[i].Public().(ed25519.PublicKey))
	}
	return cfg, keys
}

// fixedSecrets are the same in every run, so that statistical tests are too.
func fixedSecrets(cfg Config, site int) Secrets {
	seed := sha256.Sum256(fmt.Appendf(nil, "site %d", site))
	return expand(cfg, &seed)
}

// fixedCapsule encapsulates the same in every run, with randomness of its own for each call.
func fixedCapsule(site int) encapsulate {
	return func(key *mlkem.EncapsulationKey768) ([]byte, []byte) {
		random := sha256.Sum256(fmt.Appendf(nil, "capsule of %d for %x", site, key.Bytes()))
		secret, ct, err := mlkemtest.Encapsulate768(key, random[:])
		if err != nil {
			panic(err)
		}
		return secret, ct
	}
}

// labelled makes fixed bytes of a label and numbers.
func labelled(label string, numbers ...int) [32]byte {
	return sha256.Sum256(fmt.Append(nil, label, numbers))
}

// sharedGroup returns one group of n sites and two slots to all tests, which use its
// slots again and again under other contexts, as no site may, and change nothing of it.
func sharedGroup(t testing.TB, n int) *group {
	t.Helper()
	return shared(t, fmt.Sprint(n), func() *group { return newGroup(t, n, 2) })
}

// plusOne returns another canonical scalar.
func plusOne(t rapid.TB, raw []byte) []byte {
	t.Helper()
	s := must(decodeScalar(raw))
	return s.Add(s, scalarOf(1)).Bytes()
}

func newGroup(t testing.TB, n, slots int) *group {
	t.Helper()
	cfg, keys := testConfig(n, slots)
	return groupOf(t, cfg, keys)
}

// groupOf runs the setup of any config.
func groupOf(t testing.TB, cfg Config, keys []ed25519.PrivateKey) *group {
	t.Helper()
	g := announcedBy(t, cfg, keys)
	g.deal(t)
	g.receiveAll(t)
	return g
}

// each runs something for all sites.
func (g *group) each(t rapid.TB, do func(i int) error) {
	t.Helper()
	errs := make([]error, len(g.keys))
	atOnce(len(g.keys), func(i int) { errs[i] = do(i) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// announcedBy is a group of which all have announced, and dealt nothing.
func announcedBy(t rapid.TB, cfg Config, keys []ed25519.PrivateKey) *group {
	t.Helper()
	n := len(keys)
	cfg = must(cfg.Checked())
	g := &group{cfg: cfg, keys: keys, secrets: make([]Secrets, n), whole: make([][]byte, n), boxes: make([][][]byte, n), received: make([]*Received, n)}
	g.each(t, func(i int) (err error) {
		g.secrets[i] = fixedSecrets(cfg, i)
		mask := sha256.Sum256(fmt.Appendf(nil, "mask %d", i))
		g.whole[i], err = announce(cfg, i, g.secrets[i], &mask, keys[i])
		return err
	})
	g.exchange(t)
	return g
}

func (g *group) deal(t rapid.TB) {
	g.each(t, func(i int) (err error) {
		g.boxes[i], err = g.setup.deal(i, g.secrets[i], g.keys[i], g.sealsFor(i), fixedCapsule(i))
		return err
	})
}

// receiveAll has all sites take their boxes, and the coordinator keep what it does.
func (g *group) receiveAll(t rapid.TB) {
	g.each(t, func(i int) (err error) {
		g.received[i], err = g.setup.Receive(i, g.secrets[i], g.keys[i], g.boxesFor(i), g.bodiesFor(i))
		return err
	})
	g.keep()
}

// exchange makes the setup of all announcements.
func (g *group) exchange(t rapid.TB) {
	t.Helper()
	var err error
	g.sent, g.seals, g.bodies, g.nonces = nil, nil, nil, nil
	for i, raw := range g.whole {
		if !g.cfg.sparse() {
			g.sent = append(g.sent, raw)
			continue
		}
		head, seal, body, err := g.cfg.Split(i, raw)
		if err != nil {
			t.Fatal(err)
		}
		g.sent, g.seals, g.bodies = append(g.sent, head), append(g.seals, seal), append(g.bodies, body)
		g.nonces = append(g.nonces, g.secrets[i].Nonce[:])
	}
	if !g.cfg.sparse() {
		g.setup, err = Verify(g.cfg, g.sent)
	} else {
		var b *Board
		if b, err = VerifyHeads(g.cfg, g.sent); err == nil {
			g.setup, err = b.Draw(g.nonces)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keep is what the coordinator keeps.
func (g *group) keep() {
	g.kept = Kept{}
	if g.cfg.Whole() {
		return
	}
	for i := range g.keys {
		tags := g.setup.Tags(i, g.boxes[i])
		g.kept.Tags, g.kept.TagHashes = append(g.kept.Tags, tags), append(g.kept.TagHashes, g.setup.TagHashes(i, tags))
		g.kept.Deposits = append(g.kept.Deposits, g.received[i].Deposits)
	}
}

// sealsFor are the ML-KEM keys that site i seals to, nil on the complete graph.
func (g *group) sealsFor(i int) [][]byte {
	if !g.cfg.sparse() {
		return nil
	}
	seals := [][]byte{}
	for _, j := range g.setup.graph.Recipients(i) {
		seals = append(seals, g.seals[j])
	}
	return seals
}

// bodiesFor are the commitments that site i checks shares against, nil on the complete graph.
func (g *group) bodiesFor(i int) [][]byte {
	if !g.cfg.sparse() {
		return nil
	}
	bodies := [][]byte{}
	for _, at := range g.setup.graph.Held(i) {
		bodies = append(bodies, g.bodies[at.Dealer])
	}
	return bodies
}

// boxesFor are the boxes for site i.
func (g *group) boxesFor(i int) [][]byte {
	var out [][]byte
	for _, from := range g.setup.graph.Senders(i) {
		out = append(out, *g.box(from, i))
	}
	return out
}

// box is the one of two sites.
func (g *group) box(from, to int) *[]byte {
	at, _ := slices.BinarySearch(g.setup.graph.Recipients(from), to)
	return &g.boxes[from][at]
}

func (g *group) certificate(t rapid.TB, q Query, u Survivors) Certificate {
	t.Helper()
	cert := make(Certificate, len(g.keys))
	for _, i := range g.setup.graph.Committee()[:g.cfg.threshold()] {
		cert[i] = must(g.setup.SignRelease(i, g.keys[i], q, u))
	}
	return cert
}

// upload returns site i's masked copy of v.
func (g *group) upload(t rapid.TB, i int, q Query, v []uint64) []uint64 {
	t.Helper()
	masked := append([]uint64(nil), v...)
	if err := g.setup.Mask(i, g.secrets[i].Slots[q.Slot], g.received[i].Held[q.Slot], q, masked); err != nil {
		t.Fatal(err)
	}
	return masked
}

func (g *group) shares(t rapid.TB, i int, q Query, u Survivors, cert Certificate) []byte {
	t.Helper()
	return must(g.setup.OpenShares(i, g.secrets[i].Slots[q.Slot], g.received[i].Held[q.Slot], q, u, cert))
}

// opening returns one of U that the given sites helped.
func (g *group) opening(t rapid.TB, q Query, u Survivors, helpers []int) *Opening {
	t.Helper()
	o := must(g.setup.NewOpening(q, u, g.kept))
	cert := g.certificate(t, q, u)
	for _, i := range helpers {
		if err := o.Add(i, g.shares(t, i, q, u, cert)); err != nil {
			t.Fatal(err)
		}
	}
	return o
}
