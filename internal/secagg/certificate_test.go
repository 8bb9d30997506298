package secagg

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSharesAreOfOneKind: what a site sends for U holds b_j for j in U and e_j outside, and nothing
// of the other kind, for every lawful U of five sites; its keys are only those of pairs with sites
// outside, and it sends none if it is outside itself.
func TestSharesAreOfOneKind(t *testing.T) {
	g := sharedGroup(t, 5)
	q, held := Query{Bits: 32, Lanes: 1, Context: labelled("kinds")}, g.received[1].Held[0]
	for _, u := range subsets(5, g.cfg.MinSurvivors) {
		text := string(g.shares(t, 1, q, u, g.certificate(t, q, u)))
		keys, err := g.setup.Keys(1, g.secrets[1].Slots[0], held, q, u)
		if u.Contains(1) != (err == nil) {
			t.Errorf("U = %v: keys of site 1: %v", u, err)
		}
		e := g.secrets[1].Slots[0].secret(ofE, 0, 1)
		for j := range 5 {
			b, of := strings.Contains(text, string(held.b[j].Bytes())), strings.Contains(text, string(held.e[j].Bytes()))
			if u.Contains(j) != b || u.Contains(j) == of {
				t.Errorf("U = %v: the shares of site %d are of the wrong kind, or of both", u, j)
			}
			key := g.setup.edge(0, 1, j).key(e)
			if at, ok := slices.BinarySearch(g.setup.graph.Owners(1), j); ok {
				key = held.keys[at]
			}
			if j != 1 && err == nil && strings.Contains(string(keys), string(key[:])) == u.Contains(j) {
				t.Errorf("U = %v: the key of the pair with %d", u, j)
			}
		}
	}
	whole := sharedWhole(t, 5)
	if _, err := whole.setup.Keys(1, whole.secrets[1].Slots[0], whole.received[1].Held[0], q, without(5)); err == nil {
		t.Error("keys of a setup that is whole")
	}
}

// TestFewerSharesSayNothing: T shares of b or e are the secret, T-1 are another.
func TestFewerSharesSayNothing(t *testing.T) {
	g := sharedGroup(t, 5)
	for which := range 2 {
		secret := g.secrets[2].Slots[0].secret(which, 0, 2)
		for k, points := range [][]int{{1, 2, 4, 5}, {1, 2, 4}} {
			sum := scalarOf(0)
			for a, c := range newInterpolation(5).at(points) {
				sum.MultiplyAdd(c, g.received[points[a]-1].Held[0].of(which)[2], sum)
			}
			if (sum.Equal(secret) == 1) != (k == 0) {
				t.Errorf("secret %d of %d shares", which, len(points))
			}
		}
	}
}

// TestOneCertificateASlot: with η sites that sign twice, two sets cannot both get q signatures, for
// every N of the complete graph.
func TestOneCertificateASlot(t *testing.T) {
	for n := 2; n <= MaxSites; n++ {
		cfg, _ := testConfig(n, 1)
		honest := n - cfg.Corrupt // the honest sites sign one set each; the corrupt ones both
		if best := (honest + 2*cfg.Corrupt) / 2; best >= cfg.Quorum {
			t.Errorf("N = %d: two sets can have %d signatures each, q = %d", n, best, cfg.Quorum)
		}
		if err := cfg.validate(); err != nil {
			t.Errorf("N = %d: %v", n, err)
		}
	}
}

// TestNoSharesWithoutACertificate: of fewer than q signatures that hold, on this slot, ctx and U,
// and counted once a site.
func TestNoSharesWithoutACertificate(t *testing.T) {
	g := sharedGroup(t, 5)
	q, u := Query{Slot: 1, Context: labelled("certificate"), Bits: 64, Lanes: 1}, Survivors{0, 1, 3, 4}
	sign := func(q Query, u Survivors, site int) []byte {
		return must(g.setup.SignRelease(site, g.keys[site], q, u))
	}
	slot, context := q, q
	slot.Slot = 0
	context.Context[31] ^= 1
	for name, fourth := range map[string][]byte{
		"none": nil, "doubled": sign(q, u, 0), "no signature": {1}, "forged": flip(sign(q, u, 4), 3), "another slot": sign(slot, u, 4),
		"another ctx": sign(context, u, 4), "another U": sign(q, without(5), 4), "another kind": g.received[4].Confirmation,
	} {
		cert := Certificate{sign(q, u, 0), sign(q, u, 1), sign(q, u, 2), nil, fourth}
		message, err := g.setup.OpenShares(0, g.secrets[0].Slots[1], g.received[0].Held[1], q, u, cert)
		if e, ok := errors.AsType[*CertificateError](err); !ok || e.Have != 3 || e.Need != 4 || message != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if g.setup.CheckCertificate(q, u, make(Certificate, 4)) == nil {
		t.Error("a certificate of four places was accepted")
	}
}

// TestNothingBelowTheLeastSurvivors: even if q sites sign such a U all the same, no share, proof or
// key leaves for it.
func TestNothingBelowTheLeastSurvivors(t *testing.T) {
	g := sharedGroup(t, 5)
	own, held := g.secrets[1].Slots[0], g.received[1].Held[0]
	for _, u := range []Survivors{nil, {0}, {0, 1}, {1, 2, 4}, {0, 1, 2, 5}, {-1, 0, 1, 2}, {0, 0, 1, 2}, {1, 0, 2, 3}, without(5)} {
		q, cert := Query{Context: labelled("few"), Bits: 64, Lanes: 1}, make(Certificate, 5)
		if len(u) == 5 {
			q.Slot = 2 // there are two
		}
		for i, key := range g.keys {
			cert[i] = ed25519.Sign(key, g.setup.releaseBytes(q, u))
		}
		_, signing := g.setup.SignRelease(0, g.keys[0], q, u)
		_, sending := g.setup.OpenShares(1, own, held, q, u, cert)
		_, certified := g.setup.CertifiedShares(1, own, held, q, u)
		_, opening := g.setup.NewOpening(q, u, g.kept)
		_, proof := g.setup.Proof(1, 0, q, u, g.received[1].Public)
		_, keys := g.setup.Keys(1, own, held, q, u)
		for name, err := range map[string]error{
			"sign": signing, "send": sending, "send certified": certified, "open": opening, "prove": proof, "keys": keys,
			"check": g.setup.CheckRelease(0, q, u, cert[0]), "certificate": g.setup.CheckCertificate(q, u, cert),
		} {
			if _, ok := errors.AsType[*ConfigError](err); !ok {
				t.Errorf("%s of %v: %v", name, u, err)
			}
		}
	}
}

// TestBadSharesNameTheHelper: shares of another site, slot or U, and what is none, change nothing.
func TestBadSharesNameTheHelper(t *testing.T) {
	g := sharedGroup(t, 5)
	q, u := Query{Slot: 1, Bits: 40, Lanes: 3}, Survivors{0, 2, 3, 4}
	of := func(i int, q Query, u Survivors) []byte { return g.shares(t, i, q, u, g.certificate(t, q, u)) }
	good, slot := of(3, q, u), q
	slot.Slot = 0
	notScalar := slices.Concat(good[:len(good)-32], slices.Repeat([]byte{0xff}, 32))
	for name, bad := range map[string][]byte{
		"header": flip(good, 60), "helper": of(2, q, u), "slot": of(3, slot, u), "set": of(3, q, without(5)),
		"short": good[:len(good)-1], "long": append(slices.Clone(good), 0), "no scalar": notScalar, "nothing": nil,
	} {
		o := must(g.setup.NewOpening(q, u, g.kept))
		names(t, name, o.Add(3, bad), 3)
		if o.Helpers() != 0 || o.Add(3, good) != nil || o.Add(3, bad) != nil || o.Helpers() != 1 {
			t.Errorf("%s: the good shares after it do not count once", name)
		}
		if o.Add(-1, good) == nil || o.Add(5, good) == nil || o.AddProof(5, good) == nil || o.AddKeys(5, good) == nil || o.AddKeys(1, good) == nil {
			t.Error("a message of no site, or keys from outside of U")
		}
	}
}

// TestSparseCertificate: T of the committee are needed; others' signatures count for nothing, and
// nobody signs or opens a U in which a site has too few mask neighbors.
func TestSparseCertificate(t *testing.T) {
	g := sharedSparse(t)
	q, u := Query{Slot: 0, Context: labelled("certificate"), Bits: 32, Lanes: 1}, without(70)
	cert := g.certificate(t, q, u)
	if err := g.setup.CheckCertificate(q, u, cert); err != nil {
		t.Fatal(err)
	}
	committee := g.setup.graph.Committee()
	cert[committee[0]] = nil
	for i := range 70 {
		if !slices.Contains(committee, i) {
			cert[i] = must(g.setup.SignRelease(i, g.keys[i], q, u))
		}
	}
	if few, ok := errors.AsType[*CertificateError](g.setup.CheckCertificate(q, u, cert)); !ok || few.Have != g.cfg.threshold()-1 {
		t.Error("signatures from outside the committee count")
	}
	// Take away mask neighbors of site 0 until it has one too few: U is still over U_min.
	around := g.setup.graph.Neighbors(0)
	cut := without(70, around[:len(around)-g.cfg.Sparse.MinNeighbors+1]...)
	_, signing := g.setup.SignRelease(1, g.keys[1], q, cut)
	if _, opening := g.setup.NewOpening(q, cut, g.kept); len(cut) < g.cfg.MinSurvivors || signing == nil || opening == nil {
		t.Error("a U that nearly cuts a site off was signed or opened")
	}
}

func TestSurvivors(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string) Survivors {
			u := Survivors(rapid.SliceOfNDistinct(rapid.IntRange(0, 63), 1, 64, rapid.ID[int]).Draw(r, name))
			slices.Sort(u)
			return u
		}
		if a, b := draw("a"), draw("b"); (a.Hash() == b.Hash()) != slices.Equal(a, b) {
			r.Fatalf("H(%v) and H(%v)", a, b)
		}
	})
}

// TestReleaseOfNoSite: nobody signs U in the place of a site that the study does not have.
func TestReleaseOfNoSite(t *testing.T) {
	g := sharedGroup(t, 5)
	q := Query{Context: labelled("no site"), Bits: 64, Lanes: 1}
	for _, self := range []int{-1, 5} {
		_, err := g.setup.SignRelease(self, g.keys[0], q, without(5))
		if _, ok := errors.AsType[*ConfigError](err); !ok {
			t.Errorf("site %d of 5: %v", self, err)
		}
	}
}
