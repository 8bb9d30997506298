package run

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"covey/internal/answer"
	"covey/internal/simulate"
)

// Sites is the number of sites that a study's rows are spread over, unless it says otherwise.
const Sites = 5

// Data are n rows of d numbers, and the matrix whose components are
// looked for: the law's covariance where the law is known, else the rows' own second
// moment.
type Data struct {
	Name   string
	N, D   int
	Sigma  *mat.SymDense
	values []float64
	gaps   []byte    // cells without a value ([Data.Emptied]); nil for none
	absent []int     // rows that are left out for one
	eigen  []float64 // of Sigma, descending
}

// newData takes values, rows one after another; sigma nil means the rows' second moment.
func newData(name string, d int, values []float64, sigma *mat.SymDense) (*Data, error) {
	n := len(values) / d
	if sigma == nil {
		sigma = secondMoment(d, values)
	}
	eigen, err := eigenvalues(sigma)
	return &Data{Name: name, N: n, D: d, Sigma: sigma, values: values, eigen: eigen}, err
}

func secondMoment(d int, values []float64) *mat.SymDense {
	n := len(values) / d
	s := mat.NewSymDense(d, nil)
	s.SymOuterK(1/float64(n), mat.NewDense(n, d, values).T())
	return s
}

func eigenvalues(s *mat.SymDense) ([]float64, error) {
	if d, ok := diagonal(s); ok {
		slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(b, a) })
		return d, nil
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		return nil, fmt.Errorf("run: the eigenvalues do not converge")
	}
	v := e.Values(nil)
	slices.Reverse(v)
	return v, nil
}

func diagonal(s *mat.SymDense) ([]float64, bool) {
	n := s.SymmetricDim()
	d := make([]float64, n)
	for i := range n {
		d[i] = s.At(i, i)
		for j := i + 1; j < n; j++ {
			if s.At(i, j) != 0 {
				return nil, false
			}
		}
	}
	return d, true
}

// Captured returns tr(VᵀΣV) over the most that as many orthonormal vectors could have.
func (m *Data) Captured(v [][]float64) float64 {
	got, best := 0.0, 0.0
	for i, x := range v {
		w := mat.NewVecDense(m.D, x)
		got += mat.Inner(w, m.Sigma, w)
		best += m.eigen[i]
	}
	return got / best
}

// Top returns Σ's largest eigenvalue.
func (m *Data) Top() float64 { return m.eigen[0] }

// Trace returns the sum of Σ's eigenvalues.
func (m *Data) Trace() float64 {
	sum := 0.0
	for _, v := range m.eigen {
		sum += v
	}
	return sum
}

// Best returns the k leading components of the rows themselves, which no privacy
// protects: what pooling all rows would have found.
func (m *Data) Best(k int) ([][]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(secondMoment(m.D, m.values), true) {
		return nil, fmt.Errorf("run: the eigenvalues do not converge")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	out := make([][]float64, k)
	for i := range out {
		out[i] = mat.Col(nil, m.D-1-i, &vectors)
	}
	return out, nil
}

// VarianceAlong returns the rows' own mean of (xᵀy)².
func (m *Data) VarianceAlong(x []float64) float64 {
	sum := 0.0
	for i := range m.N {
		s := 0.0
		for j, v := range m.values[i*m.D : (i+1)*m.D] {
			s += v * x[j]
		}
		sum += s * s
	}
	return sum / float64(m.N)
}

// NormQuantile returns the q quantile of the rows' lengths: what a public norm bound would be, had
// somebody known it.
func (m *Data) NormQuantile(q float64) float64 {
	norms := make(Sample, m.N)
	for i := range norms {
		sum := 0.0
		for _, v := range m.values[i*m.D : (i+1)*m.D] {
			sum += v * v
		}
		norms[i] = math.Sqrt(sum)
	}
	return norms.Quantile(q)
}

// RowsTrace returns the rows' own mean of ‖y‖².
func (m *Data) RowsTrace() float64 {
	sum := 0.0
	for _, v := range m.values {
		sum += v * v
	}
	return sum / float64(m.N)
}

// units returns how many rows each site has: equal parts, the first has what is left over.
func (m *Data) units(sites int) []int {
	u := make([]int, sites)
	for i := range u {
		u[i] = m.N / sites
	}
	u[0] += m.N % sites
	return u
}

// sites returns the rows as so many sites hold them.
func (m *Data) sites(n int) ([]*answer.Rows, error) {
	var out []*answer.Rows
	at := 0
	for _, u := range m.units(n) {
		rows, err := m.rows(at/m.D, u)
		if err != nil {
			return nil, err
		}
		out = append(out, answer.New(rows))
		at += u * m.D
	}
	return out, nil
}

// Source draws data sets of one law.
type Source struct {
	Name string
	D    int
	Draw func(n int, seed uint64) (*Data, error)
}

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x636f766579)) }

// Spectrum is [simulate.Spectrum], whose names experiments/accuracy/reference.csv has too, and two
// families made to fool bounds: near0.9 is 1 and 0.9 above 0.1, bulk0.9 is 1 above 0.9.
func Spectrum(name string, d int) ([]float64, error) {
	for prefix, rest := range map[string]float64{"near": 0.1, "bulk": 0} {
		number, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		second, err := strconv.ParseFloat(number, 64)
		if err != nil || !(second > 0 && second <= 1) || d < 2 {
			return nil, fmt.Errorf("run: unknown spectrum %q", name)
		}
		l := slices.Repeat([]float64{cmp.Or(rest, second)}, d)
		l[0], l[1] = 1, second
		return l, nil
	}
	return simulate.Spectrum(name, d)
}

// Gaussian returns N(0, diag(λ)) of a named spectrum.
func Gaussian(name string, d int) (Source, error) {
	lambda, err := Spectrum(name, d)
	if err != nil {
		return Source{}, err
	}
	return Source{name, d, func(n int, seed uint64) (*Data, error) {
		rng := generator(seed)
		root, values := roots(lambda), make([]float64, n*d)
		for i := range values {
			values[i] = root[i%d] * rng.NormFloat64()
		}
		return newData(name, d, values, diag(lambda, 1))
	}}, nil
}

func roots(l []float64) []float64 {
	r := make([]float64, len(l))
	for i, v := range l {
		r[i] = math.Sqrt(v)
	}
	return r
}

func diag(l []float64, scale float64) *mat.SymDense {
	s := mat.NewSymDense(len(l), nil)
	for i, v := range l {
		s.SetSym(i, i, scale*v)
	}
	return s
}
