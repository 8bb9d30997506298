package secagg

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

// TestSharesDoNotCancel: two wrong shares of one message whose errors cancel in any sum with
// coefficients that are alike or small and known; over all pairs of dealers and every helper.
// 500 messages: one passes with probability 2^-57.
func TestSharesDoNotCancel(t *testing.T) {
	g := sharedGroup(t, 5)
	q := Query{Slot: 1, Context: labelled("cancelling"), Bits: 64, Lanes: 1}
	u := Survivors{0, 1, 2, 4}
	cert := g.certificate(t, q, u)
	o, err := g.setup.NewOpening(q, u)
	if err != nil {
		t.Fatal(err)
	}
	for helper := range 5 {
		good := g.shares(t, helper, q, u, cert)
		body := len(good) - 32*5
		for i := range 5 {
			for j := range 5 {
				for _, e := range [][2]uint64{{1, 1}, {2, 1}, {1, 2}, {uint64(j) + 1, uint64(i) + 1}} {
					bad := slices.Clone(good)
					for place, by := range map[int]*edwards25519.Scalar{i: scalarOf(e[0]), j: edwards25519.NewScalar().Negate(scalarOf(e[1]))} {
						if i == j && e[0] == e[1] {
							by = scalarOf(1) // at one place the errors would be none
						}
						s, err := decodeScalar(good[body+32*place:][:32])
						if err != nil {
							t.Fatal(err)
						}
						copy(bad[body+32*place:], s.Add(s, by).Bytes())
					}
					if e, ok := errors.AsType[*SiteError](o.Add(helper, bad)); !ok || e.Site != helper || o.Helpers() != helper {
						t.Fatalf("helper %d, errors at %d and %d cancelled", helper, i, j)
					}
				}
			}
		}
		if err := o.Add(helper, good); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCoefficientsAreDrawn: of two openings of the same, and of all dealers, each its own; of
// twelve bits, any of 252: two of 1,000 are alike with probability 2^-47. A power is in 47.6
// of them on average; one that is in fewer than 8, or more than 110, has probability 1e-9.
func TestCoefficientsAreDrawn(t *testing.T) {
	if combinationWeight != 12 || combinationBits != 252 {
		t.Error("the bound of 2^-66 is of 12 powers of 252")
	}
	c := make(commitment, 1)
	c[0].Set(edwards25519.NewGeneratorPoint())
	seen := map[string]bool{}
	var powers [256]int
	for range 2 {
		check := combine(slices.Repeat([]commitment{c}, 500))
		total := edwards25519.NewScalar()
		for _, r := range check.r {
			weight := 0
			for i, b := range r.Bytes() {
				weight += bits.OnesCount8(b)
				for bit := range 8 {
					powers[8*i+bit] += int(b >> bit & 1)
				}
			}
			if weight != 12 {
				t.Fatalf("a coefficient of %d powers", weight)
			}
			seen[string(r.Bytes())] = true
			total.Add(total, r)
		}
		if check.d[0].Equal(new(edwards25519.Point).ScalarBaseMult(total)) != 1 {
			t.Error("the commitments are combined with other coefficients than the shares")
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d different coefficients of 1000", len(seen))
	}
	for power, n := range powers {
		if power < 252 && (n < 8 || n > 110) || power >= 252 && n > 0 {
			t.Errorf("power %d is in %d coefficients of 1000", power, n)
		}
	}
}

// BenchmarkShares is the check of q helpers' shares of all dealers, in one opening.
func BenchmarkShares(b *testing.B) {
	for _, n := range []int{5, 64, 100} {
		g := benchmarkGroup(b, n, 1)
		q, u := benchmarkQuery(g)
		o, err := g.setup.NewOpening(q, u)
		if err != nil {
			b.Fatal(err)
		}
		dealers := make([]commitment, n)
		shares := make([][]*edwards25519.Scalar, g.cfg.Quorum)
		for j := range dealers {
			dealers[j] = o.revealed(j, &o.s.sites[j])
			for i := range shares {
				share := g.held[i][0].m[j]
				if u.Contains(j) {
					share = g.held[i][0].b[j]
				}
				shares[i] = append(shares[i], share)
			}
		}
		b.Run(fmt.Sprintf("N=%d/old", n), func(b *testing.B) {
			for b.Loop() {
				for i, of := range shares {
					check := newOldBatch(i, g.cfg.Quorum)
					for j, share := range of {
						check.add(share, dealers[j])
					}
					if !check.ok() {
						b.Fatal("refused")
					}
				}
			}
		})
		b.Run(fmt.Sprintf("N=%d/new", n), func(b *testing.B) {
			for b.Loop() {
				check := combine(dealers)
				for i, of := range shares {
					if !check.fits(i+1, of) {
						b.Fatal("refused")
					}
				}
			}
		})
	}
}
