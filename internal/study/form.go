package study

import (
	"fmt"
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/query"
)

// form describes an ask of a planned query without its numbers: how many vectors it has, and for
// what.
type form struct {
	d     int
	x     int // vectors in X
	found int // in Found
	// The first filled vectors of X also fill gaps: the iterate in the later half of a run's power
	// steps, and components once they are found. Gaps that are filled from an iterate hold it in
	// place, so the first steps, which have the farthest to go, see zeros in the gaps; the later
	// ones undo the bias of these zeros. A covariance sees zeros, too, and is corrected for the
	// gaps.
	filled           int
	fill             int  // in Fill: the filled ones, behind what deflation has found
	centered, scaled bool // of rows less a center, over scales that were learned
	deviations       int
}

// form returns the form of a query's asks.
func (p *Plan) form(q Query) form {
	s := p.Proposal.Spec
	f := form{d: p.D, x: p.columns(q)}
	iterates := q.sum().Definition().Directions == query.Iterate
	if iterates {
		f.found = q.Run
	}
	if q.sum().Definition().Centered {
		f.scaled = s.Standardizes() || s.Counts()
		switch s.Center {
		case proposal.CenterPairs:
		case proposal.CenterPrivate:
			f.centered = q.sum() != KindMean || q.Round > 0 || s.Counts()
		default:
			f.centered = s.Counts()
		}
	}
	if s.Missing == proposal.MissingFill {
		later := 2*q.Round >= p.Rounds || s.Start != nil
		if q.sum() != KindPower { // after the components are found
			later = q.sum().Definition().Centered && !slices.ContainsFunc(p.Queries[q.Index:], func(n Query) bool { return n.Kind == KindPower || n.Kind == KindMoment })
		}
		switch {
		case later && q.sum() == KindPower:
			f.filled = p.block
		case later:
			f.filled = p.K
		}
		f.fill = f.filled + f.found
	}
	if q.pictures() {
		f.deviations = p.K
	}
	return f
}

// Left returns how many numbers are left of a release of the query once it is spent ([Plan.Spent]).
func (p *Plan) Left(q Query) (n int) {
	f, l := p.form(q), p.leftover(q)
	if l.all && f.centered {
		n += f.d
	}
	if f.scaled {
		n += f.d
	}
	if l.all {
		n += f.d * f.fill
	}
	if l.all || l.x {
		n += f.d * f.x
	}
	if l.all || l.pooled {
		n += f.d * f.found
	}
	if l.all || l.pooled || l.noised {
		n += p.Noise.released(q)
	}
	return n + f.deviations
}

// CheckBytes returns about how much memory it takes, at most, to check a study's whole result, as a
// site does that signs or fetches it.
func (p *Plan) CheckBytes() int64 {
	const (
		number   = 8
		releases = 5  // what is left of releases
		outputs  = 40 // the components, by each output, in the result, its draft and what verifies it
	)
	left := 0
	for _, q := range p.Queries {
		left += p.Left(q)
	}
	return number * (releases*int64(left) + outputs*int64(p.D*p.K))
}

// columns is how many vectors an ask of the query holds in X.
func (p *Plan) columns(q Query) int {
	switch q.sum().Definition().Directions {
	case query.Iterate:
		return p.block
	case query.Components:
		return p.K
	default:
		return 0
	}
}

// directions returns those that gaps of the query's rows are filled from.
func (f form) directions(c Course) []float64 {
	if f.fill == 0 {
		return nil
	}
	out := slices.Clone(c.Found)
	if f.filled > 0 {
		out = append(out, c.X...)
	}
	return out
}

// check refuses an ask of another form, and numbers that rows cannot be centered or divided by.
// CheckCourse compares them with those of the releases. Privacy needs only that they are finite:
// whatever they are, rows are clipped after they are divided, and a unit has one bin of a picture.
func (f form) check(a Ask) error {
	for _, v := range []struct {
		field string
		x     []float64
		want  int
	}{{"x", a.X, f.x}, {"found", a.Found, f.found}, {"fill", a.Fill, f.fill}} {
		if len(v.x) != v.want*f.d {
			return mismatch(a.Query, v.field, "has %d coordinates, the plan %d", len(v.x), v.want*f.d)
		}
		if why := linalg.Orthonormal(v.x, f.d); why != "" {
			return mismatch(a.Query, v.field, "%s", why)
		}
	}
	for _, v := range []struct {
		field string
		x     []float64
		has   bool
	}{{"center", a.Center, f.centered}, {"scale", a.Scale, f.scaled}} {
		switch {
		case v.has && len(v.x) != f.d:
			return mismatch(a.Query, v.field, "has %d coordinates, the plan %d", len(v.x), f.d)
		case !v.has && len(v.x) != 0:
			return mismatch(a.Query, v.field, "is not of this query")
		}
	}
	for _, v := range a.Center {
		if !(math.Abs(v) <= maxCenter) {
			return mismatch(a.Query, "center", "is not finite or beyond 2^150")
		}
	}
	for _, v := range a.Scale {
		if v != 0 && !(v >= minScale && v <= maxScale) {
			return mismatch(a.Query, "scale", "is neither 0 nor in 2^-100..2^100")
		}
	}
	if len(a.Deviations) != f.deviations {
		return mismatch(a.Query, "deviations", "are %d, the plan has %d", len(a.Deviations), f.deviations)
	}
	for _, v := range a.Deviations {
		if !(v >= minScale && v <= maxScale) {
			return mismatch(a.Query, "deviations", "are not in 2^-100..2^100")
		}
	}
	return nil
}

// MismatchError is a query that does not fit the approved plan: an agent that
// meets one answers nothing.
type MismatchError struct {
	Query  int
	Field  string
	Reason string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("study: query %d does not fit the plan: %s: %s", e.Query, e.Field, e.Reason)
}

func mismatch(query int, field, format string, args ...any) error {
	return &MismatchError{Query: query, Field: field, Reason: fmt.Sprintf(format, args...)}
}
