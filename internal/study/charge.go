package study

import (
	"math"

	"covey/internal/noise"
	"covey/internal/proposal"
)

// sigmaTolerance is how far below the plan's an agent takes a σ: both sides compute it by one
// formula, and another processor may round the last bit of its float part differently.
const sigmaTolerance = 1e-9

// Curve is how the charges of the plan, and so of any set of its queries, become (ε, δ): what a
// ledger keeps with them. Those of accountant = "paper" are ρ of zCDP.
func (p *Plan) Curve() noise.Curve {
	if p.Proposal.Spec.Accountant == proposal.AccountantGDP {
		return noise.GDP
	}
	return noise.ZCDP
}

// charge sets a query's noise and its ρ; multiplier is σ/Δ of a query that takes the whole budget.
// The charge of σ = Multiplier·Δ does not grow with Δ, so it is computed for the least Δ that any
// radius makes. Rounding σ up to its grid (noise.Sigma) only lowers the true charge.
func (p *planner) charge(q *Query, multiplier float64) error {
	q.Multiplier = multiplier / math.Sqrt(q.share)
	q.Rho = noise.RhoOf(1, q.Multiplier)
	if p.Noise.Chooses(*q) {
		e, err := p.Curve().SelectEpsilon(q.Rho)
		if err != nil {
			return err
		}
		q.Rho = p.Curve().SelectRho(e)
		return nil
	}
	least := p.Noise.Sensitivity(*q, 1)
	if p.Curve() == noise.GDP {
		q.Multiplier = noise.BridgeMultiplier(q.Rho, least) * (1 + 2*sigmaTolerance)
		// of the least σ that agents take: no more than was bought
		q.Rho = max(q.Rho, noise.BridgeRho(least, q.Multiplier*least*(1-sigmaTolerance)))
	}
	if p.Honest == 0 {
		return p.bridged(noise.BridgeKappa(q.Values, noise.Carried{}), 0)
	}
	// The sum of shares is only close to the law; how close depends on σ in grid steps.
	sigma, err := p.sigma(*q, 1)
	if err != nil {
		return err
	}
	share, err := p.Noise.Share(sigma)
	if err != nil {
		return err
	}
	// Whatever the number of survivors turns out to be.
	kappa := 0.0
	for _, carried := range share.Carried(p.Thresholds.MinSurvivors, p.Noise.apart()) {
		q.Rho = max(q.Rho, noise.DistributedRho(least, carried, q.Values))
		kappa = max(kappa, noise.BridgeKappa(q.Values, carried))
	}
	return p.bridged(kappa, share[0].Sigma)
}

// multiplier returns σ/Δ of one query that takes the whole budget.
func (p *planner) multiplier() (float64, error) {
	s := p.Proposal.Spec
	if s.Accountant == proposal.AccountantPaper {
		// τ = 4R√(T ln(1/δ̄))/(nε) on the mean of T queries of sensitivity 2R/n
		// is σ = 2Δ√(T ln(1/δ̄))/ε on their sums; one query with the whole
		// budget has that without √T.
		return 2 * math.Sqrt(math.Log(1/p.Paper.DeltaBar)) / s.Epsilon, nil
	}
	rho, err := p.allowed()
	if err != nil {
		return 0, err
	}
	// The sum of the charges, each rounded upward, must stay within rho.
	rho *= 1 - 1e-12
	return noise.SigmaFor(rho, 1), nil
}

// allowed is the largest ρ that the charges may add up to: what epsilon and delta leave of it after
// this plan's refusals, and no more than a population's budget of the same epsilon and delta holds.
// That sets aside what more releases cost, so that without it the budget had no room for the study.
func (p *planner) allowed() (float64, error) {
	s := p.Proposal.Spec
	budget, err := p.Curve().BudgetRho(s.Epsilon, s.Delta)
	if err != nil {
		return 0, err
	}
	rho, err := p.Curve().RhoLess(s.Epsilon, s.Delta, p.refusals)
	return min(rho, budget), err
}

// refusals returns how much of δ the checks of releases cost, if all queries, of both branches of
// auto, are charged rho together: each query by its own part of rho (docs/privacy.md). A choice is
// not checked, and nobody can check a sum of distributed shares.
func (p *planner) refusals(rho float64) float64 {
	sum := 0.0
	for _, q := range p.Queries {
		if p.Honest == 0 && !p.Noise.Chooses(q) {
			sum += noise.RefusedByNeighbor(q.share * rho)
		}
	}
	return sum
}

// bridged refuses a query whose K is too large for the Gaussian's curve.
func (p *planner) bridged(kappa float64, share noise.Sigma) error {
	if p.Curve() == noise.GDP && !(kappa <= noise.MaxKappa) {
		return proposal.FieldErrorf("accountant", `"gdp" needs wider shares of noise than %.3g of a count's grid steps: use "zcdp"`, share.Float())
	}
	return nil
}

// sigma is a query's noise at a radius, and the field's error where it is too wide to be drawn.
func (p *planner) sigma(q Query, radius float64) (noise.Sigma, error) {
	sigma, err := p.Noise.Sigma(q, radius)
	if err != nil {
		return 0, proposal.FieldErrorf("epsilon", "%v is too small: noise of a query of kind %s would be over 2^52 grid steps wide", p.Proposal.Spec.Epsilon, q.Kind)
	}
	return sigma, nil
}

// checkNoise refuses a plan with a query that could come due and never be asked, because its noise
// is too large: σ in grid steps grows with R/g, which is below 2^17.
func (p *planner) checkNoise() error {
	for _, q := range p.Queries {
		if _, err := p.sigma(q, math.Nextafter(2, 1)); err != nil {
			return err
		}
	}
	return nil
}

// setSlots counts slots: of two branches, the longer.
func (p *planner) setSlots() error {
	queries := p.Queries.Left(0)
	spare := p.Proposal.Spec.SpareSlots
	waits := p.Proposal.Spec.Waits() // and gives no slot up
	if spare == 0 && !waits {
		spare = max(4, queries/4)
	}
	p.Slots = queries + spare
	if p.Slots > proposal.MaxSlots {
		return proposal.FieldErrorf("spare_slots", "%d queries and %d spare slots are more than %d", queries, spare, proposal.MaxSlots)
	}
	return setupFits(p.Thresholds, p.Slots)
}

// addCharges adds the charges up: of two branches, the larger sum.
func (p *planner) addCharges() error {
	p.Rho = most(p.Queries, func(q Query) float64 { return q.Rho })
	// What the closeness of distributed noise adds must not push the sum over.
	if s := p.Proposal.Spec; s.Accountant != proposal.AccountantPaper {
		if most, err := p.allowed(); err != nil || p.Rho > most {
			return proposal.FieldErrorf("noise", "the charges add up to ρ = %.15g, epsilon and delta allow %.15g", p.Rho, most)
		}
	}
	return nil
}
