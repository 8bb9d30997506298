package covey

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsNameRealPrograms: every program and benchmark of the experiments that a page names is in
// the tree, and so is every measurement of accuracy, which docs/experiments.md names in short.
func TestDocsNameRealPrograms(t *testing.T) {
	benchmarks := map[string][]string{} // by package's folder
	declared := regexp.MustCompile(`(?m)^func Benchmark(\w+)\(`)
	walk(t, ".go", func(path, text string) {
		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			dir := filepath.ToSlash(filepath.Dir(path))
			benchmarks[dir] = append(benchmarks[dir], m[1])
		}
	})
	run := regexp.MustCompile(`go -C experiments run (?:-\S+ )*\./(\S*\w)`)
	bench := regexp.MustCompile(`go (?:-C (experiments) )?test .*?\./(\S*\w)(?:/\.\.\.)? .*-bench '?([\w./|=]+)`)
	short := regexp.MustCompile("(?m)(?:^    |`)accuracy ([a-z]+)")
	accuracy, err := os.ReadFile("experiments/accuracy/main.go")
	if err != nil {
		t.Fatal(err)
	}
	programs, measured := 0, 0
	walk(t, ".md", func(path, text string) {
		for _, m := range run.FindAllStringSubmatch(text, -1) {
			programs++
			if files, _ := filepath.Glob(filepath.Join("experiments", m[1], "*.go")); len(files) == 0 {
				t.Errorf("%s runs ./%s, which does not exist", path, m[1])
			}
		}
		for _, m := range short.FindAllStringSubmatch(text, -1) {
			programs++
			if !strings.Contains(string(accuracy), "\t\""+m[1]+"\": ") {
				t.Errorf("%s runs accuracy %s, which does not exist", path, m[1])
			}
		}
		for _, m := range bench.FindAllStringSubmatch(text, -1) {
			dir := filepath.ToSlash(filepath.Join(m[1], m[2]))
			for name := range strings.SplitSeq(m[3], "|") {
				measured++
				name, _, _ = strings.Cut(name, "/")
				if !slices.ContainsFunc(benchmarks[dir], func(b string) bool { return name == "." || strings.Contains(b, name) }) {
					t.Errorf("%s runs the benchmark %s of %s, which does not exist", path, name, dir)
				}
			}
		}
	})
	if programs < 20 || measured < 2 {
		t.Errorf("the pages name %d programs and %d benchmarks; the patterns must be wrong", programs, measured)
	}
}
