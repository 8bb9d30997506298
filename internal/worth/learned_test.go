package worth

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// learnedSpec is a study that learns the constants of d columns.
func learnedSpec(d, k int, method string) proposal.Spec {
	s := spec(d, k, method)
	s.Standardize, s.Center, s.Noise, s.CentralDetail = proposal.StandardizePrivate, "", proposal.NoiseCentral, true
	for j := range s.Columns {
		s.Columns[j].Scale = 0
	}
	return s
}

// correlated are eight columns in units of their own of which one component has four, and their
// values, each made of a normal one.
func correlated(seed uint64, of func(j int, z float64) float64) law { return correlatedOf(8, seed, of) }

// correlatedOf is correlated of d columns.
func correlatedOf(d int, seed uint64, of func(j int, z float64) float64) law {
	l := law{second: mat.NewSymDense(d, nil), radius: float64(d), rng: seeded(seed)}
	for j := range d {
		unit := math.Pow(10, float64(j%8-3))
		var column []float64
		for range 3000 {
			column = append(column, unit*of(j, l.rng.NormFloat64()))
		}
		l.columns = append(l.columns, column)
		mean, square := 0.0, 0.0
		for _, v := range column {
			mean += v / 3000
		}
		for _, v := range column {
			square += (v - mean) * (v - mean) / 3000
		}
		l.second.SetSym(j, j, square)
		for i := range j {
			if j < 4 {
				l.second.SetSym(i, j, 0.7*math.Sqrt(l.second.At(i, i)*square))
			}
		}
	}
	return l
}

func plain(_ int, z float64) float64 { return 5 + z }

// TestLearnedConstantsHaveABound: a study that learns its constants, by covariance, has a share and
// angles, which describe the correlations. No figure is given for power iteration, if only some
// columns are learned, for levels, a small score, columns with many zeros, and skewed ones.
func TestLearnedConstantsHaveABound(t *testing.T) {
	p, r := correlated(20, plain).run(t, learnedSpec(8, 1, proposal.MethodCovariance), 12_000)
	got := of(t, p, r)
	truth := 0.0
	x := r.Components[0]
	for i := range 8 {
		for j := range 8 {
			switch {
			case i == j:
				truth += x[i] * x[i] / 3.1
			case i < 4 && j < 4:
				truth += 0.7 * x[i] * x[j] / 3.1
			}
		}
	}
	if got.Share == nil || got.Share.Lower > truth || got.Share.Lower < 0.95 || !got.Components[0].Separated ||
		len(got.Components[0].Loadings) != 8 || !says(got, "For the correlations of the rows as they were scaled") || !says(got, "in another unit of measurement") {
		t.Fatalf("captured %.4f: %+v", truth, got)
	}
	for want, change := range map[string]func(p *study.Plan, r *result.Result){
		"only some columns": func(p *study.Plan, _ *result.Result) {
			p.Proposal.Spec.Columns = slices.Clone(p.Proposal.Spec.Columns)
			p.Proposal.Spec.Columns[2].Standardize = ""
		},
		"columns with levels": func(_ *study.Plan, r *result.Result) { r.LevelsNote = "one" },
		"missing":             func(p *study.Plan, _ *result.Result) { p.Proposal.Spec.Missing = proposal.MissingZero },
		// six in seven rows were left out: the plan's score counts all
		"stand out from the noise by less than 9": func(_ *study.Plan, r *result.Result) {
			r.RowsKept, r.RowsKeptInterval = leastUnits+1, &[2]float64{leastUnits - 50, leastUnits + 50}
		},
		"no moments": func(_ *study.Plan, r *result.Result) {
			r.Releases = slices.DeleteFunc(slices.Clone(r.Releases), func(rel study.Release) bool { return rel.Kind == study.KindMoments })
		},
	} {
		changed, other := *p, *r
		change(&changed, &other)
		unbounded(t, &changed, &other, want)
	}
	p, r = correlated(21, plain).run(t, learnedSpec(8, 1, proposal.MethodPower), 12_000)
	unbounded(t, p, r, "by power iteration")
	p, _ = correlated(22, plain).run(t, learnedSpec(8, 1, proposal.MethodCovariance), 2010)
	if p.Learning.Score < leastScore {
		t.Fatal("the score is small")
	}
	small := learnedSpec(8, 1, proposal.MethodCovariance)
	small.Epsilon = 0.4
	p, r = correlated(22, plain).run(t, small, 2010)
	unbounded(t, p, r, fmt.Sprintf("stand out from the noise by less than %g", leastScore))
	for want, column := range map[string]func(j int, z float64) float64{
		"one value is frequent": func(j int, z float64) float64 { // a code of 1, and 2 for one in 120
			if j == 2 && z > 2.4 {
				return 2
			} else if j == 2 {
				return 1
			}
			return 5 + z
		},
		"many zeros": func(j int, z float64) float64 {
			if j == 6 {
				return max(0, z-0.8)
			}
			return 5 + z
		},
		"columns that are skewed": func(_ int, z float64) float64 { return math.Exp(z) },
	} {
		p, r = correlated(23, column).run(t, learnedSpec(8, 1, proposal.MethodCovariance), 60_000)
		unbounded(t, p, r, want)
	}
}

// TestScalesInDoubt: a learned scale that may be another's is told of whatever else is said of the
// study, in its doubts too; a plain column's is not.
func TestScalesInDoubt(t *testing.T) {
	for _, c := range []struct {
		scale, variance float64
		narrow, want    bool
	}{{2, 0.9, false, false}, {2, 0.1, false, true}, {2, 0.9, true, true}, {0, 0.1, true, false}} {
		if misscaled(c.scale, c.variance, leastVaried, c.narrow) != c.want {
			t.Errorf("%+v", c)
		}
	}
	coded := func(j int, z float64) float64 { // 1, and 2 for one in 120
		switch {
		case j != 2:
			return 5 + z
		case z > 2.4:
			return 2
		}
		return 1
	}
	for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower} {
		for want, column := range map[bool]func(int, float64) float64{true: coded, false: plain} {
			p, r := correlated(23, column).run(t, learnedSpec(8, 1, method), 60_000)
			got, said := of(t, p, r), fmt.Sprintf("Learned scales are in doubt for %q:", r.Columns[2])
			if says(got, said) != want || strings.Contains(strings.Join(got.Verdict(r).Doubts, " "), said) != want {
				t.Errorf("%s, coded %v: %q", method, want, got.Sentences)
			}
		}
		s := learnedSpec(8, 1, method)
		s.Columns[2].Scale = 0.02
		p, r := correlated(23, coded).run(t, s, 60_000)
		if got := of(t, p, r); says(got, "Learned scales are in doubt") {
			t.Errorf("%s, a given scale: %q", method, got.Sentences)
		}
	}
}

// TestScalesThatNoTotalSet: variances that are divided by scales which are too small are said to be
// too large, beside whatever interval; not where the total set the scales.
func TestScalesThatNoTotalSet(t *testing.T) {
	for _, set := range []bool{true, false} {
		s := learnedSpec(8, 1, proposal.MethodCovariance)
		s.ExplainedVariance = proposal.VariancePrivate
		if !set { // a column of known constants has another factor than the rest
			s.Columns[2].Standardize, s.Columns[2].Offset, s.Columns[2].Scale = "", 5, 1
		}
		p, r := correlated(20, plain).run(t, s, 12_000)
		got := of(t, p, r)
		if r.ExplainedVariance == nil || says(got, "scales are too small by") == set || says(got, "Their intervals do not cover this") == set {
			t.Errorf("set by the total, %v: %q, %q", set, r.ScaleNote, got.Sentences)
		}
	}
}

// TestNoiseOfLearnedMeans: so few units that a study can just learn its constants leave means whose
// noise is as large as a component, which the result says; more units do not.
func TestNoiseOfLearnedMeans(t *testing.T) {
	for _, variance := range []string{proposal.VariancePrivate, proposal.VarianceNone} {
		for n, said := range map[int]bool{2700: true, 60_000: false} {
			s := learnedSpec(100, 1, proposal.MethodCovariance)
			s.ExplainedVariance = variance
			p, r := correlatedOf(100, 24, plain).run(t, s, n)
			if got := of(t, p, r); says(got, "may be this noise and not the rows") != said {
				noise, rows := centerNoise(r)
				t.Errorf("%d units: noise %.3g of %.3g, variances %v, %q", n, noise, rows, r.ExplainedVariance, got.Sentences)
			}
		}
	}
}

func unbounded(t *testing.T, p *study.Plan, r *result.Result, want string) {
	t.Helper()
	got := of(t, p, r)
	if got.Share != nil || len(got.Components) > 0 || !says(got, "not calibrated") || !says(got, want) || !says(got, "What was released shows this: the noise of the last step is") ||
		!says(got, "a plain column's counts stand out from the noise by") || !says(got, " are left out") {
		t.Errorf("%s: %q", want, got.Sentences)
	}
}

// TestColumnLeftOut: of columns that are left out nothing is said, and parts of the covariance that
// have the same directions raise no alarm: of 10 seeds at 0.005 each a false one has probability
// 0.05 at most, by the bounds' own slack much less.
func TestColumnLeftOut(t *testing.T) {
	out := 0
	for seed := range uint64(10) {
		l := correlatedOf(24, 30+seed, func(j int, z float64) float64 {
			if j == 2 {
				return 3
			}
			return 5 + z
		})
		p, r := l.run(t, learnedSpec(24, 1, proposal.MethodCovariance), 3600)
		parts := 0
		for _, rel := range r.Releases {
			if rel.Kind == study.KindMoment {
				parts++
			}
		}
		if parts < 2 {
			t.Fatalf("%d parts", parts)
		}
		if len(r.LeftOut) != 1 { // about a quarter are not
			continue
		}
		got := of(t, p, r)
		if got.Share == nil { // one in ten of so few columns looks skewed
			continue
		}
		out++
		if got.Alarm != nil && *got.Alarm || got.Components[0].Separated && got.Components[0].Loadings[2] != [2]float64{} {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
	if out < 5 {
		t.Errorf("in %d of 10 the constant column is left out and there is a bound", out)
	}
}

// TestLearnedNoiseIsThatOfCorrelations: the variance between two eigenvectors, of a correlation
// matrix whose diagonal is its own noised one, is that of 4,000 draws within 12%: five standard
// errors, so that of its 10 values one is further off with probability 10^-5.
func TestLearnedNoiseIsThatOfCorrelations(t *testing.T) {
	const d, s, draws = 8, 0.004, 4000
	rng := seeded(24)
	truth := mat.NewSymDense(d, nil) // two blocks: the first two eigenvalues are equal
	scale := []float64{1, 0.7, 1.3, 1, 1, 1.2, 0.8, 1}
	c := &study.Correlation{Tau: s}
	for i := range d {
		c.In, c.Factors = append(c.In, i), append(c.Factors, scale[i])
		for j := range i + 1 {
			switch {
			case i == j:
				truth.SetSym(i, i, 1)
			case i/4 == j/4:
				truth.SetSym(i, j, 0.7)
			}
		}
	}
	c.Values, c.Vectors = eigen(truth)
	got := newLearned(c)
	pairs := [][2]int{{0, 1}, {0, 3}, {0, 7}, {1, 2}, {3, 7}}
	sum := make([][2]float64, len(pairs))
	for range draws {
		m := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				e := s / math.Sqrt2 * rng.NormFloat64()
				if i == j {
					e *= math.Sqrt2
				}
				m.SetSym(i, j, truth.At(i, j)+e/scale[i]/scale[j])
			}
		}
		along := func(u, w []float64) float64 {
			out := 0.0
			for i := range d {
				for j := range d {
					out += u[i] * w[j] * (m.At(i, j)/math.Sqrt(m.At(i, i)*m.At(j, j)) - truth.At(i, j))
				}
			}
			return out
		}
		for i, at := range pairs {
			v := along(c.Vectors[at[0]], c.Vectors[at[1]])
			sum[i][0] += v * v / draws
			if at[1] == at[0]+1 {
				u, w := slices.Clone(c.Vectors[at[0]]), slices.Clone(c.Vectors[at[0]])
				for l, x := range c.Vectors[at[1]] {
					u[l], w[l] = (u[l]+x)/math.Sqrt2, (w[l]-x)/math.Sqrt2
				}
				sum[i][1] += math.Pow(along(u, w), 2) / draws
			}
		}
	}
	for i, at := range pairs {
		if ratio := sum[i][0] / got.pairs[at[0]][at[1]]; ratio < 0.88 || ratio > 1.12 {
			t.Errorf("between %v the variance is %.3f times the stated one", at, ratio)
		}
	}
	if ratio := sum[0][1] / got.turned[0]; ratio < 0.88 || ratio > 1.12 {
		t.Errorf("turned, the variance is %.3f times the stated one", ratio)
	}
	plain := c.Tau * c.Tau / 2
	if got.pairs[0][1] < 1.05*plain {
		t.Errorf("the diagonal's errors add nothing: %.3g of %.3g", got.pairs[0][1], plain)
	}
}

// TestCorrelationOfReleases: what is bounded are the components that the study returned.
func TestCorrelationOfReleases(t *testing.T) {
	p, r := correlated(25, plain).run(t, learnedSpec(8, 2, proposal.MethodCovariance), 12_000)
	c, err := p.Correlation(r.Releases)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range r.Components {
		if along := math.Abs(linalg.Dot(v, c.Vectors[i])); along < 1-1e-9 {
			t.Errorf("component %d is %.6f along its own", i, along)
		}
	}
	// Nothing is left but ones, except for the noise: what the covariance has elsewhere scales with
	// its units.
	if sum := c.Values[0]; sum/c.Values[7] > 20 || sum/c.Values[7] < 5 {
		t.Errorf("eigenvalues %.3g", c.Values)
	}
	if _, err := p.Correlation(nil); err == nil {
		t.Error("no releases have a correlation")
	}
	gaps := *p
	gaps.Proposal.Spec.Missing = proposal.MissingFill
	if _, err := gaps.Correlation(r.Releases); err == nil {
		t.Error("rows with gaps have a correlation")
	}
}

// TestSkewedTogether: columns none of which stands out alone are skewed together.
func TestSkewedTogether(t *testing.T) {
	p, r := correlated(26, plain).run(t, learnedSpec(8, 1, proposal.MethodCovariance), 12_000)
	if why := unlike(p, r); why != "" {
		t.Fatal(why)
	}
	last := 0
	for i, rel := range r.Releases {
		if rel.Kind == study.KindMoments {
			last = i
		}
	}
	for _, c := range []struct {
		columns int
		by      float64
		want    string
	}{{8, 2.5, "of columns that are skewed"}, {1, 5, `"c0"`}, {1, 4, ""}, {8, 1, ""}} {
		other := *r
		other.Releases = slices.Clone(r.Releases)
		rel := &other.Releases[last]
		rel.Noised = slices.Clone(rel.Noised) // means, and then squares, which stay
		clear(rel.Noised[:8])
		for j := range c.columns {
			rel.Noised[j] = int64(c.by * math.Sqrt2 * rel.Tau() * float64(rel.Units) / rel.Grid)
		}
		if why := unlike(p, &other); (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
			t.Errorf("%d columns by %g: %q", c.columns, c.by, why)
		}
	}
}

// TestLearnedNoiseIsUsed: the variances between directions decide the share, and those of equal
// eigenvalues, in any basis of theirs, what is separated.
func TestLearnedNoiseIsUsed(t *testing.T) {
	of := func(pair, turned float64) *spectrum {
		l := &learned{turned: []float64{turned, turned, 0}, drawn: make([][3]float64, 3)}
		for range 3 {
			l.pairs = append(l.pairs, []float64{pair, pair, pair})
		}
		a := &spectrum{mu: []float64{3, 2.9, 1}, s: 0.001, n: 1e9, learned: l}
		a.xi = a.shrink()
		return a
	}
	if little, much := of(1e-6, 0).share(1), of(1e-3, 0).share(1); little.Lower < 0.99 || much.Lower > 0.99 {
		t.Errorf("bounds %v and %v", little, much)
	}
	if !of(1e-6, 1e-6).separated(0) || of(1e-3, 1e-6).separated(0) || of(1e-6, 1e-3).separated(0) {
		t.Error("the gap does not count what noise there is")
	}
}

// TestPredictionOfLearnedConstants: they cost a part of what is captured, and that is said; of
// power iteration, and where the score is small, nothing is predicted.
func TestPredictionOfLearnedConstants(t *testing.T) {
	public, err := predict(t, spec(16, 2, proposal.MethodCovariance), 6000)
	if err != nil {
		t.Fatal(err)
	}
	got, err := predict(t, learnedSpec(16, 2, proposal.MethodAuto), 6000)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Cases {
		if c.Method != proposal.MethodCovariance || 1-c.Median < 1.2*(1-public.Cases[i].Median) {
			t.Errorf("s = %g: %+v, with public constants %+v", c.Fall, c, public.Cases[i])
		}
	}
	if !got.Learned || public.Learned || !strings.Contains(strings.Join(got.Lines(), "\n"), "constants are learned") {
		t.Errorf("%q", got.Lines())
	}
	for want, change := range map[string]func(*proposal.Spec){
		"power iteration": func(s *proposal.Spec) { s.Method = proposal.MethodPower },
		"too small":       func(s *proposal.Spec) { s.Epsilon = 0.4 },
		"without a value": func(s *proposal.Spec) { s.Missing = proposal.MissingZero },
	} {
		s := learnedSpec(8, 2, proposal.MethodCovariance)
		change(&s)
		if _, err := predict(t, s, 2010); !errors.Is(err, ErrNoPrediction) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestTiesOfCorrelations: the correlation matrix of two blocks of eight columns has two equal
// eigenvalues. Over 600 samples of normal rows, noised before the diagonal is divided out, at most
// 5% of them are separated, and at least 2.5%: 1.7% where rows count as they do in a covariance.
// If the true rate were 5%, more than 7.5% would be seen with probability 0.004. The seed is fixed.
func TestTiesOfCorrelations(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processor time")
	}
	const d, n, runs, rho, tau = 16, 3000, 600, 0.5, 0.02
	rng := seeded(31)
	apart := 0
	for range runs {
		s := mat.NewSymDense(d, nil)
		for range n {
			y := make([]float64, d)
			common := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
			for l := range y {
				y[l] = math.Sqrt(rho)*common[l%2] + math.Sqrt(1-rho)*rng.NormFloat64()
			}
			s.SymRankOne(s, 1.0/n, mat.NewVecDense(d, y))
		}
		c := &study.Correlation{Tau: tau}
		for i := range d {
			s.SetSym(i, i, s.At(i, i)+tau*rng.NormFloat64())
			c.In, c.Factors = append(c.In, i), append(c.Factors, math.Sqrt(s.At(i, i)))
			for j := range i {
				s.SetSym(j, i, s.At(j, i)+tau/math.Sqrt2*rng.NormFloat64())
			}
		}
		for i := range d {
			for j := i; j < d; j++ {
				s.SetSym(i, j, s.At(i, j)/c.Factors[i]/c.Factors[j])
			}
		}
		c.Values, c.Vectors = eigen(s)
		a := &spectrum{mu: c.Values, s: tau, n: n, learned: newLearned(c)}
		a.xi = a.shrink()
		if !a.separated(1) {
			t.Fatal("the second is not separated from the third")
		}
		if a.separated(0) {
			apart++
		}
	}
	share := float64(apart) / runs
	t.Logf("%.4f", share)
	if share > 0.075 || share < 0.025 {
		t.Errorf("%.3f of ties are separated, want at most 0.05", share)
	}
}
