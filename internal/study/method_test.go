package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/histogram"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/test/texts"
)

// TestIota: auto decides by public sizes first, with the noise that is really in a sum; where it
// does, nothing is spent on deciding.
func TestIota(t *testing.T) {
	auto := func(units int, lines ...string) *Plan {
		return mustPlan(t, texts.With(texts.Four, append(lines, `method = "auto"`, `explained_variance = "none"`)...), units, units, units, units)
	}
	rho, err := mustPlan(t, texts.Four, 900, 900).Curve().Rho(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	// ι = σ/Δ·d^1.5/n is 0.3 at so many units
	edge := noise.SigmaFor(rho, 1) * 8 / 0.3
	enough, few := auto(int(edge/4)+1), auto(int(edge/4)-1)
	if enough.Iota > 0.3 || few.Iota <= 0.3 || math.Abs(few.Iota-edge*0.3/float64(few.N)) > 1e-9 {
		t.Fatalf("ι is %v of %d units, %v of %d", enough.Iota, enough.N, few.Iota, few.N)
	}
	for _, q := range enough.Queries {
		if q.sum() == KindPower || q.Branch != "" {
			t.Errorf("below the threshold a plan has a %s of %s, branch %q", q.Kind, q.Of, q.Branch)
		}
	}
	if enough.Start().Method != proposal.MethodCovariance || !strings.Contains(enough.Method.Rule(), "public sizes") {
		t.Errorf("%q: %s", enough.Start().Method, enough.Method.Rule())
	}
	if few.Start().Method != "" || !slices.ContainsFunc(few.Queries, func(q Query) bool { return q.Branch == proposal.MethodPower }) {
		t.Errorf("above the threshold the method is %q: %s", few.Start().Method, few.Method.Rule())
	}
	// four sites of which three are enough, and units at two sites
	if p := auto(1000, `noise = "distributed"`); math.Abs(p.Iota/auto(1000).Iota-math.Sqrt(4/3.)) > 1e-9 {
		t.Errorf("distributed: ι = %v", p.Iota)
	}
	if p := auto(1000, "sites_per_unit = 2"); math.Abs(p.Iota/auto(1000).Iota-2) > 1e-9 {
		t.Errorf("units at two sites: ι = %v", p.Iota)
	}
}

// TestDefaults: auto is the default, and a key that only one method has asks for that one.
func TestDefaults(t *testing.T) {
	for lines, want := range map[string]string{
		"": proposal.MethodAuto, "rounds = 3": proposal.MethodPower, "norm_bound = 2.0": proposal.MethodCovariance, "radius = 2.0": proposal.MethodPower, `radius = "private"`: proposal.MethodAuto,
		`output = "last"`: proposal.MethodPower, `rows = "plain"`: proposal.MethodPower, `unit = "who"`: proposal.MethodAuto, `profile = "paper"` + "\nalpha = 0.1\nlambda = 1.0": proposal.MethodPower,
	} {
		s, err := proposal.ParseSpec([]byte(texts.With(texts.Four, lines)))
		if err != nil {
			t.Fatal(err)
		}
		sphere := s.Radius == proposal.RadiusPrivate && s.Unit == "" && want != proposal.MethodCovariance && !strings.Contains(lines, "plain")
		if s.Method != want || (s.Rows == proposal.RowsAuto) != sphere {
			t.Errorf("%q asks for %s of %s rows", lines, s.Method, s.Rows)
		}
	}
	// rows are left as they are where noise is little
	if noisy, quiet := mustPlan(t, texts.With(texts.Four, `method = "power"`), 150, 150), mustPlan(t, texts.With(texts.Four, `method = "power"`), 30_000, 30_000); !noisy.Method.Sphere || quiet.Method.Sphere {
		t.Errorf("ι = %v: sphere %v; ι = %v: sphere %v", noisy.Iota, noisy.Method.Sphere, quiet.Iota, quiet.Method.Sphere)
	}
	few, many := mustPlan(t, texts.With(texts.Four, `method = "power"`), 1500, 1500), mustPlan(t, texts.With(texts.Four, `method = "power"`), 4000, 4000)
	if (&planner{few}).radiusShare() != 0.1 || (&planner{many}).radiusShare() != 0.04 || few.Rounds != 24 {
		t.Errorf("radii take %v and %v of the budget, over %d rounds", (&planner{few}).radiusShare(), (&planner{many}).radiusShare(), few.Rounds)
	}
}

// TestSphereQuantile: a power step is clipped at 0.9 of rows as they are and at 0.75 on the sphere.
func TestSphereQuantile(t *testing.T) {
	counts := make([]int64, HistogramBins)
	for j := range 100 {
		counts[200+j] = 1 << 20
	}
	for rows, want := range map[string]float64{proposal.RowsPlain: 0.9, proposal.RowsSphere: 0.75} {
		p := mustPlan(t, texts.With(texts.Four, `method = "power"`, fmt.Sprintf("rows = %q", rows)), 90_000, 90_000)
		c := p.Start()
		r := Release{Noised: counts, Sigma: 1 << 20, Units: 100 << 20, Grid: 1}
		(&transition{p, p.Queries[0], r, nil, &c}).radius()
		if got := (histogram.Noised{Counts: counts, Spread: r.Spread(), Units: r.Units}).Quantile(want); c.Radii[KindPower] != got {
			t.Errorf("%s rows: R = %v, the %g quantile is %v", rows, c.Radii[KindPower], want, got)
		}
	}
}

// packedRelease is a matrix as a release of it, of noise of one grid step and one unit.
func packedRelease(m *mat.SymDense, radius, tau float64) Release {
	const grid = 0x1p-40
	r := Release{Kind: KindMoment, Grid: grid, Units: 1, Radius: radius, Sigma: noise.Sigma(math.Round(tau / grid * 1024))}
	d := m.SymmetricDim()
	for i := range d {
		for j := i; j < d; j++ {
			v := m.At(i, j)
			if j > i {
				v *= math.Sqrt2
			}
			r.Noised = append(r.Noised, int64(math.Round(v/grid)))
		}
	}
	return r
}

func noisy(rng *rand.Rand, values []float64, turn, tau float64) *mat.SymDense {
	d := len(values)
	m := mat.NewSymDense(d, nil)
	for i, v := range values {
		m.SetSym(i, i, v)
	}
	// the first direction turned towards the last
	c, s := math.Cos(turn), math.Sin(turn)
	m.SetSym(0, 0, values[0]*c*c+values[d-1]*s*s)
	m.SetSym(d-1, d-1, values[0]*s*s+values[d-1]*c*c)
	m.SetSym(0, d-1, (values[0]-values[d-1])*c*s)
	for i := range d {
		for j := i; j < d; j++ {
			n := tau * rng.NormFloat64()
			if j > i {
				n /= math.Sqrt2
			}
			m.SetSym(i, j, m.At(i, j)+n)
		}
	}
	return m
}

// TestWider: the high clip is taken where the low one hides a direction, and not for noise, close
// eigenvalues, or a scale alone. A seed fixes the noise: it cannot fail by chance.
func TestWider(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `method = "covariance"`), 200, 200)
	for name, c := range map[string]struct {
		values    []float64
		turn, tau float64
		want      bool
	}{
		"the same":       {[]float64{2, 1, 0.5, 0.2}, 0, 0.01, false},
		"a little":       {[]float64{2, 1, 0.5, 0.2}, 0.03, 0.01, false},
		"turned":         {[]float64{2, 1, 0.5, 0.2}, 0.3, 0.01, true},
		"turned, equal":  {[]float64{1, 1, 1, 1}, 0.3, 0.01, false},
		"noise alone":    {[]float64{0.1, 0.05, 0.02, 0.01}, 0.3, 1, false},
		"close together": {[]float64{1, 0.99, 0.98, 0.97}, 0, 0.05, false},
		"close behind":   {[]float64{1, 0.6, 0.59, 0.58}, 0, 0.05, false},
	} {
		rng := rand.New(rand.NewPCG(61, 62)) // its own: a map has no order
		took := 0
		for range 40 {
			low := packedRelease(noisy(rng, c.values, 0, c.tau/3), 1, c.tau/3)
			high := packedRelease(noisy(rng, c.values, c.turn, c.tau), 3, c.tau)
			misses, least, err := hidden(low, high, p.D, p.K, p.parts().sure)
			if err != nil {
				t.Fatal(err)
			}
			if misses > least {
				took++
			}
		}
		if c.want && took < 38 || !c.want && took > 8 {
			t.Errorf("%s: the high clip is taken %d times of 40", name, took)
		}
	}
}

// TestNoiseIsNotWider: where noise is not large it alone takes the high clip in few studies, also
// of a spectrum that falls slowly, where it turns components far. A seed fixes the noise: it cannot
// fail by chance.
func TestNoiseIsNotWider(t *testing.T) {
	const d, studies, most = 32, 300, 6
	values := make([]float64, d)
	for i := range values {
		values[i] = 1 / (1 + 0.02*float64(i))
	}
	for _, iota := range []float64{0.08, 0.2} {
		p, took := &Plan{D: d, Iota: iota}, 0
		for _, k := range []int{1, 5} {
			rng := rand.New(rand.NewPCG(63, uint64(k)))
			for range studies / 2 {
				low, high := packedRelease(noisy(rng, values, 0, 0.03), 1, 0.03), packedRelease(noisy(rng, values, 0, 0.05), 3, 0.05)
				misses, least, err := hidden(low, high, d, k, p.parts().sure)
				if err != nil {
					t.Fatal(err)
				}
				if misses > least {
					took++
				}
			}
		}
		if took > most {
			t.Errorf("ι = %v: noise alone takes the high clip in %d of %d studies", iota, took, studies)
		}
	}
}

// TestPooledMoment: parts of one clip are added by the precision of their noise, a part clipped
// higher after it is brought to scale, one clipped lower not at all.
func TestPooledMoment(t *testing.T) {
	of := func(v float64) *mat.SymDense { return mat.NewSymDense(1, []float64{v}) }
	got := pooledMoment([]Release{packedRelease(of(1), 2, 0.5), packedRelease(of(3), 4, 1), packedRelease(of(1.5), 2, 0.25)})
	// weights 4, 2·1 (ratio 3/1.5 = 2) and 16: (4·1 + 2·3 + 16·1.5)/(4 + 4 + 16)
	if want := (4*1 + 2*3 + 16*1.5) / 24.0; math.Abs(got.Packed[0]-want) > 1e-9 || math.Abs(got.Tau-1/math.Sqrt(24)) > 1e-6 {
		t.Errorf("%v, want %v and %v", got, want, 1/math.Sqrt(24))
	}
	got = pooledMoment([]Release{packedRelease(of(1), 2, 0.5), packedRelease(of(3), 4, 1), packedRelease(of(5), 4, 0.5)})
	if want := (1*3 + 4*5) / 5.0; math.Abs(got.Packed[0]-want) > 1e-9 || math.Abs(got.Tau-1/math.Sqrt(5)) > 1e-6 {
		t.Errorf("%v, want %v and %v", got, want, 1/math.Sqrt(5))
	}
	if values, _, tau, err := Spectrum([]Release{{Kind: KindPower}, packedRelease(of(2), 1, 0.1)}, 1); err != nil || math.Abs(values[0]-2) > 1e-9 || math.Abs(tau-0.1) > 1e-9 {
		t.Errorf("one part alone is %v of noise %v, %v", values, tau, err)
	}
	if _, _, _, err := Spectrum([]Release{{Kind: KindPower}}, 1); err == nil {
		t.Error("a study without a covariance has one")
	}
}

// TestMomentsFollow: the parts are clipped low, high, and as the first two say, and the whole
// charges what one part would.
func TestMomentsFollow(t *testing.T) {
	var wide strings.Builder
	variances := []float64{2, 1, 0.5, 0.2}
	for j := range 12 {
		fmt.Fprintf(&wide, "[[columns]]\nname = \"more%d\"\nscale = 1\n", j)
		variances = append(variances, 0.1)
	}
	p := mustPlan(t, texts.With(texts.Four, `method = "covariance"`, `explained_variance = "none"`)+wide.String(), 1200, 1200)
	rng := rand.New(rand.NewPCG(63, 64))
	for _, turn := range []float64{0, 0.5} {
		c := p.Start()
		var releases []Release
		var radii []float64
		charged := 0.0
		for c.Query < len(p.Queries) {
			a, err := p.NewAsk(c, c.Query)
			if err != nil {
				t.Fatal(err)
			}
			noised := make([]int64, p.Queries[c.Query].Values)
			if a.Kind == KindHistogram {
				for j := range 6 {
					noised[260+j] = 136_000 // of 2^-8 units
				}
			} else {
				radii = append(radii, a.Radius)
				by := 0.0
				if len(radii) > 1 {
					by = turn
				}
				m := noisy(rng, variances, by, 0)
				at := 0
				for i := range p.D {
					for j := i; j < p.D; j++ {
						v := m.At(i, j)
						if j > i {
							v *= math.Sqrt2
						}
						noised[at] = int64(math.Round(v * float64(p.N) / a.Grid))
						at++
					}
				}
			}
			r, err := p.NewRelease(a, []int{0, 1}, noised)
			if err != nil {
				t.Fatal(err)
			}
			charged += r.Rho
			if c, err = p.Next(c, r, releases); err != nil {
				t.Fatal(err)
			}
			releases = append(releases, r)
		}
		low, high := (&transition{Plan: p, earlier: releases, c: &c}).bounds()
		want := []float64{low, high, low}
		if turn > 0 {
			want[2] = high
		}
		if !slices.Equal(radii, want) || !(low < high) {
			t.Errorf("turned by %v: bounds %v, want %v", turn, radii, want)
		}
		if math.Abs(charged-p.Rho) > 1e-12*p.Rho {
			t.Errorf("ρ = %v is charged, %v reserved", charged, p.Rho)
		}
		want[0] = math.Cos(turn) // components of what the last bound shows
		m, _ := p.Covariance(c, releases)
		v, _, err := m.Principal(p.D, 1)
		if err != nil || len(c.X) > 0 {
			t.Fatalf("the course ends with %d numbers that nobody asks about, or %v", len(c.X), err)
		}
		if got := math.Abs(v[0][0]); math.Abs(got-want[0]) > 1e-3 {
			t.Errorf("turned by %v: the component has %v along the first column, want %v", turn, got, want[0])
		}
	}
	one := mustPlan(t, texts.With(texts.Four, `method = "covariance"`, "norm_bound = 2.0", `explained_variance = "none"`), 90_000, 90_000)
	if len(one.Queries) != 1 {
		t.Errorf("with a public bound there are %d queries", len(one.Queries))
	}
	// ι is 0.0002: noise does not limit, and nothing is hidden by a low clip
	large := mustPlan(t, texts.With(texts.Four, `method = "covariance"`, `explained_variance = "none"`), 90_000, 90_000)
	c := large.Start()
	counts := make([]int64, HistogramBins)
	for j := range 20 {
		counts[260+j] = 9000
	}
	r := Release{Noised: counts, Sigma: 1 << 10, Units: 180_000, Grid: 1}
	(&transition{large, large.Queries[0], r, nil, &c}).radius()
	if want := (histogram.Noised{Counts: counts, Spread: r.Spread(), Units: r.Units}).Quantile(0.93); len(large.Queries) != 2 || c.Radii[KindMoment] != want {
		t.Errorf("where noise is negligible there are %d queries, and B² is %v, not %v", len(large.Queries), c.Radii[KindMoment], want)
	}
}

// TestPooledOutput: from 24 rounds on the later half is pooled, whatever the noise of the last.
func TestPooledOutput(t *testing.T) {
	for rounds, want := range map[int]string{12: proposal.OutputLast, 24: proposal.OutputPooled} {
		p := mustPlan(t, texts.With(texts.Four, `method = "power"`, fmt.Sprint("rounds = ", rounds), `radius = 3.0`, `explained_variance = "none"`), 900_000, 900_000)
		var steps []Release
		for _, q := range p.Queries {
			c := p.Start()
			c.Query = q.Index
			a, err := p.NewAsk(c, q.Index)
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.NewRelease(a, []int{0, 1}, []int64{1 << 40, 2, 3, 4})
			if err != nil {
				t.Fatal(err)
			}
			steps = append(steps, r)
		}
		out, err := p.Outputs(nil, steps)
		if err != nil || out.Noise > autoNoise || out.Chosen != want {
			t.Errorf("%d rounds of noise-to-signal %v give %s, want %s, %v", rounds, out.Noise, out.Chosen, want, err)
		}
	}
}

// TestStart: the iteration starts where a proposal says, with every component's run; the digest
// covers the vectors, and none that is not orthonormal passes.
func TestStart(t *testing.T) {
	vectors := []float64{0, 0.6, 0.8, 0, 0, 0.8, -0.6, 0}
	for _, subspace := range []string{proposal.SubspaceBlock, proposal.SubspaceDeflation} {
		spec, err := proposal.ParseSpec([]byte(texts.With(texts.Four, `method = "power"`, "components = 2", fmt.Sprintf("subspace = %q", subspace))))
		if err != nil {
			t.Fatal(err)
		}
		spec.Start = &proposal.Start{Result: proposal.Digest{9}, Vectors: vectors}
		text, err := spec.Encode()
		if err != nil {
			t.Fatal(err)
		}
		p := mustPlan(t, string(text), 900, 900)
		x := p.Start().X
		if subspace == proposal.SubspaceDeflation {
			x = append(slices.Clone(x), p.startBlock(1, x)...)
		}
		if !slices.Equal(x, vectors) || p.Proposal.Spec.Start.Result != (proposal.Digest{9}) {
			t.Errorf("%s starts at %v", subspace, x)
		}
		// who decides sees that the proposer chose them
		if w := strings.Join(p.Warnings(), "\n"); !strings.Contains(w, "said to be of study 090000000000;") || !strings.Contains(w, "it is that row") {
			t.Errorf("%s: %s", subspace, w)
		}
	}
	bad := func(change func(*proposal.Start)) error {
		spec, err := proposal.ParseSpec([]byte(texts.With(texts.Four, `method = "power"`, "components = 2")))
		if err != nil {
			t.Fatal(err)
		}
		spec.Start = &proposal.Start{Vectors: slices.Clone(vectors)}
		change(spec.Start)
		r := texts.Roster(900, 900)
		_, err = proposal.Propose(spec, r, []byte(r[0].Identity), [32]byte{7})
		return err
	}
	if err := bad(func(*proposal.Start) {}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*proposal.Start){
		"short":          func(s *proposal.Start) { s.Vectors = s.Vectors[:4] },
		"long":           func(s *proposal.Start) { s.Vectors[0] = 2 },
		"not orthogonal": func(s *proposal.Start) { copy(s.Vectors[4:], s.Vectors[:4]) },
		"NaN":            func(s *proposal.Start) { s.Vectors[3] = math.NaN() },
		"a file":         func(s *proposal.Start) { s.Vectors, s.File = nil, "result.json" },
	} {
		if err := bad(change); err == nil || !strings.Contains(err.Error(), "start") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var v proposal.Vectors
	for _, text := range []string{"AAAA", "AAAAAAAAAA", "AAAAAAAAAAB=", "?"} {
		if err := v.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as vectors", text)
		}
	}
}

// TestEveryPathWithinReservation: whatever way a study takes, by answers of any size, the charges
// of what is asked stay within what the ledger reserves.
func TestEveryPathWithinReservation(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 66))
	methods := map[string]int{}
	for trial := range 120 {
		s := anySpec(rng)
		s.Rounds = min(s.Rounds, 6)
		r := anyRoster(rng)
		body, err := proposal.Propose(s, r, []byte(r[0].Identity), [32]byte{byte(trial)})
		if err != nil {
			continue
		}
		p, err := NewPlan(body)
		if err != nil {
			continue
		}
		for range 4 {
			c, charged := p.Start(), 0.0
			var releases []Release
			survivors := make([]int, len(r))
			for i := range survivors {
				survivors[i] = i
			}
			for c.Query < len(p.Queries) && c.End == "" {
				a, err := p.NewAsk(c, len(releases))
				if err != nil {
					t.Fatal(err)
				}
				noised := make([]int64, p.Noise.released(p.Queries[c.Query]))
				for i := range noised {
					noised[i] = int64(a.Sigma.Float() * math.Exp(6*rng.NormFloat64()) * rng.NormFloat64())
				}
				if p.Noise.Chooses(p.Queries[c.Query]) {
					noised[0] = 0
				}
				rel, err := p.NewRelease(a, survivors, noised)
				if err != nil {
					t.Fatal(err)
				}
				charged += rel.Rho
				if c, err = p.Next(c, rel, releases); err != nil {
					t.Fatal(err)
				}
				releases = append(releases, rel)
			}
			methods[c.Method]++
			if charged > p.Rho*(1+1e-12) || len(releases) > p.Slots {
				t.Fatalf("ρ = %v is charged in %d queries, %v in %d slots reserved: %+v", charged, len(releases), p.Rho, p.Slots, p.Proposal.Spec)
			}
		}
	}
	if methods[proposal.MethodPower] < 20 || methods[proposal.MethodCovariance] < 20 {
		t.Errorf("studies took %v", methods)
	}
}
