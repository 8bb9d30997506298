package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/clip"
)

// The ways in which cells lose their values.
const (
	GapsRandom = "at random" // every cell with the same probability
	// the largest values of every other column, twice the share of each
	GapsUpper  = "upper tail"
	GapsOther  = "by another"     // cells of every other column where the column before it is large
	GapsSites  = "by site"        // the last sites never measured half of the columns
	GapsFirst  = "first by site"  // which are the first half
	GapsLast   = "last by site"   // which are the last half
	GapsUneven = "uneven columns" // column by column from none to twice the share
)

// Unit returns the law of src with every column divided by its standard deviation: the covariance
// is then the correlation.
func Unit(src Source) Source {
	return Source{src.Name, src.D, func(n int, seed uint64) (*Data, error) {
		m, err := src.Draw(n, seed)
		if err != nil {
			return nil, err
		}
		sigma := mat.NewSymDense(m.D, nil)
		for i := range m.D {
			for j := i; j < m.D; j++ {
				sigma.SetSym(i, j, m.Sigma.At(i, j)/math.Sqrt(m.Sigma.At(i, i)*m.Sigma.At(j, j)))
			}
		}
		for i := range m.values {
			j := i % m.D
			m.values[i] /= math.Sqrt(m.Sigma.At(j, j))
		}
		return newData(m.Name, m.D, m.values, sigma)
	}}
}

// Pairs is the law of d standard columns that vary together two by two: the first two have a
// correlation of 0.8, every further pair 0.02 less.
func Pairs(d int) Source {
	return Source{"pairs", d, func(n int, seed uint64) (*Data, error) {
		rng, values, sigma := generator(seed), make([]float64, n*d), mat.NewSymDense(d, nil)
		with := func(j int) float64 { return 0.8 - 0.02*float64(j/2) }
		for j := range d {
			sigma.SetSym(j, j, 1)
			if j%2 == 1 {
				sigma.SetSym(j-1, j, with(j))
			}
		}
		for i := range values {
			values[i] = rng.NormFloat64()
			if j := i % d; j%2 == 1 {
				values[i] = with(j)*values[i-1] + math.Sqrt(1-with(j)*with(j))*values[i]
			}
		}
		return newData("pairs", d, values, sigma)
	}}
}

// Emptied returns the data with the share of the cells without a value.
func (m *Data) Emptied(how string, share float64, seed uint64) (*Data, error) {
	rng, stride := rand.New(rand.NewPCG(seed, 0x67617073)), (m.D+7)/8
	out := *m
	out.values, out.gaps = slices.Clone(m.values), make([]byte, m.N*stride)
	quantile := func(j int, q float64) float64 {
		var s Sample
		for i := range m.N {
			s = append(s, m.values[i*m.D+j])
		}
		return s.Quantile(q)
	}
	var edge []float64
	if how == GapsUpper || how == GapsOther {
		for j := range m.D {
			edge = append(edge, quantile(j, 1-2*share))
		}
	}
	lacking := int(2*share*Sites + 0.5)
	units := m.units(Sites)
	from := 0
	for _, u := range units[:Sites-lacking] {
		from += u
	}
	for i := range m.N {
		for j := range m.D {
			var gap bool
			switch how {
			case GapsRandom:
				gap = rng.Float64() < share
			case GapsUneven:
				gap = rng.Float64() < 2*share*float64(j)/float64(m.D-1)
			case GapsUpper:
				gap = j%2 == 1 && m.values[i*m.D+j] > edge[j]
			case GapsOther:
				gap = j%2 == 1 && m.values[i*m.D+j-1] > edge[j-1]
			case GapsSites:
				gap = j%2 == 1 && i >= from
			case GapsFirst, GapsLast:
				gap = (2*j < m.D) == (how == GapsFirst) && i >= from
			default:
				return nil, fmt.Errorf("unknown gaps %q", how)
			}
			if gap {
				out.values[i*m.D+j] = 0
				out.gaps[i*stride+j/8] |= 1 << (j % 8)
			}
		}
	}
	return &out, nil
}

// Dropped returns the data whose rows with an empty cell are left out.
func (m *Data) Dropped() *Data {
	out := *m
	out.values, out.gaps, out.absent = slices.Clone(m.values), nil, nil
	stride := (m.D + 7) / 8
	for i := range m.N {
		if slices.ContainsFunc(m.gaps[i*stride:(i+1)*stride], func(b byte) bool { return b != 0 }) {
			clear(out.values[i*m.D : (i+1)*m.D])
			out.absent = append(out.absent, i)
		}
	}
	return &out
}

// rows are those of a site: n from row first on.
func (m *Data) rows(first, n int) (*clip.Matrix, error) {
	values := m.values[first*m.D : (first+n)*m.D]
	if m.gaps != nil {
		stride := (m.D + 7) / 8
		return clip.NewGapped(m.D, values, m.gaps[first*stride:(first+n)*stride], nil)
	}
	var absent []int
	for _, i := range m.absent {
		if i >= first && i < first+n {
			absent = append(absent, i-first)
		}
	}
	return clip.NewMatrix(m.D, values, absent...)
}
