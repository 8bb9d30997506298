package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"pgregory.net/rapid"
)

// multiplesOfB returns n points of the subgroup.
func multiplesOfB(n int) []*edwards25519.Point {
	var out []*edwards25519.Point
	for i := range n {
		out = append(out, new(edwards25519.Point).ScalarBaseMult(scalarOf(uint64(i)+7)))
	}
	return out
}

// with returns points with torsion[i] times the point of order 8 added to each i of it.
func with(t testing.TB, points []*edwards25519.Point, torsions map[int]int) []*edwards25519.Point {
	t.Helper()
	out := slices.Clone(points)
	for i, k := range torsions {
		out[i] = new(edwards25519.Point).Add(points[i], multiple(k, torsion(t)))
	}
	return out
}

// TestSubgroupBatchFindsTorsion: every torsion point, at every place of a batch. A bad batch
// passes with probability 2^-128.
func TestSubgroupBatchFindsTorsion(t *testing.T) {
	if subgroupSums != 128 {
		t.Errorf("%d sums are drawn, the bound of 2^-128 needs 128", subgroupSums)
	}
	const n = 300
	if subgroupWindow(n) == 0 || subgroupWindow(30) != 0 {
		t.Fatal("not the two ways that this test is for")
	}
	for _, n := range []int{0, 1, 30, n} {
		points := multiplesOfB(n)
		for range 3 {
			if !inSubgroup(points) {
				t.Fatalf("%d good points were refused", n)
			}
		}
		for i := range n {
			for k := 1; k < 8; k++ {
				if (i < 8 || i >= n-2 || i%7+1 == k) && inSubgroup(with(t, points, map[int]int{i: k})) {
					t.Errorf("torsion point %d at %d of %d was not found", k, i, n)
				}
			}
		}
	}
}

// TestTorsionDoesNotCancel: with coefficients that are alike, or small and known, these sums
// would be of the subgroup.
func TestTorsionDoesNotCancel(t *testing.T) {
	const n = 320
	points := multiplesOfB(n)
	every := func(k int, where func(i int) bool) map[int]int {
		out := map[int]int{}
		for i := range n {
			if where(i) {
				out[i] = k
			}
		}
		return out
	}
	for name, torsions := range map[string]map[int]int{
		"T and -T":            {3: 1, 200: 7},
		"two of order 2":      {0: 4, n - 1: 4},
		"four of order 4":     {1: 2, 2: 2, 64: 2, 65: 2},
		"eight of order 8":    {8: 1, 9: 1, 10: 1, 11: 1, 12: 1, 13: 1, 14: 1, 15: 1},
		"all of order 2":      every(4, func(int) bool { return true }),
		"all of order 8":      every(1, func(int) bool { return true }),
		"every second":        every(4, func(i int) bool { return i%2 == 0 }),
		"T, then 7 T":         {100: 3, 101: 5},
		"one, its complement": {5: 1, 6: 2, 7: 5},
	} {
		if inSubgroup(with(t, points, torsions)) {
			t.Errorf("%s: not found", name)
		}
	}
}

// TestSubsetSumsAreDrawn: one sum sees torsion at one place, or the same of order 2 at two,
// half of the time, and w sums all but 2^-w: the bits are fair, and fresh in every draw, for
// each point and for each sum.
func TestSubsetSumsAreDrawn(t *testing.T) {
	all := multiplesOfB(1100)
	buckets, drawn := make([]edwards25519.Point, 1<<8), make([]byte, 2*len(all))
	for name, c := range map[string]struct {
		n        int
		torsions map[int]int
	}{
		"one place": {40, map[int]int{17: 4}}, "the first": {40, map[int]int{0: 4}}, "the last": {40, map[int]int{39: 4}},
		"neighbours": {40, map[int]int{30: 4, 31: 4}}, "far places": {1100, map[int]int{5: 4, 5 + 1024: 4}}, "order 8": {40, map[int]int{2: 1, 2 + 32: 7}},
	} {
		bad := with(t, all[:c.n], c.torsions)
		for w, want := range map[int]float64{1: 0.5, 2: 0.75, 8: 255. / 256} {
			found := 0
			const draws = 128
			for range draws {
				if !subsetSums(bad, buckets[:1<<w], drawn[:2*c.n]) {
					found++
				}
			}
			// Six standard deviations, 2e-9 a case; of eight sums, more than 10 misses of
			// 128 have probability 128^11/11! / 256^11 < 1e-10.
			within := 6 * math.Sqrt(want*(1-want)/draws)
			if w == 8 {
				within = 10.5 / draws
			}
			if math.Abs(float64(found)/draws-want) > within {
				t.Errorf("%s, %d sums: found in %d of %d draws", name, w, found, draws)
			}
		}
	}
}

// TestDealersOfBadPointsAreNamed: the joint batch fails, and each dealer's own says whose.
func TestDealersOfBadPointsAreNamed(t *testing.T) {
	// one by one, jointly in a batch, in a batch each
	for _, c := range []struct{ n, slots int }{{3, 1}, {5, 5}, {3, 100}} {
		cfg, keys := testConfig(c.n, c.slots)
		g := &group{cfg: cfg, keys: keys}
		for i, key := range keys {
			raw, err := Announce(cfg, i, fixedSecrets(cfg, i), key)
			if err != nil {
				t.Fatal(err)
			}
			g.sent = append(g.sent, raw)
		}
		points := len(cfg.header(0)) + 32
		per := 2 * cfg.Quorum * c.slots
		bad := func(site, place, k int) {
			g.sent = g.resign(site, func(b []byte) {
				at := b[points+32*place:][:32]
				p, err := new(edwards25519.Point).SetBytes(at)
				if err != nil {
					t.Fatal(err)
				}
				copy(at, p.Add(p, multiple(k, torsion(t))).Bytes())
			})
		}
		check := func(name string, want int) {
			t.Helper()
			_, err := Verify(cfg, g.sent)
			if e, ok := errors.AsType[*SiteError](err); want < 0 && err != nil || want >= 0 && (!ok || e.Site != want || !errors.Is(err, errOrder)) {
				t.Errorf("N = %d, %d slots, %s: %v, want site %d", c.n, c.slots, name, err, want)
			}
		}
		good := slices.Clone(g.sent)
		check("none", -1)
		for site := range c.n {
			for _, place := range []int{0, 1, per / 2, per - 1} {
				bad(site, place, 1+(site+place)%7)
				check(fmt.Sprintf("point %d of %d", place, site), site)
				g.sent = slices.Clone(good)
			}
		}
		bad(0, 0, 1)
		bad(2, 0, 7)
		check("cancelling over dealers", 0)
		g.sent = slices.Clone(good)
		bad(1, 0, 4)
		bad(1, 1, 4)
		check("cancelling in a dealer", 1)
	}
}

// sameDecoding asserts that the quick check of an encoding says what encoding again says.
func sameDecoding(t rapid.TB, raw []byte) {
	t.Helper()
	got, err := decodePoint(raw)
	want, old := oldDecode(raw)
	if !errors.Is(err, old) || err == nil && got.Equal(want) != 1 {
		t.Fatalf("%x: %v, encoding again says %v", raw, err, old)
	}
}

// TestEncodings: every y that is written twice, both signs, and the points of small order.
func TestEncodings(t *testing.T) {
	for low := range 256 {
		for _, rest := range []byte{0, 0xff} {
			for _, top := range []byte{0, 0x7f, 0x80, 0xff} {
				raw := append([]byte{byte(low)}, bytes.Repeat([]byte{rest}, 31)...)
				raw[31] = top
				sameDecoding(t, raw)
			}
		}
	}
	for k := range 8 {
		raw := multiple(k, torsion(t)).Bytes()
		sameDecoding(t, raw)
		sameDecoding(t, append(raw[:31:31], raw[31]^0x80))
	}
	for _, raw := range [][]byte{nil, make([]byte, 31), make([]byte, 33), ed25519.NewKeyFromSeed(make([]byte, 32))} {
		sameDecoding(t, raw)
	}
	rapid.Check(t, func(r *rapid.T) { sameDecoding(r, rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, "raw")) })
}

func FuzzPoint(f *testing.F) {
	f.Add(edwards25519.NewGeneratorPoint().Bytes())
	f.Add(torsion(f).Bytes())
	f.Add(edwards25519.NewIdentityPoint().Bytes())
	f.Add(bytes.Repeat([]byte{0xff}, 32))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) { sameDecoding(t, raw) })
}

// TestCommitmentAt: Horner's rule gives what the sum of powers does, for every site.
func TestCommitmentAt(t *testing.T) {
	for quorum := 1; quorum <= 5; quorum++ {
		m, _ := SlotSecret(labelled("commitment", quorum)).polynomials(0, 0, quorum)
		c := make(commitment, quorum)
		for k := range c {
			c[k].ScalarBaseMult(m[k])
		}
		for site := range 130 {
			share := m.at(point(site))
			if c.at(site+1).Equal(new(edwards25519.Point).ScalarBaseMult(share)) != 1 || !c.fits(site+1, share) {
				t.Fatalf("q = %d: site %d's share does not fit", quorum, site)
			}
			if c.fits(site+1, share.Add(share, scalarOf(1))) {
				t.Fatalf("q = %d: a wrong share of site %d fits", quorum, site)
			}
		}
	}
}
