package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"pgregory.net/rapid"
)

// subsets returns every subset of n sites with at least least members.
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

// openExactly opens U's sum of uploads with q helpers, and asserts that it is that of the
// vectors mod 2^b. With q-1 of them it asserts that nothing opens: not by Unmask, and not by
// interpolating their shares.
func (g *group) openExactly(t rapid.TB, q Query, u Survivors, helpers []int, vectors, uploads [][]uint64) {
	t.Helper()
	sum, want := make([]uint64, q.Lanes), make([]uint64, q.Lanes)
	for _, i := range u {
		SumInto(sum, uploads[i], q.Bits)
		SumInto(want, vectors[i], q.Bits)
	}
	o, err := g.setup.NewOpening(q, u)
	if err != nil {
		t.Fatal(err)
	}
	cert := g.certificate(t, q, u)
	for have, i := range helpers {
		short := slices.Clone(sum)
		if e, ok := errors.AsType[*NotReadyError](o.Unmask(short)); !ok || e.Have != have || e.Need != g.cfg.Quorum || !slices.Equal(short, sum) {
			t.Fatalf("U = %v: opened, or changed, with %d helpers", u, have)
		}
		if have == g.cfg.Quorum-1 {
			coefficients := lagrange(points(helpers[:have]))
			for j := range vectors {
				secret := edwards25519.NewScalar()
				for a, helper := range helpers[:have] {
					secret.MultiplyAdd(coefficients[a], o.shares[helper][j], secret)
				}
				if new(edwards25519.Point).ScalarBaseMult(secret).Equal(&o.revealed(j, &o.s.sites[j])[0]) == 1 {
					t.Fatalf("U = %v: %d shares give the secret of %d", u, have, j)
				}
			}
		}
		if err := o.Add(i, g.shares(t, i, q, u, cert)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Unmask(sum); err != nil {
		t.Fatalf("U = %v: %v", u, err)
	}
	if !slices.Equal(sum, want) {
		t.Fatalf("U = %v, b = %d, helpers %v: the opened sum is not the sum", u, q.Bits, helpers)
	}
}

// TestOpenedSum: for every N in 2..8, every survivor set of at least U_min and every ring,
// the opened sum of random vectors is the true one, whichever q sites help. One setup
// serves an N, and one set of uploads all sets of a ring, which only a test may do.
func TestOpenedSum(t *testing.T) {
	sizes := []int{2, 3, 4, 5, 6, 7, 8}
	if testing.Short() {
		sizes = []int{2, 3, 5, 7}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			g := sharedGroup(t, n)
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			for _, width := range Widths {
				q := Query{Slot: rng.IntN(2), Context: labelled("opened sum", n, int(width)), Bits: width, Lanes: 1 + rng.IntN(20)}
				var vectors, uploads [][]uint64
				for i := range n {
					v := make([]uint64, q.Lanes)
					for j := range v {
						v[j] = rng.Uint64() & ringMask(width)
					}
					vectors, uploads = append(vectors, v), append(uploads, g.upload(t, i, q, v))
				}
				for _, u := range subsets(n, g.cfg.MinSurvivors) {
					g.openExactly(t, q, u, rng.Perm(n)[:g.cfg.Quorum], vectors, uploads)
				}
			}
		})
	}
}

// TestOpenedSumOfMoreSites: the same of 9..12 sites, sampled.
func TestOpenedSumOfMoreSites(t *testing.T) {
	t.Parallel()
	sizes := []int{9, 10, 11, 12}
	if testing.Short() {
		sizes = []int{9, 10}
	}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.SampledFrom(sizes).Draw(r, "n")
		g := sharedGroup(t, n)
		sites := make([]int, n)
		for i := range sites {
			sites[i] = i
		}
		u := Survivors(rapid.Permutation(sites).Draw(r, "sites")[:rapid.IntRange(g.cfg.MinSurvivors, n).Draw(r, "survivors")])
		slices.Sort(u)
		helpers := rapid.Permutation(sites).Draw(r, "helpers")[:g.cfg.Quorum]
		q := Query{Slot: rapid.IntRange(0, 1).Draw(r, "slot"), Bits: rapid.SampledFrom(Widths).Draw(r, "b"), Lanes: rapid.IntRange(1, 6).Draw(r, "lanes")}
		copy(q.Context[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, "ctx"))
		var vectors, uploads [][]uint64
		for i := range n {
			v := rapid.SliceOfN(rapid.Uint64Max(ringMask(q.Bits)), q.Lanes, q.Lanes).Draw(r, "v")
			vectors, uploads = append(vectors, v), append(uploads, g.upload(t, i, q, v))
		}
		g.openExactly(r, q, u, helpers, vectors, uploads)
	})
}

// TestLongVectorOpens: of more than two working chunks of the PRG.
func TestLongVectorOpens(t *testing.T) {
	g := sharedGroup(t, 3)
	for _, width := range Widths {
		q := Query{Context: labelled("long"), Bits: width, Lanes: 2*4096 + 3}
		rng := rand.New(rand.NewPCG(3, uint64(width)))
		var vectors, uploads [][]uint64
		for i := range 3 {
			v := make([]uint64, q.Lanes)
			for j := range v {
				v[j] = rng.Uint64() & ringMask(width)
			}
			vectors, uploads = append(vectors, v), append(uploads, g.upload(t, i, q, v))
		}
		g.openExactly(t, q, Survivors{0, 2}, []int{1, 2}, vectors, uploads)
	}
}

// TestFewerSharesSayNothing: interpolating q-1 shares gives another secret.
func TestFewerSharesSayNothing(t *testing.T) {
	g := newGroup(t, 5, 1)
	m, b := g.secrets[2].Slots[0].polynomials(0, 2, g.cfg.Quorum)
	interpolate := func(helpers []int, share func(SlotHeld) *edwards25519.Scalar) *edwards25519.Scalar {
		secret := edwards25519.NewScalar()
		for a, c := range lagrange(points(helpers)) {
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

// TestNoSharesOfTooFew: whatever certificate a caller believed, no share leaves for fewer than
// U_min sites or for a slot that is not.
func TestNoSharesOfTooFew(t *testing.T) {
	g := newGroup(t, 5, 2)
	q := Query{Slot: 1, Context: labelled("too few"), Bits: 32, Lanes: 4}
	for _, c := range []struct {
		u    Survivors
		slot int
	}{{Survivors{0, 1, 2}, 1}, {Survivors{0, 1, 2, 2}, 1}, {Survivors{0, 1, 2, 5}, 1}, {nil, 1}, {Survivors{0, 1, 2, 3}, 2}} {
		q.Slot = c.slot
		if out, err := g.setup.CertifiedShares(0, g.held[0][1], q, c.u); err == nil || out != nil {
			t.Errorf("slot %d, U = %v: %d bytes of shares", c.slot, c.u, len(out))
		}
	}
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

// TestEachShareOfAMessageIsChecked: a helper's share of any one site, wrong by one,
// not a scalar, or the other of the two kinds; then the good message still counts.
func TestEachShareOfAMessageIsChecked(t *testing.T) {
	g := sharedGroup(t, 5)
	q := Query{Slot: 1, Context: labelled("each share"), Bits: 40, Lanes: 3}
	u := Survivors{0, 1, 3, 4}
	good := g.shares(t, 2, q, u, g.certificate(t, q, u))
	body := len(good) - 32*5
	o, err := g.setup.NewOpening(q, u)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 5 {
		other := g.held[2][1].m[j]
		if !u.Contains(j) {
			other = g.held[2][1].b[j]
		}
		for name, share := range map[string][]byte{
			"off by one": plusOne(t, good[body+32*j:][:32]), "not a scalar": bytes.Repeat([]byte{0xff}, 32), "other kind": other.Bytes(),
		} {
			bad := slices.Clone(good)
			copy(bad[body+32*j:], share)
			if e, ok := errors.AsType[*SiteError](o.Add(2, bad)); !ok || e.Site != 2 || o.Helpers() != 0 {
				t.Errorf("%s, share of %d: accepted, or the wrong site is named", name, j)
			}
		}
	}
	if err := o.Add(2, good); err != nil || o.Helpers() != 1 {
		t.Fatalf("the good shares after it: %v", err)
	}
}

// TestNoSharesWithoutACertificate: of fewer than q signatures that hold, on this
// slot, ctx and U, and counted once a site.
func TestNoSharesWithoutACertificate(t *testing.T) {
	g := sharedGroup(t, 5)
	q, u := Query{Slot: 1, Context: labelled("certificate"), Bits: 64, Lanes: 1}, Survivors{0, 1, 3, 4}
	sign := func(q Query, u Survivors, site int) []byte {
		signature, err := g.setup.SignRelease(site, g.keys[site], q, u)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	refuse := func(name string, have int, fourth []byte) {
		cert := make(Certificate, 5)
		for i := range have {
			cert[i] = sign(q, u, i)
		}
		cert[4] = fourth
		message, err := g.setup.OpenShares(0, g.held[0][1], q, u, cert)
		if e, ok := errors.AsType[*CertificateError](err); !ok || e.Have != have || e.Need != 4 || message != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for have := range 4 {
		refuse(fmt.Sprint(have), have, nil)
	}
	slot, context := q, q
	slot.Slot = 0
	context.Context[31] ^= 1
	refuse("doubled", 3, sign(q, u, 0))
	refuse("no signature", 3, []byte{1})
	refuse("another slot", 3, sign(slot, u, 4))
	refuse("another ctx", 3, sign(context, u, 4))
	refuse("another U", 3, sign(q, Survivors{0, 1, 2, 3, 4}, 4))
	refuse("another kind", 3, g.setup.Confirm(g.keys[4], 4))
}

// TestNothingBelowTheLeastSurvivors: even if q sites sign such a U all the same.
func TestNothingBelowTheLeastSurvivors(t *testing.T) {
	g := sharedGroup(t, 5)
	q := Query{Context: labelled("few"), Bits: 64, Lanes: 1}
	for _, u := range []Survivors{nil, {0}, {0, 1}, {1, 2, 4}, {0, 1, 2, 5}, {-1, 0, 1, 2}, {0, 0, 1, 2}, {1, 0, 2, 3}} {
		cert := make(Certificate, 5)
		for i, key := range g.keys {
			cert[i] = ed25519.Sign(key, g.setup.releaseBytes(q, u))
		}
		_, signing := g.setup.SignRelease(0, g.keys[0], q, u)
		_, sending := g.setup.OpenShares(0, g.held[0][0], q, u, cert)
		_, opening := g.setup.NewOpening(q, u)
		for name, err := range map[string]error{
			"sign": signing, "send": sending, "open": opening,
			"check": g.setup.CheckRelease(0, q, u, cert[0]), "certificate": g.setup.CheckCertificate(q, u, cert),
		} {
			if _, ok := errors.AsType[*ConfigError](err); !ok {
				t.Errorf("%s of %v: %v", name, u, err)
			}
		}
	}
}

// TestTwoCertificatesNeedMoreDoubleSigners: the coordinator splits the sites as it
// likes between two sets and up to η sign both: never two certificates. With 2q-N double
// signers it has them, so the bound is sharp.
func TestTwoCertificatesNeedMoreDoubleSigners(t *testing.T) {
	for _, n := range []int{5, 10} {
		g := sharedGroup(t, n)
		q := Query{Context: labelled("two certificates"), Bits: 64, Lanes: 1}
		var full Survivors
		for i := range n {
			full = append(full, i)
		}
		sets := []Survivors{full, full[:n-1]}
		both := func(double, first int) bool {
			for k, u := range sets {
				cert := make(Certificate, n)
				for i, key := range g.keys {
					if i < double || (i < double+first) == (k == 0) {
						signature, err := g.setup.SignRelease(i, key, q, u)
						if err != nil {
							t.Fatal(err)
						}
						cert[i] = signature
					}
				}
				if g.setup.CheckCertificate(q, u, cert) != nil {
					return false
				}
			}
			return true
		}
		for double := range g.cfg.Corrupt + 1 {
			for first := range n - double + 1 {
				if both(double, first) {
					t.Errorf("N = %d: two certificates with %d double signers", n, double)
				}
			}
		}
		if double := 2*g.cfg.Quorum - n; double <= g.cfg.Corrupt || !both(double, g.cfg.Quorum-double) {
			t.Errorf("N = %d: %d double signers do not give two certificates", n, double)
		}
	}
}

// lagrange returns the coefficients that interpolate at 0 from the shares at the
// given points, which differ and are not 0.
func lagrange(points []int) []*edwards25519.Scalar {
	most := 0
	for _, i := range points {
		most = max(most, i)
	}
	return newInterpolation(most).at(points)
}
