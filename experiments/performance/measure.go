package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// bench is benchmarks of one package, as `go test` takes them.
type bench struct {
	dir     string   // of the package, below the root
	pattern string   // of -bench, or of -run for a test
	times   string   // -benchtime
	count   int      // runs, each a process of its own
	flags   []string // further flags of the test
	tags    string   // of the build; openblas needs cgo, too
	program bool     // a program that prints its benchmarks, with flags; it runs once
	env     string   // of a test
	figure  *figure  // of a test that logs its numbers
}

// figure is a line that a test logs, as a regular expression, and the benchmark's line made of it.
type figure struct {
	logged *regexp.Regexp
	of     string // what the names begin with
	line   string // as Regexp.Expand takes it
}

// lines returns what a test logged in the form of a benchmark's output, in which names have no
// spaces.
func (f *figure) lines(text string) string {
	var out strings.Builder
	for _, m := range f.logged.FindAllStringSubmatchIndex(text, -1) {
		name := strings.ReplaceAll(strings.TrimSpace(text[m[2]:m[3]]), " ", "_")
		out.WriteString("Benchmark" + f.of + name + string(f.logged.ExpandString(nil, f.line, text, m)) + "\n")
	}
	return out.String()
}

// tree is a checkout and where its test binaries go. The folder bin is made when it is needed.
type tree struct{ root, bin string }

func clearTrees(trees []tree) {
	for _, t := range trees {
		if t.bin != "" {
			os.RemoveAll(t.bin)
		}
	}
}

// build builds what runs a bench, unless it is there.
func (t *tree) build(ctx context.Context, b bench) (file string, err error) {
	if t.bin == "" {
		if t.bin, err = os.MkdirTemp("", "covey-performance-"); err != nil {
			return "", err
		}
	}
	file = filepath.Join(t.bin, strings.ReplaceAll(b.dir+b.tags, "/", "-"))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	module, path := t.root, b.dir
	if rest, ok := strings.CutPrefix(b.dir, "experiments/"); ok {
		module, path = filepath.Join(t.root, "experiments"), rest
	}
	args := []string{"test", "-c"}
	if b.program {
		args = []string{"build"}
	}
	args = append(args, "-o", file, "-tags", b.tags, "./"+path)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = module
	if b.tags != "" {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("%s has no tests", b.dir)
	}
	return file, nil
}

// run runs a bench once and returns what it printed.
func (t *tree) run(ctx context.Context, b bench) (string, error) {
	file, err := t.build(ctx, b)
	if err != nil {
		return "", err
	}
	if b.program {
		return output(ctx, t.root, file, b.flags...)
	}
	if b.figure != nil {
		cmd := exec.CommandContext(ctx, file, append([]string{"-test.run=^" + strings.ReplaceAll(b.pattern, "/", "$/^") + "$", "-test.v", "-test.timeout=0"}, b.flags...)...)
		cmd.Dir = filepath.Join(t.root, b.dir)
		if b.env != "" {
			cmd.Env = append(os.Environ(), b.env)
		}
		text, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w\n%s", b.pattern, err, text)
		}
		return b.figure.lines(string(text)), nil
	}
	args := append([]string{"-test.run=^$", "-test.bench=" + anchored(b.pattern), "-test.benchtime=" + b.times, "-test.timeout=0"}, b.flags...)
	return output(ctx, filepath.Join(t.root, b.dir), file, args...)
}

// anchored returns a pattern of whole names: Sum/d=64 is not Sum/d=640.
func anchored(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		parts[i] = "^(" + p + ")$"
	}
	return "^Benchmark" + strings.TrimPrefix(strings.Join(parts, "/"), "^")
}

// measure runs a table's benchmarks in each tree in turns, alternating which is first, and returns
// each tree's text. Programs make their own comparison and run only in the first tree.
func (t table) measure(ctx context.Context, trees []tree, count int) ([]string, error) {
	texts, heads := make([]strings.Builder, len(trees)), map[string]bool{}
	for _, b := range t.benches {
		n := b.count
		if count > 0 && !b.program {
			n = count
		}
		for turn := range max(1, n) {
			for k := range trees {
				at := (turn + k) % len(trees)
				if b.program && at > 0 {
					continue
				}
				fmt.Fprintf(os.Stderr, "%s: %s %s, %d of %d\n", t.name, b.dir, b.pattern, turn+1, max(1, n))
				text, err := trees[at].run(ctx, b)
				if err != nil {
					return nil, err
				}
				if !strings.Contains("\n"+text, "\nBenchmark") {
					return nil, fmt.Errorf("%s %s: no benchmark ran", b.dir, b.pattern)
				}
				for line := range strings.Lines(text + "\n") {
					if head := fmt.Sprint(at, line); kept.MatchString(line) && !heads[head] {
						heads[head] = !strings.HasPrefix(line, "Benchmark")
						texts[at].WriteString(spaces.ReplaceAllString(line, " "))
					}
				}
			}
		}
	}
	var out []string
	for i := range texts {
		out = append(out, thisProcessor()+texts[i].String())
	}
	return out, nil
}

// thisProcessor returns Linux's name of this machine's processor as a line of a benchmark's output,
// which programs and tests do not print.
func thisProcessor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`(?m)^model name\s*: (.*\S)$`).FindSubmatch(text); err == nil && m != nil {
		return fmt.Sprintf("cpu: %s\n", m[1])
	}
	return ""
}

// kept matches the lines of a text that benchstat reads, and spaces what separates its columns.
var (
	kept   = regexp.MustCompile(`^(Benchmark\S+\s+\d|goos: |goarch: )`)
	spaces = regexp.MustCompile(`[ \t]+`)
)

// checkout makes a temporary worktree of a commit, until done is called.
func checkout(ctx context.Context, root, commit string) (dir string, done func(), err error) {
	parent, err := os.MkdirTemp("", "covey-before-")
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(parent, "tree")
	done = func() {
		exec.Command("git", "-C", root, "worktree", "remove", "--force", dir).Run()
		os.RemoveAll(parent)
	}
	if _, err := output(ctx, root, "git", "worktree", "add", "--detach", dir, commit); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// compareTrees measures tables in a commit's tree and in this one, and prints the comparison.
func compareTrees(ctx context.Context, root, commit string, chosen []table, count int) error {
	dir, done, err := checkout(ctx, root, commit)
	if err != nil {
		return err
	}
	defer done()
	trees := []tree{{root, ""}, {dir, ""}}
	defer clearTrees(trees)
	var now, before strings.Builder
	var failed error
	for _, t := range chosen {
		if t.alone() {
			fmt.Fprintf(os.Stderr, "%s compares by itself\n", t.name)
			continue
		}
		texts, err := t.measure(ctx, trees, count)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t.name, err))
			continue
		}
		now.WriteString(texts[0])
		before.WriteString(texts[1])
	}
	if now.Len() == 0 {
		return errors.Join(failed, errors.New("nothing to compare"))
	}
	return errors.Join(failed, printComparison(ctx, root, commit, before.String(), now.String()))
}

// alone reports whether a table has only programs.
func (t table) alone() bool {
	for _, b := range t.benches {
		if !b.program {
			return false
		}
	}
	return true
}
