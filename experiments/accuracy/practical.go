package main

import (
	"flag"
	"fmt"
	"io"
	"math"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// practical measures what docs/experiments.md says of the practical profile.
func practical(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 20, "studies a line")
	return func(w io.Writer) (missed int, err error) {
		for _, table := range []func(io.Writer, int) (int, error){five, centering, subspaces, explained} {
			n, err := table(w, *times)
			if err != nil {
				return missed, err
			}
			missed += n
			fmt.Fprintln(w)
		}
		return missed, nil
	}
}

// captured draws times data sets and returns, for each spec, its studies' captured variance.
func captured(source run.Source, n, times int, specs ...proposal.Spec) ([]run.Sample, error) {
	return run.Repeat(times, func(seed uint64) ([]float64, error) {
		m, err := source.Draw(n, seed)
		if err != nil {
			return nil, err
		}
		var line []float64
		for _, spec := range specs {
			r, err := run.Study{Spec: spec, Fixed: true}.On(m, seed)
			if err != nil {
				return nil, err
			}
			line = append(line, m.Captured(r.Components))
		}
		return line, nil
	})
}

// five: five components of pow1, by each output and method.
func five(to io.Writer, times int) (missed int, err error) {
	const d, n, least = 64, 20_000, 0.985
	source, err := run.Gaussian("pow1", d)
	if err != nil {
		return 0, err
	}
	lines := []struct {
		name   string
		change func(*proposal.Spec)
	}{
		{"all defaults", func(*proposal.Spec) {}},
		{"with explained variance", func(s *proposal.Spec) { s.ExplainedVariance = proposal.VariancePrivate }},
		{"output last", func(s *proposal.Spec) { s.Output = proposal.OutputLast }},
		{"output pooled", func(s *proposal.Spec) { s.Output = proposal.OutputPooled }},
		{"distributed noise", func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed }},
		{"8 rounds", func(s *proposal.Spec) { s.Rounds = 8 }},
		{"24 rounds", func(s *proposal.Spec) { s.Rounds = 24 }},
		{"power", power},
		{"covariance", covariance},
	}
	specs := make([]proposal.Spec, len(lines))
	for i, line := range lines {
		specs[i] = run.Spec(d, 1)
		specs[i].Components = 5
		line.change(&specs[i])
	}
	out, err := captured(source, n, times, specs...)
	if err != nil {
		return 0, err
	}
	w := columns(to, fmt.Sprintf("pow1, d = %d, n = %d, k = 5, ε = 1\tcaptured\tmedian [10%%, 90%%]\tat least\t", d, n))
	for i, line := range lines {
		bound := ""
		if i == 0 {
			if bound = fmt.Sprint(least); out[i].Mean() < least {
				missed++
				bound += " short"
			}
		}
		fmt.Fprintf(w, "%s\t%.4f\t%s\t%s\t\n", line.name, out[i].Mean(), out[i].Band(), bound)
	}
	return missed, w.Flush()
}

// centering: a mean 10√trace from zero, against the same rows centered.
func centering(to io.Writer, times int) (missed int, err error) {
	const most = 0.01
	w := columns(to, "mean at 10√trace\td\tn\tcentered\tprivate mean\tbehind\tpairs\tat most\t")
	for _, c := range []struct {
		name    string
		d, n    int
		bounded bool
	}{{"flatq", 64, 20_000, true}, {"pow1", 64, 20_000, true}, {"flatq", 64, 5000, false}} {
		plain, err := run.Gaussian(c.name, c.d)
		if err != nil {
			return missed, err
		}
		spec := run.Spec(c.d, 1)
		centered, err := captured(plain, c.n, times, spec)
		if err != nil {
			return missed, err
		}
		private, pairs := spec, spec
		private.Center, pairs.Center = proposal.CenterPrivate, proposal.CenterPairs
		out, err := captured(run.Shifted(plain, 10), c.n, times, private, pairs)
		if err != nil {
			return missed, err
		}
		behind, bound := centered[0].Mean()-out[0].Mean(), ""
		if c.bounded {
			if bound = fmt.Sprint(most); behind > most {
				missed++
				bound += " short"
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%.4f\t%.4f\t%+.4f\t%.4f\t%s\t\n", c.name, c.d, c.n, centered[0].Mean(), out[0].Mean(), behind, out[1].Mean(), bound)
	}
	return missed, w.Flush()
}

// subspaces: blocks against deflation.
func subspaces(to io.Writer, times int) (int, error) {
	w := columns(to, "ε = 1\td\tn\tk\tblock\tdeflation\tdeflation, T = 6\t")
	for _, c := range []struct {
		name    string
		d, n, k int
	}{{"pow1", 64, 20_000, 2}, {"pow1", 64, 20_000, 5}, {"flatq", 64, 20_000, 5}, {"lowrank", 32, 10_000, 3}, {"gap2", 32, 20_000, 2}} {
		source, err := run.Gaussian(c.name, c.d)
		if err != nil {
			return 0, err
		}
		block := run.Spec(c.d, 1)
		block.Components, block.Method = proposal.Components(c.k), proposal.MethodPower
		deflation := block
		deflation.Subspace = proposal.SubspaceDeflation
		short := deflation
		short.Rounds = 6
		out, err := captured(source, c.n, times, block, deflation, short)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.4f\t%.4f\t%.4f\t\n", c.name, c.d, c.n, c.k, out[0].Mean(), out[1].Mean(), out[2].Mean())
	}
	return 0, w.Flush()
}

// explained: how often the 95% interval holds the rows' own variance along the component, the
// estimate's bias against that and against the law's, and the interval's half-width. All are
// relative.
func explained(to io.Writer, times int) (int, error) {
	w := columns(to, "explained variance, ε = 1\td\tn\tk\tin the interval\tbias, these rows\tbias, new rows\thalf-width\ttotal: bias\t")
	for _, c := range []struct {
		name    string
		d, n, k int
		method  string
	}{{"pow1", 64, 20_000, 1, proposal.MethodPower}, {"pow1", 64, 20_000, 5, proposal.MethodPower}, {"flatq", 64, 5000, 1, proposal.MethodPower},
		{"flatq", 256, 20_000, 1, proposal.MethodPower}, {"t-pow1", 32, 20_000, 2, proposal.MethodPower}, {"pow1", 64, 20_000, 5, proposal.MethodCovariance}} {
		var source run.Source
		var err error
		if c.name == "t-pow1" {
			source, err = run.Student("pow1", c.d, 4)
		} else {
			source, err = run.Gaussian(c.name, c.d)
		}
		if err != nil {
			return 0, err
		}
		out, err := run.Repeat(times, func(seed uint64) ([]float64, error) {
			m, err := source.Draw(c.n, seed)
			if err != nil {
				return nil, err
			}
			spec := run.Spec(c.d, 1)
			spec.Components, spec.Method, spec.ExplainedVariance = proposal.Components(c.k), c.method, proposal.VariancePrivate
			r, err := run.Study{Spec: spec, Fixed: true}.On(m, seed)
			if err != nil {
				return nil, err
			}
			in, rows, law, half := 0.0, 0.0, 0.0, 0.0
			for i, x := range r.Components {
				v, b := m.VarianceAlong(x), r.VarianceInterval[i]
				if b[0] <= v && v <= b[1] {
					in++
				}
				got := r.ExplainedVariance[i]
				rows += got/v - 1
				law += got/(m.Captured([][]float64{x})*m.Top()) - 1
				half += (b[1] - b[0]) / 2 / v
			}
			k := float64(c.k)
			return []float64{in / k, rows / k, law / k, half / k, r.TotalVariance/m.RowsTrace() - 1}, nil
		})
		if err != nil {
			return 0, err
		}
		name := c.name
		if c.method == proposal.MethodCovariance {
			name += ", covariance"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.0f%%\t%+.3f\t%+.3f\t%.3f\t%+.4f\t\n", name, c.d, c.n, c.k, 100*out[0].Mean(), out[1].Mean(), out[2].Mean(), math.Abs(out[3].Mean()), out[4].Mean())
	}
	return 0, w.Flush()
}
