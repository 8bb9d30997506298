package noise

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// alike is the sum of equal parts of honest sites.
func alike(sigma Sigma, honest int) Carried { return Carried{Share{{1, sigma}}, honest} }

// logLaw is ln P[X_1 + … + X_m = z] for z = -reach..reach, of the sum's parts, by convolution in
// logarithms: the far tail, which decides D_α at large α, is as precise as the middle.
func logLaw(s Carried, reach int) []float64 {
	law := slices.Repeat([]float64{math.Inf(-1)}, 2*reach+1)
	law[reach] = 0
	for _, p := range s.Kept {
		s2 := p.Sigma.Float() * p.Sigma.Float()
		// One part further out than span has less than e^-1500 of whatever matters below.
		span := min(reach, int(60*p.Sigma.Float())+80)
		one := make([]float64, 2*span+1)
		for x := -span; x <= span; x++ {
			one[x+span] = -float64(x*x)/(2*s2) - math.Log(partition(s2))
		}
		for range s.Honest {
			next := make([]float64, len(law))
			for z := range next {
				top := math.Inf(-1)
				for x := -span; x <= span; x++ {
					if i := z - x; i >= 0 && i < len(law) {
						top = max(top, law[i]+one[x+span])
					}
				}
				sum := 0.0
				for x := -span; x <= span; x++ {
					if i := z - x; i >= 0 && i < len(law) && !math.IsInf(top, -1) {
						sum += math.Exp(law[i] + one[x+span] - top)
					}
				}
				next[z] = top + math.Log(sum)
			}
			law = next
		}
	}
	return law
}

// trueRho is the largest D_α(P ‖ P+Δ)/α over many α from 1 to 30, by its sum.
func trueRho(law []float64, delta int) float64 {
	kl := 0.0
	for z := delta; z < len(law); z++ {
		kl += math.Exp(law[z]) * (law[z] - law[z-delta])
	}
	worst := kl
	for _, a := range []float64{1.001, 1.01, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30} {
		top := math.Inf(-1)
		for z := delta; z < len(law); z++ {
			top = max(top, a*law[z]+(1-a)*law[z-delta])
		}
		sum := 0.0
		for z := delta; z < len(law); z++ {
			sum += math.Exp(a*law[z] + (1-a)*law[z-delta] - top)
		}
		worst = max(worst, (top+math.Log(sum))/(a-1)/a)
	}
	return worst
}

// TestDistributedRhoCoversTheTruth: where shares are so small that their sum is far from
// a discrete Gaussian, the charge is not below the true divergence of the sum from its own shift,
// for one coordinate and for many. The plain Δ²/(2mσ_i²) is: that is what closeness is for.
func TestDistributedRhoCoversTheTruth(t *testing.T) {
	plainFails, copiesFail := 0, 0
	for _, share := range []Sigma{102, 205, 300, 400, 511, 512, 560, 614, 700, 800, 1024, 1500} {
		for _, m := range []int{1, 2, 3, 5, 10} {
			law := logLaw(alike(share, m), 200)
			for delta := 1; delta <= 3; delta++ {
				truth := trueRho(law, delta)
				for _, d := range []int{1, 4, 100, 10_000} {
					// The same step in each of d coordinates: D_α adds up.
					all, step := float64(d)*truth, float64(delta)*math.Sqrt(float64(d))
					charge := DistributedRho(step, alike(share, m), d)
					if charge < all*(1-1e-9) {
						t.Errorf("σ_i = %v, m = %d, Δ = %d in %d coordinates: charged %v, costs %v", share.Float(), m, delta, d, charge, all)
					}
					if plain := RhoOf(step, share.Float()) / float64(m); plain < all*(1-1e-3) {
						plainFails++
						if d > 1 && share >= closeSigma && plain+closeness(alike(share, m)) < all {
							copiesFail++
						}
					}
				}
			}
		}
	}
	if plainFails < 50 || copiesFail < 10 {
		t.Errorf("the cases hardly need the bound: %d without τ would fail, %d with one coordinate's", plainFails, copiesFail)
	}
}

// TestCloseness: ln of the sum's law over the discrete Gaussian's varies by at most τ/2, from the
// smallest σ_i that τ is used for; and for two shares by no less than 4r of the 10r of τ, so that τ
// is about this quantity.
func TestCloseness(t *testing.T) {
	for _, share := range []Sigma{closeSigma, 560, 614, 700, 800, 1024} {
		for _, m := range []int{2, 3, 5, 10} {
			law := logLaw(alike(share, m), 60)
			s2, low, high := float64(m)*share.Float()*share.Float(), math.Inf(1), math.Inf(-1)
			for z := -15; z <= 15; z++ { // h has period m; no truncation reaches here
				h := law[z+60] + float64(z*z)/(2*s2)
				low, high = min(low, h), max(high, h)
			}
			tau := closeness(alike(share, m))
			if high-low > tau/2 {
				t.Errorf("σ_i = %v, m = %d: varies by %v, τ = %v", share.Float(), m, high-low, tau)
			}
			if m == 2 && high-low < 0.39*tau {
				t.Errorf("σ_i = %v: varies by %v, τ = %v is about something else", share.Float(), high-low, tau)
			}
		}
	}
	if closeness(alike(1<<30, 1)) != 0 {
		t.Error("one share is not close to a discrete Gaussian")
	}
	// By hand: 10·(exp(-2π²·1/2) + exp(-2π²·2/3)).
	if got, want := closeness(alike(1024, 3)), 10*(math.Exp(-math.Pi*math.Pi)+math.Exp(-4*math.Pi*math.Pi/3)); got < want || got > want*(1+1e-8) {
		t.Errorf("τ = %v, want %v, not less", got, want)
	}
	if got := closeness(alike(1<<40, 5)); !(got > 0) || got > 1e-290 {
		t.Errorf("a τ that underflows is %v", got)
	}
}

// TestDistributedRho: each of the three bounds where it is the least, one share, and what is
// never undercut.
func TestDistributedRho(t *testing.T) {
	tau := closeness(alike(1024, 4))
	for name, c := range map[string]struct {
		sensitivity float64
		share       Sigma
		m, d        int
		want        float64
	}{
		"first":  {100, 1024, 4, 10, 100*100/8.0 + 10*tau},
		"second": {1, 1024, 4, 10_000, math.Pow(math.Sqrt(1.0/4)+100*tau, 2) / 2},
		"third":  {1, 512, 4, 10_000, 2},
		"small":  {1, 511, 4, 1, 1 / (2 * math.Pow(511.0/1024, 2))},
		"one":    {3, 2048, 1, 1_000_000, 9.0 / 8},
		"wide":   {1 << 20, 1 << 30, 7, 2000, 1.0 / 14},
	} {
		if got := DistributedRho(c.sensitivity, alike(c.share, c.m), c.d); got < c.want*(1-1e-15) || got > c.want*(1+1e-8) {
			t.Errorf("%s: ρ = %.17g, want %.17g", name, got, c.want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		share := Sigma(rapid.Uint64Range(1, 1<<uint(rapid.IntRange(0, 62).Draw(r, "bits"))).Draw(r, "share"))
		m := rapid.IntRange(1, 100).Draw(r, "honest")
		d := rapid.IntRange(1, 1<<22).Draw(r, "values")
		delta := math.Exp(rapid.Float64Range(-10, 40).Draw(r, "log Δ"))
		got := DistributedRho(delta, alike(share, m), d)
		// ρ·2m·σ_i² >= Δ² exactly.
		sum := new(big.Rat).Mul(share.Squared(), big.NewRat(int64(2*m), 1))
		if exactSum := new(big.Float).SetPrec(2200).SetRat(sum); exactSum.Mul(exactSum, exact(got)).Cmp(exact(delta).Mul(exact(delta), exact(delta))) < 0 {
			r.Fatalf("Δ = %v, σ_i = %v, m = %d: ρ = %v is below Δ²/(2mσ_i²)", delta, share.Float(), m, got)
		}
		if one := DistributedRho(delta, alike(share, 1), d); one < got*(1-1e-14) {
			r.Fatalf("Δ = %v, σ_i = %v: %d shares cost %v, one of them %v", delta, share.Float(), m, got, one)
		}
		if more := DistributedRho(delta, alike(share, m), d+1000); more < got {
			r.Fatalf("Δ = %v, σ_i = %v: more coordinates cost less", delta, share.Float())
		}
		if total, err := SigmaAtLeast(share.Float()*math.Sqrt(float64(m)) + 1); err == nil && share.Float() > 8 {
			share, err := NewShare(total, m+1, m+1, 1)
			if err != nil {
				r.Fatal(err)
			}
			// Wide noise in shares costs what it costs in one piece.
			if got, whole := DistributedRho(delta, Carried{share, m}, d), RhoOf(delta, total.Float()); got > whole*(1+1e-12)+1e-290 {
				r.Fatalf("Δ = %v, σ = %v: %d shares cost %v, the whole %v", delta, total.Float(), m, got, whole)
			}
		}
	})
	inf := math.Inf(1)
	for name, got := range map[string]float64{
		"Δ = 0": DistributedRho(0, alike(1024, 2), 1), "Δ NaN": DistributedRho(math.NaN(), alike(1024, 2), 1), "Δ inf": DistributedRho(inf, alike(1024, 2), 1),
		"part": DistributedRho(1, alike(0, 2), 1), "wide": DistributedRho(1, alike(maxSigma*sigmaStep+1, 2), 1), "honest": DistributedRho(1, alike(1024, 0), 1),
		"many": DistributedRho(1, alike(1024, maxHonest+1), 1), "values": DistributedRho(1, alike(1024, 2), 0), "no part": DistributedRho(1, Carried{nil, 2}, 1),
		"parts": DistributedRho(1, Carried{make(Share, 1<<7), 1}, 1),
	} {
		if !math.IsInf(got, 1) {
			t.Errorf("%s: costs %v", name, got)
		}
	}
}

// pi to 60 digits.
const pi = "3.14159265358979323846264338327950288419716939937510582097494"

// bigExp is exp(-x), x >= 0, to some 100 bits: Taylor's series at x·2^-30, squared 30 times.
func bigExp(x *big.Float) *big.Float {
	small := new(big.Float).SetPrec(300).SetMantExp(x, -30)
	sum, term := new(big.Float).SetPrec(300).SetInt64(1), new(big.Float).SetPrec(300).SetInt64(1)
	for k := range int64(12) {
		term.Mul(term, small).Quo(term, new(big.Float).SetInt64(-(k + 1)))
		sum.Add(sum, term)
	}
	for range 30 {
		sum.Mul(sum, sum)
	}
	return sum
}

// TestDistributedRhoIsRoundedUp: in 300 bits, τ and the least of the three bounds are never above
// what is charged.
func TestDistributedRhoIsRoundedUp(t *testing.T) {
	wide := func() *big.Float { return new(big.Float).SetPrec(300) }
	square, _ := wide().SetString(pi)
	square.Mul(square, square)
	rapid.Check(t, func(r *rapid.T) {
		share := Sigma(rapid.Uint64Range(closeSigma, 5000).Draw(r, "share"))
		m := rapid.IntRange(2, 30).Draw(r, "honest")
		tau := wide()
		for k := range int64(m - 1) {
			x := wide().Mul(square, wide().SetRat(share.Squared()))
			x.Mul(x, wide().SetRat(big.NewRat(2*(k+1), k+2)))
			tau.Add(tau, bigExp(x))
		}
		tau.Mul(tau, wide().SetInt64(10))
		got := closeness(alike(share, m))
		if ceiling := wide().Mul(tau, wide().SetFloat64(1+1e-8)); exact(got).Cmp(tau) < 0 || exact(got).Cmp(ceiling) > 0 && got > 1e-290 {
			r.Fatalf("σ_i = %v, m = %d: τ = %v, want %v, not less", share.Float(), m, got, tau)
		}
	})
	// What is made of τ, to its last bit, where it is about as large as the rest.
	tau, lowest := wide(), [3]int{}
	for share := Sigma(closeSigma); share < 700; share++ {
		for _, m := range []int{2, 3, 7, 30} {
			tau.SetFloat64(closeness(alike(share, m)))
			for _, d := range []int64{1, 3, 100, 4095} {
				for _, ratio := range []float64{0.01, 0.3, 0.9, 1.1, 3} {
					// so that √a = ratio·√d
					delta := ratio * share.Float() * math.Sqrt(float64(m)*float64(d))
					third := wide().SetFloat64(delta)
					third.Mul(third, third).Quo(third, wide().SetRat(share.Squared())).Quo(third, wide().SetInt64(2))
					half := wide().Quo(third, wide().SetInt64(int64(m)))
					first := wide().Mul(tau, wide().SetInt64(d))
					first.Add(first, half)
					second := wide().Mul(tau, wide().Sqrt(wide().SetInt64(d)))
					second.Add(second, wide().Sqrt(wide().Mul(half, wide().SetInt64(2))))
					second.Mul(second, second).Quo(second, wide().SetInt64(2))
					bounds, least := []*big.Float{first, second, third}, 0
					for i, bound := range bounds {
						if bound.Cmp(bounds[least]) < 0 {
							least = i
						}
					}
					lowest[least]++
					if charged := DistributedRho(delta, alike(share, m), int(d)); exact(charged).Cmp(bounds[least]) < 0 {
						t.Fatalf("Δ = %v, σ_i = %v, m = %d, d = %d: bound %d is rounded down to %v", delta, share.Float(), m, d, least+1, charged)
					}
				}
			}
		}
	}
	if slices.Min(lowest[:]) < 100 {
		t.Errorf("the bounds are the least in %v cases", lowest)
	}
}

// TestSharesSumToSigma: seeded shares of honest sites, summed, have a variance of at least σ²
// and follow the law of honest·σ_i². Each of 30,000 sums: the variance is within 5.5 standard
// deviations (false-reject 4e-8), the chi-square's probability at least 1e-6.
func TestSharesSumToSigma(t *testing.T) {
	const n = 30_000
	for _, c := range []struct {
		total  Sigma
		honest int
		width  int64
	}{{20 << 10, 3, 2}, {46_085, 7, 3}, {1000 << 10, 5, 50}} {
		share, err := NewShare(c.total, c.honest+1, c.honest+1, 1)
		if err != nil {
			t.Fatal(err)
		}
		source, sums, draws := seeded("shares"), make([]int64, n), make([]int64, n)
		for range c.honest {
			if err := share[0].Sigma.Draw(source, draws); err != nil {
				t.Fatal(err)
			}
			for i, v := range draws {
				sums[i] += v
			}
		}
		variance, sigma2 := 0.0, c.total.Float()*c.total.Float()
		for _, v := range sums {
			variance += float64(v) * float64(v) / n
		}
		carried := float64(c.honest) * share.Variance()
		if slack := 5.5 * math.Sqrt(2.0/n); variance < sigma2*(1-slack) || math.Abs(variance/carried-1) > slack || carried > sigma2*1.001 {
			t.Errorf("σ = %v in %d shares: variance %v, want %v", c.total.Float(), c.honest, variance, sigma2)
		}
		if p, bins := chiSquare(sums, exactLaw(carried, c.width), c.width); p < 1e-6 {
			t.Errorf("σ = %v in %d shares: p = %g over %d bins", c.total.Float(), c.honest, p, bins)
		}
	}
}

// TestDraw is the sampler's Fill, and leaves nothing behind after an error.
func TestDraw(t *testing.T) {
	got := make([]int64, 50)
	if err := Sigma(46_085).Draw(seeded("draw"), got); err != nil || !slices.Equal(got, fill(t, sampler(t, 46_085), "draw", 50)) {
		t.Errorf("other draws than Fill's (%v)", err)
	}
	if err := Sigma(0).Draw(seeded("draw"), got); err == nil || slices.ContainsFunc(got, func(v int64) bool { return v != 0 }) {
		t.Errorf("σ = 0: %v, %v", got, err)
	}
}
