// Package answer computes a site's exact answer to a query: it turns a planned query into sums over
// rows (package clip), so that an agent, an experiment and a test compute the same integers. It
// does no I/O. Its answer is NOT private: the agent adds its share of noise if the proposal says
// so, and masks it.
//
// # Rules
//
// Rules of docs/protocol.md that this package keeps, at length.
//
//   - DATA-11: A level whose released count is below 4σ or 0.2% of the units MUST be among its
//     column's other texts in every later sum, and no other level: by the scales of the ask, which
//     follow from the release (AG-40).
package answer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Rows are one site's units. They may be asked by several goroutines.
type Rows struct {
	raw *clip.Matrix

	mu    sync.Mutex // guards what follows: the rows as the last query wanted them
	base  *clip.Matrix
	pairs [32]byte // study whose public permutation base is paired by
	joins []int    // levels that are joined in base
	moved moved
}

// moved are rows less a center, divided by scales and kept within limits, with their gaps filled,
// on the sphere where the query is about it, and off what was found.
type moved struct {
	center, scale, found, fill []float64
	limits                     []float64
	sphere                     bool
	rows                       *clip.Matrix
}

// New takes rows that the caller no longer uses.
func New(m *clip.Matrix) *Rows { return &Rows{raw: m} }

// String returns the shape, never the values.
func (r *Rows) String() string { return r.raw.String() }

// GoString is String, for %#v.
func (r *Rows) GoString() string { return r.String() }

// errKind is a planned query of no known kind.
var errKind = errors.New("answer: a planned query has no known kind")

// Answer is this site's exact sum for an ask that Plan.Check found in order: the query's
// Values integers, in units of the ask's grid. site is its roster index.
func (r *Rows) Answer(p *study.Plan, site int, a study.Ask, workers int) ([]int64, error) {
	q := p.Queries[a.Query]
	a.X, a.Center, a.Found, a.Fill = settled(a.X), settled(a.Center), settled(a.Found), settled(a.Fill)
	rows, err := r.as(p, site, a)
	if err != nil {
		return nil, err
	}
	var counts []int64
	switch a.Kind {
	case study.KindHistogram:
		m, ok := clip.MapOf(q.Of)
		if !ok {
			return nil, errKind
		}
		counts, err = clip.Histogram(rows, clip.Query{Map: m, X: a.X}, workers)
	case study.KindLevels:
		return clip.Levels(r.raw, indicators(p), workers)
	case study.KindOctaves, study.KindTree, study.KindMoments:
		skip := make([]bool, rows.D())
		for j, c := range p.Layout.Coordinates {
			skip[j] = c.Level >= 0 || c.Gap || len(a.Scale) > 0 && a.Scale[j] == 0
		}
		return clip.Columns(rows, a.Kind, p.Layout.Single(a.Kind), skip, workers)
	case study.KindLambda, study.KindSelect:
		counts, err = clip.Groups(rows, p.GroupSize, workers)
		if err == nil {
			counts = within(counts, p, a.Kind)
		}
	case study.KindScores:
		return clip.Scores(rows, clip.ScoreGrid{X: a.X, Deviations: a.Deviations}, workers)
	case study.KindPicture:
		return r.picture(p, site, a, rows, workers)
	case study.KindFilled:
		return clip.CountGaps(rows, p.Layout.Places(), workers)
	default:
		m, ok := clip.MapOf(a.Kind)
		if !ok {
			return nil, errKind
		}
		return clip.Sum(rows, clip.Query{Map: m, X: a.X, Radius: a.Radius, Grid: a.Grid}, workers)
	}
	if err != nil {
		return nil, err
	}
	for i := range counts {
		// exact: the grid is a power of two, 1 at most
		counts[i] = int64(float64(counts[i]) / a.Grid)
	}
	return counts, nil
}

// least is the smallest magnitude, except 0, of the coordinates of directions and centers. A sum's
// time MUST NOT tell of values, but a processor takes many times as long for a number below
// 2^-1022. A direction could be chosen so that its products with values below a threshold are such
// numbers, and a center could make one of a zero. The bounds of centers, scales and offsets keep a
// row's numbers from there, too (packages clip and proposal).
const least = 0x1p-60

// settled returns a copy of v in which numbers closer to 0 than least are 0; a unit vector stays
// one to the last digit.
func settled(v []float64) []float64 {
	v = slices.Clone(v)
	for i, x := range v {
		if math.Abs(x) < least {
			v[i] = 0
		}
	}
	return v
}

// picture counts the units' scores on a pair of components, of all units or by their levels; or, by
// site, in this site's own block, whose place is its roster index.
func (r *Rows) picture(p *study.Plan, site int, a study.Ask, rows *clip.Matrix, workers int) ([]int64, error) {
	q, grid := p.Queries[a.Query], clip.ScoreGrid{X: a.X, Deviations: a.Deviations}
	x, y := p.Pictures.Pair(q)
	one, groups := func(int) int { return 0 }, 1
	if first, width := p.Pictures.First, p.Pictures.Width; width > 0 {
		groups = width
		// The rows as they are have the levels: derived rows have the same order, but are scaled.
		level, err := r.raw.LevelOf(clip.Indicator{First: first, Width: width})
		if err != nil {
			return nil, err
		}
		group := []int{-1} // by level, from -1 for none
		for l := range width {
			if a.Scale[first+l] == 0 { // rare, and so among all others (DATA-11)
				l = width - 1
			}
			group = append(group, l)
		}
		one = func(i int) int { return group[1+level(i)] }
	}
	own, err := clip.Picture(rows, grid, x, y, groups, one, workers)
	if err != nil || p.Proposal.Spec.PictureBy != proposal.PictureBySite {
		return own, err
	}
	out := make([]int64, q.Values)
	copy(out[site*len(own):], own)
	return out, nil
}

// indicators are the columns with levels, as clip has them.
func indicators(p *study.Plan) []clip.Indicator {
	first, width := p.Layout.Indicators()
	out := make([]clip.Indicator, len(first))
	for i := range out {
		out[i] = clip.Indicator{First: first[i], Width: width[i]}
	}
	return out
}

// within keeps the plan's octaves; what lies beyond is counted at the ends, so that
// a unit still changes two counts by one.
func within(counts []int64, p *study.Plan, k study.Kind) []int64 {
	lo, hi := p.GroupBins(k)
	out := slices.Clone(counts[lo : hi+1])
	for _, c := range counts[:lo] {
		out[0] += c
	}
	for _, c := range counts[hi+1:] {
		out[len(out)-1] += c
	}
	return out
}

// as returns the rows as the ask wants them: with rare levels joined, paired, less the center,
// divided by the scales and kept within the plan's limits, with their gaps filled, divided by their
// lengths, off what was found. Each step is a function of a unit's rows and of what the ask holds,
// and leaves every number finite, so that the clip, which comes last, bounds what a unit adds
// whatever the ask holds.
// No copy of the rows is made: a derived matrix changes them as they are read, and holds only their
// norms. The last one is kept for its norms, since a study asks about the same one again and again.
func (r *Rows) as(p *study.Plan, site int, a study.Ask) (*clip.Matrix, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	base, err := r.joined(p, site, p.Layout.JoinLevels(a.Scale))
	if err != nil {
		return nil, err
	}
	sphere := p.Method.OnSphere(p.Queries[a.Query])
	if len(a.Center) == 0 && len(a.Scale) == 0 && len(a.Fill) == 0 && len(a.Found) == 0 && !sphere {
		return base, nil
	}
	var limits []float64
	if len(a.Scale) > 0 {
		limits = p.Limits(p.Queries[a.Query])
	}
	if m := &r.moved; m.rows != nil && m.sphere == sphere && slices.Equal(m.center, a.Center) && slices.Equal(m.scale, a.Scale) && slices.Equal(m.limits, limits) && slices.Equal(m.found, a.Found) && slices.Equal(m.fill, a.Fill) {
		return m.rows, nil
	}
	rows, err := derive(p, a, base, limits, sphere)
	if err != nil {
		return nil, err
	}
	r.moved = moved{slices.Clone(a.Center), slices.Clone(a.Scale), slices.Clone(a.Found), slices.Clone(a.Fill), limits, sphere, rows}
	return rows, nil
}

// derive returns the base's rows as the ask wants them, step by step. On an error they are nil.
func derive(p *study.Plan, a study.Ask, rows *clip.Matrix, limits []float64, sphere bool) (_ *clip.Matrix, err error) {
	switch {
	case len(a.Scale) > 0:
		if rows, err = rows.Standardize(a.Center, a.Scale, limits); err != nil {
			return nil, fmt.Errorf("answer: scale: %w", err)
		}
	case len(a.Center) > 0:
		if rows, err = rows.Less(a.Center); err != nil {
			return nil, fmt.Errorf("answer: center: %w", err)
		}
	}
	if len(a.Fill) > 0 {
		if rows, err = rows.Fill(a.Fill, p.Layout.Own()); err != nil {
			return nil, fmt.Errorf("answer: fill: %w", err)
		}
	}
	if sphere {
		if rows, err = rows.Sphere(); err != nil {
			return nil, fmt.Errorf("answer: sphere: %w", err)
		}
	}
	if len(a.Found) > 0 {
		if rows, err = rows.Off(a.Found); err != nil {
			return nil, fmt.Errorf("answer: found: %w", err)
		}
	}
	return rows, nil
}

// joined returns the raw rows, with levels joined and rows paired if the study asks for that.
func (r *Rows) joined(p *study.Plan, site int, joins []int) (*clip.Matrix, error) {
	pairs := p.Proposal.Spec.Center == proposal.CenterPairs
	if !pairs && joins == nil {
		return r.raw, nil
	}
	if r.base != nil && r.pairs == p.Digest && slices.Equal(r.joins, joins) {
		return r.base, nil
	}
	r.moved = moved{} // of the old base
	rows := r.raw
	var err error
	if joins != nil {
		if rows, err = rows.Join(joins); err != nil {
			return nil, fmt.Errorf("answer: levels: %w", err)
		}
	}
	if pairs {
		if rows, err = rows.Pairs(p.PairOrder(site)); err != nil {
			return nil, fmt.Errorf("answer: pairs: %w", err)
		}
	}
	r.base, r.pairs, r.joins = rows, p.Digest, joins
	return rows, nil
}
