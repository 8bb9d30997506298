package study

import (
	"cmp"
	"maps"
	"slices"

	"covey/internal/linalg"
	"covey/internal/packed"
	"covey/internal/proposal"
	"covey/internal/standardize"
)

// Course is where a study stands: the next query, and everything that its releases so
// far decide about it. A Course is never changed: Next returns a new one, so that its
// slices may be shared.
type Course struct {
	Query int `json:"query"` // len(Plan.Queries) when nothing is left to ask
	// History is the link of the last release, or the study's digest before the first. A release
	// holds the link before it, so that one link stands for all releases up to it.
	History proposal.Digest `json:"history"`
	// X is the block in force, as in Ask: x_t, and after the last step the components.
	X      packed.Floats `json:"x,omitempty"`
	Center packed.Floats `json:"center,omitempty"` // released so far
	Found  packed.Floats `json:"found,omitempty"`  // by deflation, so far
	Scale  packed.Floats `json:"scale,omitempty"`  // learned so far, as in Ask
	// Observed is the share of rows in which each coordinate has a value, as far as the released
	// count says; empty where none is released.
	Observed packed.Floats `json:"observed,omitempty"`
	// Present is the share of units of several rows that have a value in each coordinate, as far as
	// counts of columns say; empty where Observed and PerUnit say it.
	Present packed.Floats `json:"present,omitempty"`
	// Deviations are those of scores on the components, by released variances, where the study has
	// pictures; empty before they are released.
	Deviations packed.Floats `json:"deviations,omitempty"`
	// Columns are what is known of each column where constants are learned.
	Columns []standardize.Column `json:"columns,omitempty"`
	// Radii are in force, by the kind of sum. A kind that is not there has none yet.
	Radii map[Kind]float64 `json:"radii,omitempty"`
	// Lambda is the private Λ, 0 before it is chosen.
	Lambda float64 `json:"lambda,omitempty"`
	// Method is decided: MethodPower or MethodCovariance. Empty before auto decides.
	Method string `json:"method,omitempty"`
	// PerUnit is the released mean of kept rows per unit; 0 where each unit is a row and all are
	// kept.
	PerUnit float64 `json:"per_unit,omitempty"`
	// End is set where a released value says that the study cannot go on.
	End Code `json:"end,omitempty"`
}

// defaultRadius is in force where noise left nothing of a histogram. No bin ends at it, so that a
// release under it says that nothing was read.
const defaultRadius = 1.0625

// Unread reports whether the radius of the release is the one that is in force where noise left
// nothing of its histogram, and no other release says how large what it sums is.
func (r *Release) Unread() bool { return r.Radius == defaultRadius }

// Start is the course before the first query.
func (p *Plan) Start() Course {
	c := Course{History: p.Digest, X: p.startBlock(0, nil), Radii: map[Kind]float64{}, Method: p.Method.Name}
	if c.Method == proposal.MethodAuto {
		c.Method = ""
	}
	for _, q := range p.Queries {
		if r, public := p.publicRadius(q.Kind); public {
			c.Radii[q.Kind] = r
		}
	}
	return c
}

// Next returns the course after the release of its query. earlier are the releases before it, in
// order: all, or those that Earlier lists. Every site runs it: whoever holds the same releases
// finds the same, but for the last digits of what CheckCourse compares.
func (p *Plan) Next(c Course, r Release, earlier []Release) (Course, error) {
	encoded, err := r.Encode()
	if err != nil {
		return Course{}, mismatch(r.Query, "release", "does not encode")
	}
	return p.NextOf(c, r, encoded, earlier)
}

// NextOf is Next of a release whose encoded bytes are at hand.
func (p *Plan) NextOf(c Course, r Release, encoded []byte, earlier []Release) (_ Course, err error) {
	if r.Query != c.Query || c.Query >= len(p.Queries) || len(r.Noised) != p.Noise.released(p.Queries[c.Query]) {
		return Course{}, mismatch(r.Query, "query", "is not the one that is due, %d, or has %d values", c.Query, len(r.Noised))
	}
	link := Link(encoded)
	c.History = link
	q := p.Queries[r.Query]
	radii := make(map[Kind]float64) // also where a snapshot left an empty one out
	maps.Copy(radii, c.Radii)
	c.Radii = radii
	t := transition{p, q, r, earlier, &c}
	switch q.Kind {
	case KindHistogram:
		t.radius()
	case KindRows:
		t.rows()
	case KindFilled:
		t.filled()
	case KindMean:
		t.center()
	case KindLevels:
		t.levels()
	case KindOctaves, KindTree, KindMoments:
		t.learn()
	case KindLambda, KindSelect:
		t.lambda()
	case KindPower:
		err = t.step()
	case KindMoment:
		err = t.moment()
	case KindVariance:
		t.variance()
	}
	if err != nil {
		return Course{}, err
	}
	if c.Method == "" && q.Of == KindPower && q.Round == p.Method.round {
		c.Method, _ = p.Method.decide(c.Radii)
	}
	c.Query = p.Queries.after(r.Query, c.Method)
	return c, nil
}

// transition turns the course before a release into the one after it.
type transition struct {
	*Plan
	q       Query
	r       Release // of q
	earlier []Release
	c       *Course // becomes the next
}

// radius reads radii off a histogram. A variance is biased by whatever is clipped, so its bound
// lies beyond the last bin that stands out of the noise.
func (t *transition) radius() {
	c, q, r := t.c, t.q, t.r
	set := func(k Kind, edge float64) {
		switch {
		case edge > 0:
			c.Radii[k] = edge
		case c.Radii[k] == 0:
			c.Radii[k] = defaultRadius
		}
	}
	quantile := t.lengths(r).Quantile
	last := 2 * quantile(1)
	switch q.Of {
	case KindTotal: // also bounds the trace, by which the covariance is clipped
		if _, public := t.publicRadius(KindMoment); !public {
			low, high := t.clips(r)
			if len(t.parts().shares) == 1 {
				low = high
			}
			set(KindMoment, low)
		}
		set(KindTotal, cmp.Or(last, t.longest()))
	case KindVariance:
		set(q.Of, cmp.Or(last, t.longest()))
	case KindRows:
		set(q.Of, last)
	case KindPower:
		set(q.Of, quantile(t.Method.StepQuantile()))
	default:
		set(q.Of, quantile(powerPlain))
	}
}

// longest returns what is known of the largest ‖y‖², which bounds a variance where noise left
// nothing of its own histogram: few units are read in fewer bins than their lengths fill. 0 where
// nothing is known.
func (t *transition) longest() float64 {
	if r := t.c.Radii[KindTotal]; r > 0 && r != defaultRadius {
		return r
	}
	if b, public := t.publicRadius(KindMoment); public {
		return b
	}
	if r := t.c.Radii[KindMean]; r > 0 && r != defaultRadius && t.Proposal.Spec.Unit == "" {
		return 4 * r * r // four times the 0.9 quantile: few rows are longer, whatever their tails
	}
	return 0
}

// center adds the mean of rows less the centre so far. That of an indicator is known better
// from the counts of levels, unless those are of units and a unit is several rows.
func (t *transition) center() {
	c := t.c
	z := t.r.Z()
	weight := t.meanWeight()
	for j := range z {
		z[j] /= c.RowsPerUnit() * c.seen(j)
		switch {
		case len(c.Scale) > 0 && t.Layout.Counted(j) && t.Proposal.Spec.Unit == "":
			z[j] = 0
		case len(c.Scale) > 0:
			z[j] = float64(z[j] * c.Scale[j])
		}
		if c.Center != nil {
			z[j] = c.Center[j] + float64(weight*z[j])
		}
		z[j] = max(-maxCenter, min(maxCenter, z[j]))
	}
	c.Center = z
}

// asWide is the least part of a mean's radius that one before it has, to count.
const asWide = 0.9

// meanWeight returns how far the center moves from earlier means to this one; each mean is weighted
// by its noise. If offsets are far from the means, the first mean has much noise and little weight;
// if they are near, it is a second measurement of the same. A mean that was clipped shorter has no
// weight, nor one clipped at the default radius, because few units left its histogram unread: it
// misses the true mean by more than its noise.
func (t *transition) meanWeight() float64 {
	tau := t.r.Tau()
	sum := 1.0
	for _, e := range t.earlier {
		if e.Kind == KindMean && e.Radius != defaultRadius && e.Radius >= float64(asWide*t.r.Radius) {
			ratio := tau / e.Tau()
			sum += float64(ratio * ratio)
		}
	}
	return 1 / sum
}

// CenterNoise returns the variance of the noise of each number of a center that was released with
// these releases, in squared units of the scaled columns; 0 where none was.
func CenterNoise(releases []Release) float64 {
	for i, r := range slices.Backward(releases) {
		if r.Kind == KindMean {
			t := &transition{r: r, earlier: releases[:i]}
			return float64(t.meanWeight() * r.Tau() * r.Tau())
		}
	}
	return 0
}

// step is x_{t+1} from z_t, and what follows when a run of them is over.
func (t *transition) step() error {
	c, q, r := t.c, t.q, t.r
	c.X = linalg.Flat(linalg.Orthonormalize(r.columns(t.D), linalg.Split(r.X, t.D)))
	if q.Round < t.Rounds-1 {
		return nil
	}
	var steps []Release // of this run
	for _, e := range t.earlier {
		if e.Kind == KindPower && t.Queries[e.Query].Run == q.Run {
			steps = append(steps, e)
		}
	}
	out, err := t.Outputs(momentsOf(t.earlier), append(steps, r))
	if err != nil {
		return err
	}
	c.Found = append(append([]float64(nil), c.Found...), linalg.Flat(out.Vectors[out.Chosen])...)
	if q.Run < t.Runs-1 {
		c.X = within(t.startBlock(q.Run+1, c.Found), c.Scale)
		if t.Proposal.Spec.Radius == proposal.RadiusPrivate {
			delete(c.Radii, KindPower) // another component's is read from its own histogram
		}
		return nil
	}
	c.X, c.Found = c.Found, nil
	return nil
}
