package standardize

import "math"

// template is a law's parts of the bins of a column.
type template struct {
	runs   []run
	square float64 // Σ mass²
}

// run is what consecutive bins have, from bin first on.
type run struct {
	first int
	mass  []float64
}

// add appends a run.
func (t *template) add(first int, mass []float64) {
	t.runs = append(t.runs, run{first, mass})
	for _, p := range mass {
		t.square += float64(p * p)
	}
}

// fit is the log likelihood of a template over that of nothing at all, given counts with noise tau:
// of the units, whole are in the bins.
func (t *template) fit(counts []float64, tau, whole float64) float64 {
	return float64(whole*(2*t.along(counts)-float64(whole*t.square))) / float64(2*tau*tau)
}

// along is Σ counts·mass.
func (t *template) along(counts []float64) float64 {
	sum := 0.0
	for _, r := range t.runs {
		for k, v := range counts[r.first:][:len(r.mass)] {
			sum += float64(v * r.mass[k])
		}
	}
	return sum
}

// sanes are released values that no sum or square overflows.
func sanes(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = sane(v)
	}
	return out
}

// sane is a released value where no sum or square overflows.
func sane(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return max(-0x1p20, min(v, 0x1p20))
}

// noisy is a standard deviation where nothing overflows.
func noisy(tau float64) float64 {
	if math.IsNaN(tau) {
		return 1
	}
	return max(0x1p-40, min(tau, 0x1p20))
}
