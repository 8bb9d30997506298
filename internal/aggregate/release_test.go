package aggregate

import (
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/test/must"
	"covey/test/runs"
	"covey/test/texts"
)

func choicePlan(t *testing.T) *study.Plan {
	t.Helper()
	spec := proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "choice", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Rounds: 2, Radius: proposal.RadiusPaper, Lambda: proposal.LambdaPrivate, LambdaRange: []float64{1, 4},
		Columns: []proposal.Column{{Name: "a"}, {Name: "b"}},
	}
	return runs.PlanOf(t, spec, 8000, 8000, 8000)
}

// TestChoice: the leader releases the index of a candidate and nothing of the counts; a
// sum that a site pushed below zero or to the ring's edge scores nothing, and the same bits
// choose the same.
func TestChoice(t *testing.T) {
	p := choicePlan(t)
	ask, err := p.NewAsk(p.Start(), 0)
	if err != nil || !p.Noise.Chooses(p.Queries[0]) || p.Queries[0].Values != 3 {
		t.Fatalf("%v, %+v", err, p.Queries[0])
	}
	full := uint64(p.Groups)
	ring := ^uint64(0) >> (64 - p.Bits)
	choose := func(key byte, sum ...uint64) int64 {
		t.Helper()
		out, err := Privatize(p, ask, sum, p.Bits, noise.NewKeyed([32]byte{key}))
		if err != nil || len(out) != 1 {
			t.Fatalf("%v, %v", out, err)
		}
		again, err := Privatize(p, ask, sum, p.Bits, noise.NewKeyed([32]byte{key}))
		if err != nil || again[0] != out[0] {
			t.Fatalf("the same bits chose %v, then %v, %v", out, again, err)
		}
		return out[0]
	}
	// 3,000 groups at ε0 of about 0.09: another than the fullest is chosen with
	// probability below e^-100.
	for key := range byte(20) {
		if got := choose(key, 0, full, 0); got != 1 {
			t.Errorf("chose %d of (0, all, 0)", got)
		}
		if got := choose(key, ring-5, full, 0); got != 1 {
			t.Errorf("chose %d of (-5, all, 0)", got)
		}
		if got := choose(key, ring>>1, full, ring>>1+1); got != 1 {
			t.Errorf("chose %d of (the edge, all, beyond it)", got)
		}
	}
	chosen := map[int64]bool{}
	// all the same: one is never chosen with probability 3·(2/3)^40 < 10^-6
	for key := range byte(40) {
		chosen[choose(key, full/3, full/3, full/3)] = true
	}
	if len(chosen) != 3 {
		t.Errorf("of equal candidates only %v are chosen", chosen)
	}
}

// TestNothingToOpen: what is not a sum of the query's, or has no opening, is not opened.
func TestNothingToOpen(t *testing.T) {
	p := choicePlan(t)
	ask, err := p.NewAsk(p.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, lanes int, opening *secagg.Opening) {
		t.Helper()
		defer func() {
			if failed := recover(); failed != nil {
				t.Errorf("%s is opened: %v", what, failed)
			}
		}()
		_, err := Release(p, ask, []int{0, 1, 2}, secagg.Query{Lanes: 3}, make([]uint64, lanes), opening, func() { t.Errorf("%s: the masks are said to be off", what) })
		if err != ErrNoSum {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a sum without an opening", 3, nil)
	refused("no sum", 0, &secagg.Opening{})
	refused("a sum that is short", 2, &secagg.Opening{})
}

// TestNoUploadWithoutItsNoise: a share of noise that cannot be drawn ends the upload before its
// masks.
func TestNoUploadWithoutItsNoise(t *testing.T) {
	p := runs.PlanOf(t, must.Get(proposal.ParseSpec([]byte(texts.Studies["distributed"])))(t), 2000, 2000, 2000, 2000, 2000)
	ask, err := p.NewAsk(p.Start(), 0)
	if err != nil || p.Honest == 0 {
		t.Fatal(err, p.Honest)
	}
	ask.Sigma = 0
	defer func() {
		if failed := recover(); failed != nil { // there is no setup to mask with
			t.Errorf("a sum without its noise came as far as the masks: %v", failed)
		}
	}()
	values := p.Queries[0].Values
	out, err := Upload(p, nil, 0, ask, secagg.Query{Bits: p.Bits, Lanes: values}, make([]int64, values), secagg.SlotSecret{1}, secagg.SlotHeld{})
	if _, ok := errors.AsType[*noise.ParameterError](err); !ok || out != nil {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// TestNoReleaseWithoutItsNoise: where the draws fail, early or late, or the choice does, nothing is
// released.
func TestNoReleaseWithoutItsNoise(t *testing.T) {
	sigma, err := noise.SigmaAtLeast(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	p := choicePlan(t)
	ask, err := p.NewAsk(p.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int64{0, 1, 40} {
		source := func() io.Reader { return io.LimitReader(noise.NewKeyed([32]byte{5}), bytes) }
		if out, err := addNoise(make([]uint64, 64), 40, sigma, source()); out != nil || err == nil {
			t.Errorf("%d bytes of randomness: %v, %v", bytes, out, err)
		}
	}
	if _, err := Privatize(p, ask, []uint64{0, 3, 0}, p.Bits, iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a choice without randomness: %v", err)
	}
}

// TestReleaseWithoutNoiseIsRefused: R11. A sampler that draws nothing, or a third of its noise over
// a histogram, does not pass.
func TestReleaseWithoutNoiseIsRefused(t *testing.T) {
	sum := []uint64{5, 6, 7, 8}
	sigma, err := noise.SigmaAtLeast(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	noised := []int64{5, 6, 7, 8}
	if _, ok := errors.AsType[*noise.ReleaseError](check(sum, noised, 40, sigma)); !ok {
		t.Fatal("a release without noise passed the study's own check")
	}
	good, err := addNoise(sum, 40, sigma, noise.NewKeyed([32]byte{1}))
	if err != nil || slices.Equal(good, noised) {
		t.Fatalf("%v, %v", good, err)
	}
}

// TestNoiseIsAddedInTheRing: R12. A sum at the ring's edge wraps, as one in Z_2^b does,
// and its noise stays whole.
func TestNoiseIsAddedInTheRing(t *testing.T) {
	sigma, err := noise.SigmaAtLeast(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	const bits = 40
	edge := uint64(1)<<(bits-1) - 1 // the largest signed number
	at := func(v uint64) []int64 {
		out, err := addNoise([]uint64{v, v, v, v, v, v}, bits, sigma, noise.NewKeyed([32]byte{3}))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	zero, top := at(0), at(edge)
	wrapped := false
	for i := range zero {
		if want := lift(edge+uint64(zero[i]), bits); top[i] != want {
			t.Fatalf("value %d: noise at the edge is not noise in the ring", i)
		}
		wrapped = wrapped || top[i] < 0
	}
	if !wrapped {
		t.Fatal("no value passed the edge; the test shows nothing")
	}
}
