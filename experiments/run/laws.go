package run

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Student returns a multivariate t of nu > 2 degrees of freedom over a named spectrum: every
// row is a Gaussian one, scaled at random; the heavy tail is in all directions at once.
func Student(name string, d int, nu int) (Source, error) {
	lambda, err := Spectrum(name, d)
	if err != nil {
		return Source{}, err
	}
	label := "t-" + name
	return Source{label, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		root, values := roots(lambda), make([]float64, n*d)
		for i := range n {
			chi := 0.0
			for range nu {
				g := rng.NormFloat64()
				chi += g * g
			}
			scale := math.Sqrt(float64(nu) / chi)
			for j := range d {
				values[i*d+j] = scale * root[j] * rng.NormFloat64()
			}
		}
		return newData(label, d, values, diag(lambda, float64(nu)/float64(nu-2)))
	}}, nil
}

// Mixture returns a named Gaussian of which a part of the rows, share, is contaminated: drawn
// from an isotropic law of the same trace, times scale². It moves no component.
func Mixture(name string, d int, share, scale float64) (Source, error) {
	lambda, err := Spectrum(name, d)
	if err != nil {
		return Source{}, err
	}
	trace := 0.0
	for _, v := range lambda {
		trace += v
	}
	wide := scale * math.Sqrt(trace/float64(d))
	label := "mixture-" + name
	return Source{label, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		root, values := roots(lambda), make([]float64, n*d)
		for i := range n {
			bad := rng.Float64() < share
			for j := range d {
				if values[i*d+j] = root[j] * rng.NormFloat64(); bad {
					values[i*d+j] = wide * rng.NormFloat64()
				}
			}
		}
		sigma := diag(lambda, 1-share)
		for j := range d {
			sigma.SetSym(j, j, sigma.At(j, j)+share*wide*wide)
		}
		return newData(label, d, values, sigma)
	}}, nil
}

// Clusters returns count Gaussian clouds of standard deviation spread around fixed centres of
// unit length in random directions, cluster i drawn with a probability that falls like
// 1/(i+1). Rows are not centered: the components are those of the second moment.
func Clusters(d, count int, spread float64) Source {
	rng := generator(uint64(1000*d + count))
	centers, weight, total := make([][]float64, count), make([]float64, count), 0.0
	for i := range centers {
		centers[i] = Direction(d, rng.Uint64())
		weight[i] = 1 / float64(i+1)
		total += weight[i]
	}
	sigma := mat.NewSymDense(d, nil)
	for i, c := range centers {
		sigma.SymRankOne(sigma, weight[i]/total, mat.NewVecDense(d, c))
	}
	for j := range d {
		sigma.SetSym(j, j, sigma.At(j, j)+spread*spread)
	}
	return cloudsAround("clusters", d, centers, weight, spread, sigma)
}

// cloudsAround is Gaussian clouds of standard deviation spread, cluster c drawn in proportion to
// weight[c].
func cloudsAround(name string, d int, centers [][]float64, weight []float64, spread float64, sigma *mat.SymDense) Source {
	total := 0.0
	for _, w := range weight {
		total += w
	}
	return Source{name, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		values := make([]float64, n*d)
		for i := range n {
			u, c := rng.Float64()*total, 0
			for c < len(weight)-1 && u >= weight[c] {
				u -= weight[c]
				c++
			}
			for j := range d {
				values[i*d+j] = centers[c][j] + spread*rng.NormFloat64()
			}
		}
		return newData(name, d, values, sigma)
	}}
}

// Autoregressive returns the stationary Gaussian series of d steps with correlation rho^|i-j|.
func Autoregressive(d int, rho float64) Source {
	sigma := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			sigma.SetSym(i, j, math.Pow(rho, float64(j-i)))
		}
	}
	return Source{"ar1", d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		values, fresh := make([]float64, n*d), math.Sqrt(1-rho*rho)
		for i := range values {
			g := rng.NormFloat64()
			if i%d == 0 {
				values[i] = g
			} else {
				values[i] = rho*values[i-1] + fresh*g
			}
		}
		return newData("ar1", d, values, sigma)
	}}
}

// Shifted returns src with norms·√trace in a fixed direction added to every row; the
// components are still those of the covariance.
func Shifted(src Source, norms float64) Source {
	return Source{"shifted-" + src.Name, src.D, func(n int, seed uint64) (*Data, error) {
		m, err := src.Draw(n, seed)
		if err != nil {
			return nil, err
		}
		by, length := Direction(src.D, 7), norms*math.Sqrt(m.Trace())
		for i := range m.values {
			m.values[i] += length * by[i%src.D]
		}
		m.Name = "shifted-" + src.Name
		return m, nil
	}}
}

// Direction returns a unit vector, uniform for its seed.
func Direction(d int, seed uint64) []float64 {
	rng := generator(seed)
	v, square := make([]float64, d), 0.0
	for i := range v {
		v[i] = rng.NormFloat64()
		square += v[i] * v[i]
	}
	for i := range v {
		v[i] /= math.Sqrt(square)
	}
	return v
}
