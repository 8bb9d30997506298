package agent

import (
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/wire"
)

// TestShareIsThePlans: what a site adds to each value are the sampler's draws at the σ of each of
// the plan's parts, the first under the key of its slot's secret and of ctx, the others under those
// of the chain's root. (How much energy it has would not show a σ that is a fifth too small.)
func TestShareIsThePlans(t *testing.T) {
	c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })
	c.ready()
	q := c.query(0, 0, c.plan.Start().X)
	want[wire.Upload](c.sites[0], q)
	share, err := c.plan.Noise.Share(q.Ask.Sigma)
	if err != nil {
		t.Fatal(err)
	}
	own, _, err := c.sites[0].session(c).ring.Slot(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(share) != 2 || share[1].Most != 4 {
		t.Fatalf("%v", share)
	}
	ctx := c.secaggQuery(q).Context
	keys := [][32]byte{secagg.NoiseShareKey(own, ctx), secagg.NoiseComponentKey(secagg.NoiseChain(own, ctx, 5, 5), 5, 4)}
	sum := make([]int64, c.plan.Queries[0].Values)
	for i, part := range share {
		draws := make([]int64, len(sum))
		if err := part.Sigma.Draw(noise.NewKeyed(keys[i]), draws); err != nil {
			t.Fatal(err)
		}
		for k, d := range draws {
			sum[k] += d
		}
	}
	for k, got := range c.shareOf(0, q) {
		if got != sum[k] {
			t.Fatalf("value %d has %d added, the share is %d", k, got, sum[k])
		}
	}
}
