package main

import "covey/experiments/run"

// counts are the numbers of components of most cells.
var counts = []int{1, 2, 5}

// tuned returns the cells on which the rule's one constant and the round of its decision were
// chosen.
func tuned() ([]cell, error) {
	var cells []cell
	for _, name := range []string{"flatq", "pow1", "lowrank", "gap2"} {
		for _, heavy := range []bool{false, true} {
			for _, size := range [][2]int{{8, 2000}, {32, 2000}, {32, 8000}, {64, 3000}, {64, 10000}, {200, 5000}, {200, 20000}} {
				draw := run.Gaussian
				if heavy {
					draw = func(name string, d int) (run.Source, error) { return run.Student(name, d, 4) }
				}
				source, err := draw(name, size[0])
				if err != nil {
					return nil, err
				}
				for _, k := range counts {
					cells = append(cells, cell{source, size[1], k, 1})
				}
			}
		}
	}
	return cells, nil
}

// validation returns cells that nothing was tuned on.
func validation() ([]cell, error) {
	var cells []cell
	for _, offset := range []bool{true, false} {
		name := "diamonds"
		if !offset {
			name = "diamonds-raw"
		}
		m, err := run.Diamonds(name, offset)
		if err != nil {
			return nil, err
		}
		source := run.Source{Name: name, D: m.D, Draw: func(int, uint64) (*run.Data, error) { return m, nil }}
		for _, k := range []int{1, 2, 3} {
			for _, epsilon := range []float64{0.1, 1} {
				cells = append(cells, cell{source, m.N, k, epsilon})
			}
		}
	}
	mixture, err := run.Mixture("flat4", 48, 0.05, 4)
	if err != nil {
		return nil, err
	}
	flat, err := run.Gaussian("flat4", 256)
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		source run.Source
		sizes  []int
	}{
		{mixture, []int{4000, 16000}},
		{run.Clusters(40, 8, 0.15), []int{3000, 12000}},
		{run.Clusters(150, 30, 0.1), []int{10000, 40000}},
		{run.Autoregressive(100, 0.9), []int{5000, 20000}},
		{run.Autoregressive(24, 0.5), []int{3000, 12000}},
		// Flat spectra, where power iteration has its chance.
		{run.Autoregressive(200, 0.3), []int{10000, 40000}},
		{flat, []int{8000, 32000}},
	} {
		for _, n := range s.sizes {
			for _, k := range counts {
				cells = append(cells, cell{s.source, n, k, 1})
			}
		}
	}
	return cells, nil
}
