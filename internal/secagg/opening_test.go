package secagg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"pgregory.net/rapid"
)

// subsets gives every subset of n sites with at least least members.
func subsets(n, least int) []Survivors {
	var out []Survivors
	for set := range uint64(1) << n {
		if bits.OnesCount64(set) < least {
			continue
		}
		var u Survivors
		for i := range n {
			if set>>i&1 == 1 {
				u = append(u, i)
			}
		}
		out = append(out, u)
	}
	return out
}

// open opens U's sum with the given helpers.
func (g *group) open(t testing.TB, q Query, u Survivors, sum []uint64, helpers []int) error {
	t.Helper()
	o, err := g.setup.NewOpening(q, u)
	if err != nil {
		t.Fatal(err)
	}
	cert := g.certificate(t, q, u)
	for _, i := range helpers {
		if err := o.Add(i, g.shares(t, i, q, u, cert)); err != nil {
			t.Fatal(err)
		}
	}
	return o.Unmask(sum)
}

// TestOpenedSum: for every N in 2..12 and every survivor set of at least U_min, the
// opened sum of random vectors is the true one mod 2^b exactly, whichever q sites
// help; with q-1 it cannot be opened. (One setup serves all sets of an N under other
// contexts, which only a test may do.) -short takes every fifth set of the larger N.
func TestOpenedSum(t *testing.T) {
	for n := 2; n <= 12; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			g := newGroup(t, n, 1)
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			step := 1
			if testing.Short() && n > 6 {
				step = 5
			}
			all := subsets(n, g.cfg.MinSurvivors)
			for k := 0; k < len(all); k += step {
				u := all[k]
				q := Query{Bits: Widths[k%len(Widths)], Lanes: 1 + rng.IntN(20)}
				binary.BigEndian.PutUint64(q.Context[:], uint64(k))
				want, sum := make([]uint64, q.Lanes), make([]uint64, q.Lanes)
				for _, i := range u {
					v := make([]uint64, q.Lanes)
					for j := range v {
						v[j] = rng.Uint64() & ringMask(q.Bits)
					}
					SumInto(want, v, q.Bits)
					SumInto(sum, g.upload(t, i, q, v), q.Bits)
				}
				helpers := rng.Perm(n)[:g.cfg.Quorum]
				o, err := g.setup.NewOpening(q, u)
				if err != nil {
					t.Fatal(err)
				}
				cert := g.certificate(t, q, u)
				for have, i := range helpers {
					short := slices.Clone(sum)
					if e, ok := errors.AsType[*NotReadyError](o.Unmask(short)); !ok || e.Have != have || !slices.Equal(short, sum) {
						t.Fatalf("U = %v: opened, or changed, with %d helpers", u, have)
					}
					if err := o.Add(i, g.shares(t, i, q, u, cert)); err != nil {
						t.Fatal(err)
					}
				}
				if err := o.Unmask(sum); err != nil {
					t.Fatalf("U = %v: %v", u, err)
				}
				if !slices.Equal(sum, want) {
					t.Fatalf("U = %v, b = %d: the opened sum is not the sum", u, q.Bits)
				}
			}
		})
	}
}

// TestFewerSharesSayNothing: interpolating q-1 shares gives another secret.
func TestFewerSharesSayNothing(t *testing.T) {
	g := newGroup(t, 5, 1)
	m, b := g.secrets[2].Slots[0].polynomials(0, 2, g.cfg.Quorum)
	interpolate := func(helpers []int, share func(SlotHeld) *edwards25519.Scalar) *edwards25519.Scalar {
		secret := edwards25519.NewScalar()
		for a, c := range lagrange(helpers) {
			secret.MultiplyAdd(c, share(g.held[helpers[a]][0]), secret)
		}
		return secret
	}
	for name, c := range map[string]struct {
		secret *edwards25519.Scalar
		share  func(SlotHeld) *edwards25519.Scalar
	}{
		"m": {m[0], func(h SlotHeld) *edwards25519.Scalar { return h.m[2] }},
		"b": {b[0], func(h SlotHeld) *edwards25519.Scalar { return h.b[2] }},
	} {
		if interpolate([]int{0, 1, 3, 4}, c.share).Equal(c.secret) != 1 {
			t.Errorf("%s: q shares do not give the secret", name)
		}
		if interpolate([]int{0, 1, 3}, c.share).Equal(c.secret) == 1 {
			t.Errorf("%s: q-1 shares give the secret", name)
		}
	}
}

// TestContextsDoNotCancel: a site that was asked something else masks differently,
// and the sum opens to noise.
func TestContextsDoNotCancel(t *testing.T) {
	g := newGroup(t, 3, 1)
	q := Query{Bits: 64, Lanes: 4}
	other := q
	other.Context[0] = 1
	u := Survivors{0, 1, 2}
	v := []uint64{1, 2, 3, 4}
	sum := make([]uint64, 4)
	for i := range 3 {
		asked := q
		if i == 1 {
			asked = other
		}
		SumInto(sum, g.upload(t, i, asked, v), 64)
	}
	if err := g.open(t, q, u, sum, []int{0, 1, 2}); err != nil {
		t.Fatal(err)
	}
	for j, x := range sum {
		if x == 3*v[j] {
			t.Fatal("masks of two contexts cancelled")
		}
	}
}

// TestSharesAreOfOneKind: what a site sends for U holds b_j for j in U and m_j
// outside, and nothing of the other kind, for every lawful U of five sites.
func TestSharesAreOfOneKind(t *testing.T) {
	g := newGroup(t, 5, 1)
	q := Query{Bits: 32, Lanes: 1}
	for _, u := range subsets(5, g.cfg.MinSurvivors) {
		raw := g.shares(t, 1, q, u, g.certificate(t, q, u))
		text := string(raw)
		for j := range 5 {
			m, b := string(g.held[1][0].m[j].Bytes()), string(g.held[1][0].b[j].Bytes())
			if u.Contains(j) != contains(text, b) || u.Contains(j) == contains(text, m) {
				t.Fatalf("U = %v: the shares of site %d are of the wrong kind, or of both", u, j)
			}
		}
	}
}

func contains(text, part string) bool {
	for i := range len(text) - len(part) + 1 {
		if text[i:i+len(part)] == part {
			return true
		}
	}
	return false
}

func TestBadSharesNameTheHelper(t *testing.T) {
	g := newGroup(t, 5, 2)
	q := Query{Slot: 1, Bits: 40, Lanes: 3}
	u := Survivors{0, 2, 3, 4}
	cert := g.certificate(t, q, u)
	good := g.shares(t, 3, q, u, cert)
	otherSlot := q
	otherSlot.Slot = 0
	for name, bad := range map[string][]byte{
		"share":   flip(good, len(good)-40),
		"header":  flip(good, 60),
		"helper":  g.shares(t, 2, q, u, cert),
		"slot":    g.shares(t, 3, otherSlot, u, g.certificate(t, otherSlot, u)),
		"set":     g.shares(t, 3, q, Survivors{0, 1, 2, 3, 4}, g.certificate(t, q, Survivors{0, 1, 2, 3, 4})),
		"short":   good[:len(good)-1],
		"long":    append(slices.Clone(good), 0),
		"nothing": nil,
	} {
		o, err := g.setup.NewOpening(q, u)
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := errors.AsType[*SiteError](o.Add(3, bad)); !ok || e.Site != 3 || o.Helpers() != 0 {
			t.Errorf("%s: accepted, or the wrong site is named", name)
		}
		if err := o.Add(3, good); err != nil || o.Helpers() != 1 {
			t.Errorf("%s: the good shares after it: %v", name, err)
		}
		if err := o.Add(3, bad); err != nil || o.Helpers() != 1 {
			t.Errorf("%s: a second message counted: %v", name, err)
		}
	}
	o, _ := g.setup.NewOpening(q, u)
	if o.Add(-1, good) == nil || o.Add(5, good) == nil {
		t.Error("shares of no site were accepted")
	}
}

func flip(raw []byte, at int) []byte {
	out := slices.Clone(raw)
	out[at] ^= 1
	return out
}

// TestOneCertificateASlot: with η sites that sign twice, two sets cannot both get q
// signatures, for every N of the complete graph; and no set below U_min is signed.
func TestOneCertificateASlot(t *testing.T) {
	for n := 2; n <= MaxSites; n++ {
		cfg, _ := testConfig(n, 1)
		honest := n - cfg.Corrupt
		// The honest sites sign one set each; the corrupt ones both.
		if best := (honest + 2*cfg.Corrupt) / 2; best >= cfg.Quorum {
			t.Errorf("N = %d: two sets can have %d signatures each, q = %d", n, best, cfg.Quorum)
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("N = %d: %v", n, err)
		}
	}
	g := newGroup(t, 5, 1)
	q := Query{Bits: 32, Lanes: 1}
	if _, err := g.setup.SignRelease(0, g.keys[0], q, Survivors{0, 1, 2}); err == nil {
		t.Error("a set below U_min was signed")
	}
	u := Survivors{0, 1, 2, 3}
	cert := g.certificate(t, q, u)
	if err := g.setup.CheckCertificate(q, u, cert); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]Certificate{
		"few":     {cert[0], cert[1], cert[2], nil, nil},
		"doubled": {cert[0], cert[1], cert[2], cert[2], nil},
		"forged":  {cert[0], cert[1], cert[2], flip(cert[3], 3), nil},
		"another": g.certificate(t, q, Survivors{0, 1, 2, 4}),
	} {
		err := g.setup.CheckCertificate(q, u, bad)
		if e, ok := errors.AsType[*CertificateError](err); !ok || e.Need != 4 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := g.setup.OpenShares(1, g.held[1][0], q, u, bad); err == nil {
			t.Errorf("%s: shares were given for it", name)
		}
	}
	if g.setup.CheckCertificate(q, u, cert[:4]) == nil {
		t.Error("a certificate of four places was accepted")
	}
}

func TestSurvivors(t *testing.T) {
	for name, u := range map[string]Survivors{
		"descending": {2, 1, 0}, "doubled": {0, 1, 1}, "outside": {0, 1, 5}, "negative": {-1, 0, 1}, "few": {0, 1},
	} {
		if u.Validate(5, 3) == nil {
			t.Errorf("%s: %v was accepted", name, u)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		a := Survivors(rapid.SliceOfNDistinct(rapid.IntRange(0, 63), 1, 64, rapid.ID[int]).Draw(r, "a"))
		b := Survivors(rapid.SliceOfNDistinct(rapid.IntRange(0, 63), 1, 64, rapid.ID[int]).Draw(r, "b"))
		slices.Sort(a)
		slices.Sort(b)
		if (a.Hash() == b.Hash()) != slices.Equal(a, b) {
			r.Fatalf("H(%v) and H(%v)", a, b)
		}
	})
}
