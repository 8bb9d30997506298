package run

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"covey/internal/layout"
	"covey/internal/proposal"
	"covey/internal/result"
)

// Mixed is a table of numbers and categories, and its factor analysis (Pagès 2004) without privacy:
// the components of numbers less their mean over their standard deviation, and of indicators less
// their share over its root.
type Mixed struct {
	Columns []proposal.Column // as a study names them; numbers with the law's own constants
	n       int
	raw     []float64 // rows of coordinates: numbers as they are, and ones and zeros
	scale   []float64 // of the factor analysis
	famd    *Data     // what it takes the components of
}

// Options of a mixed table's law.
const (
	mixedNumbers = 10
	mixedFactors = 4
	rareLevel    = 0.001 // share of the rare level
	noLevel      = 0.01  // share of texts that are no level, of every column
)

// mixedLevels are the numbers of levels of its categories.
var mixedLevels = []int{2, 3, 4, 5, 6, 8}

// DrawMixed draws n rows. Four factors of falling weight move ten numbers, in units over three
// decades, and six categories of 2 to 8 levels, whose level is where a number of the same kind
// falls. The fourth level of the category of five is rare.
func DrawMixed(n int, seed uint64) (*Mixed, error) {
	rng := generator(seed)
	m := &Mixed{n: n}
	all := mixedNumbers + len(mixedLevels)
	loads := make([][mixedFactors]float64, all) // the law is drawn once, whatever the seed
	law := generator(99)
	for c := range loads {
		sum := 0.0
		for f := range mixedFactors {
			loads[c][f] = law.NormFloat64() * math.Pow(0.7, float64(f))
			sum += loads[c][f] * loads[c][f]
		}
		for f := range mixedFactors { // 0.6 of a column's variance is the factors'
			loads[c][f] *= math.Sqrt(0.6 / sum)
		}
	}
	var shares [][]float64
	for j := range mixedNumbers {
		unit := math.Pow(10, law.Float64()*3)
		m.Columns = append(m.Columns, proposal.Column{Name: fmt.Sprint("number", j), Offset: unit * 3 * law.NormFloat64(), Scale: unit})
	}
	for _, levels := range mixedLevels {
		c := proposal.Column{Name: fmt.Sprintf("of%d", levels), Scale: 1}
		own, sum := make([]float64, levels), 0.0
		for l := range own {
			c.Levels = append(c.Levels, fmt.Sprint("L", l))
			own[l] = 0.3 + law.Float64()
			sum += own[l]
		}
		for l := range own {
			own[l] /= sum
		}
		if levels == 5 {
			own[2] += own[3] - rareLevel
			own[3] = rareLevel
		}
		shares = append(shares, own)
		m.Columns = append(m.Columns, c)
	}
	d := proposal.Spec{Columns: m.Columns}.Width()
	m.raw = make([]float64, n*d)
	var factors [mixedFactors]float64
	for i := range n {
		for f := range factors {
			factors[f] = rng.NormFloat64()
		}
		row := m.raw[i*d : (i+1)*d]
		at := 0
		for j, c := range m.Columns {
			x := math.Sqrt(0.4) * rng.NormFloat64()
			for f, v := range factors {
				x += loads[j][f] * v
			}
			if len(c.Levels) == 0 {
				row[at] = c.Offset + c.Scale*x
				at++
				continue
			}
			level, place := len(c.Levels), 0.5*math.Erfc(-x/math.Sqrt2)
			if rng.Float64() >= noLevel {
				level = 0
				for own := shares[j-mixedNumbers]; level < len(c.Levels)-1 && place >= own[level]; level++ {
					place -= own[level]
				}
			}
			row[at+level] = 1
			at += c.Width()
		}
	}
	return m, m.analyze(d)
}

// analyze computes the factor analysis.
func (m *Mixed) analyze(d int) error {
	mean := make([]float64, d)
	m.scale = make([]float64, d)
	for i, v := range m.raw {
		mean[i%d] += v / float64(m.n)
	}
	for i, v := range m.raw {
		m.scale[i%d] += (v - mean[i%d]) * (v - mean[i%d]) / float64(m.n)
	}
	for j, c := range (proposal.Spec{Columns: m.Columns}).Coordinates() {
		if c.Level >= 0 {
			m.scale[j] = mean[j] // a share p: indicators over √p
		}
		m.scale[j] = math.Sqrt(m.scale[j])
	}
	z := make([]float64, len(m.raw))
	for i, v := range m.raw {
		if s := m.scale[i%d]; s > 0 {
			z[i] = (v - mean[i%d]) / s
		}
	}
	var err error
	m.famd, err = newData("mixed", d, z, nil)
	return err
}

// Rows are the rows as a study of columns with those constants has them.
func (m *Mixed) Rows(columns []proposal.Column) (*Data, error) {
	d := m.famd.D
	values := make([]float64, len(m.raw))
	at := proposal.Spec{Columns: columns}.Coordinates()
	for i, v := range m.raw {
		if c := columns[at[i%d].Column]; c.Scale != 0 {
			v = (v - c.Offset) / c.Scale
		}
		values[i] = v
	}
	return newData("mixed", d, values, m.famd.Sigma)
}

// Captured returns what a result's components capture of the factor analysis's variance, over the
// most that as many could. A component says what of a row it adds up; that sum, of the factor
// analysis's rows, is a vector there. A level that joined its column's other texts has their part.
func (m *Mixed) Captured(r *result.Result) (float64, error) {
	d := m.famd.D
	joined := map[string]bool{}
	for _, l := range r.LeftOut {
		joined[l.Column] = l.Why == layout.Joined
	}
	at := proposal.Spec{Columns: m.Columns}.Coordinates()
	vectors := mat.NewDense(d, len(r.Components), nil)
	for k, x := range r.Components {
		for j := range d {
			from := j
			if joined[r.Columns[j]] {
				from = j + len(m.Columns[at[j].Column].Levels) - at[j].Level
			}
			vectors.Set(j, k, x[from]/r.Scale[from]*m.scale[j])
		}
	}
	var qr mat.QR
	qr.Factorize(vectors)
	var q mat.Dense
	qr.QTo(&q)
	out := make([][]float64, len(r.Components))
	for k := range out {
		out[k] = mat.Col(nil, k, &q)
	}
	return m.famd.Captured(out), nil
}
