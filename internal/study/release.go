package study

import (
	"encoding/json"
	"math"

	"covey/internal/noise"
)

// Release is the final answer of one query: the noised sum, in grid units,
// and what it was a sum of. Its JSON bytes, as signed by the coordinator's key, are
// what sites store and results hold. It never holds an un-noised value.
type Release struct {
	Study     Digest      `json:"study"`
	Query     int         `json:"query"`
	Slot      int         `json:"slot"`
	Kind      Kind        `json:"kind"`
	Round     int         `json:"round"`
	Survivors []int       `json:"survivors"` // roster indices, ascending
	Units     int         `json:"units"`     // of the survivors
	X         []float64   `json:"x"`         // x_t asked about
	Radius    float64     `json:"radius"`
	Grid      float64     `json:"grid"`
	Sigma     noise.Sigma `json:"sigma"`
	Rho       float64     `json:"rho"`    // charge
	Noised    []int64     `json:"noised"` // sum + noise
}

// releaseLabel separates the coordinator's signatures from every other.
const releaseLabel = "covey release v1\x00"

// Encode gives the bytes of r that are stored, sent and, behind SigningInput, signed.
func (r Release) Encode() ([]byte, error) { return json.Marshal(r) }

// SigningInput is what the coordinator signs for encoded release bytes.
func SigningInput(encoded []byte) []byte { return append([]byte(releaseLabel), encoded...) }

// ParseRelease reads encoded release bytes.
func ParseRelease(encoded []byte) (Release, error) {
	var r Release
	if err := json.Unmarshal(encoded, &r); err != nil {
		return Release{}, fieldError("release", "is not a release")
	}
	return r, nil
}

// NewRelease makes the release of an ask over survivors.
func (p *Plan) NewRelease(a Ask, survivors []int, noised []int64) Release {
	units := 0
	for _, i := range survivors {
		units += p.Proposal.Roster[i].Units
	}
	return Release{
		Study: p.Digest, Query: a.Query, Slot: a.Slot, Kind: a.Kind, Round: a.Round,
		Survivors: survivors, Units: units, X: a.X, Radius: a.Radius, Grid: a.Grid, Sigma: a.Sigma,
		Rho: p.Queries[a.Query].Rho, Noised: noised,
	}
}

// Z is z_t, the noised mean of a power release: d numbers in the squared units of
// the scaled columns.
func (r Release) Z() []float64 {
	z := make([]float64, len(r.Noised))
	for i, v := range r.Noised {
		z[i] = float64(v) * r.Grid / float64(r.Units)
	}
	return z
}

// Tau is the noise's standard deviation on each coordinate of Z.
func (r Release) Tau() float64 { return r.Sigma.Float() * r.Grid / float64(r.Units) }

// NoiseToSignal is τ√d/‖z‖ of a power release: what auto and the pages judge
// by. A z of zero gives the largest float, which JSON can hold.
func (r Release) NoiseToSignal() float64 {
	n := norm(r.Z())
	if n == 0 {
		return math.MaxFloat64
	}
	return r.Tau() * math.Sqrt(float64(len(r.Noised))) / n
}

// Next gives the iterate and the radius in force after r: x_{t+1} = z/‖z‖
// after a power step, a new R after a histogram. A z of exactly zero keeps x.
func (p *Plan) Next(r Release, radius float64) (x []float64, nextRadius float64) {
	if r.Kind == KindHistogram {
		return r.X, RadiusFrom(r.Noised, r.Sigma, radius)
	}
	if unit, ok := normalize(r.Z()); ok {
		return unit, radius
	}
	return r.X, radius
}

// CheckRelease says whether r is the plan's query of its index over a lawful
// survivor set; agents store nothing else as final.
func (p *Plan) CheckRelease(r Release, attempt uint32) error {
	if r.Study != p.Digest {
		return mismatch(r.Query, "study", "is another study's")
	}
	if err := p.Check(Ask{Attempt: attempt, Query: r.Query, Slot: r.Slot, Kind: r.Kind, Round: r.Round,
		X: r.X, Radius: r.Radius, Grid: r.Grid, Sigma: r.Sigma}); err != nil {
		return err
	}
	if len(r.Noised) != p.Queries[r.Query].Values {
		return mismatch(r.Query, "noised", "has %d values, the plan %d", len(r.Noised), p.Queries[r.Query].Values)
	}
	if len(r.Survivors) < p.Thresholds.MinSurvivors {
		return mismatch(r.Query, "survivors", "%d sites, at least %d", len(r.Survivors), p.Thresholds.MinSurvivors)
	}
	units, last := 0, -1
	for _, i := range r.Survivors {
		if i <= last || i >= len(p.Proposal.Roster) {
			return mismatch(r.Query, "survivors", "are not ascending roster indices")
		}
		last = i
		units += p.Proposal.Roster[i].Units
	}
	if units != r.Units {
		return mismatch(r.Query, "units", "are not the survivors'")
	}
	return nil
}
