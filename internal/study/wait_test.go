package study

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestWaitIsForAll: with on_dropout = "wait" U_min is N, for noise, for what a setup and a release
// have to have, and for the learners' words; so h is N - max(η, 1) and the noise √(N/h).
func TestWaitIsForAll(t *testing.T) {
	for n := 2; n <= 20; n++ {
		for _, mode := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
			p := mustPlan(t, texts.With(texts.Four, `noise = "`+mode+`"`, `on_dropout = "wait"`), slices.Repeat([]int{20_000}, n)...)
			if p.Thresholds.MinSurvivors != n || p.Setup().MinSurvivors != n {
				t.Fatalf("%d sites: U_min = %d", n, p.Thresholds.MinSurvivors)
			}
			honest, factor := 0, 1.0
			if mode == proposal.NoiseDistributed {
				honest = n - max(1, p.Thresholds.Corrupt)
				factor = math.Sqrt(float64(n) / float64(honest))
			}
			if p.Honest != honest || math.Abs(p.NoiseFactor-factor) > 1e-9 {
				t.Fatalf("%d sites, %s: h = %d, %v times central noise; want %d, %v", n, mode, p.Honest, p.NoiseFactor, honest, factor)
			}
			all := make([]int, n)
			for i := range all {
				all[i] = i
			}
			for _, u := range [][]int{all, all[1:]} {
				r, err := p.NewRelease(mustAsk(t, p), u, make([]int64, p.Queries[0].Values))
				if err != nil {
					t.Fatal(err)
				}
				if err := p.CheckRelease(r); (err == nil) != (len(u) == n) {
					t.Fatalf("%d of %d sites: %v", len(u), n, err)
				}
			}
		}
	}
	if _, err := proposal.ParseSpec([]byte(texts.With(texts.Four, "min_survivors = 3"))); err == nil || !strings.Contains(err.Error(), "min_survivors") {
		t.Errorf("min_survivors with on_dropout = \"wait\": %v", err)
	}
}

// TestNoiseFactorIsStated: the words of a plan say what its noise is of central noise over all
// sites and over the fewest, and what it may be where sites go while a sum is opened.
func TestNoiseFactorIsStated(t *testing.T) {
	sites := slices.Repeat([]int{20_000}, 5)
	central := mustPlan(t, texts.Four, sites...)
	for dropout, want := range map[string]struct {
		factor float64
		words  []string
	}{
		proposal.DropoutContinue: {math.Sqrt(5. / 4), []string{"4 of them carry all of it", "over all 5 sites 1.12 times central noise", "over 4 of them, the fewest, 1.15", "at most 1.29 where"}},
		proposal.DropoutWait:     {math.Sqrt(5. / 4), []string{"over all 5 sites 1.12 times central noise"}},
	} {
		p := mustPlan(t, texts.With(texts.Four, `noise = "distributed"`, `on_dropout = "`+dropout+`"`), sites...)
		for _, part := range want.words {
			if !strings.Contains(p.Noise.Words(), part) {
				t.Errorf("%s: no %q in %q", dropout, part, p.Noise.Words())
			}
		}
		if math.Abs(p.NoiseFactor/want.factor-1) > 1e-6 {
			t.Errorf("%s: the factor is %v, want %v", dropout, p.NoiseFactor, want.factor)
		}
		if few := strings.Contains(p.Noise.Words(), "fewest"); few != (dropout == proposal.DropoutContinue) {
			t.Errorf("%s: %s", dropout, p.Noise.Words())
		}
	}
	if words := central.Noise.Words(); strings.Contains(words, "times") {
		t.Errorf("central noise is %q", words)
	}
}

// TestWaitOfManySites: a graph is found for sums over all of 70 sites, and is not wider than where
// some may be missing.
func TestWaitOfManySites(t *testing.T) {
	degree := map[string]int{}
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		body, err := proposeMany(t, 70, func(s *proposal.Spec) { s.OnDropout, s.Corrupt = dropout, 7 })
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(body)
		if err != nil {
			t.Fatal(err)
		}
		degree[dropout] = p.Thresholds.Degree
		if waits := p.Thresholds.MinSurvivors == 70; waits != (dropout == proposal.DropoutWait) {
			t.Errorf("%s: %+v", dropout, p.Thresholds)
		}
	}
	if degree[proposal.DropoutWait] > degree[proposal.DropoutContinue] {
		t.Error(fmt.Sprint(degree))
	}
}
