// Command figures makes the figures of docs/experiments.md: `figures NAME` measures one and
// writes docs/figures/NAME.svg and NAME.csv; all of them without a name. Data are seeded,
// noise is drawn from the operating system. Each point is the median of at least 20 studies, with a band
// from the 10% to the 90% quantile.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"covey/experiments/run"
	"covey/internal/study"
)

type experiment struct {
	name    string
	measure func(times int) (run.Figure, error)
}

var experiments = []experiment{
	{"size", size}, {"epsilon", epsilon}, {"rounds", rounds}, {"radius", radius}, {"components", components}, {"diamonds", diamonds},
}

func main() {
	times := flag.Int("times", 20, "studies a point")
	dir := flag.String("dir", filepath.Join("docs", "figures"), "where SVG and CSV go")
	flag.Parse()
	wanted := map[string]bool{}
	for _, name := range flag.Args() {
		wanted[name] = true
	}
	for _, e := range experiments {
		if len(wanted) > 0 && !wanted[e.name] {
			continue
		}
		delete(wanted, e.name)
		if err := e.write(*dir, *times); err != nil {
			fmt.Fprintf(os.Stderr, "figures: %s: %v\n", e.name, err)
			os.Exit(1)
		}
		if len(flag.Args()) > 0 && len(wanted) == 0 {
			return
		}
	}
	for name := range wanted {
		fmt.Fprintf(os.Stderr, "figures: no experiment %q\n", name)
		os.Exit(1)
	}
}

func (e experiment) write(dir string, times int) error {
	start := time.Now()
	figure, err := e.measure(times)
	if err != nil {
		return err
	}
	if err := figure.WriteSVG(filepath.Join(dir, e.name+".svg")); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, e.name+".csv"))
	if err != nil {
		return err
	}
	if err := figure.WriteCSV(f); err != nil {
		f.Close()
		return err
	}
	fmt.Printf("%s: %v\n", e.name, time.Since(start).Round(time.Second))
	return f.Close()
}

// method is one curve: the study that a data set gets; without one, an output of the
// study before or, without that too, what pooling all rows without privacy finds.
type method struct {
	name   string
	spec   func(m *run.Data) study.Spec
	output string
}

var nonPrivate = method{name: "non-private"}

// practical is the practical profile with some fields changed.
func practical(name string, epsilon float64, k int, change func(*study.Spec)) method {
	return method{name: name, spec: func(m *run.Data) study.Spec {
		s := run.Spec(m.D, epsilon)
		s.Components = k
		if change != nil {
			change(&s)
		}
		return s
	}}
}

func covariance(s *study.Spec) { s.Method = study.MethodCovariance }
func auto(s *study.Spec)       { s.Method = study.MethodAuto }

// paper is Algorithm 1 to the letter with Λ = λ1 and α = 0.1: its R, τ and T. Of its iterates x_J
// may be the first, so the last is shown beside.
func paper(epsilon float64) method {
	return method{name: "paper", spec: func(m *run.Data) study.Spec {
		s := run.Spec(m.D, epsilon)
		s.Profile, s.Alpha = study.ProfilePaper, 0.1
		s.Lambda = study.Scalar(fmt.Sprint(m.Top()))
		return s
	}}
}

// lost measures 1 - captured variance of each method on the same rows.
func lost(times int, source run.Source, n, k int, methods []method) ([]run.Sample, error) {
	return run.Repeat(times, func(seed uint64) ([]float64, error) {
		m, err := source.Draw(n, seed)
		if err != nil {
			return nil, err
		}
		var line []float64
		var r *study.Result
		for _, how := range methods {
			var v [][]float64
			switch {
			case how.spec != nil:
				if r, err = (run.Study{Spec: how.spec(m)}).On(m, seed); err == nil {
					v = r.Components
				}
			case how.output != "":
				v = r.Outputs[how.output]
			default:
				v, err = m.Best(k)
			}
			if err != nil {
				return nil, fmt.Errorf("%s, n = %d: %s: %w", source.Name, n, how.name, err)
			}
			line = append(line, 1-m.Captured(v))
		}
		return line, nil
	})
}

// panel measures methods at each x; at gives the data and the methods there, always
// as many and in the same order.
func panel(p run.Panel, times, k int, xs []float64, at func(x float64) (run.Source, int, []method, error)) (run.Panel, error) {
	for _, x := range xs {
		source, n, methods, err := at(x)
		if err != nil {
			return p, err
		}
		samples, err := lost(times, source, n, k, methods)
		if err != nil {
			return p, err
		}
		for i, how := range methods {
			if len(p.Curves) == i {
				p.Curves = append(p.Curves, run.Curve{Name: how.name})
			}
			p.Curves[i].X = append(p.Curves[i].X, x)
			p.Curves[i].Y = append(p.Curves[i].Y, samples[i])
		}
		fmt.Fprintf(os.Stderr, "\r\033[K%s at %g", p.Title, x)
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	return p, nil
}
