package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"covey/experiments/run"
	"covey/internal/study"
)

// most is how far auto may be behind.
const most = 0.02

// auto compares method = "auto" with the two methods that it chooses from, on data sets that its
// rule was not tuned on or, with -tuning, on those it was. A mean captured variance more than most
// behind the better method's is a miss.
func auto(f *flag.FlagSet) func(io.Writer) (int, error) {
	tuning := f.Bool("tuning", false, "the data sets that the rule was tuned on")
	times := f.Int("times", 20, "studies a line and method")
	only := f.String("data", "", "only data sets whose name has this prefix")
	return func(w io.Writer) (int, error) {
		cells, err := validation()
		if *tuning {
			cells, err = tuned()
		}
		if err != nil {
			return 0, err
		}
		cells = slices.DeleteFunc(cells, func(c cell) bool { return !strings.HasPrefix(c.source.Name, *only) })
		return compareAll(w, cells, *times)
	}
}

// cell is one line: k components of n rows at ε.
type cell struct {
	source  run.Source
	n, k    int
	epsilon float64
}

// compared are the means over studies of one cell.
type compared struct {
	power, covariance, auto float64
	chose                   float64 // how often auto chose power iteration
}

func (c compared) behind() float64 { return max(c.power, c.covariance) - c.auto }

func (c cell) compare(times int) (compared, error) {
	out, err := run.Repeat(times, func(seed uint64) ([]float64, error) {
		m, err := c.source.Draw(c.n, seed)
		if err != nil {
			return nil, err
		}
		var line []float64
		chose := 0.0
		for _, method := range []string{study.MethodPower, study.MethodCovariance, study.MethodAuto} {
			spec := run.Spec(c.source.D, c.epsilon)
			spec.Components, spec.Method = c.k, method
			r, err := run.Study{Spec: spec, Fixed: true}.On(m, seed)
			if err != nil {
				return nil, err
			}
			line = append(line, m.Captured(r.Components))
			if r.Method == study.MethodPower {
				chose = 1
			}
			if method != study.MethodAuto {
				chose = 0
			}
		}
		return append(line, chose), nil
	})
	if err != nil {
		return compared{}, fmt.Errorf("%s: %w", c.source.Name, err)
	}
	return compared{out[0].Mean(), out[1].Mean(), out[2].Mean(), out[3].Mean()}, nil
}

func compareAll(to io.Writer, cells []cell, times int) (missed int, err error) {
	progress := run.NewProgress(os.Stderr, len(cells))
	w := columns(to, "data\td\tn\tε\tk\tpower\tcovariance\tauto\tchose power\tbehind\t")
	for _, c := range cells {
		progress.Step(c.source.Name)
		got, err := c.compare(times)
		if err != nil {
			return missed, err
		}
		mark := ""
		if got.behind() > most {
			missed++
			mark = " !"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%g\t%d\t%.4f\t%.4f\t%.4f\t%.0f%%\t%.4f%s\t\n", c.source.Name, c.source.D, c.n, c.epsilon, c.k,
			got.power, got.covariance, got.auto, 100*got.chose, max(0, got.behind()), mark)
	}
	return missed, w.Flush()
}
