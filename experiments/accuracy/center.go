package main

import (
	"flag"
	"fmt"
	"io"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// centers measures what a released center costs: the variance captured by studies with offsets that
// are the means and no center, and by studies that release one, with offsets so many times √trace
// from the means.
func centers(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 24, "studies a line; data and noise are seeded")
	return func(to io.Writer) (int, error) {
		w := columns(to, "law\td\tn\tk\tmethod\tpublic\tprivate, offsets right\t1 off\t10 off\t")
		for _, c := range []struct {
			name    string
			d, n, k int
		}{
			{"slow0.2", 128, 2000, 1}, {"slow0.2", 64, 2000, 1}, {"t3-flatq", 32, 4000, 1}, {"exp0.7", 64, 2000, 3},
			{"flatq", 16, 500, 1}, {"pow1", 16, 800, 1}, {"centered6-flatq", 32, 4000, 1}, {"flatq", 64, 20_000, 5},
		} {
			source, _, err := run.LawNamed(c.name, c.d)
			if err != nil {
				return 0, err
			}
			if c.d <= 64 {
				source = run.Rotated(source)
			}
			for _, method := range []string{proposal.MethodCovariance, proposal.MethodAuto} {
				spec := run.Spec(c.d, 1)
				spec.Components, spec.Method = proposal.Components(c.k), method
				public, err := captured(source, c.n, *times, spec)
				if err != nil {
					return 0, err
				}
				fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%.4f\t", c.name, c.d, c.n, c.k, method, public[0].Mean())
				spec.Center = proposal.CenterPrivate
				for _, off := range []float64{0, 1, 10} {
					private, err := captured(run.Shifted(source, off), c.n, *times, spec)
					if err != nil {
						return 0, err
					}
					fmt.Fprintf(w, "%.4f\t", private[0].Mean())
				}
				fmt.Fprintln(w)
			}
		}
		return 0, w.Flush()
	}
}
