package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"covey/experiments/run"
	"covey/internal/proposal"
	"covey/internal/worth"
)

// predictions holds what is predicted from public sizes against studies of the shared laws. A
// prediction that calls a good study hopeless is missed: an elliptical law captures 0.9, and even
// the steepest case is put below that.
func predictions(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 6, "studies a law")
	method := f.String("method", proposal.MethodAuto, "power, covariance or auto")
	noise := f.String("noise", proposal.NoiseCentral, "central or distributed")
	columnsMost := f.Int("columns", 128, "only laws of so many columns at most")
	units := f.Int("units", 20_000, "only laws of so many units at most")
	only := f.String("data", "", "only laws whose name has this in it")
	first := f.Uint64("seed", 0, "the first study's seed")
	center := f.String("center", proposal.CenterPublic, "public or private; offsets are the means")
	learned := f.Bool("learned", false, "the study learns the constants of columns in any units, by covariance")
	return func(w io.Writer) (missed int, err error) {
		laws, err := run.Laws()
		if err != nil {
			return 0, err
		}
		laws = slices.DeleteFunc(laws, func(l run.Law) bool {
			return !strings.Contains(l.Name, *only) || l.D > *columnsMost || l.N > *units ||
				*learned && !l.Elliptical()
		})
		t := columns(w, "law\tslow\tsteep\tlowest\tmeasured\tlowest\twithin\t")
		for _, l := range laws {
			var truth []float64
			var p *worth.Prediction
			for seed := range *times {
				seed := *first + uint64(seed)
				source := l.Source
				if *learned {
					source = run.Tabled(source)
				}
				m, err := source.Draw(l.N, seed)
				if err != nil {
					return missed, err
				}
				spec := run.Spec(l.D, 1)
				spec.Components, spec.Method, spec.Noise, spec.ExplainedVariance = proposal.Components(l.K), *method, *noise, proposal.VarianceNone
				spec.Center = *center
				if *learned {
					learnAll(&spec)
				}
				plan, r, err := run.Study{Spec: spec, Fixed: true}.Planned(m, seed)
				if err != nil {
					return missed, err
				}
				if p == nil {
					if p, err = worth.Predict(plan); err != nil {
						return missed, err
					}
				}
				truth = append(truth, m.Captured(r.Components))
			}
			mean := 0.0
			for _, v := range truth {
				mean += v / float64(len(truth))
			}
			low := p.Cases[0].Lowest
			for _, c := range p.Cases {
				low = min(low, c.Lowest)
			}
			slow, steep := p.Cases[0].Median, p.Cases[len(p.Cases)-1].Median
			within := "yes"
			switch {
			case mean < low:
				within = "below"
			case mean > max(slow, steep)+0.005:
				within = "above"
			}
			if mean >= 0.9 && steep < 0.9 && l.Elliptical() {
				missed++
				within += ", hopeless"
			}
			fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%s\t\n", l, slow, steep, low, mean, slices.Min(truth), within)
		}
		return missed, t.Flush()
	}
}
