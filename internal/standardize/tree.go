package standardize

import (
	"math"
	"slices"
	"sync"

	"covey/internal/query"
)

// treeTemplate is N(center, spread²) in the bins of all levels, those at the ends open.
type treeTemplate struct {
	template
	center, spread float64
}

const (
	finestTree = -10 // octave of the finest spread of a template; the widest is 2^0
	treeSteps  = 2   // positions of a template in one spread
	// A tree shows no width where its spread is less: what one bin alone holds has 1.2 times the
	// finest spread or so.
	finestWidth = math.Sqrt2 / (1 << -finestTree)
)

// trees are the templates.
var trees = sync.OnceValue(func() []treeTemplate {
	var out []treeTemplate
	for e := finestTree; e <= 0; e++ {
		spread := math.Ldexp(1, e)
		steps := int(math.Floor(treeSteps / spread))
		for at := -steps; at <= steps; at++ {
			out = append(out, treeTemplateOf(float64(float64(at)*spread)/treeSteps, spread))
		}
	}
	return out
})

// codes are the templates of one value, in each of the finest bins.
var codes = sync.OnceValue(func() []treeTemplate {
	finest := query.TreeLevels[len(query.TreeLevels)-1].Width
	out := make([]treeTemplate, int(2/finest))
	for i := range out {
		center := float64((float64(i)+0.5)*finest) - 1
		out[i].center = center
		for _, b := range query.AppendTree(nil, center) {
			out[i].add(b, []float64{1})
		}
	}
	return out
})

func treeTemplateOf(center, spread float64) treeTemplate {
	t, start := treeTemplate{center: center, spread: spread}, 0
	for _, l := range query.TreeLevels {
		all := int(2 / l.Width)
		at := func(z float64) int { return max(0, min(int(math.Floor((z+1)/l.Width)), all-1)) }
		low, high := at(center-float64(5*spread)), at(center+float64(5*spread))
		mass, below := make([]float64, high-low+1), 0.0
		for b := low; b <= high; b++ {
			upTo := 1.0
			if b < all-1 {
				upTo = normal((float64(float64(b+1)*l.Width) - 1 - center) / spread)
			}
			mass[b-low] = upTo - below
			below = upTo
		}
		t.wrap(start, l.Bins, low, mass)
		start += l.Bins
	}
	return t
}

// wrap adds a run that begins at bin low and repeats every so many bins.
func (t *template) wrap(start, bins, low int, mass []float64) {
	if low/bins == (low+len(mass)-1)/bins {
		t.add(start+low%bins, mass)
		return
	}
	own := make([]float64, bins)
	for i, p := range mass {
		own[(low+i)%bins] += p
	}
	t.add(start, own)
}

// Tree returns the center and the scale of each column by the noised counts h of query.Tree,
// query.TreeBins of a column after those of another, in the brackets of columns. A column's are the
// mean and the standard deviation of the mixture of normal laws that the counts allow, so that
// doubt between them widens it.
func Tree(h []float64, tau float64, columns []Column) []Column {
	tau = noisy(tau)
	out := make([]Column, len(columns))
	fits := make([]float64, len(trees()))
	for j, c := range columns {
		if out[j] = c; c.Out == In {
			out[j] = place(sanes(h[j*query.TreeBins:(j+1)*query.TreeBins]), tau, c, fits)
		}
	}
	return out
}

func place(counts []float64, tau float64, c Column, fits []float64) Column {
	whole := 1.0
	c.Most = c.Zero
	for _, t := range codes() {
		most := 1.0
		for _, r := range t.runs { // every level has one bin for a value
			most = min(most, counts[r.first])
		}
		c.Most = max(c.Most, most)
	}
	if c.SkipZeros {
		whole -= c.Zero
		for _, b := range query.AppendTree(nil, 0) {
			counts[b] -= c.Zero
		}
	}
	best := math.Inf(-1)
	for i, t := range trees() {
		fits[i] = t.fit(counts, tau, whole)
		best = max(best, fits[i])
	}
	total, m, square := 0.0, 0.0, 0.0
	for i, t := range trees() {
		if fits[i] < best-40 {
			continue
		}
		w := exp(fits[i] - best)
		total += w
		m += float64(w * t.center)
		square += float64(w * (float64(t.center*t.center) + float64(t.spread*t.spread)))
	}
	m, square = m/total, square/total
	if c.Parted = root(square-float64(m*m)) < finestWidth; c.Parted {
		m, square = several(counts, tau, whole, m, square)
	}
	m, square = float64(whole*m), float64(whole*square) // with the zeros
	spread := root(square - float64(m*m))
	c.Narrow = spread < finestWidth
	c.Parted = c.Parted || c.Narrow
	return c.at(c.Center+float64(c.Scale*m), float64(c.Scale*spread))
}

const (
	speaks   = 6.0  // log likelihood ratio by which a second part stands out
	distinct = 0.01 // squared distance of two templates that counts can tell apart
)

// several returns the mean and the mean square of a column whose tree shows no width: those given,
// or where the counts speak for a second part beside the one that has most of them, those of both.
// Most of such a column is one value, and the others are few, or codes as 2 beside 1: no normal law
// has both. The second part is any template, with the weight that says most. What the counts do not
// tell apart is averaged, places as they are and widths in logarithms, so that a width that few
// counts speak for does not hide the others.
func several(counts []float64, tau, whole, mean, square float64) (float64, float64) {
	main, most := treeTemplate{}, 0.0
	for _, of := range parts() {
		for _, t := range of {
			along := t.along(counts)
			if gain := float64(along*along) / t.square; along > 0 && gain > most {
				main, most = t, gain
			}
		}
	}
	left, own := slices.Clone(counts), make([]float64, len(counts))
	for _, r := range main.runs {
		for k, p := range r.mass {
			left[r.first+k] -= float64(whole * p)
			own[r.first+k] = p
		}
	}
	type second struct {
		treeTemplate
		share, fit float64
	}
	var all []second
	best, down := 0.0, main.along(left)
	for _, of := range parts() {
		prior := log(1 / float64(len(of)*len(parts())))
		for _, t := range of {
			// counts are whole·main + share·(t - main)
			apart := t.square + main.square - float64(2*t.along(own))
			along := t.along(left) - down
			share := min(along/apart, whole)
			if apart < distinct || share <= 0 {
				continue
			}
			fit := prior + float64(share*(2*along-float64(share*apart)))/float64(2*tau*tau)
			best = max(best, fit)
			all = append(all, second{t, share / whole, fit})
		}
	}
	total, place, width := 0.0, 0.0, 0.0
	for _, t := range all {
		if t.fit < best-40 {
			continue
		}
		w, off := exp(t.fit-best), t.center-main.center
		total += w
		place += float64(w * float64(t.share*off))
		between := float64(t.share * (1 - t.share) * float64(off*off))
		width += float64(w * log(float64(main.spread*main.spread)+float64(t.share*float64(t.spread*t.spread))+between+leastVariance))
	}
	if total == 0 || best+log(total) < speaks {
		return mean, square
	}
	mean = main.center + place/total
	return mean, exp(width/total) + float64(mean*mean)
}

// leastVariance is far below that of the finest bin.
const leastVariance = 0x1p-40

// parts are the templates of the two parts of a column, those of one width together.
var parts = sync.OnceValue(func() [][]treeTemplate {
	out := [][]treeTemplate{codes()}
	for _, t := range trees() {
		if last := out[len(out)-1]; t.spread != last[0].spread {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], t)
	}
	return out
})
