package worth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/result"
	"covey/internal/study"
)

// learned is the noise of a correlation matrix A = F^-1 (M + E) F^-1, F² its own noised diagonal:
// in direction i every entry E_ij/(F_i F_j), and every error δ of a diagonal, which is E_ii/F_i²
// relative to the mean of A's, turns all that goes with it by -δ/2. Between unit eigenvectors u and
// w of A, of eigenvalues μ and ν, the second part is -(μ+ν)/2 Σ δ_i u_i w_i.
type learned struct {
	pairs  [][]float64  // variance of the noise between eigenvectors i and j
	turned []float64    // the same between (i + (i+1))/√2 and (i - (i+1))/√2
	factor []float64    // F of each coordinate of the study; 0 of those left out
	drawn  [][3]float64 // of i and i+1, as sampled returns them
	turns  [][]float64  // as clipTurns returns them
}

// newLearned computes the variances: s is the standard deviation of E's diagonal, s/√2 that of the
// other entries.
func newLearned(c *study.Correlation) *learned {
	d := len(c.In)
	v := make([][]float64, d) // eigenvectors in the columns that are not left out
	mean := 0.0
	for i := range v {
		v[i] = make([]float64, d)
		for l, j := range c.In {
			v[i][l] = c.Vectors[i][j]
		}
		mean += c.Values[i] / float64(d)
	}
	weight := make([]float64, d) // 1/F²
	for l, f := range c.Factors {
		weight[l] = 1 / (f * f)
	}
	between := func(u, w []float64, level float64) float64 {
		var uu, ww, uw, both float64
		for l, g := range weight {
			uu += u[l] * u[l] * g
			ww += w[l] * w[l] * g
			uw += u[l] * w[l] * g
			x := u[l] * w[l] * g
			both += x * x
		}
		off := (uu*ww + uw*uw - 2*both) / 2
		on := both * (1 - level) * (1 - level)
		return c.Tau * c.Tau * (off + on)
	}
	out := &learned{pairs: make([][]float64, d), turned: make([]float64, d), factor: make([]float64, len(c.Vectors[0]))}
	for l, j := range c.In {
		out.factor[j] = c.Factors[l]
	}
	for i := range v {
		out.pairs[i] = make([]float64, d)
	}
	for i := range v {
		for j := i; j < d; j++ {
			level := (c.Values[i] + c.Values[j]) / 2 / mean
			out.pairs[i][j] = between(v[i], v[j], level)
			out.pairs[j][i] = out.pairs[i][j]
		}
		if i+1 < d {
			sum, difference := make([]float64, d), make([]float64, d)
			for l := range d {
				sum[l] = (v[i][l] + v[i+1][l]) / math.Sqrt2
				difference[l] = (v[i][l] - v[i+1][l]) / math.Sqrt2
			}
			out.turned[i] = between(sum, difference, (c.Values[i]+c.Values[i+1])/2/mean)
		}
	}
	out.drawn = sampled(v, c.Values, mean)
	return out
}

// sampled returns, for each two neighbors u and w of a correlation matrix's unit eigenvectors
// v, what the sampling variances of 2uᵀAw and of uᵀAu - wᵀAw, and their covariance, are of
// 4x²/n, those of a covariance of eigenvalue x: rows change the diagonal with the rest, and
// dividing by it takes that off again. With A of diagonal c, g = u_l w_l, h = (u_l² - w_l²)/2
// and B_lm = A_lm² they are 1 - 4x/c gᵀg + 2/c² gᵀBg, the same of h, and -4x/c gᵀh + 2/c² gᵀBh
// (of Var tr(QS) = 2 tr(QAQA)/n of normal rows, Q = uwᵀ + wuᵀ - 2x/c diag(g)).
func sampled(v [][]float64, values []float64, c float64) [][3]float64 {
	d := len(v)
	b := make([][]float64, d)
	for l := range b {
		b[l] = make([]float64, d)
		for m := range l + 1 {
			a := 0.0
			for i, x := range values {
				a += x * v[i][l] * v[i][m]
			}
			b[l][m], b[m][l] = a*a, a*a
		}
	}
	out := make([][3]float64, d)
	for i := range d - 1 {
		g, h := make([]float64, d), make([]float64, d)
		for l := range d {
			g[l] = v[i][l] * v[i+1][l]
			h[l] = (v[i][l]*v[i][l] - v[i+1][l]*v[i+1][l]) / 2
		}
		var gg, hh, gh float64
		for l := range d {
			bg, bh := linalg.Dot(b[l], g), linalg.Dot(b[l], h)
			gg, hh, gh = gg+g[l]*bg, hh+h[l]*bh, gh+h[l]*bg
		}
		x := (values[i] + values[i+1]) / 2
		out[i] = [3]float64{
			max(0, 1-4*x/c*linalg.Dot(g, g)+2*gg/(c*c)), max(0, 1-4*x/c*linalg.Dot(h, h)+2*hh/(c*c)), -4*x/c*linalg.Dot(g, h) + 2*gh/(c*c),
		}
	}
	return out
}

// turn returns the coupling of eigenvectors i and j by the clip; 0 for a covariance.
func (l *learned) turn(i, j int) float64 {
	if l == nil || l.turns == nil {
		return 0
	}
	return l.turns[i][j]
}

// clipTurns returns, between a correlation matrix's eigenvectors, what is in it that the clip of
// rows at a squared length of bound put there: rows were clipped first and divided by the diagonal
// then. Clipping keeps the eigenvectors of normal rows' covariance, but takes more off columns that
// go with the first of them, such as copies of each other, and the division turns what is left. xi
// are the eigenvalues without noise. The covariance that such rows have is found by draws.
func clipTurns(c *study.Correlation, xi []float64, bound float64) [][]float64 {
	d := len(c.In)
	v, level := mat.NewDense(d, d, nil), 0.0 // eigenvectors are rows
	for i := range d {
		for l, j := range c.In {
			v.Set(i, l, c.Vectors[i][j])
		}
		level += xi[i] / float64(d)
	}
	var rows, scaled, all mat.Dense
	rows.Apply(func(i, l int, x float64) float64 { return x * math.Sqrt(xi[i]) * c.Factors[l] }, v)
	scaled.Mul(rows.T(), &rows)
	moment := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			moment.SetSym(i, j, scaled.At(i, j))
		}
	}
	values, vectors, ok := linalg.Eigen(moment)
	if !ok {
		return nil
	}
	full := unlimited(values, bound)
	rows.Apply(func(l, i int, x float64) float64 { return x * math.Sqrt(full[i]) }, vectors)
	all.Mul(&rows, rows.T())
	scaled.Apply(func(i, j int, x float64) float64 { return level * x / math.Sqrt(all.At(i, i)*all.At(j, j)) }, &all)
	var left, out mat.Dense
	left.Mul(v, &scaled)
	out.Mul(&left, v.T())
	turns := make([][]float64, d)
	for i := range turns {
		turns[i] = mat.Row(nil, i, &out)
		turns[i][i] -= xi[i]
	}
	return turns
}

// unlimited returns the variances of normal rows whose second moment has these values, once rows
// were clipped at a squared length of bound.
func unlimited(values []float64, bound float64) []float64 {
	const draws, rounds = 1000, 30
	rng := rand.New(rand.NewPCG(3, 3)) // the same for everybody
	squares, mean := make([]float64, draws*len(values)), make([]float64, len(values))
	for at := range squares {
		g := rng.NormFloat64()
		squares[at] = g * g
		mean[at%len(values)] += g * g / draws
	}
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = max(0, x)
	}
	for range rounds {
		left := make([]float64, len(values))
		for at := 0; at < len(squares); at += len(values) {
			row := squares[at : at+len(values)]
			w := min(1, bound/linalg.Dot(row, out)) / draws
			for i, g := range row {
				left[i] += w * g / mean[i]
			}
		}
		for i, x := range values {
			out[i] = min(max(0, x)/left[i], 4*out[i])
		}
	}
	return out
}

// gap bounds, with probability 0.95, the gap of a double eigenvalue x between i and i+1,
// squared: of two normal numbers of the variances and the covariance of the noise and of n rows
// together, the sum of the squares, fitted by a gamma law; and what the clip adds.
func (l *learned) gap(i int, x, n float64) float64 {
	rows := 4 * x * x / n
	a, b, c := 4*l.pairs[i][i+1]+rows*l.drawn[i][0], 4*l.turned[i]+rows*l.drawn[i][1], rows*l.drawn[i][2]
	split, across := l.turn(i, i)-l.turn(i+1, i+1), 2*l.turn(i, i+1)
	random := (a + b) * chiSquared95((a+b)*(a+b)/(a*a+b*b+2*c*c))
	return random + split*split + across*across
}

// Signs that a column is not like those that the bounds were measured on, in what learning
// released.
const (
	// mostZeros of a column's units, and zerosStand standard deviations of the noise, are zero.
	mostZeros, zerosStand = 0.1, 4
	// Of a skewed column the values that are kept within limits have another mean each time that
	// its place and scale are mended: one column moves by so many standard deviations, or all
	// together by so many more than as many standard normal squares.
	skewedOne, skewedAll = 4.5, 4
	// leastVaried is of values divided by their learned scale. Of normal columns no variance was
	// below 0.3 with 2,500 units, or 0.65 with 6,000, and of rare flags whose scale was a million
	// times too large none was above 0.21 in studies that bounds are given for. Bounds held beside
	// such columns, and are given.
	leastVaried = 0.25
)

// unlike returns why the bounds do not hold of a study that learned constants, or "". Columns with
// many zeros and skewed ones lose tails to the limit of their values, and so correlations.
func unlike(p *study.Plan, r *result.Result) string {
	if score := p.Learning.Score * keptShare(r); !(score >= leastScore) {
		return fmt.Sprintf("constants learned from counts that stand out from the noise by less than %g standard deviations", leastScore)
	}
	var last *study.Release // of the moments
	for i, rel := range r.Releases {
		switch rel.Kind {
		case study.KindOctaves:
			z := rel.Z()
			of := p.Layout.Single(rel.Kind)
			each := len(z) / len(of)
			for at, j := range of {
				// zeros are the first of a column
				if each > 0 && z[at*each] > max(mostZeros, zerosStand*rel.Tau()) {
					return fmt.Sprintf("learned constants of columns with many zeros, including %q", r.Columns[j])
				}
			}
		case study.KindMoments:
			last = &r.Releases[i]
		}
	}
	if names := spiked(p, r, math.Inf(-1)); len(names) > 0 {
		return fmt.Sprintf("learned constants of columns in which one value is frequent, including %s", names[0])
	}
	of := p.Layout.Single(study.KindMoments)
	if last == nil || len(last.Scale) != r.D || len(last.Noised) != 2*len(of) {
		return "no moments were released"
	}
	// The mean of a z about the place of the release before: both have noise tau/2, for 2z is what
	// was summed.
	sum, in := 0.0, 0.0
	for at, j := range of {
		// or a level's: noise alone
		if last.Scale[j] == 0 || !slices.Contains(p.Layout.Single(study.KindTree), j) {
			continue
		}
		x := last.Z()[at] / (math.Sqrt2 * last.Tau())
		if math.Abs(x) > skewedOne {
			return fmt.Sprintf("learned constants of columns that are skewed, have heavy tails, or come in other units from some sites, including %q", r.Columns[j])
		}
		sum, in = sum+x*x, in+1
	}
	if sum > in+skewedAll*math.Sqrt(2*in) {
		return "learned constants of columns that are skewed, have heavy tails, or come in other units from some sites"
	}
	return ""
}

// spiked returns the names, quoted, of columns in the study whose learned scale is in doubt, those
// whose values vary by less than least among them. A column with a given scale is counted, too, but
// for its center alone.
func spiked(p *study.Plan, r *result.Result, least float64) (names []string) {
	if !p.Proposal.Spec.Standardizes() {
		return nil
	}
	c := p.Start()
	for i, rel := range r.Releases {
		if rel.Kind == study.KindMoment || rel.Kind == study.KindPower {
			break
		}
		next, err := p.Next(c, rel, r.Releases[:i])
		if err != nil {
			return nil // verified results have none
		}
		c = next
	}
	for j, column := range c.Columns {
		if p.Layout.Coordinates[j].Level < 0 && p.Layout.Learns(j) && misscaled(column.Scale, column.Variance, least, column.Narrow) {
			names = append(names, strconv.Quote(r.Columns[j]))
		}
	}
	return names
}

// misscaled reports whether a column's scale may not be its own. Where its tree is narrow, one
// value that is not 0 holds most of it, and the scale is that value's. Where the values divided by
// the scale have little variance, the counts that it was read from may be noise.
func misscaled(scale, variance, least float64, narrow bool) bool {
	return scale != 0 && (narrow || variance < least)
}
