// Command masks compares what the masks cost with what those of an earlier commit cost, in one run:
//
//	go -C experiments run ./bench/masks
//
// It checks the commit out next to this tree, builds the benchmarks of package bench in both, and
// runs them in turns, so that whatever else the machine does falls on both. Times are processor
// time. It prints a line for each pair of runs, as Go prints benchmarks; package performance makes
// the table of docs/performance.md from them.
package main

import (
	"bufio"
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
)

// testdata is what the benchmarks call and the earlier tree does not have.
//
//go:embed testdata/before_test.go
var testdata embed.FS

// bench is package bench, below a tree's root.
var bench = filepath.Join("experiments", "bench")

// measure is one benchmark.
type measure struct {
	pattern string   // as -bench takes it
	times   int      // it runs in a row
	large   bool     // minutes each
	metrics []string // those that are compared
}

var all = []string{"agent-ms", "coordinator-ms", "up-B"}

// measures are the comparison.
var measures = []measure{
	{"Round/N=100/d=1000/dropped=10", 10, false, all},
	{"Round/N=1000/d=1000/dropped=100", 3, false, all},
	{"Round/N=10000/d=1000/dropped=1000", 1, true, all},
	{"Setup/N=10/slots=20", 3, false, []string{"agent-ms", "up-B"}},
	{"Setup/N=100/slots=20", 1, false, []string{"agent-ms", "up-B"}},
	{"Setup/N=1000/slots=20", 1, true, []string{"agent-ms", "up-B"}},
	{"Noise/N=100/d=1000/dropped=10", 5, false, all[:2]},
	{"Noise/N=1000/d=1000/dropped=100", 1, true, all[:2]},
}

func main() {
	commit := flag.String("before", "bf858d2", "the commit to compare with")
	count := flag.Int("count", 3, "how often each benchmark is run in each tree")
	large := flag.Bool("large", false, "run those that take minutes, in place of the others")
	only := flag.String("only", "", "part of the names of the benchmarks that run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *commit, *only, *count, *large); err != nil {
		fmt.Fprintln(os.Stderr, "masks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, commit, only string, count int, large bool) error {
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
	for _, m := range measures {
		if m.large != large || !strings.Contains(m.pattern, only) {
			continue
		}
		if err := m.turns(ctx, trees, count); err != nil {
			return err
		}
	}
	return nil
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

// turns runs a benchmark in both trees in turns, alternating which is first, and prints each pair
// of runs as a benchmark's line.
func (m measure) turns(ctx context.Context, trees []string, count int) error {
	for turn := range count {
		var found [2]map[string]float64
		for k := range found {
			at := (turn + k) % 2
			text, err := output(ctx, filepath.Dir(trees[at]), trees[at], "-test.run=^$", "-test.bench=^Benchmark"+strings.ReplaceAll(m.pattern, "/", "$/^")+"$", fmt.Sprintf("-test.benchtime=%dx", m.times), "-test.timeout=0")
			if err != nil {
				return err
			}
			if found[at], err = metrics(text); err != nil {
				return fmt.Errorf("%s: %w", m.pattern, err)
			}
		}
		line, err := m.line(found[0], found[1])
		if err != nil {
			return err
		}
		fmt.Println(line)
	}
	return nil
}

// line is a pair of runs as a benchmark prints it, with the ratios of metrics that were not zero.
func (m measure) line(before, now map[string]float64) (string, error) {
	line := fmt.Sprintf("BenchmarkMasks/%s %d", m.pattern, m.times)
	for _, name := range m.metrics {
		a, ok := before[name]
		b, also := now[name]
		if !ok || !also {
			return "", fmt.Errorf("%s: no %s", m.pattern, name)
		}
		line += fmt.Sprintf(" %g before-%s %g %s", a, name, b, name)
		if a > least {
			line += fmt.Sprintf(" %.4g ratio-%s", b/a, name)
		}
	}
	return line, nil
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
