package study

import (
	"fmt"
	"math"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/query"
)

// Noise is how much noise a plan's answers get, and who adds it. Nobody changes it.
type Noise struct {
	// Honest is the fewest sites whose shares of distributed noise carry σ²: U_min - max(η, 1).
	// 0 where noise is central.
	Honest int `json:"honest,omitempty"`
	// NoiseFactor is the noise of a sum over all sites, as a multiple of central noise. A sum over
	// fewer has more ([Noise.Over]).
	NoiseFactor float64 `json:"noise_factor"`

	thresholds   proposal.Thresholds
	sitesPerUnit int
}

// noiseOf returns the noise of a proposal of these thresholds.
func noiseOf(s proposal.Spec, t proposal.Thresholds) Noise {
	n := Noise{thresholds: t, sitesPerUnit: max(1, s.SitesPerUnit)}
	if s.Noise == proposal.NoiseDistributed {
		n.Honest = t.MinSurvivors - n.apart() // at least 1: U_min is at least η + 2
	}
	n.NoiseFactor = n.Over(t.Sites)
	return n
}

// Share returns the noise that each site adds so that it amounts to the parameter total, in parts
// some of which are removed again, depending on the number of survivors (docs/privacy.md). A sum
// that waits for all sites has one part.
func (n *Noise) Share(total noise.Sigma) (noise.Share, error) {
	return noise.NewShare(total, n.thresholds.MinSurvivors, n.thresholds.Sites, n.apart())
}

// Removable returns the parts that are removed from the share of each of so many survivors; none
// with central noise.
func (n *Noise) Removable(total noise.Sigma, survivors int) (noise.Share, error) {
	if !n.Removes() {
		return nil, nil
	}
	share, err := n.Share(total)
	return share.Removable(survivors), err
}

// Removes reports whether part of the sites' noise is taken away again once it is known how many
// are in a sum.
func (n *Noise) Removes() bool { return n.Honest > 0 && !n.thresholds.Whole() }

// apart is how many of the sites in a sum know their own shares of its noise: the corrupt, or one.
func (n *Noise) apart() int { return max(n.thresholds.Corrupt, 1) }

// wideSigma stands for any σ of whose shares no part is too narrow: factors do not depend on it.
const wideSigma noise.Sigma = 1 << 50

// Over is the noise of a sum over survivors that all answered, as a multiple of central noise:
// at most √(1.1·u/(u - max(η, 1))) over u of them, 1 where noise is central.
func (n *Noise) Over(survivors int) float64 {
	if n.Honest == 0 {
		return 1
	}
	share, err := n.Share(wideSigma)
	if err != nil {
		return math.Inf(1) // no roster is so large
	}
	return math.Sqrt(float64(survivors)*share.Kept(survivors).Variance()) / wideSigma.Float()
}

// Words says for people how much noise there is, and what it depends on.
func (n *Noise) Words() string {
	if n.Honest == 0 {
		return "central: the coordinator's leader sees exact sums over all sites in them"
	}
	sites, least := n.thresholds.Sites, n.thresholds.MinSurvivors
	carry := "1 of them carries"
	if n := sites - n.apart(); n != 1 {
		carry = fmt.Sprintf("%d of them carry", n)
	}
	text := fmt.Sprintf("distributed: each site adds its share, %s all of it; nobody sees an exact sum; over all %d sites %.3g times central noise",
		carry, sites, n.NoiseFactor)
	if least < sites {
		text += fmt.Sprintf(", over %d of them, the fewest, %.3g; at most %.3g where sites go while a sum is opened", least, n.Over(least), math.Sqrt(float64(sites)/float64(n.Honest)))
	}
	return text
}

// countGrid is the grid of counts that get noise: scaled up, they have a σ to which r of the bridge
// and the closeness of distributed shares cost as little as to that of vectors (docs/privacy.md).
const countGrid = 0x1p-8

// grid is the grid of a query's answer, given the radius of its sum.
func (n *Noise) grid(q Query, radius float64) float64 {
	switch {
	case n.Chooses(q):
		return 1 // scores
	case q.Kind.Definition().CountDelta != nil:
		return query.ColumnGrid
	case q.Kind.Definition().Counts:
		return countGrid
	}
	return Grid(radius)
}

// Sensitivity is Δ of a query in its own units, given the radius of its sum: that of one
// unit, times the sites at which a unit may be, rounded up.
func (n *Noise) Sensitivity(q Query, radius float64) float64 {
	if q.Kind.Definition().Counts {
		return n.atSites(q.Kind.Definition().CountSensitivity(n.grid(q, 0), q.Values))
	}
	return n.atSites(q.Kind.Definition().Sensitivity(radius, Grid(radius), q.Values))
}

// atSites is the sensitivity to one unit at each of SitesPerUnit sites, given that to one.
func (n *Noise) atSites(one float64) float64 {
	if n.sitesPerUnit == 1 {
		return one
	}
	return up(float64(n.sitesPerUnit) * one)
}

// Sigma is the noise of a query in its own units, rounded up to the sampler's
// grid, given the radius of its sum. A choice by the exponential mechanism has none.
func (n *Noise) Sigma(q Query, radius float64) (noise.Sigma, error) {
	if n.Chooses(q) {
		return 0, nil
	}
	return noise.SigmaAtLeast(q.Multiplier * n.Sensitivity(q, radius))
}

// Chooses reports whether a query's answer is one candidate, chosen from exact counts by the
// exponential mechanism. With distributed noise nobody has those: noised counts are
// released, and the largest is taken.
func (n *Noise) Chooses(q Query) bool { return q.Kind == KindSelect && n.Honest == 0 }

// released is how many numbers a query's release has.
func (n *Noise) released(q Query) int {
	if n.Chooses(q) {
		return 1
	}
	return q.Values
}
