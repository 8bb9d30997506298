package secagg

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"covey/internal/graph"

	"filippo.io/edwards25519"
	"pgregory.net/rapid"
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
	"secrets":              "a67612422b6e1ecc",
	"coefficients of b":    "be9a3b0b5c2982eb",
	"coefficients of e":    "c4dc3f9b7d8891e6",
	"mask polynomial":      "dcdb95c7a5474a26",
	"secret hashes":        "a7437130cb5ab8b6",
	"leaf":                 "456e194a1a8ad38a",
	"mask leaf":            "bb37dfd8660e2113",
	"place":                "f7f592a15e9ff5e1",
	"challenge":            "aa3d57ef03d88630",
	"announcements":        "82a52be442f30d17",
	"transcript":           "06ef643f7e0a18ec",
	"pair key":             "55abeeae02c4cf88",
	"tag":                  "ae52af2aa35b7741",
	"pad":                  "4592dd0c055919de",
	"boxes":                "1a6eeb51520d2600",
	"confirmations":        "5dce3c0b4eb48ce5",
	"deposits":             "3592b7f1fb1589f8",
	"statements":           "5465e4a48eea164e",
	"tag hashes":           "8d4afe8701373811",
	"deposit hash":         "6b6eeb5710b306f0",
	"self key":             "845dad6be1b0a5eb",
	"mask key":             "314637588c097eef",
	"uploads":              "045db1216a56d0af",
	"noise lanes":          "36c6566c24f0bd77",
	"noise share":          "eb63d6d633f23dd7",
	"noise chain":          "057010729497b7d0",
	"noise component":      "017e1c333153be4a",
	"releases":             "09bde3b3314653d5",
	"shares":               "3e7ffe2bef1001b1",
	"proofs":               "a8d9c7e72cf28fbe",
	"keys":                 "aeea6b479426d995",
	"whole: announcements": "c637849543997137",
	"whole: boxes":         "85acb607bbab65f8",
	"sparse: heads":        "6daa47061366986f",
	"sparse: bodies":       "827596b51403b222",
	"board":                "cd1ed62bee69a0f7",
	"sparse: transcript":   "96ded238bd8de3a4",
	"sparse: graph":        "144767c3969ef1ae",
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
