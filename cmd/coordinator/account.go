package main

import (
	"fmt"
	"math"

	shared "covey/cmd/internal/cli"
	"covey/internal/noise"
	"covey/internal/study"
)

type accountCmd struct {
	Sigma       *float64 `help:"Noise parameter of each query, to compute epsilon."`
	Epsilon     *float64 `help:"Privacy wanted, to compute sigma."`
	Delta       float64  `required:"" help:"The δ of (ε, δ)."`
	Rounds      int      `default:"1" help:"Queries composed."`
	Accountant  string   `default:"gdp" enum:"gdp,zcdp" help:"How ρ and ε follow from sigma: gdp, as for a sum over units, or zcdp."`
	Sensitivity float64  `default:"1" help:"L2 sensitivity Δ of each query when one unit is replaced, in sigma's units; s times that for a unit at s sites."`
}

// sumSteps is Δ in grid steps, at least, of every sum that a study asks for; counts have fewer.
const sumSteps = 0x1p16

// account is what `account --json` prints.
type account struct {
	Accountant      string  `json:"accountant"`
	Epsilon         float64 `json:"epsilon"` // by the accountant
	EpsilonZCDP     float64 `json:"epsilon_zcdp"`
	EpsilonAnalytic float64 `json:"epsilon_analytic"`
	Sigma           float64 `json:"sigma"`
	Rho             float64 `json:"rho"`
	Delta           float64 `json:"delta"`
	Rounds          int     `json:"rounds"`
	Sensitivity     float64 `json:"sensitivity"`
	Adjacency       string  `json:"adjacency"` // what the sensitivity, and so ε, is for
}

// mostRho is the largest ρ of which ε is computed.
const mostRho = 1e6

func (c *accountCmd) Run(s *terminal) error {
	if (c.Sigma == nil) == (c.Epsilon == nil) {
		return shared.Bad("give one of --sigma and --epsilon")
	}
	if c.Rounds < 1 {
		return shared.Bad("--rounds must be at least 1, got %d", c.Rounds)
	}
	if err := positive("--sensitivity", c.Sensitivity); err != nil {
		return err
	}
	curve := noise.Curve(c.Accountant)
	a := account{Accountant: c.Accountant, Delta: c.Delta, Rounds: c.Rounds, Sensitivity: c.Sensitivity, Adjacency: study.AdjacencyReplaceOne}
	var err error
	if c.Sigma != nil {
		if err := positive("--sigma", *c.Sigma); err != nil {
			return err
		}
		a.Sigma = *c.Sigma
		one := noise.RhoOf(c.Sensitivity, a.Sigma)
		if curve == noise.GDP {
			one = noise.BridgeRho(sumSteps, a.Sigma/c.Sensitivity*sumSteps)
		}
		if a.Rho = float64(c.Rounds) * one; a.Rho > mostRho {
			return shared.Bad("--sigma %g is too small: ρ over all rounds (%d) is %.3g, and at most %g is computed", a.Sigma, c.Rounds, a.Rho, mostRho)
		}
	} else {
		if err := positive("--epsilon", *c.Epsilon); err != nil {
			return err
		}
		if a.Rho, err = curve.Rho(*c.Epsilon, c.Delta); err != nil {
			return err
		}
		if one := a.Rho / float64(c.Rounds); curve == noise.GDP {
			a.Sigma = noise.BridgeMultiplier(one, sumSteps) * c.Sensitivity
		} else {
			a.Sigma = noise.SigmaFor(one, c.Sensitivity)
		}
	}
	if a.Epsilon, err = curve.Epsilon(a.Rho, c.Delta); err != nil {
		return err
	}
	if a.EpsilonZCDP, err = noise.ZCDP.Epsilon(a.Rho, c.Delta); err != nil {
		return err
	}
	if a.EpsilonAnalytic, err = noise.AnalyticEpsilon(c.Sensitivity, a.Sigma, c.Rounds, c.Delta); err != nil {
		return err
	}
	if s.JSON {
		return shared.PrintJSON(s.Out, a)
	}
	own := ""
	if curve == noise.GDP {
		own = fmt.Sprintf("epsilon (gdp)       %.10g\n", a.Epsilon)
	}
	fmt.Fprintf(s.Out, "sigma               %.10g\nrho                 %.10g\n%sepsilon (zcdp)      %.10g\nepsilon (analytic)  %.10g  for information: of the continuous Gaussian\nadjacency           %s: Δ = %g when one unit is replaced by another\n",
		a.Sigma, a.Rho, own, a.EpsilonZCDP, a.EpsilonAnalytic, a.Adjacency, a.Sensitivity)
	return nil
}

func positive(flag string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return shared.Bad("%s must be positive and finite, got %v", flag, v)
	}
	return nil
}
