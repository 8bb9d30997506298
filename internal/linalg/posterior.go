package linalg

import "gonum.org/v1/gonum/mat"

// Products are the products Z of a symmetric matrix with vectors X, with normal noise of deviation
// Tau on each number. Both are k vectors of m numbers: coordinates in an orthonormal basis.
type Products struct {
	X, Z [][]float64
	Tau  float64
}

// Prior is what is known of a symmetric matrix before products with it: it is normal about Mean, in
// coordinates of an orthonormal basis, with independent numbers of this variance on the diagonal
// and half of it off the diagonal.
type Prior struct {
	Mean     [][]float64
	Variance float64
}

// PriorOf returns what a noised copy of a symmetric d×d matrix says of it. noised is the copy in
// coordinates of a basis (m×m), mean and square are the means of its eigenvalues and of their
// squares, and tau is the noise's deviation on the diagonal, √2 times that off it. Before the copy,
// the matrix is taken as normal about a multiple of the identity; the variance of its eigenvalues
// is what the copy shows beyond noise: empirical Bayes (Efron and Morris 1973). That shrinks
// directions that stand out too much; products with them correct it.
func PriorOf(noised [][]float64, mean, square, tau float64, d int) Prior {
	w, v := Shrinkage(mean, square, tau, d), float64(tau*tau)
	out := Prior{Variance: w * v}
	for i, row := range noised {
		to := make([]float64, len(row))
		for j, x := range row {
			to[j] = float64(w * x)
		}
		to[i] += float64((1 - w) * mean)
		out.Mean = append(out.Mean, to)
	}
	return out
}

// Times returns what is known of f times the matrix.
func (p Prior) Times(f float64) Prior {
	out := Prior{Variance: f * p.Variance * f}
	for _, row := range p.Mean {
		to := make([]float64, len(row))
		for j, x := range row {
			to[j] = f * x
		}
		out.Mean = append(out.Mean, to)
	}
	return out
}

// leastShown is the least part of a noised copy's variance that counts as the matrix's own. A
// spectrum of one direction above many equal ones has less, and that direction would be shrunk
// towards them.
const leastShown = 0.1

// Shrinkage returns how much weight a noised copy of a matrix has against its mean eigenvalue.
func Shrinkage(mean, square, tau float64, d int) float64 {
	shown, noise := square-float64(mean*mean), float64(tau*tau)*float64(d)/2 // of the semicircle
	own := max(shown-noise, float64(leastShown*shown))
	if !(own > 0) {
		return leastShown
	}
	return own / (own + noise)
}

// Leading returns the k leading eigenvectors, in coordinates of the basis, of the mean of the
// matrix given products with vectors in the basis's span. It reports false where eigenvalues do not
// converge.
//
// Along the eigenvectors of Σ XXᵀ/τ², with eigenvalues a, the products show number (i, j) of the
// matrix with precision a_j and, the matrix being symmetric, once more as (j, i) with a_i; the
// noise of the two is independent.
func (p Prior) Leading(products []Products, k int) ([][]float64, bool) {
	m := len(p.Mean)
	asked, answered := square(m), square(m) // Σ XXᵀ/τ², Σ ZXᵀ/τ²
	last := products[len(products)-1].Tau
	for _, s := range products {
		weight := last / s.Tau // relative to the last, to stay in range
		weight *= weight
		for c, x := range s.X {
			for i := range m {
				for j := range m {
					asked[i][j] += float64(float64(weight*x[i]) * x[j])
					answered[i][j] += float64(float64(weight*s.Z[c][i]) * x[j])
				}
			}
		}
	}
	a, u, ok := Eigen(symmetric(asked))
	if !ok {
		return nil, false
	}
	seen, known := turned(answered, u), turned(p.Mean, u)
	before := float64(last / p.Variance * last) // precision of the diagonal
	for i := range m {
		for j := range i {
			sure := max(a[i], 0) + max(a[j], 0) + 2*before
			known[i][j] = (seen[i][j] + seen[j][i] + float64(2*before*known[i][j])) / sure
			known[j][i] = known[i][j]
		}
		known[i][i] = (seen[i][i] + float64(before*known[i][i])) / (max(a[i], 0) + before)
	}
	_, w, ok := Eigen(symmetric(known))
	if !ok {
		return nil, false
	}
	var out [][]float64
	for c := m - 1; c >= m-k; c-- {
		v := make([]float64, m)
		for j := range m {
			f := w.At(j, c)
			for i := range v {
				v[i] += float64(f * u.At(i, j))
			}
		}
		out = append(out, v)
	}
	return out, true
}

// Along returns QᵀMQ for an orthonormal basis Q.
func Along(m *mat.SymDense, basis [][]float64) [][]float64 {
	out := make([][]float64, len(basis))
	for i, v := range basis {
		out[i] = Coordinates(product(m, v), basis)
	}
	return out
}

// Coordinates are the inner products of v with each of a basis.
func Coordinates(v []float64, basis [][]float64) []float64 {
	out := make([]float64, len(basis))
	for i, b := range basis {
		out[i] = Dot(b, v)
	}
	return out
}

// Span returns an orthonormal basis of the span of vectors, without those that depend on others.
func Span(vectors [][]float64) (basis [][]float64) {
	for _, v := range vectors {
		if unit, ok := Against(v, basis); ok {
			basis = append(basis, unit)
		}
	}
	return basis
}

// Combine returns the sum of the vectors, each times its weight.
func Combine(weights []float64, vectors [][]float64) []float64 {
	out := make([]float64, len(vectors[0]))
	for i, v := range vectors {
		for j, x := range v {
			out[j] += float64(weights[i] * x)
		}
	}
	return out
}

func square(m int) [][]float64 {
	out := make([][]float64, m)
	for i := range out {
		out[i] = make([]float64, m)
	}
	return out
}

// symmetric is the symmetric part.
func symmetric(a [][]float64) *mat.SymDense {
	out := mat.NewSymDense(len(a), nil)
	for i := range a {
		for j := i; j < len(a); j++ {
			out.SetSym(i, j, (a[i][j]+a[j][i])/2)
		}
	}
	return out
}

// turned is UᵀAU.
func turned(a [][]float64, u *mat.Dense) [][]float64 {
	m := len(a)
	columns := make([][]float64, m)
	for j := range columns {
		columns[j] = mat.Col(nil, j, u)
	}
	half := make([][]float64, m) // rows of UᵀA
	for i := range half {
		half[i] = Combine(columns[i], a)
	}
	for i := range half {
		half[i] = Coordinates(half[i], columns)
	}
	return half
}
