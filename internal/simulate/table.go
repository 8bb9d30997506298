package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// Table is the shape of a synthetic table: rows of a named spectrum in a random basis, so that
// every column takes part in every component.
type Table struct {
	N        int     // rows in all
	D        int     // columns; 0: as many as the study has
	Spectrum string  // [Spectrum]
	Freedom  int     // rows of a multivariate t of so many degrees of freedom; 0: normal rows
	Sites    int     // that share the rows evenly
	PerUnit  int     // rows of a unit
	Gaps     float64 // the share of cells without a value, at random
}

// TableForm is the form that ParseTable reads.
const TableForm = "n=ROWS,spectrum=FAMILY[,d=COLUMNS][,sites=5][,tails=3][,gaps=0.05][,per_unit=1]"

// ParseTable reads a shape such as n=20000,d=64,spectrum=slow0.2.
func ParseTable(text string) (Table, error) {
	t := Table{Sites: 5, PerUnit: 1}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		whole := func(to *int, low, high int) error {
			v, err := strconv.Atoi(value)
			if err != nil || v < low || v > high {
				return fmt.Errorf("%s must be in %d..%d, got %.40q", key, low, high, value)
			}
			*to = v
			return nil
		}
		var err error
		switch key {
		case "n":
			err = whole(&t.N, 1, mostRows)
		case "d":
			err = whole(&t.D, 1, mostTabled)
		case "spectrum":
			if t.Spectrum = value; value == "" {
				err = fmt.Errorf("spectrum must be one of %s", Spectra)
			}
		case "tails":
			err = whole(&t.Freedom, 3, 1000)
		case "sites":
			err = whole(&t.Sites, 2, 1000)
		case "per_unit":
			err = whole(&t.PerUnit, 1, 1000)
		case "gaps":
			if t.Gaps, err = strconv.ParseFloat(value, 64); err != nil || !(t.Gaps >= 0 && t.Gaps < 0.9) {
				err = fmt.Errorf("gaps must be in 0..0.9, got %.40q", value)
			}
		default:
			err = fmt.Errorf("%.40q must be one of n, d, spectrum, sites, tails, gaps, per_unit", key)
		}
		if err != nil {
			return t, err
		}
	}
	if t.N == 0 || t.Spectrum == "" {
		return t, fmt.Errorf("give n and spectrum, as in %s", TableForm)
	}
	if t.N < t.Sites*t.PerUnit {
		return t, fmt.Errorf("n must be at least one unit a site, %d, got %d", t.Sites*t.PerUnit, t.N)
	}
	return t, nil
}

// Bounds of what is drawn: memory, and the time of turning rows into a random basis.
const (
	mostRows   = 1e8
	mostTabled = 4096
	mostValues = 4e8
	mostTurned = 4e11 // rows times columns squared
)

// Draw draws the table's sites and returns the law's own components, which gaps do not change. The
// study's columns must be of numbers. Values are in the study's constants: of variance 1 on average
// over the columns.
func (t Table) Draw(spec proposal.Spec, key [32]byte) ([]*Site, *Pooled, error) {
	d := spec.Width()
	switch {
	case t.D != 0 && t.D != d:
		return nil, nil, fmt.Errorf("d = %d, the study has %d columns", t.D, d)
	case d != len(spec.Columns):
		return nil, nil, fmt.Errorf("a synthetic table has columns of numbers alone, without levels and indicators: give files of made-up or earlier rows instead")
	case t.Gaps > 0 && spec.Missing == proposal.MissingError:
		return nil, nil, fmt.Errorf("gaps = %g, and the study refuses missing values", t.Gaps)
	case t.PerUnit > 1 && spec.Unit == "":
		return nil, nil, fmt.Errorf("per_unit = %d, and the study names no unit column: a row is a unit", t.PerUnit)
	case float64(t.N)*float64(d) > mostValues || float64(t.N)*float64(d)*float64(d) > mostTurned:
		return nil, nil, fmt.Errorf("%d rows of %d columns are too many to draw", t.N, d)
	}
	lambda, err := Spectrum(t.Spectrum, d)
	if err != nil {
		return nil, nil, err
	}
	sum := 0.0
	for _, v := range lambda {
		sum += v
	}
	for j := range lambda {
		lambda[j] *= float64(d) / sum
	}
	rng := rand.New(rand.NewChaCha8(key))
	basis := turn(rng, d)
	second := mat.NewSymDense(d, nil)
	for j, v := range lambda {
		second.SymRankOne(second, v, basis.ColView(j))
	}
	law, err := newLaw(spec, second)
	if err != nil {
		return nil, nil, err
	}
	var sites []*Site
	for i := range t.Sites {
		units := t.N / t.PerUnit / t.Sites
		if i < t.N/t.PerUnit%t.Sites {
			units++
		}
		s, err := t.site(rng, units*t.PerUnit, units, lambda, basis, spec)
		if err != nil {
			return nil, nil, err
		}
		sites = append(sites, s)
	}
	return sites, law, nil
}

func (t Table) site(rng *rand.Rand, n, units int, lambda []float64, basis *mat.Dense, spec proposal.Spec) (*Site, error) {
	d := len(lambda)
	r := &dataset.Rows{Rows: n, Units: units, D: d, Values: make([]float64, n*d)}
	if spec.Unit != "" {
		for i := range n {
			r.Unit = append(r.Unit, i/t.PerUnit)
		}
	}
	stride := (d + 7) / 8
	if spec.KeepsGaps() {
		r.Gaps = make([]byte, n*stride)
	}
	z := make([]float64, d)
	for i := range n {
		length := 1.0
		if t.Freedom > 0 { // of the same second moment
			chi := 0.0
			for range t.Freedom {
				g := rng.NormFloat64()
				chi += g * g
			}
			length = math.Sqrt(float64(t.Freedom-2) / chi)
		}
		for j, v := range lambda {
			z[j] = length * math.Sqrt(v) * rng.NormFloat64()
		}
		row := r.Values[i*d : (i+1)*d]
		mat.NewVecDense(d, row).MulVec(basis, mat.NewVecDense(d, z))
		lost := false
		for j := range row {
			if t.Gaps > 0 && rng.Float64() < t.Gaps {
				row[j], lost = 0, true
				if r.Gaps != nil {
					r.Gaps[i*stride+j/8] |= 1 << (j % 8)
				}
			}
		}
		if lost && r.Gaps == nil { // the row is left out
			clear(row)
			r.Absent = append(r.Absent, i)
		}
	}
	r.Dropped = len(r.Absent)
	return newSite(r)
}

// turn returns a random orthonormal basis, its vectors the columns.
func turn(rng *rand.Rand, d int) *mat.Dense {
	g := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	q := new(mat.Dense)
	qr.QTo(q)
	return q
}

// Spectra are the names that Spectrum knows.
const Spectra = "slowS (1/(1+S·j)), expR (R^j), spikeM (M ones on a bulk of 0.1), flat4, flatq, pow1, lowrank, gap2"

// Spectrum returns the eigenvalues of a named law of d columns, falling from 1:
//
//	slowS    1/(1+S·j), such as slow0.05
//	expR     R^j, such as exp0.7
//	spikeM   M ones on a bulk of 0.1, such as spike3
//	flat4    4 ones, then a decay from 0.7
//	flatq    a quarter of ones, then a line from 0.95 to 0.05
//	pow1     1/(j+1)
//	lowrank  0.8^j of 8, the rest 0.01
//	gap2     one 1, the rest 0.5
func Spectrum(name string, d int) ([]float64, error) {
	l := make([]float64, d)
	for prefix, of := range map[string]func(v float64, j int) float64{
		"slow":  func(v float64, j int) float64 { return 1 / (1 + v*float64(j)) },
		"exp":   func(v float64, j int) float64 { return math.Pow(v, float64(j)) },
		"spike": func(v float64, j int) float64 { return max(0.1, min(1, v-float64(j))) },
	} {
		if number, ok := strings.CutPrefix(name, prefix); ok {
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 0) || prefix == "exp" && v > 1 {
				return nil, unknown(name)
			}
			for j := range l {
				l[j] = of(v, j)
			}
			return l, nil
		}
	}
	for j := range l {
		switch name {
		case "flat4":
			if l[j] = 1; j >= 4 {
				l[j] = 0.7 * math.Exp(-3*float64(j-4)/float64(d))
			}
		case "flatq":
			q := d / 4
			if l[j] = 1; j >= q {
				l[j] = 0.95 - 0.90*float64(j-q)/float64(max(1, d-q-1))
			}
		case "pow1":
			l[j] = 1 / float64(j+1)
		case "lowrank":
			if l[j] = 0.01; j < 8 {
				l[j] = math.Pow(0.8, float64(j))
			}
		case "gap2":
			if l[j] = 0.5; j == 0 {
				l[j] = 1
			}
		default:
			return nil, unknown(name)
		}
	}
	return l, nil
}

func unknown(name string) error {
	return fmt.Errorf("unknown spectrum %.40q: must be one of %s", name, Spectra)
}
