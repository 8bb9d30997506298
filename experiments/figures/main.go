// Command figures makes the figures of docs/experiments.md: `figures NAME` measures one and
// writes docs/figures/NAME.svg and NAME.csv; all of them without a name. Data are seeded,
// noise is drawn from the operating system. Each point is the median of at least 20 studies, with a band
// from the 10% to the 90% quantile. `figures needed` reads size.csv and prints the n that an error takes.
package main

import (
	"bytes"
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
	x       string // what the horizontal axis is
	measure func(times int, done func(run.Panel) error) error
}

var experiments = []experiment{
	{"size", "n", size}, {"epsilon", "ε", epsilon}, {"rounds", "T", rounds}, {"radius", "R / √(trace·λ1)", radius},
	{"components", "n", components}, {"diamonds", "ε", diamonds},
}

func main() {
	times := flag.Int("times", 20, "studies a point")
	drawn := flag.Bool("draw", false, "draw again what the CSV files hold, measuring nothing")
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
		if err := e.write(*dir, *times, *drawn); err != nil {
			fmt.Fprintf(os.Stderr, "figures: %s: %v\n", e.name, err)
			os.Exit(1)
		}
		if len(flag.Args()) > 0 && len(wanted) == 0 {
			return
		}
	}
	if len(flag.Args()) == 0 || wanted["needed"] {
		delete(wanted, "needed")
		if err := needed(*dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "figures: needed:", err)
			os.Exit(1)
		}
	}
	for name := range wanted {
		fmt.Fprintf(os.Stderr, "figures: no experiment %q\n", name)
		os.Exit(1)
	}
}

func (e experiment) write(dir string, times int, drawn bool) error {
	start := time.Now()
	path := filepath.Join(dir, e.name+".csv")
	if !drawn {
		var panels []run.Panel
		err := e.measure(times, func(p run.Panel) error { // each panel is safe once it is done
			panels = append(panels, p)
			var b bytes.Buffer
			if err := (run.Figure{Panels: panels}).WriteCSV(&b); err != nil {
				return err
			}
			return os.WriteFile(path, b.Bytes(), 0o644)
		})
		if err != nil {
			return err
		}
		fmt.Printf("%s: %v\n", e.name, time.Since(start).Round(time.Second))
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	panels, err := run.ReadCSV(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return run.Figure{X: e.x, Y: "1 - captured variance", Panels: panels}.WriteSVG(filepath.Join(dir, e.name+".svg"))
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
			p.Curves[i].Points = append(p.Curves[i].Points, samples[i].Point(x))
		}
		fmt.Fprintf(os.Stderr, "\r\033[K%s at %g", p.Title, x)
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	return p, nil
}
