package run

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Law is a line of the large tables: the distribution of rows, how many there are, and how many
// components are looked for.
type Law struct {
	Source
	Family string // "gauss", "t3", "t4", "clusters", "groups", "rare", "short", "zeros" or "real"
	N, K   int
	Held   bool // held out: no rule and no constant was chosen by what it gives
}

// Elliptical reports whether a row's direction does not depend on its length once the law is made
// round: what the bounds and the rule of method = "auto" are promised for.
func (l Law) Elliptical() bool { return l.Family == "gauss" || l.Family[0] == 't' }

// String returns the law's name and sizes.
func (l Law) String() string { return fmt.Sprintf("%s d=%d n=%d k=%d", l.Name, l.D, l.N, l.K) }

// LawNamed returns the distribution of a name such as "flatq", "t3-slow0.05", "t4-ar0.95",
// "clusters6-pow1", "centered6-flatq", "groups1.5-pow1", "rare0.1-slow0.3", "short0.2-slow0.1" or
// "zeros0.5-slow0.02" in d columns, and its family.
func LawNamed(name string, d int) (Source, string, error) {
	family, rest, cut := strings.Cut(name, "-")
	switch {
	case cut && (family == "t3" || family == "t4"):
		source, err := elliptical(name, rest, d, int(family[1]-'0'))
		return source, family, err
	case cut && strings.HasPrefix(family, "clusters"), cut && strings.HasPrefix(family, "centered"):
		count, err := strconv.Atoi(family[len("clusters"):])
		if err != nil {
			return Source{}, "", fmt.Errorf("run: unknown law %q", name)
		}
		source, err := clouds(name, rest, d, count, strings.HasPrefix(family, "centered"))
		return source, "clusters", err
	case cut && strings.HasPrefix(family, "groups"):
		far, err := strconv.ParseFloat(family[len("groups"):], 64)
		if err != nil {
			return Source{}, "", fmt.Errorf("run: unknown law %q", name)
		}
		source, err := groups(name, rest, d, far)
		return source, "groups", err
	case cut && strings.HasPrefix(family, "rare"):
		share, err := strconv.ParseFloat(family[len("rare"):], 64)
		if err != nil {
			return Source{}, "", fmt.Errorf("run: unknown law %q", name)
		}
		source, err := rare(name, rest, d, share)
		return source, "rare", err
	case cut && strings.HasPrefix(family, "short"):
		share, err := strconv.ParseFloat(family[len("short"):], 64)
		if err != nil {
			return Source{}, "", fmt.Errorf("run: unknown law %q", name)
		}
		source, err := short(name, rest, d, share, shortAt)
		return source, "short", err
	case cut && strings.HasPrefix(family, "zeros"):
		share, err := strconv.ParseFloat(family[len("zeros"):], 64)
		if err != nil {
			return Source{}, "", fmt.Errorf("run: unknown law %q", name)
		}
		source, err := short(name, rest, d, share, 0)
		return source, "zeros", err
	}
	source, err := elliptical(name, name, d, 0)
	return source, "gauss", err
}

// elliptical returns Gaussian rows of a named spectrum or autoregression or, with nu > 2, a
// multivariate t of nu degrees of freedom.
func elliptical(name, spectrum string, d, nu int) (Source, error) {
	rho := 0.0
	var lambda []float64
	var err error
	sigma := mat.NewSymDense(d, nil)
	if strings.HasPrefix(spectrum, "ar") {
		if rho, err = strconv.ParseFloat(spectrum[len("ar"):], 64); err != nil || !(rho > 0 && rho < 1) {
			return Source{}, fmt.Errorf("run: unknown law %q", name)
		}
		for i := range d {
			for j := i; j < d; j++ {
				sigma.SetSym(i, j, math.Pow(rho, float64(j-i)))
			}
		}
	} else {
		if lambda, err = Spectrum(spectrum, d); err != nil {
			return Source{}, err
		}
		sigma = diag(lambda, 1)
	}
	if nu > 0 {
		sigma.ScaleSym(float64(nu)/float64(nu-2), sigma)
	}
	root, fresh := roots(lambda), math.Sqrt(1-rho*rho)
	return Source{name, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		values := make([]float64, n*d)
		for i := range n {
			row, scale := values[i*d:(i+1)*d], 1.0
			if nu > 0 {
				chi := 0.0
				for range nu {
					g := rng.NormFloat64()
					chi += g * g
				}
				scale = math.Sqrt(float64(nu) / chi)
			}
			for j := range row {
				switch g := rng.NormFloat64(); {
				case lambda != nil:
					row[j] = scale * root[j] * g
				case j == 0:
					row[j] = scale * g
				default:
					row[j] = rho*row[j-1] + scale*fresh*g
				}
			}
		}
		return newData(name, d, values, sigma)
	}}, nil
}

// cloudSpread is the standard deviation inside a cloud, of that of the centers' in the mean column.
const cloudSpread = 0.3

// clouds returns Gaussian clouds around count centers that are drawn once from a named spectrum, so
// that their lengths differ, cloud i with a probability that falls like 1/(i+1). With centered the
// law's mean is taken off.
func clouds(name, spectrum string, d, count int, centered bool) (Source, error) {
	lambda, err := Spectrum(spectrum, d)
	if err != nil || count < 1 {
		return Source{}, fmt.Errorf("run: unknown law %q", name)
	}
	rng := generator(uint64(1000*d + count + len(name)))
	root, trace := roots(lambda), 0.0
	for _, l := range lambda {
		trace += l
	}
	spread := cloudSpread * math.Sqrt(trace/float64(d))
	centers, weight, total := make([][]float64, count), make([]float64, count), 0.0
	for i := range centers {
		weight[i] = 1 / float64(i+1)
		total += weight[i]
		centers[i] = make([]float64, d)
		for j := range d {
			centers[i][j] = root[j] * rng.NormFloat64()
		}
	}
	if centered {
		mean := make([]float64, d)
		for i, c := range centers {
			for j := range d {
				mean[j] += weight[i] / total * c[j]
			}
		}
		for _, c := range centers {
			for j := range d {
				c[j] -= mean[j]
			}
		}
	}
	sigma := mat.NewSymDense(d, nil)
	for i, c := range centers {
		sigma.SymRankOne(sigma, weight[i]/total, mat.NewVecDense(d, c))
	}
	for j := range d {
		sigma.SetSym(j, j, sigma.At(j, j)+spread*spread)
	}
	return cloudsAround(name, d, centers, weight, spread, sigma), nil
}

// groups returns Gaussian rows of a named spectrum in two groups, as women and men are in most
// tables: between the groups' means is far times half the root of the trace, along one direction
// that is drawn once. One group has a third of the rows.
func groups(name, spectrum string, d int, far float64) (Source, error) {
	lambda, err := Spectrum(spectrum, d)
	if err != nil || !(far > 0) {
		return Source{}, fmt.Errorf("run: unknown law %q", name)
	}
	const second = 1.0 / 3
	u := Direction(d, uint64(1000*d+len(name)))
	root, trace := roots(lambda), 0.0
	for _, l := range lambda {
		trace += l
	}
	far *= math.Sqrt(trace) / 2
	apart := [2]float64{-far * math.Sqrt(second/(1-second)), far * math.Sqrt((1-second)/second)}
	sigma := diag(lambda, 1)
	sigma.SymRankOne(sigma, far*far, mat.NewVecDense(d, u))
	return Source{name, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		values := make([]float64, n*d)
		for i := range n {
			at := apart[0]
			if rng.Float64() < second {
				at = apart[1]
			}
			for j := range d {
				values[i*d+j] = root[j]*rng.NormFloat64() + at*u[j]
			}
		}
		return newData(name, d, values, sigma)
	}}, nil
}

// rare returns Gaussian rows of a named spectrum whose first three components are in a share of the
// rows alone, with as much more variance there.
func rare(name, spectrum string, d int, share float64) (Source, error) {
	lambda, err := Spectrum(spectrum, d)
	if err != nil || !(share > 0 && share <= 1) {
		return Source{}, fmt.Errorf("run: unknown law %q", name)
	}
	root := roots(lambda)
	return Source{name, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		values := make([]float64, n*d)
		for i := range n {
			in := rng.Float64() < share
			for j := range d {
				g := root[j] * rng.NormFloat64()
				if j < 3 {
					g /= math.Sqrt(share)
					if !in {
						g = 0
					}
				}
				values[i*d+j] = g
			}
		}
		return newData(name, d, values, diag(lambda, 1))
	}}, nil
}

// shortAt is where a short row has each of its values, of the standard deviation of the mean
// column.
const shortAt = 0.3

// short returns Gaussian rows of a named spectrum, a share of which is one short row in place of
// them, as zeros are where offsets are not the means. Its values are long times the deviation of
// the mean column: 0 for rows of zeros.
func short(name, spectrum string, d int, share, long float64) (Source, error) {
	lambda, err := Spectrum(spectrum, d)
	if err != nil || !(share > 0 && share < 1) {
		return Source{}, fmt.Errorf("run: unknown law %q", name)
	}
	root, trace := roots(lambda), 0.0
	for _, l := range lambda {
		trace += l
	}
	at := make([]float64, d)
	for j := range at {
		at[j] = long * math.Sqrt(trace/float64(d))
	}
	sigma := diag(lambda, 1-share)
	sigma.SymRankOne(sigma, share, mat.NewVecDense(d, at))
	return Source{name, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		values := make([]float64, n*d)
		for i := range n {
			row := values[i*d : (i+1)*d]
			if rng.Float64() < share {
				copy(row, at)
				continue
			}
			for j := range row {
				row[j] = root[j] * rng.NormFloat64()
			}
		}
		return newData(name, d, values, sigma)
	}}, nil
}

// Laws returns the lines of the large tables, those that are held out behind the others.
func Laws() ([]Law, error) {
	var laws []Law
	for _, group := range []struct {
		held  bool
		sizes [][2]int // d, n
		ks    []int
		names string
	}{
		{false, [][2]int{{64, 5000}, {64, 20_000}}, []int{1, 5},
			"flatq pow1 ar0.95 slow0.05 spike3 t3-flatq t4-pow1 clusters6-pow1 clusters6-flatq centered6-flatq rare0.1-slow0.3"},
		{false, [][2]int{{32, 10_000}}, []int{1, 5}, "slow0.1 t4-slow0.02 flat4 gap2 clusters6-pow1"},
		{false, [][2]int{{8, 2000}}, []int{1, 2}, "pow1 t3-slow0.3 clusters4-pow1"},
		{true, [][2]int{{48, 8000}}, []int{1, 3}, "slow0.15 t3-ar0.9 exp0.7 t4-flat4 centered8-pow1 clusters12-flatq rare0.05-pow1"},
		{true, [][2]int{{100, 10_000}, {100, 40_000}}, []int{1, 5}, "slow0.03 t3-slow0.2 ar0.5 spike8 centered5-slow0.1 rare0.2-slow0.1"},
		{true, [][2]int{{16, 3000}}, []int{1, 2}, "t4-exp0.7 slow0.2 centered4-flatq"},
		{true, [][2]int{{256, 20_000}, {256, 100_000}}, []int{1, 5}, "slow0.05 t4-pow1 flatq"},
		{true, [][2]int{{24, 10_000}}, []int{1, 2}, "groups1.3-exp0.7 groups0.6-slow0.2"},
		{true, [][2]int{{100, 10_000}}, []int{1, 5}, "groups1-pow1"},
		{true, [][2]int{{512, 30_000}}, []int{1}, "slow0.2 flatq"},
	} {
		for _, size := range group.sizes {
			for _, name := range strings.Fields(group.names) {
				source, family, err := LawNamed(name, size[0])
				if err != nil {
					return nil, err
				}
				for _, k := range group.ks {
					laws = append(laws, Law{source, family, size[1], k, group.held})
				}
			}
		}
	}
	m, err := Diamonds("diamonds", true)
	if err != nil {
		return nil, err
	}
	source := Source{m.Name, m.D, func(int, uint64) (*Data, error) { return m, nil }}
	for k := range 3 {
		laws = append(laws, Law{source, "real", m.N, k + 1, true})
	}
	return laws, nil
}
