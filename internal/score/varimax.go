package score

import (
	"math"
	"slices"
)

// varimaxSweeps and varimaxAngle end the search: no pair of axes turns by more.
const (
	varimaxSweeps = 1000
	varimaxAngle  = 1e-12
)

// varimax returns the k×k orthogonal matrix T, row-major, for which the columns of L·T have the
// largest sum of variances of squared entries: L has the k vectors as columns (Kaiser 1958, the raw
// criterion, without his normalization of rows). Pairs of axes are turned by the angle that is best
// for them until none turns any more.
func varimax(vectors [][]float64) []float64 {
	k := len(vectors)
	turn := make([]float64, k*k)
	loadings := make([][]float64, k)
	for i, v := range vectors {
		turn[i*k+i] = 1
		loadings[i] = slices.Clone(v)
	}
	if k == 0 {
		return turn
	}
	d := float64(len(vectors[0]))
	for range varimaxSweeps {
		largest := 0.0
		for p := range k {
			for q := p + 1; q < k; q++ {
				a, b := loadings[p], loadings[q]
				var sumU, sumV, cross, square float64
				for j := range a {
					u, v := a[j]*a[j]-b[j]*b[j], 2*a[j]*b[j]
					sumU += u
					sumV += v
					square += u*u - v*v
					cross += 2 * u * v
				}
				angle := math.Atan2(cross-2*sumU*sumV/d, square-(sumU*sumU-sumV*sumV)/d) / 4
				if math.Abs(angle) <= varimaxAngle {
					continue
				}
				largest = max(largest, math.Abs(angle))
				sin, cos := math.Sincos(angle)
				for j := range a {
					a[j], b[j] = cos*a[j]+sin*b[j], cos*b[j]-sin*a[j]
				}
				for j := range k {
					x, y := turn[j*k+p], turn[j*k+q]
					turn[j*k+p], turn[j*k+q] = cos*x+sin*y, cos*y-sin*x
				}
			}
		}
		if largest == 0 {
			break
		}
	}
	return turn
}

// Rotation is what [Model.Rotate] made of the components.
type Rotation struct {
	// Axes are the k rotated axes: unit vectors at right angles, of the same span.
	Axes [][]float64 `json:"axes"`
	// Variances are those of the rows along them, as far as scores on different components are
	// uncorrelated; nil where the study did not buy variances. Their sum is that of the components.
	Variances []float64 `json:"variances,omitempty"`
}

// Rotate makes scores those on the varimax axes of the components, by falling variance where that
// is known, each with its largest loading positive. Axes that are rotated are no principal
// components: the first is not the direction of most variance, and scores on two of them are
// correlated. T², the squared prediction error and distances between rows stay as they are.
func (m *Model) Rotate() Rotation {
	k, d := m.k, m.d
	vectors := make([][]float64, k)
	for i := range vectors {
		vectors[i] = m.components[i*d : (i+1)*d]
	}
	turn := varimax(vectors)
	out := Rotation{Axes: make([][]float64, k)}
	order := make([]int, k)
	variance := make([]float64, k)
	for l := range k {
		order[l] = l
		axis := make([]float64, d)
		for i, v := range vectors {
			for j := range axis {
				axis[j] += float64(turn[i*k+l] * v[j])
			}
			if m.variances != nil {
				variance[l] += m.variances[i] * turn[i*k+l] * turn[i*k+l]
			}
		}
		at := 0
		for j, v := range axis {
			if math.Abs(v) > math.Abs(axis[at]) {
				at = j
			}
		}
		if axis[at] < 0 {
			for j := range axis {
				axis[j] = -axis[j]
			}
			for i := range k {
				turn[i*k+l] = -turn[i*k+l]
			}
		}
		out.Axes[l] = axis
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case variance[a] > variance[b]:
			return -1
		case variance[a] < variance[b]:
			return 1
		}
		return 0
	})
	axes := out.Axes
	out.Axes, m.turn = make([][]float64, k), make([]float64, k*k)
	for l, from := range order {
		out.Axes[l] = axes[from]
		if m.variances != nil {
			out.Variances = append(out.Variances, variance[from])
		}
		for i := range k {
			m.turn[i*k+l] = turn[i*k+from]
		}
	}
	return out
}

// turned sets out to the scores t on the rotated axes.
func (m *Model) turned(out, t []float64) {
	clear(out)
	for i, v := range t {
		for l := range out {
			out[l] += v * m.turn[i*m.k+l]
		}
	}
}
