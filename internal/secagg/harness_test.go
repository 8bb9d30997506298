package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	"filippo.io/edwards25519"
	"pgregory.net/rapid"
)

// group is a whole setup: every site's keys, secrets and shares.
type group struct {
	cfg     Config
	keys    []ed25519.PrivateKey
	secrets []Secrets
	sent    [][]byte // announcements
	boxes   [][][]byte
	setup   *Setup
	held    []Held
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
	s := Secrets{Transport: sha256.Sum256(fmt.Appendf(nil, "transport %d", site))}
	for slot := range cfg.Slots {
		s.Slots = append(s.Slots, sha256.Sum256(fmt.Appendf(nil, "slot %d of %d", slot, site)))
	}
	return s
}

// labelled makes fixed bytes of a label and numbers.
func labelled(label string, numbers ...int) [32]byte {
	return sha256.Sum256(fmt.Append(nil, label, numbers))
}

var groups sync.Map // n to func() *group

// sharedGroup returns one group of n sites and two slots to all tests, which use its
// slots again and again under other contexts, as no site may, and change nothing of it.
func sharedGroup(t testing.TB, n int) *group {
	t.Helper()
	made, _ := groups.LoadOrStore(n, sync.OnceValue(func() *group { return newGroup(t, n, 2) }))
	g := made.(func() *group)()
	if g == nil {
		t.Fatal("the group could not be made")
	}
	return g
}

// plusOne returns another canonical scalar.
func plusOne(t testing.TB, raw []byte) []byte {
	t.Helper()
	s, err := decodeScalar(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s.Add(s, scalarOf(1)).Bytes()
}

func newGroup(t testing.TB, n, slots int) *group {
	t.Helper()
	cfg, keys := testConfig(n, slots)
	g := &group{cfg: cfg, keys: keys}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		g.secrets = append(g.secrets, fixedSecrets(cfg, i))
		raw, err := Announce(cfg, i, g.secrets[i], keys[i])
		must(err)
		g.sent = append(g.sent, raw)
	}
	var err error
	g.setup, err = Verify(cfg, g.sent)
	must(err)
	for i := range n {
		boxes, err := g.setup.Deal(i, g.secrets[i])
		must(err)
		g.boxes = append(g.boxes, boxes)
	}
	for i := range n {
		held, err := g.setup.Receive(i, g.secrets[i], g.boxesFor(i), nil)
		must(err)
		g.held = append(g.held, held)
	}
	return g
}

// boxesFor are the boxes for site i, by dealer.
func (g *group) boxesFor(i int) [][]byte {
	out := make([][]byte, len(g.boxes))
	for from, boxes := range g.boxes {
		out[from] = boxes[i]
	}
	return out
}

func (g *group) certificate(t rapid.TB, q Query, u Survivors) Certificate {
	t.Helper()
	cert := make(Certificate, len(g.keys))
	for i := range g.cfg.Quorum {
		signature, err := g.setup.SignRelease(i, g.keys[i], q, u)
		if err != nil {
			t.Fatal(err)
		}
		cert[i] = signature
	}
	return cert
}

// upload returns site i's masked copy of v.
func (g *group) upload(t rapid.TB, i int, q Query, v []uint64) []uint64 {
	t.Helper()
	masked := append([]uint64(nil), v...)
	if err := g.setup.Mask(i, g.secrets[i].Slots[q.Slot], q, masked); err != nil {
		t.Fatal(err)
	}
	return masked
}

func (g *group) shares(t rapid.TB, i int, q Query, u Survivors, cert Certificate) []byte {
	t.Helper()
	raw, err := g.setup.OpenShares(i, g.held[i][q.Slot], q, u, cert)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// point is where site i's shares stand on the complete graph.
func point(site int) *edwards25519.Scalar { return scalarOf(uint64(site) + 1) }

// points are where sites' shares stand.
func points(sites []int) []int {
	out := make([]int, len(sites))
	for a, i := range sites {
		out[a] = i + 1
	}
	return out
}
