package worth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// Report is what a result is worth. Angles are in degrees, shares between 0 and 1. A figure that is
// not calibrated for the study's shape, or that noise hides, is absent, and Sentences say why.
type Report struct {
	// Share is how much of the most variance that K directions could have the components have; nil
	// where no figure can be given.
	Share *Share `json:"captured_share"`
	// Components are in the result's order; empty where nothing can be said of single components.
	Components []Component `json:"components"`
	// Moved is how far each of the last rounds turned the subspace in power iteration: the largest
	// angle between what the round was asked about and what it answered; the last round is last.
	Moved []float64 `json:"last_rounds_moved_degrees"`
	// Unfinished reports whether power iteration had not converged: more rounds would help.
	Unfinished bool `json:"iteration_unfinished"`
	// Alarm reports whether large rows look different from small ones, so that the bounds are not
	// to be relied on. It is nil where that cannot be seen: it needs a covariance, and explained
	// variance or a second clip.
	Alarm *bool `json:"large_rows_differ"`
	// Constants are sentences on given constants that released values speak against: a site's unit
	// of measurement may be another. That there are none proves nothing.
	Constants []string `json:"constants_in_doubt,omitempty"`
	// Apart reports whether rows beyond the clips of explained variances and of the total, each of
	// its own, have so much of both, or may have behind the noise, that no share of the total is to
	// be shown ([Report.Shown]).
	Apart bool `json:"variance_shares_unknown,omitempty"`
	// Uncalibrated is why no share can be given for a study of this shape; empty where one could
	// be.
	Uncalibrated string `json:"not_calibrated,omitempty"`
	// Sentences say it all for people, the share first.
	Sentences []string `json:"sentences"`

	// order is the order of the components by the method that found them, if their released
	// variances put them in another.
	order []int
}

// Share is an estimate and a 95% lower bound.
type Share struct {
	Estimate float64 `json:"estimate"`
	Lower    float64 `json:"lower_95"`
	// Blind is about what components picked without looking capture on average: of few columns, or
	// of many components, a large share that says nothing. It is 0 where no total is known.
	Blind float64 `json:"blind,omitempty"`
}

// mostBlind is the share from which a blind guess is mentioned. Such a guess leaves a rest: a lower
// bound that has at most leastGain of it says little, as those of columns of noise alone, which can
// be a little above the guess.
const (
	mostBlind = 0.5
	leastGain = 0.25
)

// blindText says what a blind guess captures, if that is much. little reports whether the lower
// bound is hardly above it, so that the share says little.
func (s *Share) blindText() (text string, little bool) {
	switch {
	case s.Blind > 0 && s.Blind >= s.Lower, s.Blind >= mostBlind && s.Lower-s.Blind <= leastGain*(1-s.Blind):
		return fmt.Sprintf("A blind guess captures about %s, so this share says little.", percent(s.Blind)), true
	case s.Blind >= mostBlind:
		return fmt.Sprintf("A blind guess captures about %s.", percent(s.Blind)), false
	}
	return "", false
}

// Component is what is known about one component.
type Component struct {
	Number int `json:"component"` // from 1
	// Angle is the 95% bound of the angle to the component that endless rows would show; nil where
	// the component cannot be told apart from another.
	Angle *float64 `json:"angle_95_degrees"`
	// Separated reports whether the component can be told apart from all others.
	Separated bool `json:"separated"`
	// Group are the components that cannot be told apart from each other, this one among them; of
	// power iteration, which does not tell, this one alone.
	Group []int `json:"group"`
	// Beyond reports whether the group goes on behind the last component that was asked for.
	Beyond bool `json:"group_goes_on"`
	// GroupAngle is the 95% bound of the largest angle of the group's span to that of endless rows;
	// nil where there is no group of several, or where it goes on.
	GroupAngle *float64 `json:"group_angle_95_degrees"`
	// Loadings are the 95% interval of each of the D loadings; nil where they are not determined.
	Loadings [][2]float64 `json:"loadings_interval_95"`
}

// Limits of what was calibrated (docs/experiments.md). Outside them no figure is shown.
const (
	mostColumns         = result.WholeColumns
	mostComponents      = 20 // of the covariance
	mostPowerComponents = 5
	leastRounds         = 8
	mostRounds          = 32
	leastUnits          = 2000
	leastScore          = 9.0 // where constants are learned
)

// Of returns what a result is worth, given the plan of its proposal. The result is one that
// [result.Verify] or [result.New] found good. It takes up to half a minute of a processor's
// time, for rounds of several components of hundreds of columns: never call it where a study waits
// for it.
func Of(p *study.Plan, r *result.Result) (*Report, error) {
	if auto := p.Proposal.Spec.Components == proposal.ComponentsAuto; r.D != p.D || r.K != p.K && !(auto && r.K >= 1 && r.K <= p.K) || len(r.Components) != r.K || r.N < 1 {
		return nil, fmt.Errorf("worth: the result has %d components of %d columns, its plan %d of %d", len(r.Components), r.D, p.K, p.D)
	}
	for _, c := range r.Components {
		if len(c) != r.D {
			return nil, fmt.Errorf("worth: a component has %d loadings, the study %d columns", len(c), r.D)
		}
	}
	out := &Report{Components: []Component{}, Moved: []float64{}}
	var why string
	var err error
	switch r.Method {
	case proposal.MethodCovariance:
		why, err = out.covariance(p, r)
	default:
		why, err = out.power(p, r)
	}
	if err != nil {
		return nil, err
	}
	if out.Share != nil && p.Unread(r.Releases) { // else nothing stands out from the noise
		out, why = &Report{Components: []Component{}, Moved: out.Moved}, "too few units for ε to read how long rows are"
	}
	switch {
	case p.Beyond(r.Releases):
		out, why = &Report{Components: []Component{}, Moved: out.Moved}, beyondWhy
	case p.Below(r.Releases):
		out, why = &Report{Components: []Component{}, Moved: out.Moved}, belowWhy
	case alike(p, r):
		out, why = &Report{Components: []Component{}, Moved: out.Moved}, alikeWhy
	}
	out.Uncalibrated, out.Constants = why, doubted(p, r)
	out.Apart = out.apart(p, r)
	out.say(p, r, why)
	return out, nil
}

// Read is [Of] for a result that stands alone: its plan is that of the proposal in it.
func Read(r *result.Result) (*Report, error) {
	p, err := study.NewPlan(r.Proposal)
	if err != nil {
		return nil, err
	}
	return Of(p, r)
}

// uncalibrated returns why no figure is shown for a study, or "".
func uncalibrated(p *study.Plan, r *result.Result) string {
	s := p.Proposal.Spec
	_, radius := s.Radius.Public()
	_, bound := s.NormBound.Public()
	switch {
	case r.Profile == proposal.ProfilePaper || s.Accountant == proposal.AccountantPaper:
		return "the paper's profile"
	case radius && r.Method == proposal.MethodPower, bound && r.Method == proposal.MethodCovariance:
		// A short one brings variances together, so that ties seem to be told apart.
		return "a clip that was given as a number: nothing released shows how much it cuts off"
	case s.Standardizes() && r.Method != proposal.MethodCovariance:
		return "constants that the study learned, by power iteration"
	case s.Standardizes() && slices.ContainsFunc(s.Columns, func(c proposal.Column) bool { return c.Standardize != proposal.StandardizePrivate && c.Levels == nil }):
		return "constants that the study learned for only some columns"
	case r.LevelsNote != "":
		return "columns with levels"
	case r.Unit != "":
		return "units of several rows"
	case s.KeepsGaps():
		return fmt.Sprintf("missing = %q: no figure covers what cells without a value would have changed", s.Missing)
	case summed(r) < leastUnits:
		return fmt.Sprintf("fewer than %d units", leastUnits)
	case sampleOf(r) < leastUnits:
		return fmt.Sprintf("fewer than %d rows were kept; the others had a missing value", leastUnits)
	case r.D > mostColumns:
		return fmt.Sprintf("more than %d columns", mostColumns)
	case s.Standardizes():
		return unlike(p, r)
	}
	return ""
}

// summed is how many units are in every sum that the components were found in: those of sites that
// went away are not.
func summed(r *result.Result) int {
	n := r.N
	for _, rel := range r.Releases {
		if rel.Kind == study.KindMoment || rel.Kind == study.KindPower {
			n = min(n, rel.Units)
		}
	}
	return n
}

// sampleOf is how many rows the components were found in: what they vary by as a sample.
func sampleOf(r *result.Result) float64 { return float64(summed(r)) * keptShare(r) }

// keptShare is the share of the units whose rows are in the sums, noised: what is left out where a
// value is missing adds nothing to them, and their noise is that of a study of all.
func keptShare(r *result.Result) float64 {
	if r.RowsKeptInterval == nil || r.Unit != "" {
		return 1
	}
	for _, rel := range r.Releases {
		if rel.Kind == study.KindRows {
			return min(1, r.RowsKept/float64(rel.Units))
		}
	}
	return min(1, r.RowsKept/float64(r.N))
}

// mostBlurred of the components' mean variance may be the center's noise by covariance, where it is
// counted like noise of the sums, and mostBlurredRounds by power iteration, where it is not.
const mostBlurred, mostBlurredRounds = 0.2, 0.05

// blurred reports whether the noise of a released center may be a component, as with few units for
// the columns, or where offsets are far from their means: the second moment about a center that is
// off by e has e's direction with variance ‖e‖². most is the variance that is let through, edge is
// what the sums' own noise fills.
func blurred(r *result.Result, most, edge float64) bool {
	return float64(r.D)*keptShare(r)*centerVariance(r) > max(most, edge)
}

// centerVariance returns the variance of the noise in each number of the center that is subtracted
// from rows. It is the noise of a sum over all units, divided by the rows in the sum: it grows if
// most rows are left out.
func centerVariance(r *result.Result) float64 {
	rows := cmp.Or(r.PerUnit, 1)
	return study.CenterNoise(r.Releases) / (rows * rows)
}

// centered returns the sentence that a component may be the noise of a released center; empty where
// that noise is small. Studies with figures have it counted, or are large. Without explained
// variances it is held against the squared lengths of rows.
func centered(r *result.Result) string {
	noise, rows := centerNoise(r)
	least := 0.0
	for _, v := range r.ExplainedVariance {
		least += mostBlurred * v / float64(len(r.ExplainedVariance))
	}
	if r.ExplainedVariance == nil {
		least = mostBlurredRounds * rows
	}
	if noise <= least {
		return ""
	}
	return fmt.Sprintf("Rows were centered by a released mean, whose noise alone is a direction with a variance of about %.3g: a component, its explained variance, and a cut after it, may be this noise and not the rows. More units or fewer columns lower it; with given constants, center = \"public\" or \"pairs\" has none.", noise)
}

// centerNoise returns the mean squared length of the noise of a released center, and that of rows,
// or their clip where scales are given.
func centerNoise(r *result.Result) (noise, rows float64) {
	for _, rel := range slices.Backward(r.Releases) {
		switch rel.Kind {
		case study.KindMean:
			return float64(r.D) * centerVariance(r), rel.Radius * rel.Radius
		case study.KindMoments: // the last one's means, which are of 2z, move the center
			in := float64(len(rel.Noised)/2 - len(r.LeftOut))
			of := cmp.Or(r.PerUnit, 1)
			half := rel.Tau() / 2 / of
			return in * half * half, in
		}
	}
	return 0, 0
}

// reorder notes the order of components by rank, their places in what found them, where it puts two
// that are told apart the other way round: variances, which have more noise, decided how they are
// listed.
func (out *Report) reorder(rank []int) {
	crossed := false
	for j, c := range out.Components {
		for i, before := range out.Components[:j] {
			apart := (before.Separated || c.Separated) && !slices.Contains(before.Group, c.Number)
			crossed = crossed || apart && rank[i] > rank[j]
		}
	}
	if !crossed {
		return
	}
	for _, c := range out.Components {
		out.order = append(out.order, c.Number)
	}
	slices.SortStableFunc(out.order, func(a, b int) int { return cmp.Compare(rank[a-1], rank[b-1]) })
}

// orderText returns that nobody knows which of two components has more variance; empty where what
// found them does not contradict their order.
func (out *Report) orderText(r *result.Result) string {
	if out.order == nil {
		return ""
	}
	found := "rounds that found them put"
	if r.Method == proposal.MethodCovariance {
		found = "covariance that they were found in puts"
	}
	return fmt.Sprintf("Components are listed by noised variances; the %s them in another order (%s): which of those has more variance is not known.",
		found, strings.ReplaceAll(strings.Trim(fmt.Sprint(out.order), "[]"), " ", ", "))
}

const blurredWhy = "a center whose noise may be a component: too few units for the columns, or offsets far from their means"

// tiltReserve is added to the squared tangent of every angle's bound, for the reason of
// shareReserve and as large: with real rows, which are not elliptical, the clip itself turns a
// direction a little.
const tiltReserve = shareReserve

// degrees is the bound of an angle whose squared tangent noise, sampling and rounds bound.
func degrees(tangentSquared float64) *float64 {
	v := math.Atan(math.Sqrt(max(0, tangentSquared)+tiltReserve)) * 180 / math.Pi
	return &v
}
