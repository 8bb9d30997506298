package main

import (
	"math"
	"testing"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// TestWalk: a walk's median error is a study's within a factor of 1.65, and its two signs of
// movement tell a walk that has arrived from one that has not. Data and noise are seeded: it cannot
// fail by chance.
func TestWalk(t *testing.T) {
	const law, d, n, times = "slow0.3", 16, 1500, 40
	lambda, err := run.Spectrum(law, d)
	if err != nil {
		t.Fatal(err)
	}
	source, err := run.Gaussian(law, d)
	if err != nil {
		t.Fatal(err)
	}
	spec := run.Spec(d, 1)
	spec.Method = proposal.MethodPower
	out, err := captured(source, n, times, spec)
	if err != nil {
		t.Fatal(err)
	}
	sigma, err := wholeSigma()
	if err != nil {
		t.Fatal(err)
	}
	var loss run.Sample
	for seed := range uint64(times) {
		got, names := endings(lambda, n, sigma, seed)
		if len(got) != len(names) || names[0] != "24 rounds" {
			t.Fatal(names)
		}
		loss = append(loss, got[0])
	}
	got, want := loss.Quantile(0.5), 1-out[0].Quantile(0.5)
	t.Logf("walks %.4f, studies %.4f", got, want)
	if math.Abs(math.Log(got/want)) > 0.5 {
		t.Errorf("median error of walks %.4f, of studies %.4f", got, want)
	}

	still, moving := newWalk([]float64{1, 0.1, 0.1, 0.1}, 5000, sigma, 1), newWalk([]float64{1, 0.97, 0.1, 0.1}, 50_000, sigma/100, 1)
	still.rising(planned, 1)
	moving.rising(planned, 1)
	t.Log(still.moved(), still.grown(), moving.moved(), moving.grown())
	if still.moved() > 3 || still.grown() > 2.5 {
		t.Errorf("a walk that has arrived moves: angle %.2g, growth %.2g", still.moved(), still.grown())
	}
	if moving.moved() < 5 || moving.grown() < 3 {
		t.Errorf("a walk on its way stands still: angle %.2g, growth %.2g", moving.moved(), moving.grown())
	}
}
