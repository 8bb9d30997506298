package worth

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noisyShape is a study of one component in d columns, of so much noise.
func noisyShape(d int, tau float64) *shape {
	s := &shape{d: d, k: 1, n: 20_000, pooled: true, sphere: true}
	for t := range 24 {
		s.tau = append(s.tau, tau/(1+float64(t)/5))
	}
	return s
}

// drawn simulates as many studies as a result is compared with.
func drawn(t *testing.T, s *shape, rng *rand.Rand) (*regression, []draw) {
	t.Helper()
	var draws []draw
	for range s.count() {
		draws = append(draws, s.one(rng))
	}
	fit, rest, err := learn(draws)
	if err != nil {
		t.Fatal(err)
	}
	return fit, rest
}

// under simulates one study of rows whose law has these eigenvalues, descending, and whose noise is
// relative to all of the signal.
func (s *shape) under(rng *rand.Rand, lambda []float64) draw {
	w := s.world(rng, lambda)
	return s.made(w, s.rounds(rng, w, 1))
}

// Rounds show less of the signal than there is, and so the simulated studies' noise is less than
// what was seen over it: their own rounds show the same, within 8% in the median of 100. With the
// noise as seen they show 27% more.
func TestSimulatedNoiseIsAsSeen(t *testing.T) {
	s, rng := noisyShape(24, 0.6), seeded(21)
	last := s.tau[len(s.tau)-1]
	var seen []float64
	for range 100 {
		rounds := s.alike(rng, s.world(rng, spectrumLaw(rng, s.d)))
		seen = append(seen, rounds[len(rounds)-1].tau/scaleOf(rounds))
	}
	slices.Sort(seen)
	if got := Quantile(seen, 0.5); math.Abs(got/last-1) > 0.08 {
		t.Errorf("noise to signal is %.4f in the median, the study's %.4f", got, last)
	}
}

// How far rounds are from each other says more of the loss than the rounds singly: 0.74 of the
// variance of its logarithm in place of 0.69.
func TestDistancesOfRoundsTell(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processor time")
	}
	s, rng := noisyShape(64, 0.035), seeded(22)
	var draws []draw
	for range 4000 {
		draws = append(draws, s.one(rng))
	}
	explained := func(features int) float64 {
		cut := make([]draw, len(draws))
		for i, d := range draws {
			cut[i] = d
			cut[i].features = d.features[:features]
		}
		fit, err := regress(cut[:2000])
		if err != nil {
			t.Fatal(err)
		}
		answer := func(d draw) float64 { return math.Log(max(1e-6, 1-d.share)) }
		weights := fit.solve(answer)
		mean, left, all := 0.0, 0.0, 0.0
		for _, d := range cut[2000:] {
			mean += answer(d) / 2000
		}
		for _, d := range cut[2000:] {
			e, m := answer(d)-fit.predict(weights, d.features), answer(d)-mean
			left, all = left+e*e, all+m*m
		}
		return 1 - left/all
	}
	singly, together := explained(3*len(s.tau)), explained(len(draws[0].features))
	t.Logf("explained: %.3f singly, %.3f with distances", singly, together)
	if together < singly+0.02 {
		t.Errorf("explained: %.3f singly, %.3f with distances", singly, together)
	}
}

// One of two equal components stands as still as a single one: it counts as separated in at most 3
// of 60 studies (5%). Without equal ones among the draws it does in a sixth.
func TestOneOfTwoIsNotSeparated(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processor time")
	}
	s, rng := noisyShape(24, 0.1), seeded(23)
	fit, rest := drawn(t, s, rng)
	lambda := slices.Repeat([]float64{0.1}, s.d)
	lambda[0], lambda[1] = 1, 1
	separated := 0
	for range 60 {
		var got Report
		got.infer(s.under(rng, lambda).features, fit, rest, []int{0})
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
	s, rng := &shape{d: 24, k: 1, n: 15_000, pooled: true}, seeded(24)
	for i := range 24 {
		s.tau = append(s.tau, 0.0085*math.Sqrt(24/float64(i+1)))
	}
	fit, rest := drawn(t, s, rng)
	lambda := slices.Repeat([]float64{0.1}, s.d)
	lambda[0], lambda[1] = 1, 0.97
	held := 0
	for range 100 {
		var got Report
		d := s.under(rng, lambda)
		got.infer(d.features, fit, rest, []int{0})
		if got.Share.Lower <= d.share {
			held++
		}
	}
	t.Logf("the bound holds in %d of 100 studies", held)
	if held < 80 {
		t.Errorf("the bound holds in %d of 100 studies", held)
	}
}
