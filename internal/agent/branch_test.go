package agent

import (
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestOneBranch: a site answers the branch of method = "auto" that it finds itself from the
// released radii, and never the other: both together would cost more than the study's ρ.
func TestOneBranch(t *testing.T) {
	for _, method := range []string{proposal.MethodPower, proposal.MethodCovariance} {
		t.Run(method, func(t *testing.T) {
			c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) {
				// so little budget that public sizes leave the method open
				s.Method, s.Radius, s.Rounds, s.Epsilon = proposal.MethodAuto, proposal.RadiusPrivate, 1, 0.01
			})
			c.ready()
			course := c.plan.Start()
			var earlier []study.Release
			step := func(bin int) {
				t.Helper()
				ask, err := c.plan.NewAsk(course, course.Query)
				if err != nil {
					t.Fatal(err)
				}
				q := wire.Query{Study: c.plan.Digest, Ask: ask}
				sum := c.open(q, c.everyone())
				if bin > 0 {
					clear(sum)
					sum[bin] = 1 << 40
				}
				c.tell(c.release(q, c.everyone(), sum))
				r, err := c.plan.NewRelease(ask, c.everyone(), sum)
				if err != nil {
					t.Fatal(err)
				}
				if course, err = c.plan.Next(course, r, earlier); err != nil {
					t.Fatal(err)
				}
				earlier = append(earlier, r)
			}
			power, total := 200, 300 // the bins where norms are
			if method == proposal.MethodCovariance {
				power, total = total, power
			}
			step(total)
			step(power) // course now knows the method
			if course.Method != method {
				t.Fatalf("the releases lead to %q", course.Method)
			}
			// Query 2 is the one branch, 3 the first of the other.
			taken, other := 2, 3
			if method == proposal.MethodCovariance {
				taken, other = 3, 2
			}
			if c.plan.Queries[taken].Branch != method || c.plan.Queries[other].Branch == method {
				t.Fatalf("%+v", c.plan.Queries)
			}
			// The branch that the releases do not lead to is refused before and after the other.
			aside := course
			aside.Query = other
			for range 2 {
				ask, err := c.plan.NewAsk(aside, 5)
				if err != nil {
					t.Fatal(err)
				}
				refused(c.sites[0], wire.Query{Study: c.plan.Digest, Ask: ask}, study.CodeOutOfOrder)
				if course.Query == taken {
					step(0)
				}
			}
		})
	}
}
