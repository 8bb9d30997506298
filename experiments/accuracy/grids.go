package main

import (
	"fmt"
	"math"
	"strconv"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// size measures (a): error against n on spectra without a gap, and what Theorem 1 promises of it.
func size(s sheet) error {
	for _, name := range []string{"flat4", "flatq"} {
		for _, c := range []struct {
			d  int
			ns []float64
		}{
			{16, []float64{1000, 4000, 16_000, 64_000}},
			{64, []float64{2000, 8000, 32_000, 128_000}},
			{256, []float64{4000, 16_000, 64_000}},
		} {
			source, err := run.Gaussian(name, c.d)
			if err != nil {
				return err
			}
			title := fmt.Sprintf("%s, d = %d", name, c.d)
			last := method{name: "paper, last", output: proposal.OutputLast}
			methods := []method{profile("power", 1, 1, power), profile("covariance", 1, 1, covariance), paper(1), last, nonPrivate}
			err = s.panel(title, 1, c.ns, func(x float64) (run.Source, int, []method) { return source, int(x), methods })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// epsilon measures (b).
func epsilon(s sheet) error {
	for _, name := range []string{"flatq", "lowrank"} {
		source, err := run.Gaussian(name, 64)
		if err != nil {
			return err
		}
		title := name + ", d = 64, n = 20,000"
		err = s.panel(title, 1, []float64{0.125, 0.25, 0.5, 1, 2, 4, 8}, func(x float64) (run.Source, int, []method) {
			distributed := profile("auto, distributed", x, 1, func(spec *proposal.Spec) { spec.Noise = proposal.NoiseDistributed })
			return source, 20_000, []method{profile("power", x, 1, power), profile("covariance", x, 1, covariance), profile("auto", x, 1, automatic), nonPrivate, distributed}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rounds measures (c): each output over T.
func rounds(s sheet) error {
	for _, n := range []int{5000, 20_000} {
		source, err := run.Gaussian("flatq", 64)
		if err != nil {
			return err
		}
		title := fmt.Sprintf("flatq, d = 64, n = %d", n)
		err = s.panel(title, 1, []float64{1, 2, 4, 8, 12, 16, 24, 48}, func(x float64) (run.Source, int, []method) {
			output := func(name string) method {
				return profile(name, 1, 1, func(spec *proposal.Spec) {
					spec.Method, spec.Rounds, spec.Output = proposal.MethodPower, int(x), name
				})
			}
			return source, n, []method{output(proposal.OutputAuto), output(proposal.OutputPooled), output(proposal.OutputLast), output(proposal.OutputRandom)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// radius measures (d): a public radius that is a multiple of √(trace·λ1), against the private one.
func radius(s sheet) error {
	flatq, err := run.Gaussian("flatq", 64)
	if err != nil {
		return err
	}
	heavy, err := run.Student("flatq", 64, 3)
	if err != nil {
		return err
	}
	for _, source := range []run.Source{flatq, heavy, run.Clusters(64, 12, 0.1)} {
		title := source.Name + ", d = 64, n = 10,000"
		err = s.panel(title, 1, []float64{0.125, 0.25, 0.5, 1, 2, 4, 8, 16}, func(x float64) (run.Source, int, []method) {
			public := method{name: "public radius", spec: func(m *run.Data) proposal.Spec {
				spec := run.Spec(m.D, 1)
				spec.Method, spec.Rows = proposal.MethodPower, proposal.RowsPlain
				spec.Radius = scalar(x * math.Sqrt(m.Trace()*m.Top()))
				return spec
			}}
			return source, 10_000, []method{public, profile("private radius", 1, 1, func(spec *proposal.Spec) {
				spec.Method, spec.Rows = proposal.MethodPower, proposal.RowsPlain
			})}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// components measures (e).
func components(s sheet) error {
	for _, name := range []string{"pow1", "flatq"} {
		for _, k := range []int{2, 5, 10} {
			source, err := run.Gaussian(name, 64)
			if err != nil {
				return err
			}
			title := fmt.Sprintf("%s, d = 64, k = %d", name, k)
			methods := []method{
				profile("block", 1, k, power), profile("covariance", 1, k, covariance), profile("deflation", 1, k, func(spec *proposal.Spec) {
					spec.Method, spec.Subspace = proposal.MethodPower, proposal.SubspaceDeflation
				}), nonPrivate, profile("auto", 1, k, automatic),
			}
			err = s.panel(title, k, []float64{5000, 20_000, 80_000}, func(x float64) (run.Source, int, []method) { return source, int(x), methods })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// diamonds measures (f): 53,940 rows of 7 columns, against the best of these rows.
func diamonds(s sheet) error {
	m, err := run.Diamonds("diamonds", true)
	if err != nil {
		return err
	}
	source := run.Source{Name: m.Name, D: m.D, Draw: func(int, uint64) (*run.Data, error) { return m, nil }}
	for _, k := range []int{1, 2, 3} {
		title := fmt.Sprintf("the diamonds, k = %d", k)
		err = s.panel(title, k, []float64{0.25, 0.5, 1, 2, 4}, func(x float64) (run.Source, int, []method) {
			return source, m.N, []method{profile("power", x, k, power), profile("covariance", x, k, covariance), profile("auto", x, k, automatic)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func scalar(v float64) proposal.Scalar { return proposal.Scalar(strconv.FormatFloat(v, 'g', -1, 64)) }
