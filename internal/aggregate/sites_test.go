package aggregate

import (
	"math/big"
	"testing"

	"covey/internal/noise"
	"covey/internal/study"
)

// TestChoiceAtSites: where a unit may be at s sites the leader chooses with an s-th of the ε0 that
// one at a single site allows, bit for bit.
func TestChoiceAtSites(t *testing.T) {
	p := choicePlan(t)
	ask, err := p.NewAsk(p.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := p.Curve().SelectEpsilon(p.Queries[0].Rho)
	if err != nil {
		t.Fatal(err)
	}
	third := new(big.Rat).Mul(whole, big.NewRat(1, 3))
	at := *p
	at.SitesPerUnit = 3
	scores, differ := []int64{40, 60, 80}, 0
	for key := range byte(200) {
		for _, c := range []struct {
			p *study.Plan
			e *big.Rat
		}{{p, whole}, {&at, third}} {
			got, err := choose(c.p, ask, []uint64{40, 60, 80}, p.Bits, noise.NewKeyed([32]byte{key}))
			want, err2 := noise.Select(scores, c.e, noise.NewKeyed([32]byte{key}))
			if err != nil || err2 != nil || got[0] != int64(want) {
				t.Fatalf("key %d: %v, want %d, %v, %v", key, got, want, err, err2)
			}
		}
		a, _ := noise.Select(scores, whole, noise.NewKeyed([32]byte{key}))
		b, _ := noise.Select(scores, third, noise.NewKeyed([32]byte{key}))
		if a != b {
			differ++
		}
	}
	if differ == 0 {
		t.Error("a third of ε0 chooses as all of it does")
	}
}
