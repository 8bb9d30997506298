package agent

import (
	"testing"

	"covey/internal/study"
	"covey/internal/wire"
)

// TestOneBranch: a site answers either branch of method = "auto", and then not the other:
// both together would cost more than the study's ρ.
func TestOneBranch(t *testing.T) {
	for _, method := range []string{study.MethodPower, study.MethodCovariance} {
		t.Run(method, func(t *testing.T) {
			c := newStandIn(t, 3, autoPolicy, func(s *study.Spec) { s.Method, s.Radius, s.Rounds = study.MethodAuto, study.RadiusPrivate, 1 })
			c.ready()
			course := c.plan.Start()
			var earlier []study.Release
			step := func() {
				t.Helper()
				ask, err := c.plan.NewAsk(course, course.Query, 0)
				if err != nil {
					t.Fatal(err)
				}
				q := wire.Query{Study: c.plan.Digest, Ask: ask}
				sum := c.open(q, c.everyone())
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
			step() // norms
			step() // radius: course now knows the method
			// Queries 2 and 3 are the branches' only ones.
			taken, other := 2, 3
			if method == study.MethodCovariance {
				taken, other = 3, 2
			}
			if c.plan.Queries[taken].Branch != method || c.plan.Queries[other].Branch == method {
				t.Fatalf("%+v", c.plan.Queries)
			}
			course.Query, course.Method = taken, method
			course.Radii[c.plan.Queries[taken].Kind] = 4
			// A coordinator may take either: the sites do not check why, only that it is one.
			step()
			after := c.plan.Start()
			after.Query, after.Radii = other, map[study.Kind]float64{c.plan.Queries[other].Kind: 4}
			ask, err := c.plan.NewAsk(after, 5, 0)
			if err != nil {
				t.Fatal(err)
			}
			refused(c.sites[0], wire.Query{Study: c.plan.Digest, Ask: ask}, study.CodeOutOfOrder)
		})
	}
}
