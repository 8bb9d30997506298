package study

import (
	"math"

	"covey/internal/noise"
	"covey/internal/proposal"
)

// charge sets a query's noise and its ρ; multiplier is σ/Δ of a query that takes the whole budget.
// The charge of σ = Multiplier·Δ falls with Δ, if at all, and so is that of the least Δ that any
// radius makes; rounding σ up to its grid (noise.Sigma) only lowers the true one.
func (p *Plan) charge(q *Query, multiplier float64) error {
	q.Multiplier = multiplier / math.Sqrt(q.share)
	q.Rho = noise.RhoOf(1, q.Multiplier)
	if p.chooses(*q) {
		e, err := p.Curve().SelectEpsilon(q.Rho)
		if err != nil {
			return err
		}
		q.Rho = p.Curve().SelectRho(e)
		return nil
	}
	least := p.Sensitivity(*q, 1)
	if p.Curve() == noise.GDP {
		q.Multiplier = noise.BridgeMultiplier(q.Rho, least) * (1 + 2*sigmaTolerance)
		// of the least σ that agents take: no more than was bought
		q.Rho = max(q.Rho, noise.BridgeRho(least, q.Multiplier*least*(1-sigmaTolerance)))
	}
	if p.Honest == 0 {
		return p.bridged(noise.BridgeKappa(q.Values, noise.Carried{}), 0)
	}
	// The sum of shares is only close to the law; how close depends on σ in grid steps.
	sigma, err := p.Sigma(*q, 1)
	if err != nil {
		return err
	}
	share, err := p.Share(sigma)
	if err != nil {
		return err
	}
	// Whatever the number of survivors turns out to be.
	kappa := 0.0
	for _, carried := range share.Carried(p.Thresholds.MinSurvivors, p.apart()) {
		q.Rho = max(q.Rho, noise.DistributedRho(least, carried, q.Values))
		kappa = max(kappa, noise.BridgeKappa(q.Values, carried))
	}
	return p.bridged(kappa, share[0].Sigma)
}

// bridged refuses a query whose K is too large for the Gaussian's curve.
func (p *Plan) bridged(kappa float64, share noise.Sigma) error {
	if p.Curve() == noise.GDP && !(kappa <= noise.MaxKappa) {
		return proposal.FieldErrorf("accountant", `"gdp" needs wider shares of noise than %.3g of a count's grid steps: use "zcdp"`, share.Float())
	}
	return nil
}

// Share is what each site adds of distributed noise of parameter total, and what of it is taken
// away again by the number of survivors (docs/privacy.md): one part where a sum waits for all.
func (p *Plan) Share(total noise.Sigma) (noise.Share, error) {
	return noise.NewShare(total, p.Thresholds.MinSurvivors, p.Thresholds.Sites, p.apart())
}

// Removable is what is taken away again of the share of each of so many survivors; nothing where
// noise is central.
func (p *Plan) Removable(total noise.Sigma, survivors int) (noise.Share, error) {
	if !p.Removes() {
		return nil, nil
	}
	share, err := p.Share(total)
	return share.Removable(survivors), err
}

// Removes reports whether part of the sites' noise is taken away again once it is known how many
// are in a sum.
func (p *Plan) Removes() bool { return p.Honest > 0 && p.Thresholds.MinSurvivors < p.Thresholds.Sites }

// apart is how many of the sites in a sum know their own shares of its noise: the corrupt, or one.
func (p *Plan) apart() int { return max(p.Thresholds.Corrupt, 1) }
