package noise

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// squared is what a share's parts carry, exactly.
func squared(s Share) *big.Rat {
	sum := new(big.Rat)
	for _, p := range s {
		sum.Add(sum, p.Sigma.Squared())
	}
	return sum
}

// TestShareCarriesEverySum: for each number of sites in a sum, what is kept of the shares of all
// but those apart carries σ², exactly, and hardly more than 1.1 of it, none more where nobody
// dropped out; and nothing of the sampler's grid that is less does.
func TestShareCarriesEverySum(t *testing.T) {
	carries := func(r rapid.TB, total Sigma, least, sites, apart int) {
		share, err := NewShare(total, least, sites, apart)
		if err != nil {
			r.Fatal(err)
		}
		if share[0].Most != sites || len(share) > 1 && share[len(share)-1].Most < least {
			r.Fatalf("%d..%d sites: %v", least, sites, share)
		}
		for i, p := range share {
			if i > 0 && (p.Most >= share[i-1].Most || p.Sigma < narrowest) {
				r.Fatalf("part %d of %v", i, share)
			}
			if _, err := NewGaussian(p.Sigma); err != nil {
				r.Fatal(err)
			}
		}
		base, err := NewShare(total, sites, sites, apart)
		if err != nil {
			r.Fatal(err)
		}
		folds := base[0].Sigma < 64*sigmaStep
		for u := least; u <= sites; u++ {
			carried := new(big.Rat).Mul(squared(share.Kept(u)), big.NewRat(int64(u-apart), 1))
			if carried.Cmp(total.Squared()) < 0 {
				r.Fatalf("%d of %d sites: %v carries less than σ = %v", u, sites, share.Kept(u), total.Float())
			}
			over, _ := new(big.Rat).Quo(carried, total.Squared()).Float64()
			if most := 1.1 * (1 + 0x1p-9); over > most && !folds {
				r.Fatalf("%d of %d sites, %d apart: %v of σ²", u, sites, apart, over)
			}
		}
		if !folds && (len(base) != 1 || share[0] != base[0]) {
			r.Fatalf("all %d sites keep %v, %v would do", sites, share[0], base)
		}
		one, step := base[0].Sigma, Sigma(1)
		if one > wholeSigma*sigmaStep {
			step = sigmaStep
		}
		less := func(s Sigma) bool {
			sum := new(big.Rat).Mul(s.Squared(), big.NewRat(int64(sites-apart), 1))
			return sum.Cmp(total.Squared()) >= 0
		}
		if one%step != 0 || less(one-1) && less(one-step) {
			r.Fatalf("%d sites: %d for %d", sites, one, total)
		}
	}
	// of docs/privacy.md: eight ranges, so that no draw need hit upon any
	carries(t, 1<<40, 67, 100, 33)
	carries(t, 103_561, 32, 89, 1) // whose third part would be 4095 units: the one before was rounded up
	rapid.Check(t, func(r *rapid.T) {
		total := Sigma(rapid.Uint64Range(1, 1<<uint(rapid.IntRange(0, 62).Draw(r, "bits"))).Draw(r, "total"))
		apart := rapid.IntRange(0, 40).Draw(r, "apart")
		least := apart + rapid.IntRange(1, 60).Draw(r, "honest")
		sites := least + rapid.IntRange(0, 60).Draw(r, "may drop")
		carries(r, total, least, sites, apart)
	})
	for name, c := range map[string]struct {
		total               Sigma
		least, sites, apart int
	}{
		"sigma": {0, 2, 2, 0}, "wide": {maxSigma*sigmaStep + 1, 1, 1, 0}, "none": {1, 1, 1, 1}, "fewer": {1, 3, 2, 1},
		"negative": {1, 2, 2, -1}, "many": {1, 2, maxHonest + 2, 1},
	} {
		if _, err := NewShare(c.total, c.least, c.sites, c.apart); err == nil {
			t.Errorf("%s: was accepted", name)
		} else if _, ok := errors.AsType[*ParameterError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLevels: the ranges of docs/privacy.md.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		least, sites, apart int
		want                string
	}{
		{4, 5, 1, "[5 4]"}, {7, 10, 3, "[10 9 8 7]"}, {14, 20, 6, "[20 18 16 15 14]"}, {3, 3, 1, "[3]"},
		{67, 100, 33, "[100 93 87 82 77 73 69 67]"},
	} {
		if got := fmt.Sprint(levels(1<<40, c.least, c.sites, c.apart)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if n := len(levels(1<<62, 1, maxHonest, 0)); n >= 1<<7 {
		t.Errorf("%d parts: closeness bounds its rounding for fewer than 128", n)
	}
}

// TestNarrowPartsAreFolded: a part below 4 grid steps is not made; sums that would have done
// without it have the noise of the level below.
func TestNarrowPartsAreFolded(t *testing.T) {
	// One step is σ²/34-σ²/35 where u goes from 68 down to 67: 0.84² at σ = 29.
	share, err := NewShare(29*sigmaStep, 67, 100, 33)
	if err != nil {
		t.Fatal(err)
	}
	if len(share) != 1 || share[0].Most != 100 || squared(share).Cmp(big.NewRat(29*29, 34)) < 0 {
		t.Errorf("%v", share)
	}
	// At σ = 60 some levels stand, and a sum over 100 sites still needs σ²/67.
	if share, err = NewShare(60*sigmaStep, 67, 100, 33); err != nil {
		t.Fatal(err)
	}
	if len(share) < 2 || len(share) > 7 {
		t.Errorf("%v", share)
	}
	for u := 67; u <= 100; u++ {
		if kept := share.Kept(u).Variance() * float64(u-33); kept < 3600 || kept > 1.6*3600 {
			t.Errorf("%d sites carry %v of 3600", u, kept)
		}
	}
}

// TestKept: a part goes exactly from the sums over more than Most sites.
func TestKept(t *testing.T) {
	share := Share{{9, 5000}, {8, 6000}, {6, 7000}}
	for u, want := range map[int]int{1: 3, 6: 3, 7: 2, 8: 2, 9: 1} {
		if got := share.Kept(u); len(got) != want {
			t.Errorf("%d sites keep %v", u, got)
		}
	}
	if got := fmt.Sprint(share.Carried(4, 1)); got != "[{[{9 5000}] 8} {[{9 5000} {8 6000}] 6} {[{9 5000} {8 6000} {6 7000}] 3}]" {
		t.Error(got)
	}
	if got := share.Variance() * sigmaStep * sigmaStep; got != 110e6 {
		t.Error(got)
	}
}

// unequal are sums of parts of more than one width, narrow enough for τ to matter.
var unequal = []Carried{
	{Share{{3, 512}, {2, 700}}, 1}, {Share{{3, 700}, {2, 512}}, 2}, {Share{{4, 600}, {3, 520}, {2, 900}}, 2},
	{Share{{5, 1024}, {4, 512}}, 3}, {Share{{9, 512}, {8, 1500}}, 4}, {Share{{9, 540}, {8, 512}, {7, 512}}, 3},
}

// TestUnequalPartsAreCovered: the exact law of a sum of parts of several widths varies against the
// discrete Gaussian of its variance by at most τ/2, no term of τ can be missing, and the charge
// covers the true divergence from its own shift, which the variance alone does not.
func TestUnequalPartsAreCovered(t *testing.T) {
	fails := 0
	for _, s := range unequal {
		law := logLaw(s, 200)
		variance, low, high := float64(s.Honest)*s.Kept.Variance(), math.Inf(1), math.Inf(-1)
		for z := -40; z <= 40; z++ {
			h := law[z+200] + float64(z*z)/(2*variance)
			low, high = min(low, h), max(high, h)
		}
		if tau := closeness(s); high-low > tau/2 || high-low < tau/200 {
			t.Errorf("%v: varies by %v, τ = %v", s, high-low, tau)
		}
		for delta := 1; delta <= 3; delta++ {
			truth := trueRho(law, delta)
			for _, d := range []int{1, 100, 10_000} {
				all, step := float64(d)*truth, float64(delta)*math.Sqrt(float64(d))
				if charge := DistributedRho(step, s, d); charge < all*(1-1e-9) {
					t.Errorf("%v, Δ = %d in %d coordinates: charged %v, costs %v", s, delta, d, charge, all)
				}
				if step*step/(2*variance) < all*(1-1e-4) {
					fails++
				}
			}
		}
	}
	if fails < 10 {
		t.Errorf("%d cases need τ", fails)
	}
	// By hand, one site's two parts: 10·exp(-2π²·A·v/(A+v)), A = 1, v = 1/4; and two sites', A = 1,
	// 2 and 9/4 next.
	x := func(a, v float64) float64 { return 10 * math.Exp(-2*math.Pi*math.Pi*a*v/(a+v)) }
	for _, c := range []struct {
		s    Carried
		want float64
	}{
		{Carried{Share{{2, 1024}, {1, 512}}, 1}, x(1, 0.25)},
		{Carried{Share{{2, 1024}, {1, 512}}, 2}, x(1, 1) + x(2, 0.25) + x(2.25, 0.25)},
	} {
		if got := closeness(c.s); got < c.want || got > c.want*(1+1e-8) {
			t.Errorf("%v: τ = %v, want %v, not less", c.s, got, c.want)
		}
	}
}

// TestWideUnequalPartsCostTheirVariance: what NewShare makes, but where parts are narrow, costs
// what one discrete Gaussian of the variance costs.
func TestWideUnequalPartsCostTheirVariance(t *testing.T) {
	share, err := NewShare(1<<30, 67, 100, 33)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range share.Carried(67, 33) {
		want := RhoOf(1e6, math.Sqrt(float64(s.Honest)*s.Kept.Variance()))
		if got := DistributedRho(1e6, s, 1000); got < want*(1-1e-13) || got > want*(1+1e-12) {
			t.Errorf("%v: ρ = %v, want %v", s, got, want)
		}
		if most := RhoOf(1e6, Sigma(1<<30).Float()); want > most*(1+1e-14) || want < most/1.002 {
			t.Errorf("%v: ρ = %v of the plan's %v", s, want, most)
		}
		if kappa := BridgeKappa(1_000_000, s); kappa > MaxKappa {
			t.Errorf("%v: K = %v", s, kappa)
		}
	}
}

// TestWhatStaysHasTheVariance: shares of ten sites, seeded, with every part that the others' keys
// take away gone: of each number u of survivors the sum of any u-3 of them has the variance that
// their parts say, at least σ² and at most 1.1 of it, and what is taken away is gone to the last
// bit. Of 10,000 values each variance is within 5.5 standard deviations (false-reject 4e-8 each).
func TestWhatStaysHasTheVariance(t *testing.T) {
	const n, sites, apart, least = 10_000, 10, 3, 7
	total := Sigma(200 * sigmaStep)
	share, err := NewShare(total, least, sites, apart)
	if err != nil {
		t.Fatal(err)
	}
	if len(share) != 4 {
		t.Fatalf("%v", share)
	}
	source, keys := seeded("what stays"), make([][][32]byte, sites)
	for i := range keys {
		keys[i] = make([][32]byte, len(share))
		for k := range keys[i] {
			if _, err := io.ReadFull(source, keys[i][k][:]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for u := least; u <= sites; u++ {
		kept := len(share.Kept(u))
		sum, want := make([]uint64, n), make([]uint64, n)
		for i := sites - u; i < sites-apart; i++ { // u-apart of the survivors
			if err := share.Add(sum, keys[i]); err != nil {
				t.Fatal(err)
			}
		}
		all := slices.Clone(sum)
		for i := sites - u; i < sites-apart; i++ {
			if err := share.Removable(u).Subtract(sum, keys[i][kept:]); err != nil {
				t.Fatal(err)
			}
			if err := share.Kept(u).Add(want, keys[i][:kept]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(sum, want) || (kept < len(share)) == slices.Equal(sum, all) {
			t.Fatalf("%d survivors: not what is kept", u)
		}
		variance := 0.0
		for _, v := range sum {
			variance += float64(int64(v)) * float64(int64(v)) / n
		}
		of := variance / (total.Float() * total.Float())
		if slack := 5.5 * math.Sqrt(2.0/n); of < 1-slack || of > 1.1*(1+slack) {
			t.Errorf("%d survivors: %v of σ²", u, of)
		}
	}
	if err := share.Add(make([]uint64, 1), keys[0][:1]); err == nil {
		t.Error("a share was added of which keys are missing")
	}
}

// BenchmarkShare is what 1,000 values cost a site of 100, and the coordinator where 90 of them are
// in a sum: drawing each survivor's removable parts again.
func BenchmarkShare(b *testing.B) {
	share, err := NewShare(1<<30, 67, 100, 33)
	if err != nil {
		b.Fatal(err)
	}
	v := make([]uint64, 1000)
	for name, c := range map[string]struct {
		share Share
		times int
	}{"a site": {share, 1}, "a site that waits for all": {share[:1], 1}, "a sum over 90": {share.Removable(90), 90}} {
		b.Run(name, func(b *testing.B) {
			keys := make([][32]byte, len(c.share))
			for b.Loop() {
				for range c.times {
					if err := c.share.Add(v, keys); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
