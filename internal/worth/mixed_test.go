package worth

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

func slowly(d int, fall float64) []float64 {
	out := make([]float64, d)
	for j := range out {
		out[j] = 1 / (1 + fall*float64(j))
	}
	return out
}

func flat(d int) []float64 {
	out := make([]float64, d)
	for j := range out {
		if out[j] = 1; j >= d/4 {
			out[j] = 0.95 - 0.9*float64(j-d/4)/float64(d-d/4-1)
		}
	}
	return out
}

// TestBegin: what a covariance shows of a spectrum, and the directions that it starts rounds at,
// are in the simulation those of a matrix of all its numbers.
func TestBegin(t *testing.T) {
	const d, k, n, s = 200, 2, 60_000, 0.02
	rng := seeded(41)
	for name, lambda := range map[string][]float64{"slow": slowly(d, 0.02), "flat": flat(d)} {
		m := moments(lambda)
		b := &begun{s: s / m[0]}
		share := func(x []float64) float64 {
			got, size := 0.0, 0.0
			for j, v := range x {
				got, size = got+lambda[j]*v*v, size+v*v
			}
			return got / size
		}
		var whole, lazy [2]float64 // what shows of the top, and the share of the first direction
		const times = 12
		for range times {
			full := mat.NewSymDense(d, nil)
			for i := range d {
				for j := i; j < d; j++ {
					g := rng.NormFloat64() * math.Sqrt(s*s/2+lambda[i]*lambda[j]/n)
					if i == j {
						g = g*math.Sqrt2 + lambda[i]
					}
					full.SetSym(i, j, g)
				}
			}
			mu, w, _ := linalg.Eigen(full)
			slices.Reverse(mu)
			seen := newSpectrum(mu, s, n, 0).begun(k)
			whole[0] += seen.shown[0] / times
			whole[1] += share(mat.Col(nil, d-1, w)) / times
			for i, v := range describe(m, 1)[1:] {
				if math.Abs(seen.shown[i+1]-v) > 0.06 {
					t.Errorf("%s: moment %d shows as %.3f, without noise it is %.3f", name, i+2, seen.shown[i+1], v)
				}
			}
			if math.Abs(seen.s/b.s-1) > 0.03 {
				t.Errorf("%s: noise is %.4f of the mean, want %.4f", name, seen.s, b.s)
			}
			start, shown := b.begin(rng, lambda, k, n)
			lazy[0] += shown[0] / times
			lazy[1] += share(start[0]) / times
		}
		if math.Abs(whole[0]-lazy[0]) > 0.02 || math.Abs(whole[1]-lazy[1]) > 0.03 {
			t.Errorf("%s: top %.3f and share %.3f, simulated %.3f and %.3f", name, whole[0], whole[1], lazy[0], lazy[1])
		}
		if got := b.expect(lambda); math.Abs(got[0]-whole[0]) > 0.04 {
			t.Errorf("%s: top %.3f is expected, %.3f seen", name, got[0], whole[0])
		}
	}
}

// TestKept: of a single direction a clip keeps the part of the rows that it leaves alone (Stein),
// of several what it does of normal rows.
func TestKept(t *testing.T) {
	if got := kept(1, 0.75); math.Abs(got-0.75) > 1e-9 {
		t.Errorf("of one direction %v", got)
	}
	rng, all := seeded(42), make([]float64, 200_000)
	for i := range all {
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		all[i] = math.Sqrt(a*a + b*b + c*c)
	}
	slices.Sort(all)
	bound, left := Quantile(all, 0.75), 0.0
	for _, v := range all {
		left += v * min(v, bound) / 3 / float64(len(all))
	}
	if got := kept(3, 0.75); math.Abs(got-left) > 0.005 {
		t.Errorf("of three %.4f, want %.4f", got, left)
	}
}

// TestNear: spectra are drawn that would show what the study's covariance does.
func TestNear(t *testing.T) {
	const d = 200
	rng, lambda := seeded(43), slowly(d, 0.02)
	b := &begun{s: 0.04, kept: 0.75}
	b.shown = b.expect(lambda)
	away := func(l []float64) float64 { return math.Abs(b.expect(l)[1] - b.shown[1]) }
	drawn, chosen := 0.0, 0.0
	for range 30 {
		drawn += away(spectrumLaw(rng, d)) / 30
		chosen += away(b.near(func() []float64 { return spectrumLaw(rng, d) })) / 30
	}
	if chosen > drawn/4 {
		t.Errorf("second moments of chosen spectra are %.3f away, of others %.3f", chosen, drawn)
	}
}

// TestMixedForecast: rounds that start at a covariance's components are predicted to capture what
// studies of normal rows did: 0.991 of d = 200 columns that fall slowly, with 48,000 units.
func TestMixedForecast(t *testing.T) {
	p, _ := planned(t, spec(200, 1, proposal.MethodAuto), 48_000)
	f, err := newForecast(p)
	if err != nil || !p.Method.Mixed {
		t.Fatal(p.Method.Mixed, err)
	}
	lambda := slowly(200, 0.03)
	s, rng := f.power(lambda, 1), seeded(45)
	got := 0.0
	for range 20 {
		got += s.captures(rng, lambda) / 20
	}
	if math.Abs(got-0.991) > 0.006 {
		t.Errorf("%.4f is predicted", got)
	}
}

// TestPredictionTakesTheStudysMethod: where the first parts of a covariance decide, a prediction is
// of the method that studies take, also where the other one captures more.
func TestPredictionTakesTheStudysMethod(t *testing.T) {
	for name, c := range map[string]struct {
		d, k, n int
		fall    float64
		want    string
	}{
		"little loss":    {140, 1, 43_742, 0.05, proposal.MethodCovariance},
		"much":           {140, 1, 26_000, 0.02, proposal.MethodPower},
		"much of all":    {96, 3, 15_000, 0.02, proposal.MethodCovariance},
		"little of all":  {150, 3, 28_000, 0.01, proposal.MethodPower},
		"few columns":    {64, 1, 8_319, 0.05, proposal.MethodPower},
		"columns of 256": {256, 5, 70_000, 0.02, proposal.MethodPower},
	} {
		p, _ := planned(t, spec(c.d, c.k, proposal.MethodAuto), c.n)
		f, err := newForecast(p)
		if err != nil || !p.Method.Mixed {
			t.Fatal(name, p.Method.Rule(), err)
		}
		if got := f.at(c.fall, 1); got.Method != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestMixedReport: where rounds start at a covariance's components, what it shows of long rows is
// told as of a covariance: no figures with heavy tails, and no alarm without.
func TestMixedReport(t *testing.T) {
	const d = 192
	lambda, trace := flat(d), 0.0
	for _, v := range lambda {
		trace += v
	}
	p, body := planned(t, spec(d, 1, proposal.MethodAuto), 45_000)
	for name, heavy := range map[string]float64{"normal": 0, "heavy": 0.3} {
		rng := seeded(46)
		c := p.Start()
		var releases []study.Release
		for c.Query < len(p.Queries) {
			a, err := p.NewAsk(c, len(releases))
			if err != nil {
				t.Fatal(err)
			}
			q, sum := p.Queries[a.Query], []float64(nil)
			switch a.Kind {
			case study.KindHistogram:
				sum = make([]float64, q.Values)
				middle := trace
				if q.Of == study.KindPower {
					middle = 0.08
				}
				at := 0
				for study.BinEdge(at) < middle {
					at++
				}
				for j := range 3 {
					sum[at-1+j] = (1 - heavy) * float64(p.N) / 3
				}
				for j := range 24 { // longer and longer ones
					sum[at+2+j] += heavy * float64(p.N) * 0.15 * math.Pow(0.85, float64(j))
				}
			case study.KindMoment:
				for j, v := range lambda {
					sum = append(sum, v*float64(p.N))
					sum = append(sum, make([]float64, d-1-j)...)
				}
			case study.KindPower:
				for j, v := range a.X {
					sum = append(sum, lambda[j]/trace*v*float64(p.N))
				}
			}
			noised := make([]int64, len(sum))
			for i, v := range sum {
				noised[i] = int64(math.Round(v/a.Grid + a.Sigma.Float()*rng.NormFloat64()))
			}
			r, err := p.NewRelease(a, []int{0, 1, 2}, noised)
			if err != nil {
				t.Fatal(err)
			}
			if c, err = p.Next(c, r, releases); err != nil {
				t.Fatal(err)
			}
			releases = append(releases, r)
		}
		r, err := result.New(p, releases)
		if err != nil || r.Method != proposal.MethodPower {
			t.Fatalf("%s: %v, %v", name, r.MethodWhy, err)
		}
		if r.Proposal = body; heavy == 0 && testing.Short() {
			continue // seconds of processor time
		}
		out := of(t, p, r)
		switch {
		case heavy > 0 && (out.Uncalibrated != heavyWhy || out.Share != nil):
			t.Errorf("heavy tails: %q, %+v", out.Uncalibrated, out.Share)
		case heavy == 0 && (out.Share == nil || out.Alarm == nil || *out.Alarm || out.Unfinished || out.Share.Lower < 0.85 || out.Share.Lower > captured(lambda, r.Components)):
			t.Errorf("%+v captures %.4f: %+v", out.Share, captured(lambda, r.Components), out)
		}
	}
}

// TestMixedBounds: of simulated studies that start at a covariance's components the bound holds in
// at least 37 of 40, also where variances fall slowly.
func TestMixedBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processor time")
	}
	const d = 200
	for name, lambda := range map[string][]float64{"slow": slowly(d, 0.02), "flat": flat(d)} {
		s := &shape{d: d, k: 1, n: 60_000, pooled: true, sphere: true}
		for t := range 16 {
			s.tau = append(s.tau, 0.031/math.Sqrt(float64(t+1)))
		}
		rng := seeded(44)
		s.first = &begun{s: 0.037, kept: kept(1, 0.75)}
		one := func() draw {
			w := s.world(rng, lambda)
			return s.made(w, s.alike(rng, w))
		}
		s.first.shown = s.first.expect(lambda)
		fit, rest := drawn(t, s, rng)
		held := 0
		for range 40 {
			got, out := one(), Report{}
			out.infer(got.features, fit, rest, []int{0})
			if out.Share.widen(wideColumns); out.Share.Lower <= got.share {
				held++
			}
		}
		t.Logf("%s: the bound holds in %d of 40", name, held)
		if held < 37 {
			t.Errorf("%s: the bound holds in %d of 40", name, held)
		}
	}
}

// TestWiden: with few columns a bound allows a larger loss, and it is never below zero.
func TestWiden(t *testing.T) {
	for columns, want := range map[int]float64{wideColumns: 1 - 0.1*widerLoss, wideColumns - 1: 1 - 0.1*widestLoss} {
		high, low := Share{Lower: 0.9}, Share{Lower: 0.1}
		high.widen(columns)
		low.widen(columns)
		if math.Abs(high.Lower-want) > 1e-12 || low.Lower != 0 {
			t.Errorf("%d columns: %v, %v", columns, high.Lower, low.Lower)
		}
	}
}
