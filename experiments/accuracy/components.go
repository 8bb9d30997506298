package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// spiked are laws for components = "auto", with the number of components that stand apart; 0 where
// the spectrum has no cut.
type spiked struct {
	law  string
	d, n int
	k    int
}

// tunedOn are those that the rule's constants were chosen on, judgedOn the others.
var tunedOn = []spiked{
	{"spike3", 16, 5000, 3}, {"spike3", 64, 20_000, 3}, {"spike5", 64, 50_000, 5}, {"lowrank", 32, 50_000, 8},
	{"t4-spike3", 64, 20_000, 3}, {"gap2", 32, 20_000, 1},
	{"pow1", 64, 20_000, 0}, {"slow0.05", 64, 20_000, 0}, {"slow0.3", 32, 20_000, 0}, {"exp0.7", 32, 20_000, 0}, {"slow1e-9", 32, 20_000, 0},
}

var judgedOn = []spiked{
	{"spike2", 24, 10_000, 2}, {"spike4", 48, 30_000, 4}, {"spike6", 100, 100_000, 6}, {"lowrank", 64, 200_000, 8},
	{"t4-spike4", 48, 30_000, 4}, {"t3-spike2", 24, 20_000, 2}, {"gap2", 48, 50_000, 1}, {"flat4", 128, 200_000, 4},
	{"pow1", 48, 50_000, 0}, {"slow0.1", 100, 50_000, 0}, {"ar0.9", 48, 30_000, 0}, {"exp0.8", 24, 20_000, 0}, {"slow1e-9", 64, 50_000, 0}, {"t4-slow0.15", 48, 30_000, 0},
}

// countOf measures how often "auto" finds the number of components within one, and whether it
// says that there is no cut where there is none.
func countOf(f *flag.FlagSet) func(io.Writer) (int, error) {
	tuning := f.Bool("tuning", false, "the laws that the constants were chosen on")
	times := f.Int("times", 20, "studies a law and method")
	only := f.String("data", "", "only laws whose name has this in it")
	methods := f.String("methods", "covariance,power,auto", "of these methods")
	learned := f.Bool("learned", false, "columns whose constants the study learns, by covariance; the number is that of the correlation matrix")
	epsilon := f.Float64("epsilon", 1, "ε")
	why := f.Bool("why", false, "print what the first study of each says")
	return func(w io.Writer) (int, error) {
		laws, first := judgedOn, uint64(1000)
		if *tuning {
			laws, first = tunedOn, 0
		}
		t := columns(w, "law\td\tn\tmethod\ttrue\twithin 1\texact\tcut seen\tmean k\t")
		said := map[string]string{}
		within, of, named, without := 0.0, 0.0, 0.0, 0.0
		for _, l := range laws {
			if !strings.Contains(l.law, *only) {
				continue
			}
			source, _, err := run.LawNamed(l.law, l.d)
			if err != nil {
				return 0, err
			}
			if *learned {
				source = run.Tabled(source)
			} else if l.n*l.d*l.d <= 1<<29 {
				source = run.Rotated(source)
			}
			for _, method := range strings.Split(*methods, ",") {
				spec := run.Spec(l.d, *epsilon)
				spec.Components, spec.ComponentsMax, spec.Method, spec.ExplainedVariance = proposal.ComponentsAuto, 0, method, proposal.VariancePrivate
				if *learned {
					spec.Noise = proposal.NoiseCentral
					learnAll(&spec)
				}
				label := fmt.Sprintf("%s\t%d\t%d\t%s", l.law, l.d, l.n, method)
				out, err := run.Repeat(*times, func(seed uint64) ([]float64, error) {
					m, err := source.Draw(l.n, first+seed)
					if err != nil {
						return nil, err
					}
					r, err := run.Study{Spec: spec, Fixed: true}.On(m, first+seed)
					if err != nil {
						return nil, err
					}
					cut := 0.0
					if strings.Contains(r.ComponentsWhy, "has a cut") {
						cut = 1
					}
					if seed == 0 {
						said[label] = r.ComponentsWhy
					}
					return []float64{float64(r.K), cut}, nil
				})
				if err != nil {
					return 0, err
				}
				near, exact, seen, mean := 0.0, 0.0, 0.0, 0.0
				for i, k := range out[0] {
					off := k - float64(l.k)
					if off >= -1 && off <= 1 {
						near++
					}
					if off == 0 {
						exact++
					}
					seen += out[1][i]
					mean += k / float64(*times)
				}
				if l.k > 0 {
					within, of = within+near, of+float64(*times)
					fmt.Fprintf(t, "%s\t%d\t%.0f\t%.0f\t%.0f of %d\t%.1f\t\n", label, l.k, near, exact, seen, *times, mean)
				} else {
					named, without = named+float64(*times)-seen, without+float64(*times)
					fmt.Fprintf(t, "%s\tno cut\t\t\t%.0f of %d\t%.1f\t\n", label, seen, *times, mean)
				}
				if *why {
					t.Flush()
					fmt.Fprintln(w, "   ", said[label])
				}
			}
		}
		t.Flush()
		missed := 0
		for _, b := range []struct {
			what     string
			held, of float64
		}{{"within one of the spikes", within, of}, {"no cut named where there is none", named, without}} {
			if b.of > 0 {
				fmt.Fprintf(w, "%s: %.3f of %.0f, at least 0.95 is wanted\n", b.what, b.held/b.of, b.of)
				if b.held < 0.95*b.of {
					missed++
				}
			}
		}
		return missed, nil
	}
}
