package run

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// kinds are what columns of a table may be, as functions of a normal value of variance one.
var kinds = map[string]func(z, heavy float64) float64{
	"normal":    func(z, _ float64) float64 { return z },
	"lognormal": func(z, _ float64) float64 { return math.Exp(z) },
	"skewed":    func(z, _ float64) float64 { return math.Exp(z / 2) },
	"binary": func(z, _ float64) float64 { // 24% ones
		if z > 0.7063 {
			return 1
		}
		return 0
	},
	"integers": func(z, _ float64) float64 { return max(0, min(math.Floor(4.5+2*z), 9)) },
	"zeros":    func(z, _ float64) float64 { return max(0, z-0.8416) }, // 80% of them
	"sparse":   func(z, _ float64) float64 { return max(0, z-1.2816) }, // 90%
	"constant": func(_, _ float64) float64 { return 0 },
	"coded": func(z, _ float64) float64 { // 1, and 2 for 15%
		if z > 1.0364 {
			return 2
		}
		return 1
	},
	"likert": func(z, _ float64) float64 { // 1 to 5, 80% of them 3
		return 3 + math.Copysign(float64(min(2, int(math.Abs(z)/1.2816)+int(math.Abs(z)/2.0537))), z)
	},
	"flag": func(z, _ float64) float64 { // 1, and 2 for 6%
		if z > 1.5548 {
			return 2
		}
		return 1
	},
	"ceiling": func(z, _ float64) float64 { // 15 for 80%, and from there down to 3
		return max(3, 15-math.Round(7*max(0, -0.8416-z)))
	},
	"t4": func(z, heavy float64) float64 { return z * heavy },
}

// mixed are the kinds of a table of mixed columns, in turn.
var mixed = []string{"normal", "lognormal", "binary", "integers", "zeros", "t4"}

// farAway is where the columns of "far" tables may be, in standard deviations from zero; those of
// others, where zero means nothing by itself, are within nearby.
const (
	nearby  = 20
	farAway = 400
)

// Columns returns tables of d columns whose correlations come from a named spectrum, turned to no
// direction in particular. Kind is "normal", "far", "mixed", or what every column is: "lognormal",
// "skewed", "binary", "integers", "zeros", "sparse", "ceiling" or "t4"; every other one of
// "constant" and of "flag" is one, and two of three of "coded" have one frequent value that is not
// 0. Units are over five decades, 0 or 1 and counts have none. What is looked for are the
// components of the rows' own correlation matrix. Known is the same rows, each column less its own
// mean, over its own standard deviation and kept within limit.
func Columns(spectrum, kind string, d int, limit float64) (learned, known Source, err error) {
	lambda, err := Spectrum(spectrum, d)
	if err != nil {
		return Source{}, Source{}, err
	}
	if kind != "mixed" && kind != "far" && kinds[kind] == nil {
		return Source{}, Source{}, fmt.Errorf("run: unknown kind of columns %q", kind)
	}
	draw := func(n int, seed uint64) (raw, standard []float64) {
		rng := generator(seed)
		raw = rawColumns(lambda, kind, n, rng)
		return raw, standardized(raw, d)
	}
	name := kind + " " + spectrum
	return Source{name, d, func(n int, seed uint64) (*Data, error) {
			raw, standard := draw(n, seed)
			return newData(name, d, raw, secondMoment(d, standard))
		}}, Source{name, d, func(n int, seed uint64) (*Data, error) {
			_, standard := draw(n, seed)
			sigma := secondMoment(d, standard)
			for i, z := range standard {
				standard[i] = max(-limit, min(z, limit))
			}
			return newData(name, d, standard, sigma)
		}}, nil
}

func rawColumns(lambda []float64, kind string, n int, rng *rand.Rand) []float64 {
	d := len(lambda)
	turned := mat.NewDense(d, d, nil) // rows of length one: each column has variance one
	var qr mat.QR
	for i := range d * d {
		turned.RawMatrix().Data[i] = rng.NormFloat64()
	}
	qr.Factorize(turned)
	var q mat.Dense
	qr.QTo(&q)
	root := roots(lambda)
	for i := range d {
		row, square := q.RawRowView(i), 0.0
		for j := range row {
			row[j] *= root[j]
			square += row[j] * row[j]
		}
		for j := range row {
			row[j] /= math.Sqrt(square)
		}
	}
	normal := mat.NewDense(n, d, nil)
	for i := range n * d {
		normal.RawMatrix().Data[i] = rng.NormFloat64()
	}
	var rows mat.Dense
	rows.Mul(normal, q.T())
	values := rows.RawMatrix().Data
	unit, mean, of := make([]float64, d), make([]float64, d), slices.Repeat([]string{kind}, d)
	for j := range d {
		away := float64(nearby)
		switch kind {
		case "mixed":
			of[j] = mixed[j%len(mixed)]
		case "far":
			of[j], away = "normal", farAway
		case "constant":
			of[j] = []string{"normal", "constant"}[j%2]
		case "flag":
			of[j] = []string{"flag", "normal"}[j%2]
		case "coded":
			of[j] = []string{"coded", "likert", "normal"}[j%3]
		}
		unit[j], mean[j] = math.Pow(10, 5*rng.Float64()-2), away*(2*rng.Float64()-1)
		switch of[j] {
		case "binary", "integers", "coded", "likert", "flag", "ceiling":
			unit[j], mean[j] = 1, 0
		case "zeros", "sparse", "lognormal":
			mean[j] = 0
		}
	}
	for i := range n {
		square := 0.0
		for range 4 {
			g := rng.NormFloat64()
			square += g * g
		}
		heavy := math.Sqrt(4 / square) // of the row's t4
		for j := range d {
			values[i*d+j] = (kinds[of[j]](values[i*d+j], heavy) + mean[j]) * unit[j]
		}
	}
	return values
}

// standardized is columns less their means, over their standard deviations.
func standardized(values []float64, d int) []float64 {
	n := float64(len(values) / d)
	mean, deviation, out := make([]float64, d), make([]float64, d), make([]float64, len(values))
	for i, v := range values {
		mean[i%d] += v / n
	}
	for i, v := range values {
		deviation[i%d] += (v - mean[i%d]) * (v - mean[i%d]) / n
	}
	for i, v := range values {
		if deviation[i%d] > 1e-20*mean[i%d]*mean[i%d] { // else it is a column of one value
			out[i] = (v - mean[i%d]) / math.Sqrt(deviation[i%d])
		}
	}
	return out
}

// Taken are the rows as a study that learned its constants took them: (value - center)/scale, kept
// within limit, then each column less its own mean, over its own standard deviation. One of scale 0
// is zeros.
func (m *Data) Taken(center, scale []float64, limit float64) (*Data, error) {
	values := make([]float64, len(m.values))
	for i, v := range m.values {
		if s := scale[i%m.D]; s > 0 {
			values[i] = max(-limit, min((v-center[i%m.D])/s, limit))
		}
	}
	values = standardized(values, m.D)
	return newData(m.Name, m.D, values, secondMoment(m.D, values))
}
