package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"covey/internal/proposal"
)

// batch is how many runs share a setup.
const batch = 128

// finding is what an audit of a scene found.
type finding struct {
	scene     *scene
	runs      int
	statistic string
	rho       float64 // charged by the plan
	claim     float64 // ε: the plan's, or what its charges come to if that is less
	// ε at δ of a Gaussian mechanism of that ρ: the most that a right bound can come to, which is
	// hardly less than the claim where the plan is charged by gdp
	exact   float64
	mu      float64 // lower bound
	epsilon float64 // lower bound at δ
}

// ratio returns how much of the claimed ε was shown to be needed.
func (f finding) ratio() float64 { return f.epsilon / f.claim }

// audit runs a scene's study half the runs in each world and bounds ε from below; the bound is too
// high with probability at most miss. A quarter of the runs chooses the statistic and its
// threshold, and the rest is judged by them. The seed is that of everything that is drawn.
func audit(s *scene, runs int, seed uint64, miss float64) (finding, error) {
	plan, err := s.newPlan(seed)
	if err != nil {
		return finding{}, err
	}
	charged, err := plan.Curve().Epsilon(plan.Rho, delta)
	if err != nil {
		return finding{}, err
	}
	found := finding{scene: s, runs: runs, rho: plan.Rho, claim: min(plan.Proposal.Spec.Epsilon, charged)}
	found.exact = epsilonOf(muOf(plan.Rho), delta)
	start := plan.Start().X
	p := s.pair(start)
	rows, err := s.rows(p)
	if err != nil {
		return found, err
	}
	all := make([]evidence, runs)
	var next atomic.Int64
	var g errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				b := int(next.Add(1)) - 1
				if b*batch >= runs {
					return nil
				}
				f, err := newFederation(s, plan, rows, seed, uint64(b))
				if err != nil {
					return err
				}
				for run := b * batch; run < min(runs, (b+1)*batch); run++ {
					f.certify = run == b*batch
					if all[run], err = f.run(run, p); err != nil {
						return fmt.Errorf("run %d: %w", run, err)
					}
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return found, err
	}
	var first, rest [2][]evidence
	for run, e := range all {
		if run < runs/4 {
			first[run%2] = append(first[run%2], e)
		} else {
			rest[run%2] = append(rest[run%2], e)
		}
	}
	if len(first[1]) == 0 || len(rest[1]) == 0 {
		return found, errors.New("too few runs")
	}
	best, threshold := choose(s.statistics(first), first, miss)
	found.statistic = best.name
	wrong := errorsAt(best, rest, threshold)
	found.mu = muBound(wrong[0], len(rest[0]), wrong[1], len(rest[1]), miss)
	found.epsilon = epsilonOf(found.mu, delta)
	return found, nil
}

// run runs one study, in world 0 for even runs.
func (f *federation) run(run int, p pair) (evidence, error) {
	all, releases, err := f.study(run%2, uint64(run))
	if err != nil {
		return evidence{}, err
	}
	return f.newEvidence(all, releases, p)
}

// choose returns the statistic and threshold of the largest bound. The expected statistic stays
// unless another's is a tenth larger.
func choose(all []statistic, seen [2][]evidence, miss float64) (statistic, float64) {
	var best statistic
	threshold, most := 0.0, -1.0
	for i, s := range all {
		var scores []float64
		for _, world := range seen {
			for _, e := range world {
				scores = append(scores, s.score(e))
			}
		}
		slices.Sort(scores)
		at, bound := 0.0, -1.0
		for k := range 39 {
			c := scores[len(scores)*(k+1)/40]
			if k == 19 { // the middle of a gap, if there is one
				c = (scores[(len(scores)-1)/2] + scores[len(scores)/2]) / 2
			}
			wrong := errorsAt(s, seen, c)
			if b := muBound(wrong[0], len(seen[0]), wrong[1], len(seen[1]), miss); b > bound {
				at, bound = c, b
			}
		}
		if i == 0 || bound > 1.1*most {
			best, threshold, most = s, at, bound
		}
	}
	return best, threshold
}

// errorsAt counts runs of world 0 above the threshold and of world 1 that are not.
func errorsAt(s statistic, seen [2][]evidence, threshold float64) (wrong [2]int) {
	for world, all := range seen {
		for _, e := range all {
			if (s.score(e) > threshold) != (world == 1) {
				wrong[world]++
			}
		}
	}
	return wrong
}

// distributed reports whether the scene's noise is distributed.
func (s *scene) distributed() bool {
	var spec proposal.Spec
	s.change(&spec)
	return spec.Noise == proposal.NoiseDistributed
}

// holds reports whether the bound does not exceed the claim.
func (f finding) holds() bool { return f.epsilon <= f.claim }
