package worth

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"covey/internal/linalg"
	"covey/internal/prior"
	"covey/internal/result"
	"covey/internal/study"
)

// alarmRatio is how far, in logarithms, a component's part of the total may be from what the
// clipped rows predict, beyond its noise.
const alarmRatio = 0.10

// alarm reports whether the variance that was bought, which clips almost nothing, disagrees with
// the clipped covariance: whether large rows look different from small ones. For elliptical rows a
// component's part of the total lies between its part after clipping and what that is without any
// clip. It is nil where explained variance was not bought.
func (a *spectrum) alarm(r *result.Result, rank []int) *bool {
	if r.TotalInterval == nil || len(r.ExplainedVariance) != len(rank) || !(r.TotalVariance > 0) {
		return nil
	}
	clipped := parts(a.xi)
	full := parts(unclip(clipped))
	differ := false
	for i, at := range rank {
		v := r.ExplainedVariance[i]
		if !(v > 0) || !(clipped[at] > 0) {
			continue
		}
		low, high := math.Log(clipped[at]), math.Log(full[at])
		// In logarithms noise moves a figure by at most half a width over the smaller of what is
		// seen and what is expected.
		half := (r.VarianceInterval[i][1] - r.VarianceInterval[i][0]) / 2 / min(v, max(clipped[at], full[at])*r.TotalVariance)
		total := (r.TotalInterval[1] - r.TotalInterval[0]) / 2 / r.TotalVariance
		slack := alarmRatio + math.Hypot(half, total)
		// What noise and sampling leave unknown of the clipped part itself.
		slack += normal95 * math.Sqrt(a.s*a.s+2*a.xi[at]*a.xi[at]/a.n) / a.xi[at]
		seen := math.Log(v / r.TotalVariance)
		if seen < min(low, high)-slack || seen > max(low, high)+slack {
			differ = true
		}
	}
	return &differ
}

// turned is the probability with which two clips of elliptical rows would raise the alarm.
const turned = 0.005

// longer reports whether longer rows have other directions than shorter ones, where a part of the
// covariance was clipped later than the one in force: of elliptical rows both have the same
// eigenvectors, so that what the other part has between two of them is noise, sampling and how far
// the eigenvectors are off. It is nil where no part was.
func (a *spectrum) longer(r *result.Result, vectors [][]float64) *bool {
	last := -1
	for i, rel := range r.Releases {
		if rel.Kind == study.KindMoment {
			last = i
		}
	}
	var out *bool
	for _, rel := range r.Releases[:max(0, last)] {
		if rel.Kind != study.KindMoment || rel.Radius <= r.Releases[last].Radius {
			continue
		}
		differ := a.differs(rel.Z(), rel.Tau(), vectors, r.K)
		if out != nil {
			differ = differ || *out
		}
		out = &differ
	}
	return out
}

// sure is how many standard deviations of noise rows beyond the clip stand out by, and what is
// between them and the others is lower by. That noise does that alone, in any of the bins, has a
// probability below 0.002.
const sure = 4.75

// hidden returns true if a histogram of squared lengths has a separate peak beyond the clip, as
// rows with a missing-value code such as 999 make one: the lengths of elliptical rows have one
// peak, whatever their tail. The clip cuts off what the rows of that peak vary by. It returns nil
// otherwise, since too few such rows are lost in the noise.
func hidden(p *study.Plan, r *result.Result) *bool {
	for _, rel := range r.Releases {
		if rel.Kind != study.KindHistogram || p.Queries[rel.Query].Of != study.KindTotal {
			continue
		}
		for width := 1; width <= 4; width *= 2 {
			enough := sure * rel.Spread() * math.Sqrt(float64(width))
			highest, lowest := 0.0, 0.0 // so far, and since then
			// The lowest bin has no place: rows that were left out are in it.
			for at := 1; at+width <= len(rel.Noised); at++ {
				count := 0.0
				for _, v := range rel.Noised[at : at+width] {
					count += float64(v)
				}
				if study.BinEdge(at-1) >= r.Radius && min(highest, count) >= max(0, lowest)+enough {
					yes := true
					return &yes
				}
				if count > highest {
					highest, lowest = count, count
				}
				lowest = min(lowest, count)
			}
		}
	}
	return nil
}

// differs compares another matrix, packed, of noise tau, with the eigenvectors.
func (a *spectrum) differs(packed []float64, tau float64, vectors [][]float64, k int) bool {
	all := len(vectors[0])
	m := mat.NewSymDense(all, nil)
	for i, at := 0, 0; i < all; i++ {
		for j := i; j < all; j++ {
			v := packed[at]
			if j > i {
				v /= math.Sqrt2 // as off-diagonal numbers travel
			}
			if a.learned != nil {
				f := a.learned.factor[i] * a.learned.factor[j]
				if v /= f; f == 0 {
					v = 0
				}
			}
			m.SetSym(i, j, v)
			at++
		}
	}
	d := len(a.mu)
	along := make([]float64, d)
	images := make([][]float64, d)
	for i, v := range vectors {
		var y mat.VecDense
		y.MulVec(m, mat.NewVecDense(all, v))
		images[i] = y.RawVector().Data
		along[i] = linalg.Dot(v, images[i])
	}
	most := distuv.UnitNormal.Quantile(1 - turned/float64(2*k*d))
	for i := range k {
		for j := range d {
			gap := a.mu[i] - a.mu[j]
			if j == i || gap == 0 {
				continue
			}
			turn := (along[i] - along[j]) / gap
			variance := max(tau*tau/2, a.noise(i, j)*tau*tau/a.s/a.s) + max(0, along[i])*max(0, along[j])/a.n + turn*turn*a.mixing(i, j)
			if math.Abs(linalg.Dot(vectors[j], images[i])) > most*math.Sqrt(variance) {
				return true
			}
		}
	}
	return false
}

func parts(v []float64) []float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	out := make([]float64, len(v))
	for i, x := range v {
		if sum > 0 {
			out[i] = x / sum
		}
	}
	return out
}

// unclip returns the spectrum that [prior.Sphere] maps to parts, up to its scale.
func unclip(parts []float64) []float64 {
	lambda := append([]float64(nil), parts...)
	for range 25 {
		got := prior.Sphere(lambda)
		sum := 0.0
		for i := range lambda {
			if got[i] > 0 {
				lambda[i] *= parts[i] / got[i]
			}
			sum += lambda[i]
		}
		for i := range lambda {
			if sum > 0 {
				lambda[i] /= sum
			}
		}
	}
	return lambda
}
