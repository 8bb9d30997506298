package run

import (
	"math"
)

// Tabled returns rows as tables have them: the law of src in a random basis, columns in units of
// 10^U(-2, 3), means U(-20, 20) standard deviations from zero. What is looked for are the
// components of the law's correlation matrix.
func Tabled(src Source) Source {
	turned := Rotated(src)
	return Source{src.Name, src.D, func(n int, seed uint64) (*Data, error) {
		m, err := turned.Draw(n, seed)
		if err != nil {
			return nil, err
		}
		rng := generator(seed ^ 1<<40)
		unit, mean := make([]float64, m.D), make([]float64, m.D)
		for j := range unit {
			unit[j] = math.Pow(10, 5*rng.Float64()-2) / math.Sqrt(m.Sigma.At(j, j))
			mean[j] = nearby * (2*rng.Float64() - 1) * math.Sqrt(m.Sigma.At(j, j))
		}
		for i := range m.values {
			m.values[i] = (m.values[i] + mean[i%m.D]) * unit[i%m.D]
		}
		deviation := make([]float64, m.D)
		for j := range deviation {
			deviation[j] = math.Sqrt(m.Sigma.At(j, j))
		}
		for i := range m.D {
			for j := i; j < m.D; j++ {
				m.Sigma.SetSym(i, j, m.Sigma.At(i, j)/deviation[i]/deviation[j])
			}
		}
		return newData(m.Name, m.D, m.values, m.Sigma)
	}}
}

// Without is data of which only some columns' components are looked for: rows and columns of Sigma
// that are not in become zero.
func (m *Data) Without(out map[int]bool) (*Data, error) {
	if len(out) == 0 {
		return m, nil
	}
	sigma := diag(make([]float64, m.D), 1)
	for i := range m.D {
		for j := i; j < m.D; j++ {
			if !out[i] && !out[j] {
				sigma.SetSym(i, j, m.Sigma.At(i, j))
			}
		}
	}
	return newData(m.Name, m.D, m.values, sigma)
}
