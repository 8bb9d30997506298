package agent

import (
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/wire"
)

// TestShareIsThePlans: what a site adds to each value is the sampler's draw at the plan's σ_i,
// under the key of its slot's secret and of ctx. (How much energy it has would not show a σ_i that
// is a fifth too small.)
func TestShareIsThePlans(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })
	c.ready()
	q := c.query(0, 0, c.plan.Start().X)
	want[wire.Upload](c.sites[0], q)
	share, err := c.plan.Share(q.Ask.Sigma)
	if err != nil {
		t.Fatal(err)
	}
	own, _, err := c.sites[0].session(c).slot(0)
	if err != nil {
		t.Fatal(err)
	}
	draws := make([]int64, c.plan.Queries[0].Values)
	if err := share.Draw(noise.NewKeyed(secagg.NoiseShareKey(own, c.secaggQuery(q).Context)), draws); err != nil {
		t.Fatal(err)
	}
	for k, got := range c.shareOf(0, q) {
		if got != draws[k] {
			t.Fatalf("value %d has %d added, the share is %d", k, got, draws[k])
		}
	}
}
