package study

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/test/texts"
)

// Of plans of any options: what each query really costs, worked out anew in 300 bits from the noise
// that the sampler is given and from docs/privacy.md's table of sensitivities at a radius of the
// leader's choice, is no more than its charge; and what every course of a study costs, with what
// the release checks may refuse, is no more than its (ε, δ). A population's budget of the
// same (ε, δ) has room for it.
func TestAnyPlanKeepsItsEpsilon(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	plans, auto, distributed, gdp, learning, mixed, pictures := 0, 0, 0, 0, 0, 0, 0
	for range 1200 {
		s := anySpec(rng)
		var p *Plan
		body, err := proposal.Propose(s, anyRoster(rng), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
		if err == nil {
			p, err = NewPlan(body)
		}
		if err != nil { // too few groups, two options that do not go together
			if strings.Contains(err.Error(), "the charges add up to") {
				t.Errorf("a budget is split into more than it is: %v: %+v", err, s)
			}
			continue
		}
		plans++
		s = p.Proposal.Spec
		if room, err := p.Curve().BudgetRho(s.Epsilon, s.Delta); err != nil || p.Rho > room || p.Rho < room*(1-1e-9) && p.Honest > 0 {
			t.Errorf("a population's budget of (%v, %v) holds ρ = %v, %v, its study takes %v: %+v", s.Epsilon, s.Delta, room, err, p.Rho, s)
		}
		cost, queries := map[string]*big.Float{"": exact(0), proposal.MethodPower: exact(0), proposal.MethodCovariance: exact(0)}, map[string]int{}
		refused := map[string]float64{}
		for _, q := range p.Queries {
			rho := trueRho(t, rng, p, q)
			if rho.Cmp(exact(q.Rho*(1+1e-13))) > 0 {
				t.Errorf("%s of %s costs %v and is charged %v: %+v", q.Kind, q.Of, rho, q.Rho, s)
			}
			cost[q.Branch].Add(cost[q.Branch], rho)
			queries[q.Branch]++
			if one, _ := rho.Float64(); s.Noise == proposal.NoiseCentral && !p.Noise.Chooses(p.Queries[q.Index]) {
				refused[q.Branch] += math.Exp(-math.Pow(math.Sqrt(64*math.Ln2)-math.Sqrt(one), 2))
			}
		}
		for _, branch := range []string{proposal.MethodPower, proposal.MethodCovariance} {
			rho, _ := new(big.Float).Add(cost[""], cost[branch]).Float64()
			if rho > p.Rho*(1+1e-13) {
				t.Errorf("a course costs %v, the ledger reserves %v: %+v", rho, p.Rho, s)
			}
			delta := s.Delta - refused[""] - refused[branch]
			if e, err := p.Curve().Epsilon(rho*(1+1e-15), delta); err != nil || e > s.Epsilon {
				t.Errorf("a course has ε = %v, %v: %+v", e, err, s)
			}
		}
		if queries[proposal.MethodPower] > 0 && queries[proposal.MethodCovariance] > 0 {
			auto++
		}
		if s.Noise == proposal.NoiseDistributed {
			distributed++
		}
		if s.Standardizes() {
			learning++
			if s.Leveled() > 0 {
				mixed++
			}
		}
		if s.Accountant == proposal.AccountantGDP {
			gdp++
		}
		if s.Picture {
			pictures++
		}
	}
	if pictures < 50 || plans < 250 || auto < 50 || distributed < 100 || gdp < 100 || gdp > plans-50 || learning < 30 || mixed < 5 {
		t.Errorf("%d plans, %d with two courses, %d with distributed noise, %d by the bridge, %d that learn constants, %d of them with levels, %d with pictures are too few", plans, auto, distributed, gdp, learning, mixed, pictures)
	}
	t.Logf("figure: %d plans, %d with two courses, %d with distributed noise, %d by the bridge, %d that learn constants, %d of them with levels, %d with pictures", plans, auto, distributed, gdp, learning, mixed, pictures)
}

// trueRho is the cost of a query at some radius that agents accept.
func trueRho(t *testing.T, rng *rand.Rand, p *Plan, q Query) *big.Float {
	t.Helper()
	radius, public := p.publicRadius(q.Kind)
	if !public && !q.Kind.Definition().Counts {
		radius = math.Exp2(rng.Float64()*120 - 60)
		if rng.IntN(3) == 0 {
			radius = math.Ldexp(1, rng.IntN(120)-60) // the coarsest grid
		}
	}
	sigma, err := p.Noise.Sigma(q, radius)
	if err != nil {
		t.Fatal(err)
	}
	if q.Kind == KindSelect && p.Proposal.Spec.Noise == proposal.NoiseCentral {
		e, err := p.SelectEpsilon(q.Index)
		if err != nil {
			t.Fatal(err)
		}
		// the range of scores that so many units change
		e.Mul(e, big.NewRat(int64(max(1, p.Proposal.Spec.SitesPerUnit)), 1))
		square := new(big.Rat).Mul(e, e)
		rho := new(big.Float).SetPrec(300).SetRat(square.Mul(square, big.NewRat(1, 8)))
		if p.Proposal.Spec.Accountant == proposal.AccountantGDP {
			rho.Mul(rho, exact(math.Pi/2)) // π to 10^-16, and the charge has it rounded up by 10^-7
		}
		return rho
	}
	values := float64(q.Values)
	delta := root(2) // of counts
	numbers := 0.0   // columns of them
	for _, c := range p.Proposal.Spec.Columns {
		if len(c.Levels) == 0 {
			numbers++
		}
	}
	switch {
	case q.Kind == KindOctaves: // √(2·levels) for each number, on a grid of 2^-16
		delta = root(2 * float64(len(query.OctaveLevels)) * numbers)
		delta.Mul(delta, exact(0x1p16))
	case q.Kind == KindTree:
		delta = root(2 * float64(len(query.TreeLevels)) * numbers)
		delta.Mul(delta, exact(0x1p16))
	case q.Kind == KindLevels:
		delta = root(2 * values / 65)
		delta.Mul(delta, exact(0x1p16))
	case q.Kind == KindScores: // √2 for each component
		delta = root(2 * float64(p.Proposal.Spec.Components))
		delta.Mul(delta, exact(0x1p16))
	case q.Kind == KindPicture: // √2, however many groups there are
		delta.Mul(delta, exact(0x1p16))
	case q.Kind == KindMoments: // √(28 d), and a rounding of each of 2d numbers; levels are zeros
		of := min(3*numbers, float64(p.D))
		delta = root(28 * of)
		delta.Add(delta.Mul(delta, exact(0x1p16)), root(2*of))
	case q.Kind.Definition().Counts:
		delta.Quo(delta, exact(countGrid))
	default:
		_, e := math.Frexp(radius)
		ratio := exact(math.Ldexp(radius, 17-e)) // R/g in [2^16, 2^17)
		switch {
		case q.Kind == KindTotal, q.Kind == KindRows, values == 1 && (q.Kind == KindMoment || q.Kind == KindVariance):
			delta.Add(ratio, exact(1))
		case q.Kind == KindMoment, q.Kind == KindVariance:
			delta.Add(delta.Mul(delta, ratio), root(values))
		default:
			delta.Add(delta.Mul(ratio, exact(2)), root(values))
		}
	}
	// one unit at each of so many sites
	delta.Mul(delta, exact(float64(max(1, p.Proposal.Spec.SitesPerUnit))))
	square := func(s noise.Sigma) *big.Float { return new(big.Float).SetPrec(300).SetRat(s.Squared()) }
	rho := func(variance *big.Float) *big.Float {
		out := exact(0).Mul(delta, delta)
		return out.Quo(out.Quo(out, variance), exact(2))
	}
	bridged := func(variance *big.Float) *big.Float { // r = 4
		return rho(exact(0).Sub(variance, exact(16)))
	}
	gdp := p.Proposal.Spec.Accountant == proposal.AccountantGDP
	if p.Proposal.Spec.Noise == proposal.NoiseCentral {
		// the least that agents take
		if least := exact(sigma.Float() * (1 - 1e-9)); gdp {
			return bridged(least.Mul(least, least))
		}
		return rho(square(sigma))
	}
	least := p.Thresholds.MinSurvivors
	if p.Proposal.Spec.OnDropout == proposal.DropoutWait {
		least = len(p.Proposal.Roster)
	}
	share, err := p.Noise.Share(sigma)
	if err != nil {
		t.Fatal(err)
	}
	worst := exact(0)
	for u := least; u <= len(p.Proposal.Roster); u++ {
		honest := u - max(p.Thresholds.Corrupt, 1)
		together, one, tau := exact(0), exact(0), 0.0
		before := 0.0
		for _, part := range share {
			if part.Most < u {
				continue // taken away
			}
			if one.Cmp(square(part.Sigma)) < 0 {
				one = square(part.Sigma)
			}
			for range honest {
				// Kairouz, Liu, Steinke 2021, theorem 1, of unequal variances
				v := part.Sigma.Float() * part.Sigma.Float()
				if before > 0 {
					tau += 10 * math.Exp(-2*math.Pi*math.Pi*before*v/(before+v))
				}
				before += v
				together.Add(together, square(part.Sigma))
			}
		}
		if together.Cmp(square(sigma)) < 0 {
			t.Errorf("%d of %d sites: %v is less than %v", u, len(p.Proposal.Roster), share, sigma.Float())
		}
		out := rho(together)
		if gdp {
			if k := values * (tau/2 + 5*math.Exp(-32*math.Pi*math.Pi)); k > 0x1p-120 {
				t.Errorf("K = %v of one query: %+v", k, p.Proposal.Spec)
			}
			out = bridged(together.Mul(together, exact(1-2e-9)))
		} else {
			out.Add(out, exact(tau*values))
			if alone := rho(one); alone.Cmp(out) < 0 {
				out = alone
			}
		}
		if worst.Cmp(out) < 0 {
			worst = out
		}
	}
	return worst
}

func exact(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }

func root(v float64) *big.Float { return exact(0).Sqrt(exact(v)) }

// anySpec draws every option that a budget depends on; many specs are refused.
func anySpec(rng *rand.Rand) proposal.Spec {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	s := proposal.Spec{
		Name: "any", Dataset: "rows", Epsilon: math.Exp(rng.Float64()*7 - 4.6), Delta: math.Exp(-rng.Float64()*25 - 2),
		Profile: pick(proposal.ProfilePractical, proposal.ProfilePractical, proposal.ProfilePaper), Method: pick(proposal.MethodPower, proposal.MethodCovariance, proposal.MethodAuto, proposal.MethodAuto), Subspace: pick("", "", proposal.SubspaceDeflation),
		Center: pick("", proposal.CenterPrivate, proposal.CenterPairs), Components: proposal.Components(1 + rng.IntN(3)), Rounds: 1 + rng.IntN(30), Noise: pick(proposal.NoiseCentral, proposal.NoiseDistributed),
		ExplainedVariance: pick("", proposal.VarianceNone), Schedule: pick("", proposal.ScheduleEven), Radius: proposal.Scalar(pick("", "", proposal.RadiusPaper, "3.7")),
		Accountant: pick("", "", proposal.AccountantZCDP), OnDropout: pick("", proposal.DropoutWait, proposal.DropoutContinue),
	}
	if s.Method == proposal.MethodAuto && rng.IntN(3) > 0 {
		s.Epsilon /= 1000 // public sizes decide where noise is small
	}
	if rng.IntN(3) == 0 {
		s.Unit = "who"
	}
	if rng.IntN(2) == 0 {
		s.SitesPerUnit = 1 + rng.IntN(6) // too many for some rosters
	}
	if s.Radius == proposal.RadiusPaper || s.Profile == proposal.ProfilePaper {
		s.Lambda = proposal.Scalar(pick("2", proposal.LambdaPrivate))
		if s.Lambda == proposal.LambdaPrivate && rng.IntN(2) == 0 {
			s.LambdaRange = []float64{0.01, 1000}
		}
	}
	for j := range 3 + rng.IntN(5) {
		s.Columns = append(s.Columns, proposal.Column{Name: fmt.Sprint("c", j), Scale: 1})
	}
	if rng.IntN(3) == 0 && s.Center != proposal.CenterPairs {
		s.Standardize, s.CentralDetail = proposal.StandardizePrivate, s.Noise == proposal.NoiseCentral
		for j := range s.Columns[rng.IntN(2):] { // some studies know one
			s.Columns[j].Scale = 0
		}
	}
	if rng.IntN(6) == 0 {
		for j := range 1 + rng.IntN(2) {
			s.Columns[j].Levels = []string{"a", "b", "c"}[:1+rng.IntN(3)]
		}
		s.CentralDetail = s.Noise == proposal.NoiseCentral
	}
	if rng.IntN(3) == 0 && s.Center != proposal.CenterPairs {
		s.Picture, s.PictureShare, s.Components, s.ExplainedVariance = true, 0.2*rng.Float64(), max(2, s.Components), proposal.VariancePrivate
		if s.Components == 3 {
			s.PicturePairs = [][]int{{1, 2}, {3, 1}, {2, 3}}[:1+rng.IntN(3)]
		}
		switch {
		case s.Columns[0].Levels != nil:
			s.PictureBy, s.PictureColumn = proposal.PictureByColumn, s.Columns[0].Name
		case s.Noise == proposal.NoiseDistributed && rng.IntN(2) == 0:
			s.PictureBy = proposal.PictureBySite
		}
	}
	return s
}

func anyRoster(rng *rand.Rand) []proposal.Member {
	units := make([]int, 2+rng.IntN(12))
	for i := range units {
		units[i] = 1 + rng.IntN(1<<(4+rng.IntN(14)))
	}
	return texts.Roster(units...)
}
