package agent

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/aggregate"
	"covey/internal/egress"
	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/terms"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// distributed studies of five sites: η = 1, four in a sum, so three honest ones carry σ².
var distributed = map[string]func(*proposal.Spec){
	"power, mean, variance": func(s *proposal.Spec) {
		s.Radius, s.Rounds, s.Center, s.ExplainedVariance = proposal.RadiusPrivate, 1, proposal.CenterPrivate, proposal.VariancePrivate
		s.Components = 2
	},
	"covariance": func(s *proposal.Spec) { s.Method = proposal.MethodCovariance },
}

// TestCoordinatorSeesNoExactSum opens every query of distributed studies as a coordinator would and
// takes off all that it and any corrupt site could know, all that may be taken away of every share
// included: whichever |U| - max(η, 1) of the survivors are honest, what is left of theirs is noise
// of at least σ². Each query draws new noise, and an upload that is made again has the same.
//
// The energy of each sum of shares is held against the law by noise.CheckReleased, which refuses a
// good one with probability 2^-64; at fewer than 28 values it sees only too much noise, so the law
// of each share is also held against the plan exactly.
func TestCoordinatorSeesNoExactSum(t *testing.T) {
	for name, change := range distributed {
		t.Run(name, func(t *testing.T) {
			c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) {
				s.Noise = proposal.NoiseDistributed
				change(s)
			})
			if c.plan.Honest != 3 || c.plan.Thresholds.MinSurvivors != 4 {
				t.Fatalf("%d honest of %d", c.plan.Honest, c.plan.Thresholds.MinSurvivors)
			}
			c.ready()
			course := c.plan.Start()
			var earlier []study.Release
			seen := map[string]bool{}
			for course.Query < len(c.plan.Queries) {
				ask, err := c.plan.NewAsk(course, course.Query)
				if err != nil {
					t.Fatal(err)
				}
				q, u := wire.Query{Study: c.plan.Digest, Ask: ask}, c.everyone()
				if course.Query%2 == 1 { // one site is away: the fewest that may be summed
					u = u[1:]
				}
				sum := c.open(q, u)
				shares := make([][]int64, len(c.sites))
				total := make([]int64, len(sum))
				for _, i := range u {
					shares[i] = c.shareOf(i, q)
					if key := string(secagg.Pack(unsigned(shares[i]), 64)); seen[key] {
						t.Fatal("two shares of noise are the same")
					} else {
						seen[key] = true
					}
					for k, v := range shares[i] {
						total[k] += v
					}
				}
				for k, v := range c.plain(q, u) {
					if sum[k] != v+total[k] {
						t.Fatalf("query %d: the opened sum is not the plain one and the survivors' noise", ask.Query)
					}
				}
				for _, i := range u {
					shares[i] = c.left(i, q, len(u), shares[i])
				}
				c.checkHonest(ask, u, shares)
				release, err := c.plan.NewRelease(ask, u, sum)
				if err != nil {
					t.Fatal(err)
				}
				c.tell(c.release(q, u, sum))
				if course, err = c.plan.Next(course, release, earlier); err != nil {
					t.Fatal(err)
				}
				earlier = append(earlier, release)
			}
			c.tell(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeCompleted})
			for _, s := range c.sites {
				if e, _ := s.agent.ledger.Study(c.plan.Digest); e.State != ledger.Finished || math.Abs(e.SpentRho-c.plan.Rho) > 1e-12*c.plan.Rho {
					t.Errorf("%s: %+v, want finished and all of ρ = %v spent", s.name, e, c.plan.Rho)
				}
			}
		})
	}
}

// checkHonest looks at every set of honest survivors.
func (c *standIn) checkHonest(ask study.Ask, u []int, shares [][]int64) {
	c.t.Helper()
	share, err := c.plan.Noise.Share(ask.Sigma)
	if err != nil {
		c.t.Fatal(err)
	}
	honest := len(u) - 1 // η = 1
	carried := float64(honest) * share.Kept(len(u)).Variance()
	if s2 := ask.Sigma.Float() * ask.Sigma.Float(); carried < s2*(1-1e-12) || carried > s2*1.001 {
		c.t.Fatalf("query %d: %d shares carry σ² = %v of %v", ask.Query, honest, carried, s2)
	}
	sigma, err := noise.SigmaAtLeast(math.Sqrt(carried))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, corrupt := range u {
		sum := make([]int64, len(shares[u[0]]))
		for _, i := range u {
			for k, v := range shares[i] {
				if i != corrupt {
					sum[k] += v
				}
			}
		}
		if err := noise.CheckReleased(sum, make([]int64, len(sum)), sigma); err != nil {
			c.t.Errorf("query %d (%s), all honest but site %d: %v", ask.Query, ask.Kind, corrupt, err)
		}
	}
}

// left is what stays of a site's share after all that the key of |U| = u takes away.
func (c *standIn) left(site int, q wire.Query, u int, share []int64) []int64 {
	c.t.Helper()
	own, _, err := c.sites[site].session(c).ring.Slot(q.Ask.Slot)
	if err != nil {
		c.t.Fatal(err)
	}
	planned, err := c.plan.Noise.Share(q.Ask.Sigma)
	if err != nil {
		c.t.Fatal(err)
	}
	v := unsigned(share)
	removable := planned.Removable(u)
	key := secagg.NoiseChain(own, c.secaggQuery(q).Context, len(c.sites), u)
	if err := removable.Subtract(v, secagg.NoiseComponentKeys(key, u, removable.Levels())); err != nil {
		c.t.Fatal(err)
	}
	return fromRing(v)
}

func fromRing(v []uint64) []int64 {
	out := make([]int64, len(v))
	for i := range v {
		out[i] = int64(v[i])
	}
	return out
}

// shareOf is what a site added to a query, had from an upload that it makes again
// without masks.
func (c *standIn) shareOf(site int, q wire.Query) []int64 {
	c.t.Helper()
	s := c.sites[site].session(c)
	own, _, err := s.ring.Slot(q.Ask.Slot)
	if err != nil {
		c.t.Fatal(err)
	}
	v := make([]uint64, c.plan.Queries[q.Ask.Query].Values)
	if err := aggregate.AddShare(c.plan, v, own, c.secaggQuery(q), q.Ask); err != nil {
		c.t.Fatal(err)
	}
	return fromRing(v)
}

func unsigned(v []int64) []uint64 {
	out := make([]uint64, len(v))
	for i := range v {
		out[i] = uint64(v[i])
	}
	return out
}

// TestUploadIsMadeAgainTheSame: a site that crashed before its upload was on disk makes
// the same one, noise and all; another slot of the query has other noise.
func TestUploadIsMadeAgainTheSame(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })
	c.ready()
	q := c.query(0, 0, c.plan.Start().X)
	first := want[wire.Upload](c.sites[0], q)
	again, err := c.sites[0].remade(c, q)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Masked, again) {
		t.Error("the upload is another when it is made again")
	}
	retry := c.query(0, 1, c.plan.Start().X)
	want[wire.Upload](c.sites[0], retry)
	if slices.Equal(c.shareOf(0, q), c.shareOf(0, retry)) {
		t.Error("two slots have the same noise")
	}
}

// TestDistributedWords: the operator is told that nobody sees exact sums, and of whom
// that holds.
func TestDistributedWords(t *testing.T) {
	c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })
	words := strings.Join(terms.Privacy(c.plan), "\n")
	if !strings.Contains(words, "shares of 4 honest sites") || strings.Contains(words, "leader sees exact sums") {
		t.Error(words)
	}
	leaves := uplink.Planned(c.plan, 0)
	if !slices.ContainsFunc(leaves, func(l egress.Planned) bool { return strings.Contains(l.What, "with this site's share of the noise") }) {
		t.Errorf("%+v", leaves)
	}
}
