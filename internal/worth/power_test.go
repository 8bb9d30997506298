package worth

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/prior"
	"covey/internal/proposal"
)

// noisyStudy is a study of one component in d columns, of so much noise.
func noisyStudy(d int, tau float64) *prior.Study {
	s := &prior.Study{D: d, K: 1, N: 20_000, Pooled: true, Sphere: true}
	for t := range 24 {
		s.Tau = append(s.Tau, tau/(1+float64(t)/5))
	}
	return s
}

// drawn is what as many studies as a result is compared with show.
func drawn(t *testing.T, s *prior.Study, rng *rand.Rand) *prior.Fit {
	t.Helper()
	fit, err := prior.Learn(s.Draws(rng))
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// One of two equal components stands as still as a single one: it counts as separated in at most 3
// of 60 studies (5%). Without equal ones among the draws it does in a sixth.
func TestOneOfTwoIsNotSeparated(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processor time")
	}
	s, rng := noisyStudy(24, 0.1), seeded(23)
	fit := drawn(t, s, rng)
	lambda := slices.Repeat([]float64{0.1}, s.D)
	lambda[0], lambda[1] = 1, 1
	separated := 0
	for range 60 {
		var got Report
		got.infer(s.Run(rng, lambda).Draw().Features, fit, []int{0})
		if got.Components[0].Separated {
			separated++
		}
	}
	if separated > 3 {
		t.Errorf("one of two equal components is separated in %d of 60 studies", separated)
	}
}

// Rounds hardly tell a second variance of 0.97 of the first from an equal one, and may have stopped
// at it: the bound holds in 80 of 100 studies at least, and in 88 when measured. Without close
// variances among the draws it held in 64.
func TestCloseVariancesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processor time")
	}
	s, rng := &prior.Study{D: 24, K: 1, N: 15_000, Pooled: true}, seeded(24)
	for i := range 24 {
		s.Tau = append(s.Tau, 0.0085*math.Sqrt(24/float64(i+1)))
	}
	fit := drawn(t, s, rng)
	lambda := slices.Repeat([]float64{0.1}, s.D)
	lambda[0], lambda[1] = 1, 0.97
	held := 0
	for range 100 {
		var got Report
		d := s.Run(rng, lambda).Draw()
		got.infer(d.Features, fit, []int{0})
		if got.Share.Lower <= d.Share {
			held++
		}
	}
	t.Logf("the bound holds in %d of 100 studies", held)
	if held < 80 {
		t.Errorf("the bound holds in %d of 100 studies", held)
	}
}

// TestNothingIsLeftUnfinished: of equal variances any direction captures all, and no more rounds
// are asked for, which would not find any.
func TestNothingIsLeftUnfinished(t *testing.T) {
	s := spec(8, 1, proposal.MethodPower)
	s.Rounds, s.ExplainedVariance = 12, proposal.VariancePrivate
	p, r := law{second: diagonal(slices.Repeat([]float64{1}, 8)...), radius: 8, rng: seeded(8)}.run(t, s, 9000)
	if got := of(t, p, r); got.Share == nil || got.Share.Blind < got.Share.Lower || got.Unfinished || !says(got, "says little") {
		t.Errorf("%+v: %+v", got.Share, got)
	}
}
