package study

import (
	"encoding/json"
	"fmt"
	"math"

	"covey/internal/layout"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/query"
)

// Plan is everything that both sides derive from a proposal.
type Plan struct {
	Proposal   proposal.Proposal   `json:"proposal"`
	Digest     proposal.Digest     `json:"digest"`
	Thresholds proposal.Thresholds `json:"thresholds"`
	// N is the units over all sites, each counted where it is: one at two sites is two.
	N int `json:"n"`
	// D is the coordinates of a row's vector.
	D      int           `json:"d"`
	Layout layout.Layout `json:"-"` // of them, D in all
	// K is the number of components that the plan is made for: with ComponentsAuto, the most that
	// there can be.
	K int `json:"-"`
	// Runs is how many power runs find the components, block of them each: k with deflation, else
	// one.
	Runs  int `json:"-"`
	block int
	// SitesPerUnit is at how many sites a unit may be.
	SitesPerUnit int `json:"-"`
	Rounds       int `json:"rounds"` // T
	// Iota is the noise of a covariance with the whole budget over the signal of a flat spectrum,
	// by which method = "auto" decides first; 0 with the paper's accountant.
	Iota     float64  `json:"iota,omitempty"`
	Method   Method   `json:"-"`
	Learning Learning `json:"-"`
	Pictures Pictures `json:"-"`
	// fullMultiplier is σ/Δ of one query that takes the whole budget, over all sites' sums; 0 with
	// the paper's accountant.
	fullMultiplier float64
	// Radius is the public clip radius, or 0 where it is private.
	Radius float64 `json:"radius"`
	// Paper holds the paper's u, τ and δ̄ where its radius or accountant is used.
	Paper *noise.Paper `json:"paper,omitempty"`
	// Adjacency is what epsilon and delta are for: AdjacencyReplaceOne.
	Adjacency string `json:"adjacency"`
	// Rho is the whole study's charge: what a site's ledger reserves, with its Curve. Of two
	// branches, one is charged.
	Rho     float64 `json:"rho"`
	Queries Queries `json:"queries"`
	// Slots is the one-time key material prepared: one a query, and the spares.
	Slots int `json:"slots"`
	// Groups of GroupSize units are what a private Λ is read from; 0 where none is.
	GroupSize int `json:"group_size,omitempty"`
	Groups    int `json:"groups,omitempty"`
	Noise
	// Bits is the ring's width b.
	Bits uint `json:"bits"`
}

// AdjacencyReplaceOne names the neighbors that privacy is between: two data sets of the same number
// of units, one of which is another unit (at SitesPerUnit sites). Tools that add or remove a unit
// instead have another ε for the same noise.
const AdjacencyReplaceOne = "replace-one"

// AtSites says for people what a unit at several sites is promised.
func AtSites(sites int) string {
	if sites > 1 {
		return fmt.Sprintf("a unit at up to %d sites has the whole promise (sites_per_unit = %d)", sites, sites)
	}
	return "a unit at s sites is s units, and its ρ is s² times this (sites_per_unit = 1)"
}

// NewPlan derives the plan of a proposal's exact bytes.
func NewPlan(body []byte) (*Plan, error) {
	p, err := proposal.Parse(body)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Proposal: p, Digest: proposal.DigestOf(body), Adjacency: AdjacencyReplaceOne}
	if plan.Thresholds, err = p.Thresholds(); err != nil {
		return nil, err
	}
	for i := range p.Roster {
		plan.N += plan.units(i)
	}
	if plan.N == 0 {
		return nil, proposal.FieldErrorf("center", `"pairs" needs two units at some site`)
	}
	if plan.N > proposal.MaxUnits {
		return nil, proposal.FieldErrorf("roster", "at most 2^40 units in all, got %d", plan.N)
	}
	if err := plan.derive(); err != nil {
		return nil, err
	}
	making := &planner{plan}
	for _, step := range []func() error{making.checkScore, making.setRounds, making.setQueries, making.setRing, making.checkNoise} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return plan, nil
}

// derive sets what follows from proposal, thresholds and units at once.
func (p *Plan) derive() error {
	s := p.Proposal.Spec
	p.K, p.SitesPerUnit = s.MostComponents(), max(1, s.SitesPerUnit)
	p.block, p.Runs = p.K, 1
	if s.Subspace == proposal.SubspaceDeflation {
		p.block, p.Runs = 1, p.K
	}
	p.Layout, p.Noise = layout.Of(s), noiseOf(s, p.Thresholds)
	p.D = len(p.Layout.Coordinates)
	if s.Accountant != proposal.AccountantPaper {
		rho, err := p.Curve().Rho(s.Epsilon, s.Delta)
		if err != nil {
			return err
		}
		// σ/Δ · d^1.5/n of the whole budget, with the noise that is really in a sum: all sites'
		// shares where it is distributed, Δ of a unit at several sites
		p.fullMultiplier = noise.SigmaFor(rho, 1) * p.NoiseFactor
		p.Iota = p.fullMultiplier * float64(p.SitesPerUnit) * math.Pow(float64(p.D), 1.5) / float64(p.N)
	}
	p.Method, p.Learning, p.Pictures = methodOf(p), learningOf(p), picturesOf(p)
	return nil
}

// UnmarshalJSON reads a plan with what its JSON leaves out, which follows from what is there.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type plain Plan
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	if err := p.derive(); err != nil {
		return err
	}
	p.Method.over(p.Rounds, p.Runs, p.Proposal.Spec.Schedule)
	return nil
}

// units is how many units, or pairs of them, a site contributes.
func (p *Plan) units(site int) int {
	n := p.Proposal.Roster[site].Units
	if p.Proposal.Spec.Center == proposal.CenterPairs {
		return n / 2
	}
	return n
}

// planner makes a plan.
type planner struct{ *Plan }

// setRounds fixes T, the public radius and the paper's numbers.
func (p *planner) setRounds() error {
	s := p.Proposal.Spec
	p.Rounds = s.Rounds
	if p.Method.Name == proposal.MethodCovariance {
		p.Rounds = 1
	}
	if p.Method.Mixed {
		p.Rounds = mixedRounds
	}
	if p.Rounds == 0 {
		t := math.Ceil(s.C * math.Log(math.E*float64(p.D)) / s.Alpha)
		if t > proposal.MaxRounds {
			return proposal.FieldErrorf("alpha", "gives %.0f rounds, at most %d", t, proposal.MaxRounds)
		}
		p.Rounds = max(1, int(t))
	}
	p.Method.over(p.Rounds, p.Runs, s.Schedule)
	if p.Method.Name != proposal.MethodCovariance && (s.Radius == proposal.RadiusPaper || s.Accountant == proposal.AccountantPaper) {
		// Only τ depends on Λ through R, and a public radius replaces R. A private Λ
		// scales both when it is known.
		lambda, public := s.Lambda.Public()
		if !public {
			lambda = 1
		}
		paper, err := noise.NewPaper(noise.PaperInput{
			C: s.C, Lambda: lambda, Epsilon: s.Epsilon, Delta: s.Delta, N: p.N, D: p.D, Rounds: p.Rounds,
		})
		if err != nil {
			return err
		}
		paper.Tau *= float64(p.SitesPerUnit) // Δ is so many times the paper's
		p.Paper = &paper
	}
	if p.Method.Name == proposal.MethodCovariance {
		return nil
	}
	if r, public := s.Radius.Public(); public {
		p.Radius = r
	} else if s.Radius == proposal.RadiusPaper && s.Lambda != proposal.LambdaPrivate {
		p.Radius = p.paperRadius(1)
		if !(p.Radius >= query.MinRadius && p.Radius <= query.MaxRadius) {
			return proposal.FieldErrorf("lambda", "gives a radius outside 2^-200..2^200")
		}
	}
	return nil
}

// paperRadius is Algorithm 1's R at scale times the plan's Λ. For a block of k it is
// √k times that: each of k directions keeps to R with the paper's probability.
func (p *Plan) paperRadius(scale float64) float64 {
	r := p.Paper.Radius * scale
	if p.Proposal.Spec.Subspace == proposal.SubspaceBlock {
		r *= math.Sqrt(float64(p.K))
	}
	return r
}
