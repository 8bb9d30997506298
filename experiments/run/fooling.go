package run

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// fooling are what real tables have and elliptical laws do not: each changes a row of twelve
// columns with three factors. site is the site that the row is at.
var fooling = []struct {
	name   string
	change func(rng *rand.Rand, row []float64, site int)
}{
	{"plain", func(*rand.Rand, []float64, int) {}},
	{"column three times", func(_ *rand.Rand, row []float64, _ int) { row[7], row[8] = row[6], row[6] }},
	{"heavy tails, t3", func(rng *rand.Rand, row []float64, _ int) {
		for j := range row {
			row[j] *= student(rng, 3)
		}
	}},
	{"squares", func(_ *rand.Rand, row []float64, _ int) {
		for j := range row {
			row[j] *= row[j]
		}
	}},
	{"code in 1% of rows", func(rng *rand.Rand, row []float64, _ int) {
		if rng.Float64() < 0.01 {
			for j := range 4 {
				row[j] = -15
			}
		}
	}},
	{"code in 3% of a column", func(rng *rand.Rand, row []float64, _ int) {
		if rng.Float64() < 0.03 {
			row[2] = 30
		}
	}},
	{"code at one site", func(_ *rand.Rand, row []float64, site int) {
		if site == 4 {
			row[3] = 8
		}
	}},
	{"other unit at one site", func(_ *rand.Rand, row []float64, site int) {
		if row[4] += 5; site == 1 {
			row[4] *= 10
		}
	}},
	{"sites apart", func(_ *rand.Rand, row []float64, site int) {
		for j := range 6 {
			row[j] += 1.5 * float64(site-1)
		}
	}},
	{"15% are another group", func(rng *rand.Rand, row []float64, _ int) {
		if rng.Float64() < 0.15 {
			for j := range 5 {
				row[j] += 4
			}
		}
	}},
	{"0.05% are giant", func(rng *rand.Rand, row []float64, _ int) {
		if rng.Float64() < 0.0005 {
			for j := range row {
				row[j] *= 1000
			}
		}
	}},
	{"amounts and flags", func(_ *rand.Rand, row []float64, _ int) {
		for j := range 4 {
			row[j] = 100 * math.Exp(1.2*row[j])
		}
		for j := 4; j < 8; j++ {
			row[j] = flag(row[j] > 0.5)
		}
	}},
	{"costs, 85% zeros", func(_ *rand.Rand, row []float64, _ int) {
		for j := range 6 {
			row[j] = flag(row[j] > 1.04) * 100 * math.Exp(2*(row[j]-1.04))
		}
	}},
	{"counts of visits", func(_ *rand.Rand, row []float64, _ int) {
		for j := range 6 {
			row[j] = math.Floor(1 + max(0, math.Exp(1.2*row[j])-1.8))
		}
	}},
	{"rare flags", func(_ *rand.Rand, row []float64, _ int) {
		for j := range 6 {
			row[j] = flag(row[j] > 1.5+0.06*float64(j))
		}
	}},
	{"one lognormal column", func(_ *rand.Rand, row []float64, _ int) { row[3] = math.Exp(row[3]) }},
	{"exponential", func(_ *rand.Rand, row []float64, _ int) {
		for j := range row {
			row[j] = -math.Log(math.Erfc(row[j]/math.Sqrt2) / 2)
		}
	}},
	{"all longer, t4", func(rng *rand.Rand, row []float64, _ int) {
		longer := student(rng, 4)
		for j := range row {
			row[j] *= longer
		}
	}},
	// Nothing was tuned on those that follow.
	{"heavy tails, t4", func(rng *rand.Rand, row []float64, _ int) {
		for j := range row {
			row[j] *= student(rng, 4)
		}
	}},
	{"Pareto, 3 columns", func(_ *rand.Rand, row []float64, _ int) {
		for j := range 3 {
			row[j] = math.Pow(math.Erfc(row[j]/math.Sqrt2)/2, -1/2.5)
		}
	}},
	{"2 columns of counts", func(_ *rand.Rand, row []float64, _ int) {
		for j := range 2 {
			row[j] = math.Floor(math.Exp(1.5 * row[j]))
		}
	}},
	{"5% far in 4 columns", func(rng *rand.Rand, row []float64, _ int) {
		if rng.Float64() < 0.05 {
			for j := range 4 {
				row[j] = 6 * rng.NormFloat64()
			}
		}
	}},
	{"sums of logistic", func(rng *rand.Rand, row []float64, _ int) {
		for j := range row {
			u := rng.Float64()
			row[j] = 2*row[j] + math.Log(u/(1-u))
		}
	}},
	{"rounded, bounded", func(_ *rand.Rand, row []float64, _ int) {
		for j := range row {
			row[j] = max(-2, min(2, math.Round(2*row[j])/2))
		}
	}},
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// student is what makes a normal number one of t, with so many degrees of freedom.
func student(rng *rand.Rand, degrees int) float64 {
	sum := 0.0
	for range degrees {
		g := rng.NormFloat64()
		sum += g * g
	}
	return math.Sqrt(float64(degrees) / sum)
}

// Fooling returns tables that are made to fool the bounds, with constants as an analyst would give
// them: the median of each column, and half of the distance from its 0.16 to its 0.84 quantile, or
// 1 if that is 0. What is looked for are the components of the covariance of these columns.
func Fooling() []Source {
	const d, many = 12, 100_000
	var out []Source
	for _, f := range fooling {
		draw := func(n int, seed uint64) []float64 {
			rng, loads := generator(seed), generator(d)
			load := make([][3]float64, d)
			for j := range load {
				load[j] = [3]float64{loads.NormFloat64(), 0.7 * loads.NormFloat64(), 0.5 * loads.NormFloat64()}
			}
			values := make([]float64, n*d)
			for i := range n {
				a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
				row := values[i*d : (i+1)*d]
				for j, l := range load {
					deviation := math.Sqrt(l[0]*l[0] + l[1]*l[1] + l[2]*l[2] + 0.64)
					row[j] = (l[0]*a + l[1]*b + l[2]*c + 0.8*rng.NormFloat64()) / deviation
				}
				f.change(rng, row, i*Sites/n)
			}
			return values
		}
		out = append(out, Source{f.name, d, func(n int, seed uint64) (*Data, error) {
			all := draw(many, 0) // studies have other seeds
			offset, scale := make([]float64, d), make([]float64, d)
			for j := range d {
				column := mat.Col(nil, j, mat.NewDense(many, d, all))
				slices.Sort(column)
				offset[j], scale[j] = column[many/2], (column[many*84/100]-column[many*16/100])/2
				if scale[j] == 0 {
					scale[j] = 1
				}
			}
			scaled := func(values []float64) []float64 {
				for i := range values {
					values[i] = (values[i] - offset[i%d]) / scale[i%d]
				}
				return values
			}
			truth := scaled(all)
			for j := range d {
				mean := 0.0
				for i := j; i < len(truth); i += d {
					mean += truth[i] / many
				}
				for i := j; i < len(truth); i += d {
					truth[i] -= mean
				}
			}
			return newData(f.name, d, scaled(draw(n, seed)), secondMoment(d, truth))
		}})
	}
	return out
}
