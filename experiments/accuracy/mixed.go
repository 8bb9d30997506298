package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// mixed measures studies of a table of numbers and categories against the factor analysis of mixed
// data that no privacy protects, of the same rows.
func mixed(f *flag.FlagSet) func(io.Writer) (int, error) {
	seeds := f.Int("seeds", 24, "studies a line; data and noise are seeded")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "studies side by side")
	return func(to io.Writer) (missed int, err error) {
		runtime.GOMAXPROCS(*procs)
		w := columns(to, "mixed table, 10 numbers and categories of 2 to 8 levels, k = 4, ε = 1\tn\tcaptured\t± se\t5% worst\tlevels left out\tat least\t")
		for _, c := range []struct {
			name   string
			n      int
			least  float64
			change func(*proposal.Spec)
		}{
			{"constants", 50_000, 0.99, func(*proposal.Spec) {}},
			{"constants, power", 50_000, 0, func(s *proposal.Spec) { s.Method = proposal.MethodPower }},
			{"constants, central noise", 50_000, 0, func(s *proposal.Spec) { s.Noise, s.CentralDetail = proposal.NoiseCentral, true }},
			{"constants, pairs", 50_000, 0, func(s *proposal.Spec) { s.Center = proposal.CenterPairs }},
			{"constants", 10_000, 0, func(*proposal.Spec) {}},
			{"standardized", 50_000, 0.99, standardized},
			{"standardized", 10_000, 0, standardized},
		} {
			out, err := run.Repeat(*seeds, func(seed uint64) ([]float64, error) {
				m, err := run.DrawMixed(c.n, seed)
				if err != nil {
					return nil, err
				}
				spec := proposal.Spec{Name: "mixed", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Components: 4, ExplainedVariance: proposal.VarianceNone, Columns: append([]proposal.Column(nil), m.Columns...)}
				c.change(&spec)
				rows, err := m.Rows(spec.Columns)
				if err != nil {
					return nil, err
				}
				r, err := run.Study{Spec: spec, Fixed: true}.On(rows, seed)
				if err != nil {
					return nil, err
				}
				got, err := m.Captured(r)
				return []float64{got, float64(len(r.LeftOut))}, err
			})
			if err != nil {
				return missed, fmt.Errorf("%s, n = %d: %w", c.name, c.n, err)
			}
			bound := ""
			if c.least > 0 {
				if bound = fmt.Sprint(c.least); out[0].Mean() < c.least {
					missed++
					bound += " short"
				}
			}
			fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4f\t%.4f\t%.1f\t%s\t\n", c.name, c.n, out[0].Mean(), standardError(out[0]), out[0].Quantile(0.05), out[1].Mean(), bound)
		}
		return missed, w.Flush()
	}
}

// standardized leaves the numbers' constants to the study.
func standardized(s *proposal.Spec) {
	s.Standardize = proposal.StandardizePrivate
	for i := range s.Columns {
		if c := &s.Columns[i]; len(c.Levels) == 0 {
			c.Offset, c.Scale = 0, 0
		}
	}
}
