package main

import (
	"flag"
	"fmt"
	"io"
	"slices"

	"covey/experiments/run"
	"covey/internal/proposal"
	"covey/internal/simulate"
	"covey/internal/study"
	"covey/internal/worth"
)

// planLoss is how many times what was asked for studies may lose at the answer.
const planLoss = 2

// planMost is the largest share that is asked for where laws are no members of the family: a loss
// of less is the shape of the spectrum more than its fall.
const planMost = 0.99

// plans holds the units that study plan answers with against studies of so many rows. Of each
// member of the family studies at its own answer capture the share, about, and at half of it less
// than at the answer. And no good study is called hopeless: where elliptical laws of the shared
// table, most of them no members, capture a share, the low end asks for no more units than there
// are.
func plans(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 12, "studies a law")
	first := f.Uint64("seed", 5000, "the first study's seed")
	columnsMost := f.Int("columns", 64, "only shared laws of so many columns at most")
	units := f.Int("units", 10_000, "only shared laws of so many units at most")
	return func(w io.Writer) (missed int, err error) {
		captured := func(source run.Source, n, k int) (run.Sample, error) {
			s, err := run.Repeat(*times, func(seed uint64) ([]float64, error) {
				m, err := source.Draw(n, *first+seed)
				if err != nil {
					return nil, err
				}
				r, err := run.Study{Spec: studied(source.D, k), Fixed: true}.On(m, *first+seed)
				if err != nil {
					return nil, err
				}
				return []float64{m.Captured(r.Components)}, nil
			})
			if err != nil {
				return nil, err
			}
			return s[0], nil
		}
		t := columns(w, "columns\tk\tshare\tlaw\tanswer\tcaptured\tat half\t")
		for _, c := range []struct {
			d, k  int
			share float64
		}{{16, 1, 0.95}, {16, 2, 0.98}, {32, 2, 0.9}, {32, 5, 0.95}, {64, 1, 0.95}, {64, 5, 0.9}} {
			answer, err := solved(c.d, c.k, c.share)
			if err != nil {
				return missed, err
			}
			for _, x := range answer.Cases {
				source, err := run.Gaussian(fmt.Sprintf("slow%g", x.Fall), c.d)
				if err != nil {
					return missed, err
				}
				at, err := captured(source, int(x.Value), c.k)
				if err != nil {
					return missed, err
				}
				half, err := captured(source, int(x.Value)/2, c.k)
				if err != nil {
					return missed, err
				}
				mark := ""
				if got := at.Quantile(0.5); 1-got > planLoss*(1-c.share) || half.Quantile(0.5) >= got {
					missed++
					mark = " missed"
				}
				fmt.Fprintf(t, "%d\t%d\t%g\t%s\t%.0f\t%.4f\t%.4f%s\t\n", c.d, c.k, c.share, source.Name, x.Value, at.Quantile(0.5), half.Quantile(0.5), mark)
			}
		}
		if err := t.Flush(); err != nil {
			return missed, err
		}
		laws, err := run.Laws()
		if err != nil {
			return missed, err
		}
		laws = slices.DeleteFunc(laws, func(l run.Law) bool { return l.D > *columnsMost || l.N > *units || !l.Elliptical() })
		t = columns(w, "law\tcaptured\tanswer for that\tto\t")
		for _, l := range laws {
			got, err := captured(l.Source, l.N, l.K)
			if err != nil {
				return missed, err
			}
			share := min(got.Quantile(0.5), planMost)
			answer, err := solved(l.D, l.K, share)
			if err != nil {
				return missed, err
			}
			mark := ""
			// A study that captures little is not good, and hopeless is what it is.
			if share >= 0.9 && (answer.Low == 0 || answer.Low > float64(l.N)) {
				missed++
				mark = " hopeless"
			}
			fmt.Fprintf(t, "%s\t%.4f\t%.0f\t%.0f%s\t\n", l, share, answer.Low, answer.High, mark)
		}
		return missed, t.Flush()
	}
}

// studied is the spec of studies that plans judges.
func studied(d, k int) proposal.Spec {
	spec := run.Spec(d, 1)
	spec.Components, spec.Method = proposal.Components(k), proposal.MethodAuto
	return spec
}

func solved(d, k int, share float64) (*worth.Solution, error) {
	return worth.Solve(worth.SolveUnits, share, func(n float64) (*study.Plan, error) {
		units := make([]int, run.Sites)
		for i := range units {
			units[i] = int(n) / run.Sites
		}
		p, _, err := simulate.Plan(studied(d, k), units, [32]byte{})
		return p, err
	})
}
