package study

import (
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/test/texts"
)

// TestCourseIsExactAtForks: S12 of what decides between two ways, of which sites whose last bits
// differ would take both: the noise of a sum some of whose parts were taken away, and what the
// first parts of a covariance say. .ci/run compares this hash, too (see TestCourseIsExact).
func TestCourseIsExactAtForks(t *testing.T) {
	bits := NewBits()
	p := mustPlan(t, texts.With(texts.Four, `noise = "distributed"`, `on_dropout = "continue"`), slices.Repeat([]int{40_000}, 20)...)
	all := make([]int, len(p.Proposal.Roster))
	for i := range all {
		all[i] = i
	}
	for i := range noise.Sigma(300) {
		sigma := 1<<40 + i*987_654_321 // squares of a study's are exact where its ε is not small
		share, err := p.Noise.Share(sigma)
		if err != nil || len(share) < 3 {
			t.Fatal(share, err)
		}
		out := int(i) % (len(all) - p.Thresholds.MinSurvivors + 1)
		r := Release{Survivors: all[out:], Removed: all[out+out/2:], Sigma: sigma, Share: share, Grid: 1, Units: 1}
		bits.Add(r.Spread())
	}
	for _, d := range []int{60, allEigen + 8} {
		q := &Plan{D: d, K: 3, Iota: 0.2}
		q.Proposal.Spec.NormBound = proposal.BoundPrivate
		for seed := range uint64(10) {
			rng := rand.New(rand.NewPCG(seed, uint64(d)))
			part := func(tau int64, radius float64) Release { // in integers, which no compiler changes
				const grid, one = 0x1p-40, 1 << 40
				r := Release{Kind: KindMoment, Grid: grid, Units: 1, Radius: radius, Sigma: noise.Sigma(tau << 10)}
				for i := range int64(d) {
					r.Noised = append(r.Noised, one/(1+i)+rng.Int64N(3*tau)-3*tau/2)
					for range int64(d) - 1 - i {
						r.Noised = append(r.Noised, rng.Int64N(3*tau)-3*tau/2)
					}
				}
				return r
			}
			low, high := part(1<<40/200, 1), part(1<<40/42, 1.5)
			misses, most, err := hidden(low, high, d, q.K, 3)
			if err != nil || most == 0 {
				t.Fatal(most, err)
			}
			bits.Add(misses, most)
			if d > allEigen {
				continue
			}
			f, err := q.firstParts(low, high)
			if err != nil {
				t.Fatal(err)
			}
			bits.Add(f.loss, f.top, f.all)
		}
	}
	t.Logf("bits: %x", bits.Sum(nil))
}
