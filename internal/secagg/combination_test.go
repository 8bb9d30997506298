package secagg

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

// TestSharesDoNotCancel: two wrong shares of one message whose errors cancel in any sum with
// coefficients that are alike or small and known; over all pairs of dealers and every helper.
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

// TestCoefficientsAreDrawn: of two openings of the same, and of all dealers, each its own;
// of 128 bits. Two are alike, or one below 2^88, with probability under 2^-30 at most.
func TestCoefficientsAreDrawn(t *testing.T) {
	c := make(commitment, 1)
	c[0].Set(edwards25519.NewGeneratorPoint())
	seen := map[string]bool{}
	for range 2 {
		for _, r := range combine(slices.Repeat([]commitment{c}, 100)).r {
			raw := r.Bytes()
			if slices.Max(raw[11:16]) == 0 {
				t.Errorf("the coefficient %x is short", raw)
			}
			seen[string(raw)] = true
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d different coefficients of 200", len(seen))
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
			dealers[j] = o.secretOf(j)
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
					if !check.fits(i, of) {
						b.Fatal("refused")
					}
				}
			}
		})
	}
}
