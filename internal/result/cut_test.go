package result

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestAutoResult: a result has the components that were found, of all that were asked about,
// verifies, and does not with another number.
func TestAutoResult(t *testing.T) {
	for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower} {
		p, body, releases := runs.Run(t, texts.With(texts.Four, `components = "auto"`, "components_max = 3", "method = \""+method+"\"", `explained_variance = "private"`), false)
		r := signResult(t, body, signReleases(t, releases))
		if r.K < 1 || r.K > 3 || len(r.Components) != r.K || len(r.ExplainedVariance) != r.K || len(r.VarianceInterval) != r.K || len(r.VarianceRatio) != r.K || r.ComponentsAsked != "auto" || r.ComponentsWhy == "" {
			t.Fatalf("%s: %d components, %d variances: %s", method, r.K, len(r.ExplainedVariance), r.ComponentsWhy)
		}
		if len(r.Outputs[r.Output]) != 3 {
			t.Errorf("%s: %d of the 3 directions that were asked about", method, len(r.Outputs[r.Output]))
		}
		if v, err := Verify(file(t, r)); err != nil || !slices.ContainsFunc(v.Rows(), func(row [2]string) bool { return row[0] == "components" }) {
			t.Errorf("%s: %v", method, err)
		}
		f, err := r.checkReleases(p, r.whole(), func(int, int, proposal.Digest) bool { return false })
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		for _, slack := range []float64{cutSlack, -cutSlack} {
			if other, err := newResult(p, releases, f.course, slack); err != nil || other.K != r.K {
				t.Errorf("%s: %v at a slack of %g", method, err, slack)
			}
		}
		r.ComponentsWhy = "because"
		if err := r.checkOutputs(p, releases, f.course); err == nil {
			t.Errorf("%s: another reason verifies", method)
		}
	}
}

// TestCutInTheResultsUnits: where the total variance sets learned scales, the values that a cut is
// told by are in the units of the variances beside them, by either method, and the cut stays.
func TestCutInTheResultsUnits(t *testing.T) {
	p, _, _ := runs.Run(t, texts.With(texts.Four, `components = "auto"`, "components_max = 3"), false)
	s := &spectrum{values: []float64{8, 6, 1, 0.9}, total: 16, d: 4, n: 1e6, tau: 1e-3}
	for unit, want := range map[float64]string{1: "its variance is 6, and the next one's 1,", 2: "its variance is 1.5, and the next one's 0.25,"} {
		c, err := chosen(p, proposal.MethodCovariance, s, nil, unit, 0)
		if err != nil || c.k != 2 || !strings.Contains(c.why, want) {
			t.Errorf("at a unit of %g: %d, %q, %v", unit, c.k, c.why, err)
		}
	}
}

// noised is the spectrum of a diagonal matrix with noise tau.
func noised(rng *rand.Rand, truth []float64, tau float64, most int) *spectrum {
	d := len(truth)
	m, total := mat.NewSymDense(d, nil), 0.0
	for i, v := range truth {
		m.SetSym(i, i, v+tau*rng.NormFloat64())
		total += m.At(i, i)
		for j := i + 1; j < d; j++ {
			m.SetSym(i, j, tau/math.Sqrt2*rng.NormFloat64())
		}
	}
	values, _, _ := linalg.Eigen(m)
	slices.Reverse(values)
	return &spectrum{values: values[:min(d, most+cutReach+1)], total: total, d: d, n: 1e9, tau: tau}
}

// TestNothingStandsOut: of a flat spectrum a component stands out with probability 0.01 at most by
// the law of the noise. Of 600 such matrices more than 15 have one with probability below 0.001.
func TestNothingStandsOut(t *testing.T) {
	for _, d := range []int{2, 3, 5, 16, 50} {
		rng, out := rand.New(rand.NewPCG(uint64(d), 31)), 0
		flat := slices.Repeat([]float64{1}, d)
		for range 600 {
			s := noised(rng, flat, 0.1, 10)
			if s.standing(min(10, d), 0) > 0 {
				out++
			}
			if c := s.choose(min(10, d), 0); c.k == 1 && s.standing(min(10, d), 0) == 0 && !strings.Contains(c.why, "no component stands out") {
				t.Fatalf("of a flat spectrum: %s", c.why)
			}
		}
		if out > 15 {
			t.Errorf("of %d equal variances one stands out %d times of 600", d, out)
		}
	}
}

// TestCuts: the number of spikes where noise lets them be seen, and no cut where the spectrum falls
// slowly. Each of 60 draws may miss with probability 0.02; more than 6 do with probability below
// 0.001.
func TestCuts(t *testing.T) {
	slow, spikes, step := make([]float64, 40), slices.Repeat([]float64{0.1}, 40), make([]float64, 40)
	for j := range slow {
		slow[j], step[j] = 1/(1+0.3*float64(j)), 0.7*math.Exp(-0.02*float64(j))
	}
	copy(spikes, []float64{1.4, 1, 0.8})
	copy(step, []float64{2, 2, 2, 2})
	for name, c := range map[string]struct {
		truth []float64
		tau   float64
		k     int
		cut   bool
	}{
		"spikes": {spikes, 0.02, 3, true}, "spikes on a slope": {step, 0.01, 4, true}, "no cut": {slow, 0.01, 10, false}, "no cut, noise": {slow, 0.08, 0, false},
		"half hidden": {[]float64{1, 0.8, 0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.05, 0.05, 0.05}, 0.1, 0, false},
	} {
		rng, missed := rand.New(rand.NewPCG(77, uint64(len(name)))), 0
		for range 60 {
			got := noised(rng, c.truth, c.tau, 10).choose(10, 0)
			if cut := strings.Contains(got.why, "has a cut"); cut != c.cut || c.k > 0 && got.k != c.k {
				missed++
				t.Logf("%s: %d: %s", name, got.k, got.why)
			}
		}
		if missed > 6 {
			t.Errorf("%s: %d of 60 are missed", name, missed)
		}
	}
}

// TestCutByVariances: the same where each direction's variance has noise of its own.
func TestCutByVariances(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		s := &spectrum{along: true, d: 40, n: 1e6, tau: 0.03, tauTotal: 0.05, total: 3 + 37*0.1}
		for i := range 8 {
			s.values = append(s.values, map[bool]float64{true: 1, false: 0.1}[i < 3]+s.tau*rng.NormFloat64())
		}
		slices.SortFunc(s.values, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		if c := s.choose(8, 0); c.k != 3 || !strings.Contains(c.why, "has a cut") {
			t.Errorf("%v: %d: %s", s.values, c.k, c.why)
		}
	}
}

// TestCutAtAThreshold: R11. A value within 1e-6 of its threshold may be on either side of it on
// another processor, and both numbers verify; one that is clear of it may not.
func TestCutAtAThreshold(t *testing.T) {
	s := &spectrum{values: []float64{0, 0.1, 0.1, 0.1}, total: 1.5, d: 10, n: 1e6, tau: 0.001}
	b, edge, _ := s.level(0)
	for off, both := range map[float64]bool{1e-8: true, -1e-8: true, 1e-4: false, -1e-4: false} {
		s.values[0] = b + edge*(1+off)
		if low, high := s.standing(4, -cutSlack), s.standing(4, cutSlack); (low != high) != both {
			t.Errorf("%g from the threshold: %d and %d stand out", off, low, high)
		}
	}
}

// whole is the transcript of a result that holds all of its releases, and keeps them.
func (r *Result) whole() transcript {
	return transcript{left: func(release study.Release) study.Release { return release }, each: func(yield func(told, error) bool) {
		for i, release := range r.Releases {
			encoded, err := release.Encode()
			if err != nil {
				err = unverified(i, "releases", "%v", err)
			}
			if !yield(told{release, encoded}, err) {
				return
			}
		}
	}}
}
