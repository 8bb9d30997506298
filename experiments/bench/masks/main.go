// Command masks compares what the masks cost with what those of an earlier commit cost, in one run:
//
//	go -C experiments run ./bench/masks
//
// It checks the commit out next to this tree, builds the benchmarks of package bench in both, and
// runs them in turns, so that whatever else the machine does falls on both. Times are processor
// time. docs/performance.md has the figures.
package main

import (
	"bufio"
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// testdata is what the benchmarks call and the earlier tree does not have.
//
//go:embed testdata/before_test.go
var testdata embed.FS

// bench is package bench, below a tree's root.
var bench = filepath.Join("experiments", "bench")

// measure is one benchmark.
type measure struct {
	name       string // the case, as a person reads it
	pattern    string // as -bench takes it
	times      int    // it runs in a row
	large      bool   // minutes each
	quantities []quantity
}

// quantity is one metric of a benchmark.
type quantity struct {
	name, metric string
	aim          float64 // the most that the ratio may be; 0 for none
	most         float64 // the most that it may be now; 0 for none
}

var (
	bytesUp = func(aim, most float64) quantity { return quantity{"bytes up", "up-B", aim, most} }
	agent   = func(aim float64) quantity { return quantity{"agent, ms", "agent-ms", aim, 0} }
	leader  = func(aim float64) quantity { return quantity{"coordinator, ms", "coordinator-ms", aim, 0} }
)

// measures are the comparison, with what the change of masks aimed at.
var measures = []measure{
	{"a round, N = 100, complete", "Round/N=100/d=1000/dropped=10", 10, false, []quantity{agent(0.55), leader(0.35), bytesUp(1.03, 0)}},
	{"a round, N = 1,000, sparse", "Round/N=1000/d=1000/dropped=100", 3, false, []quantity{agent(1), leader(1), bytesUp(1, 0)}},
	{"a round, N = 10,000, sparse", "Round/N=10000/d=1000/dropped=1000", 1, true, []quantity{agent(0), leader(0), bytesUp(0, 0)}},
	{"setup of 20 slots, N = 10", "Setup/N=10/slots=20", 3, false, []quantity{agent(0), bytesUp(0, 40e3)}},
	{"setup of 20 slots, N = 100", "Setup/N=100/slots=20", 1, false, []quantity{agent(0.15), bytesUp(0, 400e3)}},
	{"setup of 20 slots, N = 1,000", "Setup/N=1000/slots=20", 1, true, []quantity{agent(0.2), bytesUp(1.7, 0)}},
	{"distributed noise alone, N = 100", "Noise/N=100/d=1000/dropped=10", 5, false, []quantity{agent(0), leader(0)}},
	{"distributed noise alone, N = 1,000", "Noise/N=1000/d=1000/dropped=100", 1, false, []quantity{agent(0), leader(0)}},
}

func main() {
	commit := flag.String("before", "bf858d2", "the commit to compare with")
	count := flag.Int("count", 6, "how often each benchmark is run in each tree")
	large := flag.Int("large", 3, "how often those are that take minutes; 0 leaves them out")
	only := flag.String("only", "", "part of the names of the measures that are made")
	csv := flag.String("csv", "", "a file for all runs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *commit, *only, *count, *large, *csv); err != nil {
		fmt.Fprintln(os.Stderr, "masks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, commit, only string, count, large int, csv string) error {
	root, err := output(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "covey-masks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before := filepath.Join(dir, "tree")
	if _, err := output(ctx, root, "git", "worktree", "add", "--detach", before, commit); err != nil {
		return err
	}
	defer exec.Command("git", "-C", root, "worktree", "remove", "--force", before).Run()
	if err := adapt(root, before); err != nil {
		return err
	}
	trees := []string{filepath.Join(dir, "before.test"), filepath.Join(dir, "now.test")}
	for i, tree := range []string{before, root} {
		if _, err := output(ctx, filepath.Join(tree, "experiments"), "go", "test", "-c", "-o", trees[i], "./bench"); err != nil {
			return err
		}
	}
	rows := []row{}
	for _, m := range measures {
		n := count
		if m.large {
			n = large
		}
		if n == 0 || !strings.Contains(m.name, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %d times in each tree\n", m.name, n)
		of, err := m.turns(ctx, trees, n)
		if err != nil {
			return err
		}
		rows = append(rows, of...)
	}
	if csv != "" {
		f, err := os.Create(csv)
		if err != nil {
			return err
		}
		writeRuns(f, rows)
		if err := f.Close(); err != nil {
			return err
		}
	}
	return writeTable(os.Stdout, commit, rows)
}

// adapt puts this tree's benchmarks into the earlier one, with what they call that it does not
// have.
func adapt(root, before string) error {
	ours, err := os.ReadFile(filepath.Join(root, bench, "secagg_test.go"))
	if err != nil {
		return err
	}
	more, err := testdata.ReadFile("testdata/before_test.go")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(before, bench, "secagg_test.go"), ours, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(before, bench, "before_test.go"), more, 0o600)
}

// row is one quantity of a measure, by run, in both trees.
type row struct {
	measure string
	quantity
	before, now []float64
}

// turns runs a benchmark in both trees in turns, the one that is first changing.
func (m measure) turns(ctx context.Context, trees []string, count int) ([]row, error) {
	rows := make([]row, len(m.quantities))
	for i, q := range m.quantities {
		rows[i] = row{measure: m.name, quantity: q}
	}
	for turn := range count {
		var found [2]map[string]float64
		for k := range found {
			at := (turn + k) % 2
			text, err := output(ctx, filepath.Dir(trees[at]), trees[at], "-test.run=^$", "-test.bench=^Benchmark"+strings.ReplaceAll(m.pattern, "/", "$/^")+"$", fmt.Sprintf("-test.benchtime=%dx", m.times), "-test.timeout=0")
			if err != nil {
				return nil, err
			}
			if found[at], err = metrics(text); err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			fmt.Fprintf(os.Stderr, "  %s:", [...]string{"before", "now"}[at])
			for _, q := range m.quantities {
				fmt.Fprintf(os.Stderr, " %s %.4g", q.name, found[at][q.metric])
			}
			fmt.Fprintln(os.Stderr)
		}
		for i := range rows {
			for at, into := range []*[]float64{&rows[i].before, &rows[i].now} {
				v, ok := found[at][rows[i].metric]
				if !ok {
					return nil, fmt.Errorf("%s: no %s", m.name, rows[i].metric)
				}
				*into = append(*into, v)
			}
		}
	}
	return rows, nil
}

// metrics reads what one benchmark printed, which is all that ran.
func metrics(text string) (map[string]float64, error) {
	var out map[string]float64
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		if out != nil {
			return nil, fmt.Errorf("two benchmarks ran: %s", words[0])
		}
		out = map[string]float64{}
		for i := 2; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", words[0], err)
			}
			out[words[i+1]] = v
		}
	}
	if out == nil {
		return nil, fmt.Errorf("no benchmark ran: %s", text)
	}
	return out, nil
}

// least is what passes for nothing, in milliseconds.
const least = 0.01

// ratios are now by before, run by run; 0 where before is nothing.
func (r row) ratios() (out []float64) {
	for i := range r.now {
		ratio := 0.0
		if r.before[i] > least {
			ratio = r.now[i] / r.before[i]
		}
		out = append(out, ratio)
	}
	return out
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// writeTable writes the medians, and the ratios with their range over pairs of runs.
func writeTable(to io.Writer, commit string, rows []row) error {
	fmt.Fprintf(to, "d = 1,000, b = 48, a tenth missing, central noise but where it says so; medians; before is %s\n\n", commit)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "of\t\truns\tbefore\tnow\tnow/before\tleast\tmost\taim\t")
	for _, r := range rows {
		aim, verdict := "", ""
		ratios := r.ratios()
		switch {
		case r.aim > 0:
			aim = fmt.Sprintf("at most %g", r.aim)
		case r.most > 0:
			aim = fmt.Sprintf("now %g", r.most)
		}
		if r.aim > 0 && median(ratios) > r.aim || r.most > 0 && median(r.now) > r.most {
			verdict = "MISSED"
		}
		ratio := "–\t–\t–"
		if median(r.before) > least {
			ratio = fmt.Sprintf("%.2f\t%.2f\t%.2f", median(ratios), slices.Min(ratios), slices.Max(ratios))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.4g\t%.4g\t%s\t%s\t %s\n", r.measure, r.name, len(r.now), median(r.before), median(r.now), ratio, aim, verdict)
	}
	return w.Flush()
}

// writeRuns writes each pair of runs as a line of CSV.
func writeRuns(to io.Writer, rows []row) {
	fmt.Fprintln(to, "of,what,run,before,now")
	for _, r := range rows {
		for i := range r.now {
			fmt.Fprintf(to, "%q,%q,%d,%g,%g\n", r.measure, r.name, 1+i, r.before[i], r.now[i])
		}
	}
}

// output runs a command and returns what it prints; the error has it all.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	text, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, text)
	}
	return strings.TrimSpace(string(text)), nil
}
