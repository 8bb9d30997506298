// Package compare compares two results: it computes the angles between their components, and
// between the spaces that these span. It uses only released values, so it costs no privacy beyond
// that of both studies.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"covey/internal/frame"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// Report is what two results, A and B, have in common. Angles are in degrees, between 0 and 90; a
// component's sign is arbitrary, and so is left out of every angle.
type Report struct {
	Pairs []Pair `json:"components"`
	// Spaces are groups of components that either result cannot tell apart: of those, their span
	// alone can be compared.
	Spaces []Space `json:"spaces"`
	// Principal are the angles between the spans of the first components of both, as many as the
	// smaller result has, falling. They have no intervals: none are calibrated.
	Principal []float64 `json:"principal_angles_degrees"`
	// Notes say what the comparison cannot tell.
	Notes []string `json:"notes"`
}

// Pair is a component of A and the one of B that is nearest to it.
type Pair struct {
	A int `json:"a"` // from 1
	B int `json:"b"`
	// Flipped reports whether B's has the other sign.
	Flipped bool    `json:"flipped"`
	Angle   float64 `json:"angle_degrees"`
	// Interval holds the angle between what both studies look for, as often as Confidence; nil
	// where either component is not determined.
	Interval *[2]float64 `json:"angle_interval_degrees"`
	Words    string      `json:"words"`
}

// Space is the span of several components of both.
type Space struct {
	A        []int       `json:"a"`
	B        []int       `json:"b"`
	Angle    float64     `json:"largest_angle_degrees"`
	Interval *[2]float64 `json:"largest_angle_interval_degrees"`
	Words    string      `json:"words"`
}

// Confidence is how often an interval holds: each of two bounds misses with probability 0.05.
const Confidence = 0.90

// Error is why two results cannot be compared.
type Error struct{ Reason string }

func (e *Error) Error() string { return "compare: " + e.Reason }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Of compares two results that verified, with what each is worth.
func Of(a, b *result.Result, ofA, ofB *worth.Report) (*Report, error) {
	p, err := study.NewPlan(a.Proposal)
	if err != nil {
		return nil, err
	}
	q, err := study.NewPlan(b.Proposal)
	if err != nil {
		return nil, err
	}
	order, err := align(a, b, p, q)
	if err != nil {
		return nil, err
	}
	turned := make([][]float64, len(b.Components))
	for i, v := range b.Components {
		turned[i] = make([]float64, a.D)
		for j, from := range order {
			turned[i][j] = v[from]
		}
	}
	out := &Report{Pairs: pairs(a.Components, turned, ofA, ofB), Spaces: []Space{}}
	out.Spaces = append(out.Spaces, spaces(a.Components, turned, ofA, ofB, out.Pairs)...)
	most := min(a.K, b.K)
	out.Principal = principal(a.Components[:most], turned[:most])
	in := ""
	switch inA, inB := alarmed(ofA), alarmed(ofB); {
	case inA && inB:
		in = "both results"
	case inA:
		in = "A"
	case inB:
		in = "B"
	}
	if in != "" {
		out.Notes = append(out.Notes, fmt.Sprintf("In %s large rows look different from small ones, so that no bound is to be relied on: no interval is given.", in))
	}
	out.Notes = append(out.Notes, notes(a, b, p, q)...)
	return out, nil
}

// align returns, for each column of a, its place in b. It refuses columns that are not the same
// numbers: loadings on them would not mean the same.
func align(a, b *result.Result, p, q *study.Plan) ([]int, error) {
	if a.Digest == b.Digest {
		return nil, refuse("both files belong to one study")
	}
	if a.D != b.D {
		return nil, refuse("one has %d columns, the other %d", a.D, b.D)
	}
	at := make(map[string]int, b.D)
	for j, name := range b.Columns {
		at[name] = j
	}
	of, other := p.Layout.Coordinates, q.Layout.Coordinates
	centered := a.Center != proposal.CenterPublic && b.Center != proposal.CenterPublic
	order := make([]int, a.D)
	for j, name := range a.Columns {
		i, ok := at[name]
		if !ok {
			return nil, refuse("column %q is in one of them alone", name)
		}
		order[j] = i
		mine, theirs := p.Proposal.Spec.Columns[of[j].Column], q.Proposal.Spec.Columns[other[i].Column]
		switch {
		case mine.Measure != theirs.Measure:
			return nil, refuse("column %q is in %q in one and in %q in the other", name, mine.Measure, theirs.Measure)
		case mine.As != theirs.As || !sameLevels(mine.Levels, theirs.Levels):
			return nil, refuse("column %q is read in two ways, or has other levels", name)
		case mine.Standardize != theirs.Standardize:
			return nil, refuse("column %q has a learned scale in one alone", name)
		case mine.Standardize == "" && len(mine.Levels) == 0 && mine.Scale != theirs.Scale:
			return nil, refuse("column %q is divided by %g in one and by %g in the other: components depend on it", name, mine.Scale, theirs.Scale)
		case !centered && mine.Offset != theirs.Offset:
			return nil, refuse("column %q has another offset, and not both studies are centered", name)
		}
	}
	return order, nil
}

// sameLevels reports whether two columns have the same levels, in any order: each is a coordinate
// of its own, found by its name, and what is other is the same text.
func sameLevels(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// pairs matches components, the nearest first.
func pairs(a, b [][]float64, ofA, ofB *worth.Report) []Pair {
	var out []Pair
	usedA, usedB := map[int]bool{}, map[int]bool{}
	for range min(len(a), len(b)) {
		best, at := -1.0, [2]int{}
		for i := range a {
			for j := range b {
				if c := math.Abs(linalg.Dot(a[i], b[j])); !usedA[i] && !usedB[j] && c > best {
					best, at = c, [2]int{i, j}
				}
			}
		}
		i, j := at[0], at[1]
		usedA[i], usedB[j] = true, true
		pair := Pair{A: i + 1, B: j + 1, Flipped: linalg.Dot(a[i], b[j]) < 0, Angle: principal(a[i:i+1], b[j:j+1])[0]}
		pair.Interval = around(pair.Angle, bound(ofA, i), bound(ofB, j))
		pair.Words = words(pair.Interval, "is not determined well enough in one of them: no interval is calibrated, and the angle can be noise")
		out = append(out, pair)
	}
	slices.SortFunc(out, func(x, y Pair) int { return x.A - y.A })
	return out
}

// alarmed reports whether nobody should rely on a result's bounds, and so on no interval.
func alarmed(of *worth.Report) bool { return of.Alarm != nil && *of.Alarm }

// bound returns the bound on a component's angle to the direction of infinitely many rows, or nil.
func bound(of *worth.Report, i int) *float64 {
	if alarmed(of) {
		return nil
	}
	if i >= len(of.Components) || !of.Components[i].Separated {
		return nil
	}
	return of.Components[i].Angle
}

// around is the interval of an angle between two directions, each within a bound of the one that
// was measured: angles between lines obey the triangle inequality, and so do the largest between
// spans.
func around(angle float64, a, b *float64) *[2]float64 {
	if a == nil || b == nil {
		return nil
	}
	return &[2]float64{max(0, angle-*a-*b), min(90, angle+*a+*b)}
}

// words never say that two things are the same: an interval that reaches 0 shows that noise may be
// all there is between them, as far as it is wide.
func words(in *[2]float64, undetermined string) string {
	switch {
	case in == nil:
		return undetermined
	case in[0] > 0:
		return fmt.Sprintf("they differ, by %.0f degrees at least", math.Floor(in[0]))
	default:
		return fmt.Sprintf("cannot tell them apart; they may differ by up to %.0f degrees", math.Ceil(in[1]))
	}
}

// spaces compares what groups span: those of A, of two components or more, and those of B that are
// no pair's of such a group.
func spaces(a, b [][]float64, ofA, ofB *worth.Report, matched []Pair) []Space {
	var out []Space
	seen := map[string]bool{}
	add := func(inA, inB []int) {
		key := fmt.Sprint(inA, inB)
		if len(inA) < 2 || len(inA) != len(inB) || seen[key] {
			return
		}
		seen[key] = true
		s := Space{A: inA, B: inB, Angle: principal(pick(a, inA), pick(b, inB))[0]}
		s.Interval = around(s.Angle, groupBound(ofA, inA), groupBound(ofB, inB))
		s.Words = words(s.Interval, "what they span is not a group that either determines: no interval is calibrated")
		out = append(out, s)
	}
	for _, c := range ofA.Components {
		add(sorted(c.Group), partners(c.Group, matched, func(p Pair) (int, int) { return p.A, p.B }))
	}
	for _, c := range ofB.Components {
		add(partners(c.Group, matched, func(p Pair) (int, int) { return p.B, p.A }), sorted(c.Group))
	}
	return out
}

func sorted(v []int) []int {
	v = slices.Clone(v)
	slices.Sort(v)
	return v
}

// partners are the components that pairs join with those of a group.
func partners(group []int, matched []Pair, of func(Pair) (from, to int)) []int {
	var out []int
	for _, p := range matched {
		if from, to := of(p); slices.Contains(group, from) {
			out = append(out, to)
		}
	}
	return sorted(out)
}

// groupBound returns the bound on a group's span; nil where these components are no group.
func groupBound(of *worth.Report, group []int) *float64 {
	if at := group[0] - 1; at < len(of.Components) && !alarmed(of) && slices.Equal(sorted(of.Components[at].Group), group) {
		return of.Components[at].GroupAngle
	}
	return nil
}

func pick(v [][]float64, group []int) [][]float64 {
	var out [][]float64
	for _, g := range group {
		out = append(out, v[g-1])
	}
	return out
}

// principal returns the principal angles between the spans of as many orthonormal vectors, in
// degrees, falling. A small angle is by its sine, of which a cosine keeps no digits.
func principal(a, b [][]float64) []float64 {
	k, d := len(a), len(a[0])
	cosines, rest := mat.NewDense(k, k, nil), mat.NewDense(d, k, nil)
	for j, v := range b {
		left := slices.Clone(v)
		for i, u := range a {
			c := linalg.Dot(u, v)
			cosines.Set(i, j, c)
			for l := range left {
				left[l] -= c * u[l]
			}
		}
		rest.SetCol(j, left)
	}
	values := func(m *mat.Dense) []float64 {
		var svd mat.SVD
		if !svd.Factorize(m, mat.SVDNone) {
			return slices.Repeat([]float64{math.NaN()}, k)
		}
		out := make([]float64, k)
		copy(out, svd.Values(nil)) // of fewer rows than vectors: the others are 0
		return out
	}
	cos, sin := values(cosines), values(rest) // both falling
	out := make([]float64, k)
	for i := range out { // the largest sine goes with the smallest cosine
		out[i] = math.Atan2(sin[i], cos[k-1-i]) * 180 / math.Pi
	}
	return out
}

func notes(a, b *result.Result, p, q *study.Plan) []string {
	out := []string{fmt.Sprintf("An interval holds the angle between the components of the laws which the rows come from with probability %.0f%%, for a pair picked before looking; it is given where both results' bounds are calibrated, and does not cover what the clip hides. Signs are arbitrary.", 100*Confidence)}
	var fewer []string
	for _, pair := range [][2]*result.Result{{a, b}, {b, a}} {
		other := sites(pair[1])
		for _, s := range sites(pair[0]) {
			if !slices.Contains(other, s) {
				fewer = append(fewer, fmt.Sprintf("%q", s))
			}
		}
	}
	if len(fewer) == 1 {
		out = append(out, fmt.Sprintf("The sums that components rest on differ by one site, %s: what differs between the results shows that institution, with noise.", fewer[0]))
	} else if len(fewer) > 1 {
		out = append(out, fmt.Sprintf("The sums that components rest on differ by %d sites: what differs between the results shows those institutions, with noise.", len(fewer)))
	}
	if a.K != b.K {
		out = append(out, fmt.Sprintf("One has %s, the other %d: those without a partner are in no pair.", frame.Count(a.K, "component", "components"), b.K))
	}
	if text := shared(a, b); text != "" {
		out = append(out, text)
	}
	if a.ScaleNote != "" || a.LevelsNote != "" {
		out = append(out, "Scales were learned: components are those of each study's own correlations, and a column's spread may have changed without any angle.")
	}
	out = append(out, started(a, b, p, q)...)
	if differ := choices(a, b, p, q); len(differ) > 0 {
		out = append(out, fmt.Sprintf("The studies differ in %s: part of an angle may come of that.", strings.Join(differ, ", ")))
	}
	if !sameLeftOut(a, b) {
		out = append(out, "The studies left out other columns: every component has 0 there.")
	}
	return append(out, "Of people in both studies the privacy losses add up; this comparison adds nothing to them.")
}

// shared says how many principal angles are 0 because components are many for the columns; empty
// where none is.
func shared(a, b *result.Result) string {
	k, columns := min(a.K, b.K), a.D
	if sameLeftOut(a, b) {
		columns -= len(a.LeftOut)
	}
	switch zeros := min(k, 2*k-columns); {
	case zeros < 1:
		return ""
	case zeros == k:
		return fmt.Sprintf("There are as many components as columns, %d: all principal angles are 0, whatever the rows.", k)
	default:
		return fmt.Sprintf("With %d components of %d columns, %d of the principal angles must be 0, whatever the rows, and the nearest components are near each other by chance, too.", k, columns, zeros)
	}
}

// started warns of components that were near each other before any row was read.
func started(a, b *result.Result, p, q *study.Plan) (out []string) {
	of, other := p.Proposal.Spec.Start, q.Proposal.Spec.Start
	const near = "that components are near each other may be the start and not the rows."
	if of != nil && other != nil && slices.Equal(of.Vectors, other.Vectors) {
		return []string{"Both were started from the same directions: " + near}
	}
	if of != nil && other != nil && of.Result == other.Result && of.Result != (proposal.Digest{}) { // which no start needs
		return []string{fmt.Sprintf("Both were started from components of study %.12s: %s", of.Result, near)}
	}
	if other != nil && other.Result == a.Digest {
		out = append(out, "B was started from A's components: "+near)
	}
	if of != nil && of.Result == b.Digest {
		out = append(out, "A was started from B's components: "+near)
	}
	return out
}

// sites are those in every sum that the components rest on: one that was away is not.
func sites(r *result.Result) (out []string) {
	for i, name := range r.Sites {
		away := slices.ContainsFunc(r.Releases, func(rel study.Release) bool {
			return (rel.Kind == study.KindMoment || rel.Kind == study.KindPower) && !slices.Contains(rel.Survivors, i)
		})
		if !away {
			out = append(out, name)
		}
	}
	return out
}

// choices are what the studies chose differently, each with both values.
func choices(a, b *result.Result, p, q *study.Plan) (out []string) {
	word := func(v string) string {
		if v == "" {
			return "none"
		}
		return strconv.Quote(v)
	}
	for _, c := range []struct{ what, of, other string }{
		{"method", a.Method, b.Method}, {"rows", rows(a, p), rows(b, q)}, {"unit column", a.Unit, b.Unit}, {"centering", a.Center, b.Center}, {"what they did with missing values", p.Proposal.Spec.Missing, q.Proposal.Spec.Missing},
	} {
		if c.of != c.other {
			out = append(out, fmt.Sprintf("%s (%s and %s)", c.what, word(c.of), word(c.other)))
		}
	}
	return out
}

// rows are those that components were looked for in, as a study file names them.
func rows(r *result.Result, p *study.Plan) string {
	if r.Method == proposal.MethodPower && p.Method.Sphere {
		return proposal.RowsSphere
	}
	return proposal.RowsPlain
}

func sameLeftOut(a, b *result.Result) bool {
	names := func(r *result.Result) []string {
		var out []string
		for _, l := range r.LeftOut {
			out = append(out, l.Column)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(names(a), names(b))
}
