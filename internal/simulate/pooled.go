package simulate

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/layout"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
)

// Pooled is the answer without privacy: the principal components of all sites' rows together, under
// the study's own constants. A column with public constants is moved and divided by them, and by
// the rows' mean too unless the study's center is public. A column whose constants the study learns
// has the rows' own mean and standard deviation, and an indicator of share p is (y - p)/√p. Of
// several rows of a unit each counts. Where cells are gaps, each entry of the second moment is the
// mean over the rows that have both: that of complete rows if gaps are at random.
type Pooled struct {
	// Scale is what a value less its mean is divided by, for each coordinate, in the file's units;
	// 0 of one that is the same in all rows.
	Scale []float64

	columns []proposal.Column
	at      []proposal.Coordinate
	center  []bool // whether a coordinate's mean is taken off

	mean, seen []float64     // seen rows have a value there
	second     *mat.SymDense // Σ zzᵀ of centered rows, in the end divided
	both       *mat.SymDense // rows that have both values; nil where no cell is a gap
	rows       float64

	values  []float64 // eigenvalues, descending
	vectors *mat.Dense
}

// block is how many rows are taken at once.
const block = 512

// Visit shows rows one after another, D numbers a row in the study's constants, NaN where there is
// a gap. The row is the visitor's to change until it returns.
type Visit func(see func(row []float64)) error

// NewPooled reads the rows twice: for their means and for their second moment.
func NewPooled(spec proposal.Spec, rows Visit) (*Pooled, error) {
	p := &Pooled{columns: spec.Columns, at: spec.Coordinates()}
	d := len(p.at)
	p.mean, p.seen, p.second = make([]float64, d), make([]float64, d), mat.NewSymDense(d, nil)
	learned := make([]bool, d)
	for j, at := range p.at {
		counted := at.Level >= 0 || at.Gap
		learned[j] = !counted && p.columns[at.Column].Standardize == proposal.StandardizePrivate
		p.center = append(p.center, spec.Center != proposal.CenterPublic || counted || learned[j])
	}
	gaps := false
	err := rows(func(row []float64) {
		p.rows++
		for j, v := range row {
			if math.IsNaN(v) {
				gaps = true
				continue
			}
			p.seen[j]++
			p.mean[j] += (v - p.mean[j]) / p.seen[j]
		}
	})
	if err != nil {
		return nil, err
	}
	if gaps {
		p.both = mat.NewSymDense(d, nil)
	}
	z, b := mat.NewDense(block, d, nil), mat.NewDense(block, d, nil)
	n := 0
	flush := func() {
		if n == 0 {
			return
		}
		p.second.SymRankK(p.second, 1, z.Slice(0, n, 0, d).T())
		if p.both != nil {
			p.both.SymRankK(p.both, 1, b.Slice(0, n, 0, d).T())
		}
		n = 0
	}
	err = rows(func(row []float64) {
		z, b := z.RawRowView(n), b.RawRowView(n)
		for j, v := range row {
			z[j], b[j] = 0, 0
			if math.IsNaN(v) {
				continue
			}
			if b[j] = 1; p.center[j] {
				v -= p.mean[j]
			}
			z[j] = v
		}
		if n++; n == block {
			flush()
		}
	})
	if err != nil {
		return nil, err
	}
	flush()
	return p, p.finish(learned)
}

// finish turns sums into the second moment of scaled rows and finds its components.
func (p *Pooled) finish(learned []bool) error {
	d := len(p.at)
	count := func(i, j int) float64 {
		if p.both != nil {
			return max(1, p.both.At(i, j))
		}
		return p.rows
	}
	p.Scale = make([]float64, d)
	for j, at := range p.at {
		switch {
		case at.Level >= 0 || at.Gap:
			p.Scale[j] = math.Sqrt(p.mean[j])
		case learned[j]:
			p.Scale[j] = math.Sqrt(p.second.At(j, j) / count(j, j))
		default:
			p.Scale[j] = 1
		}
	}
	for i := range d {
		for j := i; j < d; j++ {
			v := 0.0
			if s := p.Scale[i] * p.Scale[j]; s > 0 {
				v = p.second.At(i, j) / count(i, j) / s
			}
			p.second.SetSym(i, j, v)
		}
	}
	for j, at := range p.at {
		if c := p.columns[at.Column]; !at.Gap && c.Scale != 0 {
			p.Scale[j] *= c.Scale
		}
	}
	p.both = nil
	return p.decompose()
}

// newLaw returns the components of a law whose second moment is known, of rows of columns of
// numbers in the study's constants.
func newLaw(spec proposal.Spec, second *mat.SymDense) (*Pooled, error) {
	p := &Pooled{columns: spec.Columns, at: spec.Coordinates(), second: mat.NewSymDense(second.SymmetricDim(), nil)}
	d := len(p.at)
	p.Scale = make([]float64, d)
	for j, at := range p.at {
		p.Scale[j] = 1
		if p.columns[at.Column].Standardize == proposal.StandardizePrivate {
			p.Scale[j] = math.Sqrt(second.At(j, j))
		}
	}
	for i := range d {
		for j := i; j < d; j++ {
			p.second.SetSym(i, j, second.At(i, j)/(p.Scale[i]*p.Scale[j]))
		}
	}
	for j, at := range p.at {
		if c := p.columns[at.Column]; c.Scale != 0 {
			p.Scale[j] *= c.Scale
		}
	}
	return p, p.decompose()
}

func (p *Pooled) decompose() error {
	var e mat.EigenSym
	if !e.Factorize(p.second, true) {
		return errors.New("simulate: the pooled rows' eigenvalues do not converge")
	}
	p.values = e.Values(nil)
	slices.Reverse(p.values)
	if top := p.values[0]; !(top > 0 && top <= math.MaxFloat64) { // else there is nothing to have a share of
		return errors.New("simulate: the pooled rows have no variance, or a value too large to square, under the study's constants: there is no answer to hold a study against")
	}
	p.vectors = new(mat.Dense)
	e.VectorsTo(p.vectors)
	return nil
}

// Best returns the k largest eigenvalues' sum, and their eigenvectors, each with its largest
// loading positive.
func (p *Pooled) Best(k int) (sum float64, vectors [][]float64) {
	d := len(p.values)
	for i := range k {
		sum += p.values[i]
		vectors = append(vectors, linalg.Orient(mat.Col(nil, d-1-i, p.vectors)))
	}
	return sum, vectors
}

// Fit is how near components are to the pooled answer.
type Fit struct {
	// Captured is the pooled variance along the components, over the most that as many could have.
	Captured float64
	// Angle is the largest angle, in degrees, between the components' span and that of the pooled
	// rows' first as many; Angles are each component's own to the one of its number.
	Angle  float64
	Angles []float64
}

// Fit holds components against the pooled answer: a result's own or another of its outputs.
// Component x adds up Σ x_j·(value - offset_j)/scale_j with the result's scales; in pooled
// coordinates that is the vector of x_j·(pooled scale)/scale_j, and the vectors are made
// orthonormal, the first keeping its direction. A level that joined its column's other texts has
// their part.
func (p *Pooled) Fit(r *result.Result, components [][]float64) Fit {
	joined := map[string]bool{}
	for _, l := range r.LeftOut {
		joined[l.Column] = l.Why == layout.Joined
	}
	d, k := len(p.at), len(components)
	vectors := mat.NewDense(d, k, nil)
	for i, x := range components {
		for j, at := range p.at {
			from := j
			if joined[at.Name] {
				from += len(p.columns[at.Column].Levels) - at.Level
			}
			vectors.Set(j, i, x[from]*p.Scale[j]/r.Scale[from])
		}
	}
	return p.near(vectors)
}

// near holds a span of vectors, which it makes orthonormal, against as many components.
func (p *Pooled) near(vectors *mat.Dense) Fit {
	d, k := vectors.Dims()
	out := Fit{}
	best, _ := p.Best(k)
	for i := range k {
		length, dot := mat.Norm(vectors.ColView(i), 2), mat.Dot(vectors.ColView(i), p.vectors.ColView(d-1-i))
		out.Angles = append(out.Angles, degrees(math.Abs(dot)/length))
	}
	var qr mat.QR
	qr.Factorize(vectors)
	var q mat.Dense
	qr.QTo(&q)
	overlap := mat.NewDense(k, k, nil)
	for i := range k {
		v := q.ColView(i)
		out.Captured += mat.Inner(v, p.second, v) / best
		for j := range k {
			overlap.Set(i, j, mat.Dot(v, p.vectors.ColView(d-1-j)))
		}
	}
	var svd mat.SVD
	out.Angle = 90
	if svd.Factorize(overlap, mat.SVDNone) {
		out.Angle = degrees(svd.Values(nil)[k-1])
	}
	return out
}

// correlated is the fit to the pooled rows' correlations where the study learns its columns'
// constants: what such a study is about and its bound is of. Components are taken as they are: what
// Fit turns them by has the error of the learned scales in it. Columns that are left out have no
// part. It is nil for other studies, whose bound is about variance under public constants.
func (p *Pooled) correlated(r *result.Result) *Fit {
	if slices.ContainsFunc(p.columns, func(c proposal.Column) bool { return c.Standardize != proposal.StandardizePrivate || len(c.Levels) > 0 }) {
		return nil
	}
	var kept []int
	for j, at := range p.at {
		if !slices.ContainsFunc(r.LeftOut, func(l result.LeftOut) bool { return l.Column == at.Name }) {
			kept = append(kept, j)
		}
	}
	if len(kept) < r.K {
		return nil
	}
	of, vectors := &Pooled{second: mat.NewSymDense(len(kept), nil)}, mat.NewDense(len(kept), r.K, nil)
	for a, i := range kept {
		for b := a; b < len(kept); b++ {
			of.second.SetSym(a, b, p.second.At(i, kept[b]))
		}
		for c, x := range r.Components {
			vectors.Set(a, c, x[i])
		}
	}
	if of.decompose() != nil {
		return nil
	}
	fit := of.near(vectors)
	return &fit
}

// degrees is the angle of a cosine.
func degrees(cosine float64) float64 { return math.Acos(max(0, min(cosine, 1))) * 180 / math.Pi }
