package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"covey/experiments/run"
	"covey/internal/proposal"
	"covey/internal/result"
)

// figure is one SVG and CSV of docs/figures.
type figure struct {
	name    string
	x       string // what the horizontal axis is
	measure func(sheet) error
}

var all = []figure{
	{"size", "n", size}, {"epsilon", "ε", epsilon}, {"rounds", "T", rounds}, {"radius", "R / √(trace·λ1)", radius},
	{"components", "n", components}, {"diamonds", "ε", diamonds},
}

// figures measures those of its arguments, all without any, and writes NAME.svg and NAME.csv of
// each. Data are seeded, noise is the operating system's. A point is the median of -times studies,
// its band reaches from the 10% to the 90% quantile. The argument needed measures nothing: it reads
// size.csv and prints the n that an error takes.
func figures(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 20, "studies a point")
	drawn := f.Bool("draw", false, "draw again what the CSV files hold, measuring nothing")
	dir := f.String("dir", "", "where SVG and CSV go; docs/figures if not given")
	return func(w io.Writer) (int, error) {
		names := []string{"needed"}
		for _, one := range all {
			names = append(names, one.name)
		}
		for _, name := range f.Args() {
			if !slices.Contains(names, name) {
				return 0, fmt.Errorf("no figure %q; there are: %q", name, names)
			}
		}
		wanted := func(name string) bool { return f.NArg() == 0 || slices.Contains(f.Args(), name) }
		if *dir == "" {
			root, err := run.Root()
			if err != nil {
				return 0, err
			}
			*dir = filepath.Join(root, "docs", "figures")
		}
		for _, one := range all {
			if !wanted(one.name) {
				continue
			}
			if err := one.write(w, *dir, *times, *drawn); err != nil {
				return 0, fmt.Errorf("%s: %w", one.name, err)
			}
		}
		if !wanted("needed") {
			return 0, nil
		}
		return 0, needed(*dir, w)
	}
}

func (e figure) write(w io.Writer, dir string, times int, drawn bool) error {
	start := time.Now()
	path := filepath.Join(dir, e.name+".csv")
	if !drawn {
		var panels []run.Panel
		// each panel is safe once it is done
		err := e.measure(sheet{times, func(p run.Panel) error {
			panels = append(panels, p)
			var b bytes.Buffer
			if err := (run.Figure{Panels: panels}).WriteCSV(&b); err != nil {
				return err
			}
			return os.WriteFile(path, b.Bytes(), 0o644)
		}})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %v\n", e.name, time.Since(start).Round(time.Second))
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

// method is one curve: the study that a data set gets. Without one it is an output of the study in
// front of it or, without that too, what pooling all rows without privacy finds.
type method struct {
	name   string
	spec   func(m *run.Data) proposal.Spec
	output string
}

var nonPrivate = method{name: "non-private"}

// profile returns the practical profile with some fields changed.
func profile(name string, epsilon float64, k int, change func(*proposal.Spec)) method {
	return method{name: name, spec: func(m *run.Data) proposal.Spec {
		s := run.Spec(m.D, epsilon)
		s.Components = proposal.Components(k)
		change(&s)
		return s
	}}
}

func power(s *proposal.Spec)      { s.Method = proposal.MethodPower }
func covariance(s *proposal.Spec) { s.Method = proposal.MethodCovariance }
func automatic(s *proposal.Spec)  { s.Method = proposal.MethodAuto }

// paper is Algorithm 1 to the letter with Λ = λ1 and α = 0.1: its R, τ and T. Its x_J may be the
// first iterate, so the last one is another curve.
func paper(epsilon float64) method {
	return method{name: "paper", spec: func(m *run.Data) proposal.Spec {
		s := run.Spec(m.D, epsilon)
		s.Profile, s.Alpha = proposal.ProfilePaper, 0.1
		s.Lambda = proposal.Scalar(fmt.Sprint(m.Top()))
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
		var r *result.Result
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

// sheet is what a figure's panels are measured with.
type sheet struct {
	times int                   // studies a point
	done  func(run.Panel) error // takes each panel once it is measured
}

// panel measures methods at each x. at returns the data and the methods there, always as many and
// in the same order.
func (s sheet) panel(title string, k int, xs []float64, at func(x float64) (run.Source, int, []method)) error {
	p := run.Panel{Title: title}
	for _, x := range xs {
		source, n, methods := at(x)
		samples, err := lost(s.times, source, n, k, methods)
		if err != nil {
			return err
		}
		for i, how := range methods {
			if len(p.Curves) == i {
				p.Curves = append(p.Curves, run.Curve{Name: how.name})
			}
			p.Curves[i].Points = append(p.Curves[i].Points, samples[i].Point(x))
		}
		fmt.Fprintf(os.Stderr, "\r\033[K%s at %g", title, x)
	}
	fmt.Fprint(os.Stderr, "\r\033[K")
	return s.done(p)
}
