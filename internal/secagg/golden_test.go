package secagg

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"pgregory.net/rapid"

	"covey/internal/graph"
)

// maskPolynomial is f_0 of a site's announcement, got from P with all of the site's secrets.
func (g *group) maskPolynomial(t rapid.TB, site int) polynomial {
	t.Helper()
	b, err := g.setup.body(site, g.body(site))
	if err != nil {
		t.Fatal(err)
	}
	challenge, power := g.setup.sites[site].challenge(b), scalarOf(1)
	for slot := range g.cfg.Slots {
		for which := range g.cfg.kinds() {
			power.Multiply(power, challenge)
			for k, c := range g.secrets[site].Slots[slot].polynomial(which, slot, site, g.cfg.threshold()) {
				b.p[k].Subtract(b.p[k], c.Multiply(c, power))
			}
		}
	}
	return b.p
}

// body is a site's commitments, nil on the complete graph.
func (g *group) body(site int) []byte {
	if g.bodies == nil {
		return nil
	}
	return g.bodies[site]
}

func scalars(p []*edwards25519.Scalar) (out []byte) {
	for _, s := range p {
		out = append(out, s.Bytes()...)
	}
	return out
}

// TestGolden: what sites send for fixed secrets is these bytes, so that sites of different builds
// can work together. All values were computed by a second program, in another language, from the
// words of docs/protocol.md.
func TestGolden(t *testing.T) {
	got := map[string][]byte{}
	put := func(name string, parts ...[]byte) { got[name] = append(got[name], slices.Concat(parts...)...) }
	g := newGroup(t, 5, 2)
	s, ctx := g.setup, labelled("golden")
	sec := g.secrets[3]
	raw, _ := sec.MarshalBinary()
	put("secrets", raw)
	for slot := range 2 {
		put("coefficients of b", scalars(sec.Slots[slot].polynomial(ofB, slot, 3, 4)))
		put("coefficients of e", scalars(sec.Slots[slot].polynomial(ofE, slot, 3, 4)))
	}
	put("mask polynomial", scalars(g.maskPolynomial(t, 3)))
	put("secret hashes", s.sites[3].secrets)
	b, err := s.body(3, nil)
	if err != nil {
		t.Fatal(err)
	}
	leaves := g.received[1].Public[3*32*5:]
	put("mask leaf", leaves[:32])
	put("leaf", leaves[3*32:4*32])
	put("place", b.place(2))
	put("challenge", s.sites[3].challenge(b).Bytes())
	put("announcements", g.sent...)
	put("transcript", s.transcript[:])
	key := s.edge(1, 1, 4).key(g.secrets[1].Slots[1].secret(ofE, 1, 1)) // which site 1 owns
	tag, pad := s.edge(1, 4, 1).tag(key), s.edge(1, 2, 1).pad(g.secrets[2].Slots[1].secret(ofE, 1, 2))
	put("pair key", key[:])
	put("tag", tag[:])
	put("pad", pad[:])
	all, u := Survivors{0, 1, 2, 3, 4}, Survivors{0, 1, 3, 4}
	q := Query{Slot: 1, Context: ctx, Bits: 48, Lanes: 100, Chain: true}
	for i, r := range g.received {
		put("boxes", g.boxes[i]...)
		put("confirmations", r.Confirmation)
		put("deposits", r.Deposits)
		put("statements", r.Statement)
		put("tag hashes", g.kept.TagHashes[i])
		release, err := s.SignRelease(i, g.keys[i], q, u)
		if err != nil {
			t.Fatal(err)
		}
		put("releases", release)
		for _, width := range Widths {
			q := Query{Slot: 1, Context: ctx, Bits: width, Lanes: 100}
			v := make([]uint64, q.Lanes)
			for k := range v {
				v[k] = uint64(k*i) << 20 & ringMask(width)
			}
			put("uploads", Pack(g.upload(t, i, q, v), width))
		}
		for dealer := range 5 {
			proof, err := s.Proof(i, dealer, q, u, r.Public)
			if err != nil {
				t.Fatal(err)
			}
			put("proofs", proof)
		}
		if u.Contains(i) {
			keys, err := s.Keys(i, g.secrets[i].Slots[1], r.Held[1], q, u)
			if err != nil {
				t.Fatal(err)
			}
			put("keys", keys)
		}
	}
	for _, u := range []Survivors{u, all} {
		for i := range all {
			put("shares", g.shares(t, i, q, u, g.certificate(t, q, u)))
		}
	}
	hash := s.DepositHash(3, g.received[3].Deposits)
	put("deposit hash", hash[:])
	put("self key", s.selfKey(sec.Slots[1].secret(ofB, 1, 3), 3, q))
	put("mask key", maskKey(g.received[1].Held[1].keys[slices.Index(s.graph.Owners(1), 3)], 3, 1, q))
	put("noise lanes", Pack(NoiseLanes(sec.Slots[1], ctx, 48), 48))
	share := NoiseShareKey(sec.Slots[1], ctx)
	put("noise share", share[:])
	for _, u := range []int{5, 4, 1} {
		key := NoiseChain(sec.Slots[1], ctx, 5, u)
		put("noise chain", key[:])
	}
	for _, c := range [][2]int{{5, 3}, {4, 3}, {4, 0}} { // level 3 of either key
		key := NoiseComponentKey(NoiseChain(sec.Slots[1], ctx, 5, c[0]), c[0], c[1])
		if c[0] == 4 && c[1] == 3 {
			if !bytes.Equal(key[:], got["noise component"]) {
				t.Error("two keys of the chain give two components of one level")
			}
			continue
		}
		put("noise component", key[:])
	}
	cfg, keys := testConfig(4, 1)
	cfg.MinSurvivors = 4
	whole := groupOf(t, cfg, keys)
	put("whole: announcements", whole.sent...)
	for _, boxes := range whole.boxes {
		put("whole: boxes", boxes...)
	}
	cfg, keys, err = sparseConfig(65, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	sparse := announcedBy(t, cfg, keys)
	put("sparse: heads", sparse.sent...)
	put("sparse: bodies", sparse.bodies...)
	board, err := VerifyHeads(cfg, sparse.sent)
	if err != nil {
		t.Fatal(err)
	}
	put("board", board.hash[:])
	put("sparse: transcript", sparse.setup.transcript[:])
	put("sparse: graph", graphBytes(sparse.setup.graph))
	for name, want := range golden {
		if hash := sha256.Sum256(got[name]); fmt.Sprintf("%.8x", hash[:]) != want {
			t.Errorf("%s: %.8x, want %s", name, hash[:], want)
		}
	}
	if len(got) != len(golden) {
		t.Errorf("%d values, %d are known", len(got), len(golden))
	}
}

// golden are SHA-256 of the values, of all sites or of one (3), cut to 8 bytes.
var golden = map[string]string{
	"secrets":              "990ed229eab3289d",
	"coefficients of b":    "28b4a67b386ce0a0",
	"coefficients of e":    "fea4255d5c69c52d",
	"mask polynomial":      "ce2fadf755e16069",
	"secret hashes":        "360a2005e05104a3",
	"leaf":                 "44e7f619b9e58743",
	"mask leaf":            "64bede6fa75c9d85",
	"place":                "47d037509766f68f",
	"challenge":            "544e5115b406263d",
	"announcements":        "04611822459d930c",
	"transcript":           "c168199545bc2b30",
	"pair key":             "15327f7ed6cf501e",
	"tag":                  "61ebc78bc8cb39bc",
	"pad":                  "04469863041b3c2c",
	"boxes":                "26fbaa57644b112f",
	"confirmations":        "4f2cbbc6e4eb1dc9",
	"deposits":             "2fd667249e0b58ee",
	"statements":           "619ac889569718ce",
	"tag hashes":           "ab7d3e9d49da028a",
	"deposit hash":         "4cf700f4f95a5fe1",
	"self key":             "e418e9163455a454",
	"mask key":             "21c600346ade4d0f",
	"uploads":              "a78bacea0b1f985e",
	"noise lanes":          "efd57e478436717a",
	"noise share":          "28b8ed443b57e69c",
	"noise chain":          "5b4c9cb3973ea189",
	"noise component":      "1f2bf31ebd24c005",
	"releases":             "dc16d95f8d282954",
	"shares":               "67c31b5ee7ee5f39",
	"proofs":               "21241eb27fa463cc",
	"keys":                 "b338013d8cbe3147",
	"whole: announcements": "0f6183b0d5be1088",
	"whole: boxes":         "a8d62e4c5a52dcce",
	"sparse: heads":        "c1e8bd202aaf5dfe",
	"sparse: bodies":       "ef5fa4e164ed0cdc",
	"board":                "3953313909a706d6",
	"sparse: transcript":   "bc7ac219ad87dc53",
	"sparse: graph":        "539ad2c8bf42b9b4",
}

// graphBytes is all of a graph.
func graphBytes(g *graph.Graph) (out []byte) {
	write := func(sites []int) {
		for _, i := range sites {
			out = binary.BigEndian.AppendUint16(out, uint16(i))
		}
	}
	for i := range g.Numbers().Sites {
		write(g.Holders(i))
		write(g.Neighbors(i))
	}
	write(g.Committee())
	return out
}
