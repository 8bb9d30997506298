package study

import (
	"cmp"
	"math"
	"slices"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/secagg"
	"covey/internal/standardize"
)

// HistogramBins is the number of bins of a histogram ([query.HistogramBins]).
const HistogramBins = query.HistogramBins

// radiusRounds are the rounds before which a private radius is refreshed
// (docs/experiments.md).
var radiusRounds = []int{0, 1, 2, 4, 7}

// Kind is what a query asks for: a row of the table of package query.
type Kind = query.Kind

// The kinds of query.
const (
	KindPower     = query.Power
	KindHistogram = query.Histogram
	KindMean      = query.Mean
	KindMoment    = query.Moment
	KindVariance  = query.Variance
	KindTotal     = query.Total
	KindRows      = query.Rows
	KindLambda    = query.Lambda
	KindSelect    = query.Select
	KindOctaves   = query.Octaves
	KindTree      = query.Tree
	KindMoments   = query.Moments
	KindFilled    = query.Filled
	KindLevels    = query.Levels
	KindScores    = query.Scores
	KindPicture   = query.Picture
)

// Parts of the budget that no key of study.toml sets.
const (
	rowsShare     = 0.015 // kept rows per unit: a third finds the bound, where a unit is not a row
	histogramPart = 0.2   // of what a mean or a variance costs, to find its bound
	totalPart     = 0.25  // of what explained variance costs, for the total
)

// radius_share and bound_share of many units, where the proposal leaves them to their number.
const (
	radiusShare = 0.04
	boundShare  = 0.01
	fewUnits    = 4000
)

// boundShare is the part of the budget that a private norm bound takes. Few units need more, to
// show two peaks of their lengths; where noise limits a covariance they cannot spare it.
func (p *planner) boundShare() float64 {
	switch s := p.Proposal.Spec; {
	case s.BoundShare > 0:
		return s.BoundShare
	case p.N < 2*fewUnits && p.Iota <= iotaEnough:
		return proposal.BoundShareFew
	default:
		return boundShare
	}
}

// radiusShare is the part of the budget that private radii take.
func (p *planner) radiusShare() float64 {
	switch s := p.Proposal.Spec; {
	case s.RadiusShare > 0:
		return s.RadiusShare
	case p.N < fewUnits:
		return proposal.RadiusShareFew
	default:
		return radiusShare
	}
}

// Query is one planned private sum.
type Query struct {
	Index int  `json:"index"`
	Kind  Kind `json:"kind"`
	// Of is whose norms a histogram counts.
	Of Kind `json:"of,omitempty"`
	// t; a histogram of round t comes just before its power step. Of pictures it counts the pairs.
	Round int `json:"round"`
	// Run counts power runs: the component that deflation is looking for.
	Run int `json:"run,omitempty"`
	// Branch is MethodPower or MethodCovariance where method = "auto" asks one of the
	// two, empty where it is asked in any case: also what it asks before it decides.
	Branch string  `json:"branch,omitempty"`
	Rho    float64 `json:"rho"` // charge, in the ρ of Plan.Curve
	// Multiplier is σ/Δ: the noise for sensitivity one.
	Multiplier float64 `json:"multiplier"`
	Values     int     `json:"values"` // numbers in the sum
	Lanes      int     `json:"lanes"`  // with the noise lanes of docs/privacy.md
	Bytes      int     `json:"bytes"`  // of one masked upload

	share float64 // of the budget
}

// sum is the kind of sum that is asked for, or whose norms a histogram counts.
func (q Query) sum() Kind { return cmp.Or(q.Of, q.Kind) }

// setQueries lists the queries and splits the budget over them.
func (p *planner) setQueries() error {
	s := p.Proposal.Spec
	if n := p.D * p.block; n > proposal.MaxValues && p.Method.Name != proposal.MethodCovariance {
		return proposal.FieldErrorf("components", "a power step has at most %d numbers, %s and %d components have %d", proposal.MaxValues, proposal.ColumnsText(len(s.Columns), p.D), p.block, n)
	}
	if p.D > proposal.MaxCovariance && p.Method.Name != proposal.MethodPower {
		return proposal.FieldErrorf("method", "the covariance of more than %d columns is not asked for, there are %s", proposal.MaxCovariance, proposal.ColumnsText(len(s.Columns), p.D))
	}
	if n := p.values(Query{Kind: KindPicture}); s.Picture && n > proposal.MaxValues {
		return proposal.FieldErrorf("picture_by", "a picture has at most %d numbers, one of %d sites has %d", proposal.MaxValues, p.Thresholds.Sites, n)
	}
	left := 1.0
	buy := func(q Query, share float64) {
		q.share = share
		left -= share
		p.Queries = append(p.Queries, q)
	}
	if s.KeepsGaps() {
		buy(Query{Kind: KindFilled}, p.filledShare())
	}
	if p.countsRows() {
		if s.Unit != "" {
			buy(Query{Kind: KindHistogram, Of: KindRows}, rowsShare/3)
		}
		buy(Query{Kind: KindRows}, rowsShare*2/3)
	}
	if share := p.levelsShare(); share > 0 {
		buy(Query{Kind: KindLevels}, share)
	}
	if s.Center == proposal.CenterPrivate && !s.Standardizes() {
		for step := range KindMean.Definition().Steps {
			buy(Query{Kind: KindHistogram, Of: KindMean, Round: step}, s.CenterShare/2*histogramPart)
			buy(Query{Kind: KindMean, Round: step}, s.CenterShare/2*(1-histogramPart))
		}
	}
	if shares := p.Learning.shares; s.Standardizes() {
		buy(Query{Kind: KindOctaves}, shares.Octaves)
		buy(Query{Kind: KindTree}, shares.Tree)
		for step := range standardize.MomentRounds {
			buy(Query{Kind: KindMoments, Round: step}, shares.Moments)
		}
	}
	if s.Lambda == proposal.LambdaPrivate {
		q := Query{Kind: KindLambda}
		if s.LambdaRange != nil {
			q.Kind = KindSelect
		}
		buy(q, s.LambdaShare)
	}
	if p.Method.Name != proposal.MethodPower && s.NormBound == proposal.BoundPrivate {
		buy(Query{Kind: KindHistogram, Of: KindTotal}, p.boundShare())
	}
	last := append(p.varianceQueries(), p.pictureQueries()...)
	for _, q := range last {
		left -= q.share
	}
	p.addMethods(left)
	p.Queries = append(p.Queries, last...)
	multiplier, err := p.multiplier()
	if err != nil {
		return err
	}
	for i := range p.Queries {
		p.Queries[i].Index = i
		p.Queries[i].Values = p.values(p.Queries[i])
		if err := p.charge(&p.Queries[i], multiplier); err != nil {
			return err
		}
		if q := p.Queries[i]; q.Kind == KindLambda || q.Kind == KindSelect {
			if err := p.setGroups(q); err != nil {
				return err
			}
		}
	}
	return p.setSlots()
}

// addMethods adds the queries that find the components, with left of the budget.
func (p *planner) addMethods(left float64) {
	s := p.Proposal.Spec
	auto := p.Method.Name == proposal.MethodAuto
	var histograms int
	for t := range p.Rounds {
		if slices.Contains(radiusRounds, t) {
			histograms += p.Runs
		}
	}
	first := 0.0 // what auto asks for before it decides
	if p.Method.Name != proposal.MethodCovariance {
		steps, radius := left, 0.0
		if s.Radius == proposal.RadiusPrivate {
			steps, radius = left-p.radiusShare(), p.radiusShare()/float64(histograms)
		}
		for run := range p.Runs {
			for t := range p.Rounds {
				if radius > 0 && slices.Contains(radiusRounds, t) {
					p.Queries = append(p.Queries, Query{Kind: KindHistogram, Of: KindPower, Round: t, Run: run, share: radius})
				}
				p.Queries = append(p.Queries, Query{Kind: KindPower, Round: t, Run: run, share: steps / float64(p.Runs) * stepShare(s.Schedule, t, p.Rounds)})
			}
		}
	}
	if auto {
		decided := false
		for i := range p.Queries {
			q := &p.Queries[i]
			if decided {
				q.Branch = proposal.MethodPower
			} else if q.Kind == KindPower || q.Of == KindPower {
				first += q.share
				decided = q.Of == KindPower && q.Round == p.Method.round
			}
		}
	}
	if p.Method.Name != proposal.MethodPower {
		for part, share := range p.parts().shares {
			q := Query{Kind: KindMoment, Round: part, share: (left - first) * share}
			if auto {
				q.Branch = proposal.MethodCovariance
			}
			p.Queries = append(p.Queries, q)
		}
	}
}

// stepShare is the part of a run's budget for power steps that round t takes.
func stepShare(schedule string, t, rounds int) float64 {
	if schedule == proposal.ScheduleRising {
		return float64(t+1) / float64(rounds*(rounds+1)/2)
	}
	return 1 / float64(rounds)
}

// varianceQueries are those of explained variance, after which come pictures alone.
func (p *planner) varianceQueries() []Query {
	s := p.Proposal.Spec
	if s.ExplainedVariance != proposal.VariancePrivate {
		return nil
	}
	total, mine := s.VarianceShare*totalPart, s.VarianceShare*(1-totalPart)
	out := []Query{
		{Kind: KindHistogram, Of: KindVariance, share: mine * histogramPart},
		{Kind: KindVariance, share: mine * (1 - histogramPart)},
	}
	if p.Method.Name == proposal.MethodPower || s.NormBound != proposal.BoundPrivate { // else its histogram is there
		out = append(out, Query{Kind: KindHistogram, Of: KindTotal, share: total * histogramPart})
		total *= 1 - histogramPart
	}
	return append(out, Query{Kind: KindTotal, share: total})
}

// values is how many numbers a query's sum has.
func (p *planner) values(q Query) int {
	switch q.Kind {
	case KindSelect:
		lo, hi := p.GroupBins(KindSelect)
		return hi - lo + 1
	case KindFilled:
		return len(p.Proposal.Spec.Columns)
	case KindLevels:
		return query.LevelBins * p.Proposal.Spec.Leveled()
	case KindPicture:
		return query.PictureBins * query.PictureBins * len(p.Pictures.Groups)
	case KindOctaves, KindTree, KindMoments:
		return q.Kind.Definition().Values(len(p.Layout.Single(q.Kind)), 0)
	}
	return q.Kind.Definition().Values(p.D, p.columns(q))
}

// Curve is how the charges of the plan, and so of any set of its queries, become (ε, δ): what a
// ledger keeps with them. Those of accountant = "paper" are ρ of zCDP.
func (p *Plan) Curve() noise.Curve {
	if p.Proposal.Spec.Accountant == proposal.AccountantGDP {
		return noise.GDP
	}
	return noise.ZCDP
}

// sigmaTolerance is how far below the plan's an agent takes a σ: both sides compute it by one
// formula, and another processor may round the last bit of its float part differently.
const sigmaTolerance = 1e-9

// charge sets a query's noise and its ρ; multiplier is σ/Δ of a query that takes the whole budget.
// The charge of σ = Multiplier·Δ falls with Δ, if at all, and so is that of the least Δ that any
// radius makes; rounding σ up to its grid (noise.Sigma) only lowers the true one.
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

// checkNoise refuses a plan of which a query may be due and could never be asked: σ in grid steps
// grows with R/g, which is below 2^17.
func (p *planner) checkNoise() error {
	for _, q := range p.Queries {
		if _, err := p.sigma(q, math.Nextafter(2, 1)); err != nil {
			return err
		}
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

// bridged refuses a query whose K is too large for the Gaussian's curve.
func (p *planner) bridged(kappa float64, share noise.Sigma) error {
	if p.Curve() == noise.GDP && !(kappa <= noise.MaxKappa) {
		return proposal.FieldErrorf("accountant", `"gdp" needs wider shares of noise than %.3g of a count's grid steps: use "zcdp"`, share.Float())
	}
	return nil
}

// setSlots adds the charges up and counts slots: of two branches, the longer.
func (p *planner) setSlots() error {
	queries := p.Queries.Left(0)
	p.Rho = most(p.Queries, func(q Query) float64 { return q.Rho })
	spare := p.Proposal.Spec.SpareSlots
	waits := p.Proposal.Spec.Waits() // and gives no slot up
	if spare == 0 && !waits {
		spare = max(4, queries/4)
	}
	p.Slots = queries + spare
	if p.Slots > proposal.MaxSlots {
		return proposal.FieldErrorf("spare_slots", "%d queries and %d spare slots are more than %d", queries, spare, proposal.MaxSlots)
	}
	if err := setupFits(p.Thresholds, p.Slots); err != nil {
		return err
	}
	// What the closeness of distributed noise adds must not push the sum over.
	if s := p.Proposal.Spec; s.Accountant != proposal.AccountantPaper {
		if most, err := p.allowed(); err != nil || p.Rho > most {
			return proposal.FieldErrorf("noise", "the charges add up to ρ = %.15g, epsilon and delta allow %.15g", p.Rho, most)
		}
	}
	return nil
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
	if rho == 0 {
		return 0, proposal.FieldErrorf("delta", "must be above %.2g, what the checks of %d releases take of it, got %g", p.refusals(0), len(p.Queries), s.Delta)
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

// refusals is what the checks of releases cost of δ where all queries, both branches of auto, are
// charged rho together: each by its own part of it (docs/privacy.md). A choice is not checked, and
// nobody can check a sum of distributed shares.
func (p *planner) refusals(rho float64) float64 {
	sum := 0.0
	for _, q := range p.Queries {
		if p.Honest == 0 && !p.Noise.Chooses(q) {
			sum += noise.RefusedByNeighbor(q.share * rho)
		}
	}
	return sum
}

// setRing chooses the narrowest ring that holds n units' vectors plus 40σ.
func (p *planner) setRing() error {
	need := 0.0
	for _, q := range p.Queries {
		// A radius that is not known yet: Grid keeps R/g below 2^17.
		per, sensitivity := 0x1p17+math.Sqrt(float64(q.Values)), 2*0x1p17+math.Sqrt(float64(q.Values))
		if q.Kind == KindPower && p.Radius > 0 {
			ratio := p.Radius / Grid(p.Radius)
			per, sensitivity = ratio+math.Sqrt(float64(q.Values)), 2*ratio+math.Sqrt(float64(q.Values))
		}
		switch def := q.Kind.Definition(); {
		case def.CountDelta != nil: // a unit's vector is no longer than Δ
			sensitivity = def.CountSensitivity(query.ColumnGrid, q.Values)
			per = sensitivity
		case def.Counts:
			per, sensitivity = 1/countGrid, query.HistogramSensitivity/countGrid
		}
		sigma := q.Multiplier * p.Noise.atSites(sensitivity)
		if p.Honest > 0 { // all parts of all sites' shares, where Honest of them would do
			sigma *= math.Sqrt(float64(p.Thresholds.Sites) / float64(p.Honest))
		}
		units := p.N
		if q.Kind == KindLevels {
			units = p.Proposal.Units()
		}
		need = max(need, float64(units)*per+40*sigma)
	}
	for _, bits := range secagg.Widths {
		if need < math.Ldexp(1, int(bits)-1) {
			p.Bits = bits
			break
		}
	}
	if p.Bits == 0 {
		return proposal.FieldErrorf("roster", "a ring of 64 bits cannot hold the sum: n(R/g+√d)+40σ is 2^%.1f, the bound 2^63", math.Log2(need))
	}
	for i := range p.Queries {
		q := &p.Queries[i]
		q.Lanes = q.Values
		if p.Honest == 0 {
			q.Lanes += secagg.NoiseLaneCount(p.Bits)
		}
		q.Bytes = q.Lanes * int(p.Bits) / 8
	}
	return nil
}
