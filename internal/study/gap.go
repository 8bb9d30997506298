package study

import (
	"math"

	"covey/internal/proposal"
	"covey/internal/standardize"
)

const (
	// filledNoise is the deviation of a released share that is bought, where filledLeast to
	// filledMost of the budget do.
	filledNoise = 0.01
	filledLeast = 0.002
	filledMost  = 0.03
	// observedLeast is the least share of rows with a value that anything is divided by: less would
	// make a column of noise.
	observedLeast = 0.1
)

// filledShare is the part of the budget that counts empty cells: by public sizes alone.
func (p *planner) filledShare() float64 {
	// the noise of a share, with the whole budget
	noise := p.Iota * math.Sqrt(float64(len(p.Proposal.Spec.Columns))) / math.Pow(float64(p.D), 1.5)
	part := noise / filledNoise
	return max(filledLeast, min(part*part, filledMost))
}

// seen is the share of rows in which coordinate j has a value.
func (c Course) seen(j int) float64 {
	if c.Observed == nil {
		return 1
	}
	return c.Observed[j]
}

// filled sets what a release of empty cells says: the shares of rows with a value, and the
// constants of coordinates for missing values, which are centered and scaled as levels are.
func (t *transition) filled() {
	c, r := t.c, t.r
	c.Observed = t.observed()
	if t.Proposal.Spec.Indicators() == 0 {
		return
	}
	c.Center, c.Scale = make([]float64, t.D), make([]float64, t.D)
	z, least, in := r.Z(), max(standardize.RareSigmas*r.Tau(), rareShare), 0
	for j, at := range t.Layout.Coordinates {
		c.Scale[j] = 1
		if at.Gap {
			share := z[at.Column]
			if c.Scale[j] = 0; min(share, 1-share) >= least {
				if t.Proposal.Spec.Center == proposal.CenterPairs { // a pair lacks it where either row does
					share = 1 - math.Sqrt(1-share)
				}
				c.Center[j], c.Scale[j] = share, math.Sqrt(share)
			}
		}
		if c.Scale[j] > 0 {
			in++
		}
	}
	if t.Proposal.Spec.Center == proposal.CenterPairs { // differences have none
		c.Center = nil
	}
	if in < t.K {
		c.End = CodeNoScale
		return
	}
	c.X = within(c.X, c.Scale)
}

// observed reads, for each coordinate, the share of rows with a value off the release of empty
// cells. Columns whose shares differ by no more than the noise are taken to have the same (James
// and Stein), and none is below observedLeast or twice the noise: what is divided by less is noise.
func (t *transition) observed() []float64 {
	z := t.r.Z()
	mean := 0.0
	for _, v := range z {
		mean += v
	}
	mean /= float64(len(z))
	square := 0.0
	for _, v := range z {
		square += float64((v - mean) * (v - mean))
	}
	keep := 0.0
	if noise := float64(float64(len(z)-3) * float64(t.r.Tau()*t.r.Tau())); len(z) <= 3 {
		keep = 1
	} else if square > noise {
		keep = 1 - noise/square
	}
	least := min(1, max(observedLeast, 2*t.r.Tau()))
	out := make([]float64, 0, t.D)
	for _, at := range t.Layout.Coordinates {
		seen := 1.0
		if !at.Gap {
			seen = max(least, min(1, 1-mean-float64(keep*(z[at.Column]-mean))))
		}
		out = append(out, seen)
	}
	return out
}

// corrected is a second moment of rows with zeros in their gaps, as one of rows without gaps would
// be: entry (i, j) over the share of rows that have a value in both columns, the product of theirs
// where gaps of two columns have nothing to do with each other, and i = j over its own. The noise's
// deviation becomes the mean of what it is on all entries, in squares. With missing = "zero" a gap
// is the center, and nothing is to be corrected.
func (c Course) corrected(m Moment, d int) Moment {
	out, at, square := Moment{Packed: make([]float64, len(m.Packed))}, 0, 0.0
	for i := range d {
		a := c.seen(i)
		square += 1 / float64(a*a) / float64(d)
		for j := i; j < d; j++ {
			b := 1.0
			if j > i {
				b = c.seen(j)
			}
			out.Packed[at] = m.Packed[at] / float64(a*b)
			at++
		}
	}
	out.Tau = m.Tau * square
	return out
}
