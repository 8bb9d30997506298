package standardize

import (
	"math"
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
	// A tree shows no width where its spread is less, in finest spreads: what one bin alone holds
	// has 1.2 or so.
	narrow = math.Sqrt2
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
	// with the zeros
	m, square = float64(whole*m), float64(whole*square)
	spread := root(square - float64(m*m))
	c.Narrow = spread < float64(narrow*trees()[0].spread)
	return c.at(c.Center+float64(c.Scale*m), float64(c.Scale*spread))
}
