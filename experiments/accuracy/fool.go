package main

import (
	"flag"
	"fmt"
	"io"

	"covey/experiments/run"
	"covey/internal/proposal"
	"covey/internal/worth"
)

// fool measures what results say of tables that are made to fool them: none of these is among the
// laws that bounds are promised for, so nothing here is missed.
func fool(f *flag.FlagSet) func(io.Writer) (int, error) {
	n := f.Int("n", 10_000, "units")
	times := f.Int("times", 6, "studies a table")
	seed := f.Uint64("seed", 1, "the first study's seed")
	components := f.Int("components", 1, "k")
	epsilon := f.Float64("epsilon", 1, "ε")
	method := f.String("method", proposal.MethodAuto, "covariance, power or auto")
	variance := f.String("variance", proposal.VariancePrivate, "explained variance: private, or none")
	return func(w io.Writer) (int, error) {
		t := columns(w, "table\tgiven\theld\tmean bound\tmean captured\tleast captured\talarms\t")
		for _, source := range run.Fooling() {
			given, held, alarms, bound, captured, least := 0, 0, 0, 0.0, 0.0, 1.0
			for i := range *times {
				m, err := source.Draw(*n, *seed+uint64(i))
				if err != nil {
					return 0, err
				}
				spec := run.Spec(source.D, *epsilon)
				spec.Method, spec.Center, spec.Components = *method, proposal.CenterPrivate, proposal.Components(*components)
				spec.ExplainedVariance = *variance
				plan, r, err := run.Study{Spec: spec, Fixed: true}.Planned(m, *seed+uint64(i))
				if err != nil {
					return 0, err
				}
				report, err := worth.Of(plan, r)
				if err != nil {
					return 0, err
				}
				share := m.Captured(r.Components)
				captured, least = captured+share/float64(*times), min(least, share)
				if report.Alarm != nil && *report.Alarm {
					alarms++
				}
				if report.Share != nil {
					given++
					bound += report.Share.Lower
					if share >= report.Share.Lower {
						held++
					}
				}
			}
			mean := "-"
			if given > 0 {
				mean = fmt.Sprintf("%.3f", bound/float64(given))
			}
			fmt.Fprintf(t, "%s\t%d of %d\t%d\t%s\t%.3f\t%.3f\t%d\t\n", source.Name, given, *times, held, mean, captured, least, alarms)
		}
		return 0, t.Flush()
	}
}
