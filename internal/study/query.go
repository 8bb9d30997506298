package study

import (
	"cmp"
	"slices"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/standardize"
)

// HistogramBins is the number of bins of a histogram ([query.HistogramBins]).
const HistogramBins = query.HistogramBins

// radiusRounds are the rounds before which a private radius is refreshed.
var radiusRounds = []int{0, 1, 2, 4, 7}

// Kind is the kind of a query: a row of the table in package query.
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
	if err := p.checkValues(); err != nil {
		return err
	}
	left := p.addFirst()
	last := append(p.varianceQueries(), p.pictureQueries()...)
	for _, q := range last {
		left -= q.share
	}
	if p.Method.Mixed {
		p.addMixed(left)
	} else {
		p.addMethods(left)
	}
	p.Queries = append(p.Queries, last...)
	if err := p.setSlots(); err != nil { // the checks of no more queries leave some of δ
		return err
	}
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
	return p.addCharges()
}

// checkValues refuses a study whose queries would sum more numbers than a message holds.
func (p *planner) checkValues() error {
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
	return nil
}

// addFirst adds the queries that come before those that find the components, in the order in which
// they are asked, and returns what they leave of the budget.
func (p *planner) addFirst() (left float64) {
	s := p.Proposal.Spec
	left = 1.0
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
	return left
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
