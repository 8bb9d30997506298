package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strings"

	"covey/experiments/run"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/standardize"
	"covey/internal/study"
	"covey/internal/worth"
)

// fewUnits: explained variance where units are few for the noise, as far down as figures are shown
// and below: in how many studies it is not known, how often the intervals hold the rows' own
// variances, by how many percent the figures are off on average, and how wide the intervals are.
func fewUnits(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 12, "studies a line")
	first := f.Uint64("seed", 0, "the first study's seed")
	kind := f.String("learned", "", "constants are learned, of columns of this kind, as accuracy standardize names them; the truth is the correlation matrix of values kept within the study's limit, and off raw compares with that of all values")
	points := f.String("points", "", "with -learned: these law:columns:units:components instead")
	return func(to io.Writer) (int, error) {
		w := columns(to, "law\td\tn\tε\tk\tmethod\tnoise\tcenter\tnot known\theld\toff, %\thalf-width, %\ttotal held\ttotal off, %\talarms\toff raw, %\t")
		type point struct {
			name    string
			d, n, k int
			epsilon float64
		}
		cases := []point{
			{"exp0.7", 10, 1000, 1, 1}, {"exp0.7", 10, 2100, 1, 1}, {"exp0.7", 10, 2100, 3, 1}, {"exp0.7", 10, 3000, 1, 1}, {"exp0.7", 10, 5000, 1, 1}, {"exp0.7", 10, 8000, 1, 1}, {"exp0.7", 10, 20_000, 1, 1},
			{"slow0.2", 40, 3000, 2, 1}, {"slow0.2", 40, 6000, 2, 1}, {"exp0.5", 5, 4800, 2, 0.5}, {"exp0.7", 10, 20_000, 1, 0.1}, {"t4-exp0.7", 10, 3000, 1, 1},
		}
		if *points != "" {
			cases = nil
		}
		for _, text := range strings.Fields(*points) {
			c := point{epsilon: 1}
			if _, err := fmt.Sscan(strings.ReplaceAll(text, ":", " "), &c.name, &c.d, &c.n, &c.k); err != nil {
				return 0, fmt.Errorf("accuracy: -points: %q is not law:columns:units:components", text)
			}
			cases = append(cases, c)
		}
		for _, c := range cases {
			if *kind != "" && (c.n < 5000 || c.epsilon < 1 || strings.HasPrefix(c.name, "t4-")) {
				continue // too few to learn from, or no law of columns
			}
			source, _, err := run.LawNamed(c.name, c.d)
			if *kind != "" {
				source, _, err = run.Columns(c.name, *kind, c.d, standardize.RowLimit)
			}
			if err != nil {
				return 0, err
			}
			for _, how := range [][3]string{
				{proposal.MethodCovariance, proposal.NoiseCentral, proposal.CenterPrivate},
				{proposal.MethodPower, proposal.NoiseCentral, proposal.CenterPrivate},
				{proposal.MethodPower, proposal.NoiseDistributed, proposal.CenterPublic},
			} {
				// unknown, held, off, half, total held, total off, alarms, of how many, off raw
				out, err := run.Repeat(*times, func(seed uint64) ([]float64, error) {
					seed += *first
					m, err := source.Draw(c.n, seed)
					if err != nil {
						return nil, err
					}
					spec := run.Spec(c.d, c.epsilon)
					spec.Components, spec.Method, spec.Noise, spec.Center = proposal.Components(c.k), how[0], how[1], how[2]
					along, total := m.VarianceAlong, m.RowsTrace()
					if *kind != "" {
						method := spec.Method
						learnAll(&spec)
						spec.Method = method
					}
					spec.ExplainedVariance = proposal.VariancePrivate
					plan, r, err := run.Study{Spec: spec, Fixed: true}.Planned(m, seed)
					if err != nil {
						return nil, err
					}
					got := make([]float64, 9)
					if len(r.ExplainedVariance) == 0 {
						got[0] = 1
						return got, nil
					}
					got[7] = 1
					raw := along
					if *kind != "" {
						last := r.Releases[len(r.Releases)-1]
						taken, err := m.Taken(last.Center, last.Scale, study.LearnedLimit)
						if err != nil {
							return nil, err
						}
						along, total = taken.VarianceAlong, taken.Trace()
						raw = func(x []float64) float64 { return m.Captured([][]float64{x}) * m.Top() }
					}
					within := func(b [2]float64, v float64) float64 {
						if b[0] <= v && v <= b[1] {
							return 1
						}
						return 0
					}
					for i, x := range r.Components {
						v, b := along(x), r.VarianceInterval[i]
						got[1] += within(b, v) / float64(c.k)
						got[2] += (r.ExplainedVariance[i]/v - 1) / float64(c.k)
						got[3] += (b[1] - b[0]) / 2 / v / float64(c.k)
						got[8] += (r.ExplainedVariance[i]/raw(x) - 1) / float64(c.k)
					}
					got[4] = within(*r.TotalInterval, total)
					got[5] = r.TotalVariance/total - 1
					if got[6], err = alarmed(plan, r); err != nil {
						return nil, err
					}
					return got, nil
				})
				if err != nil {
					return 0, err
				}
				known := out[7].Mean()
				of := func(i int) float64 { return out[i].Mean() / math.Max(known, 1e-9) }
				fmt.Fprintf(w, "%s\t%d\t%d\t%g\t%d\t%s\t%s\t%s\t%.0f%%\t", c.name, c.d, c.n, c.epsilon, c.k, how[0], how[1], how[2], 100*out[0].Mean())
				if known == 0 {
					fmt.Fprintf(w, "\t\t\t\t\t\t\t\n")
					continue
				}
				fmt.Fprintf(w, "%.0f%%\t%+.1f\t%.1f\t%.0f%%\t%+.1f\t%.0f%%\t%+.1f\t\n", 100*of(1), 100*of(2), 100*of(3), 100*of(4), 100*of(5), 100*of(6), 100*of(8))
			}
		}
		return 0, w.Flush()
	}
}

// alarmed is 1 where a result says that large rows differ from small ones.
func alarmed(p *study.Plan, r *result.Result) (float64, error) {
	report, err := worth.Of(p, r)
	if err != nil || report.Alarm == nil || !*report.Alarm {
		return 0, err
	}
	return 1, nil
}
