package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"covey/experiments/run"
)

// rawLeast is what a demo of a raw table is to capture, and rawMissed the share of runs that may
// not.
const (
	rawLeast  = 0.97
	rawMissed = 1.0 / 20
)

// raw runs the whole demo of a raw table, one after another: processes, noise and empty cells as
// they come, so that no two tables of it are alike.
func raw(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 20, "demos a line")
	return func(to io.Writer) (missed int, err error) {
		demo, dir, err := buildCoordinator()
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		w := columns(to, fmt.Sprintf("demo --raw, ε = 1\tdemos\tcaptured\tleast\tunder %g\t", rawLeast))
		for _, c := range []struct {
			name  string
			bound bool // others are measured only
			args  []string
		}{
			{"k = 1", true, nil},
			{"k = 3", true, []string{"--components", "3"}},
			{"k = 3, power", false, []string{"--components", "3", "--method", "power"}},
		} {
			var captured run.Sample
			under := 0
			for i := range *times {
				var r struct{ Captured float64 }
				if err := commandJSON(demo, &r, append([]string{"demo", "--raw", "--json"}, c.args...)...); err != nil {
					return missed, fmt.Errorf("%s, demo %d: %w", c.name, i+1, err)
				}
				captured = append(captured, r.Captured)
				if !(r.Captured >= rawLeast) {
					under++
				}
			}
			mark := ""
			if c.bound && float64(under) > rawMissed*float64(*times) {
				missed++
				mark = " too many"
			}
			fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4f\t%s\t\n", c.name, *times, captured.Mean(), captured.Quantile(0), strconv.Itoa(under)+mark)
		}
		return missed, w.Flush()
	}
}
