package worth

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/proposal"
	"covey/internal/study"
)

// TestPairsAreWithinSites: differences of rows of one site know nothing of how sites differ, and
// who reads a share of variance is told.
func TestPairsAreWithinSites(t *testing.T) {
	second := diagonal(2, 1, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1)
	for _, center := range []string{proposal.CenterPublic, proposal.CenterPairs} {
		s := spec(8, 1, proposal.MethodCovariance)
		s.Center = center
		p, r := law{second: second, radius: 4, rng: seeded(8)}.run(t, s, 12_000)
		got, pairs := of(t, p, r), center == proposal.CenterPairs
		v := got.Verdict(r)
		if got.Share == nil || says(got, "within sites") != pairs || strings.Contains(strings.Join(v.Doubts, " "), "within sites") != pairs {
			t.Errorf("%s: %q, %q", center, got.Sentences, v.Doubts)
		}
	}
}

// TestNoiseOfTheCenter: noise of the center is in every row's difference from it. It is counted,
// and where it may be a component there is no figure.
func TestNoiseOfTheCenter(t *testing.T) {
	second := diagonal(2, 1, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1)
	for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower} {
		s := spec(8, 1, method)
		s.Center = proposal.CenterPrivate
		p, r := law{second: second, radius: 4, rng: seeded(8)}.run(t, s, 12_000)
		lower := 1.0
		for _, c := range []struct {
			square float64 // of the center's noise
			given  bool
		}{{0.02, true}, {0.09, true}, {0.35, method == proposal.MethodCovariance}, {0.6, false}} {
			far := *r
			far.Releases = slices.Clone(r.Releases)
			for i, rel := range r.Releases {
				if rel.Kind == study.KindMean {
					far.Releases[i].Grid *= math.Sqrt(2*c.square/8) / rel.Tau() // there are two of them
				}
			}
			got := of(t, p, &far)
			if (got.Share != nil) != c.given || (len(got.Components) > 0) != c.given || says(got, "offsets far") == c.given {
				t.Errorf("%s, a center of noise %g: %+v", method, c.square, got)
			}
			if method == proposal.MethodCovariance && c.given {
				if got.Share.Lower >= lower {
					t.Errorf("a center of noise %g takes nothing off the bound: %v, %v before", c.square, got.Share.Lower, lower)
				}
				lower = got.Share.Lower
			}
		}
	}
}

// TestNoiseOfTheCenterOfFewRows: where most rows are left out, a mean of the rest has more noise
// than one of all units, and figures that hold without gaps are not given.
func TestNoiseOfTheCenterOfFewRows(t *testing.T) {
	second := diagonal(2, 1, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1)
	for method, square := range map[string]float64{proposal.MethodCovariance: 0.35, proposal.MethodPower: 0.09} {
		s := spec(8, 1, method)
		s.Center = proposal.CenterPrivate
		p, r := law{second: second, radius: 4, rng: seeded(8)}.run(t, s, 12_000)
		for i, rel := range r.Releases {
			if rel.Kind == study.KindMean {
				r.Releases[i].Grid *= math.Sqrt(2*square/8) / rel.Tau()
			}
		}
		all := of(t, p, r)
		r.PerUnit, r.RowsKept, r.RowsKeptInterval = 0.3, 3600, &[2]float64{3500, 3700}
		r.Releases = append(r.Releases, study.Release{Kind: study.KindRows, Units: 12_000})
		got := of(t, p, r)
		if all.Share == nil || got.Share != nil || !says(got, "offsets far") {
			t.Errorf("%s: %+v with all rows, %q", method, all.Share, got.Sentences)
		}
		if method == proposal.MethodPower {
			continue
		}
		if a, _, err := spectrumOf(p, r); err != nil || math.Abs(a.center*0.3*8-square) > 1e-9 {
			t.Errorf("the noise of the center is %v in sums, %v", a.center*8, err)
		}
	}
}

// TestNoiseOfTheCenterWithoutFigures: a study too small for figures still has components and
// explained variances, which the center's noise may be. That is said where it may, and only there.
func TestNoiseOfTheCenterWithoutFigures(t *testing.T) {
	for _, c := range []struct {
		variance, center string
		n                int
		said             bool
	}{
		{proposal.VariancePrivate, proposal.CenterPrivate, 180, true},
		{proposal.VariancePrivate, proposal.CenterPrivate, 1800, false},
		{proposal.VariancePrivate, proposal.CenterPublic, 180, false},
		{proposal.VarianceNone, proposal.CenterPrivate, 180, true},
		{proposal.VarianceNone, proposal.CenterPrivate, 1800, false},
		{proposal.VarianceNone, proposal.CenterPublic, 180, false},
	} {
		s := spec(40, 1, proposal.MethodCovariance)
		s.Center, s.ExplainedVariance, s.Epsilon = c.center, c.variance, 4
		p, r := law{second: diagonal(append([]float64{2, 1}, slices.Repeat([]float64{0.1}, 38)...)...), radius: 4, rng: seeded(8)}.run(t, s, c.n)
		got := of(t, p, r)
		const said = "may be this noise and not the rows"
		if v := got.Verdict(r); got.Uncalibrated == "" || (r.ExplainedVariance != nil) != (c.variance == proposal.VariancePrivate) || says(got, said) != c.said || strings.Contains(strings.Join(v.Doubts, " "), said) != c.said {
			t.Errorf("%s variance, %s center, %d units: noise %v, variance %v, %q, %q", c.variance, c.center, c.n, 40*study.CenterNoise(r.Releases), r.ExplainedVariance, got.Sentences, v.Doubts)
		}
	}
}

// TestPredictionOfFewUnits: studies of few units capture less than is simulated: predictions lose
// half as much again, the worst is a blind guess, and that is said. One unit per site more takes
// nothing off.
func TestPredictionOfFewUnits(t *testing.T) {
	var losses, lowest []float64
	for _, n := range []int{leastUnits - 2, leastUnits + 1} { // three sites of as many
		got, err := predict(t, spec(8, 1, proposal.MethodAuto), n)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(got.Lines(), "\n")
		simulated := strings.Contains(text, "the worst of 64 simulated studies captures")
		if said := strings.Contains(text, "studies of fewer than 2000 units capture less than is simulated: 1.5 times the simulated loss is predicted, and the worst may capture no more than a blind guess; less"); said != (n < leastUnits) || simulated == said {
			t.Errorf("%d units: %q", n, got.Lines())
		}
		losses, lowest = append(losses, 1-got.Cases[1].Median), append(lowest, got.Cases[1].Lowest-got.Cases[1].Blind)
	}
	if ratio := losses[0] / losses[1]; ratio < 1.4 || ratio > 1.6 || lowest[0] != 0 || lowest[1] < 0.05 {
		t.Errorf("losses %.4f, lowest above a blind guess %.4f", losses, lowest)
	}
}

// TestCloseDirectionsAreBounded: of four columns with variances of 1 and 0.9 above 0.1, most of the
// loss is to one direction, and twice its mean does not bound it. The bound holds in 94% of 1,500
// covariances at least; at the 0.968 measured, that is never missed.
func TestCloseDirectionsAreBounded(t *testing.T) {
	const n, s, runs = 2500, 0.012, 1500
	rng, lambda := seeded(19), []float64{1, 0.9, 0.1, 0.1}
	held := 0
	for range runs {
		m := mat.NewSymDense(4, nil)
		for i, x := range lambda {
			m.SetSym(i, i, x*(1+math.Sqrt(2.0/n)*rng.NormFloat64())+s*rng.NormFloat64())
			for j := range i {
				m.SetSym(i, j, math.Sqrt(x*lambda[j]/n)*rng.NormFloat64()+s/math.Sqrt2*rng.NormFloat64())
			}
		}
		mu, vectors := eigen(m)
		got := 0.0
		for l, x := range vectors[0] {
			got += lambda[l] * x * x
		}
		if b := newSpectrum(mu, s, n, 0).share(1); b == nil || b.Lower <= got {
			held++
		}
	}
	if held < runs*94/100 {
		t.Errorf("the bound holds in %d of %d", held, runs)
	}
}

// TestHiddenDirectionsAreBounded: two directions of 24 stand out by 0.9 to 1.5 times what noise
// leaves visible, which the covariance captures worst. The bound holds in 95% of 900 covariances at
// least; at the 0.98 measured, that is missed with probability below 10^-5.
func TestHiddenDirectionsAreBounded(t *testing.T) {
	const d, k, n, rest, runs = 24, 2, 20_000, 0.5, 900
	rng, held := seeded(23), 0
	lambda := slices.Repeat([]float64{rest}, d)
	for i := range k {
		lambda[i] = 1
	}
	for run := range runs {
		s := (1 - rest) / math.Sqrt(d/2.0) / (0.9 + 0.6*float64(run)/runs)
		m := mat.NewSymDense(d, nil)
		for i, x := range lambda {
			m.SetSym(i, i, x*(1+math.Sqrt(2.0/n)*rng.NormFloat64())+s*rng.NormFloat64())
			for j := range i {
				m.SetSym(i, j, math.Sqrt(x*lambda[j]/n)*rng.NormFloat64()+s/math.Sqrt2*rng.NormFloat64())
			}
		}
		mu, vectors := eigen(m)
		got := 0.0
		for _, v := range vectors[:k] {
			for l, x := range v {
				got += lambda[l] * x * x / k
			}
		}
		if b := newSpectrum(mu, s, n, 0).share(k); b == nil || b.Lower <= got {
			held++
		}
	}
	t.Logf("the bound holds in %d of %d", held, runs)
	if held < runs*95/100 {
		t.Errorf("the bound holds in %d of %d", held, runs)
	}
}
