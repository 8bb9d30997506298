package main

import (
	"testing"

	"covey/experiments/run"
)

// TestAuto: on a flat spectrum of many columns auto takes power iteration, on few strong
// components the covariance, and is nowhere far behind. Data and noise are seeded: it
// cannot fail by chance.
func TestAuto(t *testing.T) {
	for _, c := range []struct {
		spectrum string
		d, n, k  int
		power    bool
	}{
		{"flatq", 128, 10_000, 1, true},
		{"flatq", 96, 8000, 2, true},
		{"lowrank", 64, 4000, 1, false},
		{"lowrank", 64, 4000, 5, false},
	} {
		source, err := run.Gaussian(c.spectrum, c.d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cell{source, c.n, c.k, 1}.compare(6)
		if err != nil {
			t.Fatal(err)
		}
		if got.behind() > most {
			t.Errorf("%s, d = %d, k = %d: %+v", c.spectrum, c.d, c.k, got)
		}
		if c.power != (got.chose > 0.5) || c.power != (got.power > got.covariance) {
			t.Errorf("%s, d = %d, k = %d: the case is not what it was chosen for: %+v", c.spectrum, c.d, c.k, got)
		}
	}
}
