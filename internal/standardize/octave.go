package standardize

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"covey/internal/query"
)

const (
	zeroHeavy = 0.25 // a tree is read without exact zeros where more of the units are zero
	reach     = 1.5  // of what a column's values are expected within, to its bracket
	hill      = 64
	reachPart = 0.85 // the posterior quantile of that
	// misfit is about how far the best template's bins are from those of a real law: less noise
	// than that does not say which is right.
	misfit = 0.02
)

// octaveTemplate is the magnitudes' law of N(μ, 1)·unit.
type octaveTemplate struct {
	template
	top, prior float64 // (μ+3)·unit
}

// octaves are the templates in the order of their tops.
var octaves = sync.OnceValue(func() []octaveTemplate {
	const least, most = -16, 4 // octaves of a law that are not lumped together
	var out []octaveTemplate
	for _, mu := range []float64{0, 1, 2, 4, 8, 32} {
		for half := range 2 {
			unit := 1 / (mu + 1)
			if half == 1 {
				unit *= math.Sqrt2
			}
			var mass []float64
			for e := least; e < most; e++ {
				low, high := math.Ldexp(1, e)/unit, math.Ldexp(1, e+1)/unit
				if e == least {
					low = 0
				}
				mass = append(mass, (normal(high-mu)-normal(low-mu))+(normal(-low-mu)-normal(-high-mu)))
			}
			for shift := -40; shift < 40; shift++ {
				t, at := octaveTemplate{top: math.Ldexp((mu+3)*unit, shift), prior: 1 / (1 + float64(shift*shift)/256)}, 1
				for _, l := range query.OctaveLevels {
					bin := func(e int) int { return l.Bin(math.Ldexp(1, e+shift)) }
					first := bin(least)
					own := make([]float64, bin(most-1)-first+1)
					for i, p := range mass {
						own[bin(least+i)-first] += p
					}
					for len(own) > 1 && own[0] < 1e-6 {
						own, first = own[1:], first+1
					}
					for len(own) > 1 && own[len(own)-1] < 1e-6 {
						own = own[:len(own)-1]
					}
					t.add(at+first, own)
					at += l.Bins
				}
				out = append(out, t)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b octaveTemplate) int { return cmp.Compare(a.top, b.top) })
	return out
})

// Octaves returns the bracket of each column, [-Scale, Scale] about Center 0, by the noised counts
// h of query.Octaves, query.OctaveBins of a column after those of another. Each column is fitted by
// the likelihood of normal laws of every octave: all bins speak, not those alone that stand out.
func Octaves(h []float64, tau float64) []Column {
	tau = noisy(tau)
	out := make([]Column, len(h)/query.OctaveBins)
	fits := make([]float64, len(octaves()))
	for j := range out {
		out[j] = bracket(sanes(h[j*query.OctaveBins:(j+1)*query.OctaveBins]), tau, fits)
	}
	return out
}

func bracket(counts []float64, tau float64, fits []float64) Column {
	c := Column{Zero: counts[0]}
	if c.Zero < 2*tau {
		c.Zero = 0
	}
	best, none := 0.0, 0.0
	whole := 1.0
	for i, t := range octaves() {
		w := 1.0
		if c.Zero > 0 { // the part that is not zero is what zeros and the others allow together
			w = max(0, min((1-counts[0]+t.along(counts))/(1+t.square), 1))
			off := counts[0] - (1 - w)
			none = float64(off*off) / float64(2*tau*tau)
		}
		fits[i] = t.fit(counts, tau, w) - none
		if i == 0 || fits[i] > best {
			best, whole = fits[i], w
		}
	}
	zero := 0.0
	if c.Zero > 0 {
		off := max(0, 1-counts[0])
		zero = float64(off*off) / float64(2*tau*tau)
		c.Zero = 1 - whole
	}
	c.Score = root(2 * (best + zero))
	if c.Score < weakScore {
		if c.Zero > 0.5 {
			return c.out(Constant)
		}
		return c.out(Weak)
	}
	doubt := float64(tau / max(tau, misfit))
	doubt = float64(doubt * doubt)
	for i, l := range fits {
		fits[i] = exp(float64((l-best)*doubt)) * octaves()[i].prior
	}
	c.SkipZeros = c.Zero > zeroHeavy
	return c.at(0, float64(reach*top(fits)))
}

// top is the quantile reachPart of the tops of the octaves' templates, given their weights, within
// the octaves where most of the weight is: noise elsewhere does not count.
func top(weights []float64) float64 {
	all := octaves()
	from, to, most := 0, 0, 0.0
	for first, end, sum := 0, 0, 0.0; first < len(all); first++ {
		for ; end < len(all) && all[end].top <= float64(hill*all[first].top); end++ {
			sum += weights[end]
		}
		if sum > most {
			from, to, most = first, end, sum
		}
		sum -= weights[first]
	}
	wanted, seen := float64(reachPart*most), 0.0
	for i := from; i < to; i++ {
		if seen += weights[i]; seen >= wanted {
			return all[i].top
		}
	}
	return all[to-1].top
}

// Lacking returns which part of what columns lack, each so much, their counts h do not have: noised
// counts as of Octaves, of units that are averages of the rows that have a value. All columns are
// read together, and of each the fewest bins that hold every value once, which have least noise.
func Lacking(h, lacks []float64) float64 {
	wide := query.OctaveLevels[len(query.OctaveLevels)-1].Bins
	along, square := 0.0, 0.0
	for j, l := range lacks {
		column := sanes(h[j*query.OctaveBins : (j+1)*query.OctaveBins])
		without := 1 - column[0]
		for _, v := range column[len(column)-wide:] {
			without -= v
		}
		along += float64(without * l)
		square += float64(l * l)
	}
	if square == 0 {
		return 1
	}
	return max(0, min(along/square, 1))
}
