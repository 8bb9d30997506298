package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPageIsOfItsTexts: the page's tables and the CSVs are what the kept texts make, so that no
// number is written by hand.
func TestPageIsOfItsTexts(t *testing.T) {
	const root = "../.."
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	made, files, err := makePage(root, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if made != string(text) {
		t.Errorf("%s is of other texts: go -C experiments run ./performance -page", page)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, results, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s is of another text: %v", name, err)
		}
	}
	kept, err := os.ReadDir(filepath.Join(root, results))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range kept {
		if _, err := find(strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))); err != nil {
			t.Errorf("%s is of no table", f.Name())
		}
	}
}

// TestPageNeedsPlaces: a table without a place on the page is an error; a table replaces what was
// in its place.
func TestPageNeedsPlaces(t *testing.T) {
	const at = "a\n<!--x-->\nold\n<!--/x-->\nb\n"
	got, err := replace(at, "x", "new\n")
	if err != nil || got != "a\n<!--x-->\nnew\n<!--/x-->\nb\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "<!--x-->\n", "<!--/x-->\n<!--x-->\n"} {
		if _, err := replace(bad, "x", "new\n"); err == nil {
			t.Errorf("%q has a place", bad)
		}
	}
}

// TestProcessorIsNamed: the page says on which processor a table was measured, where its text does.
func TestProcessorIsNamed(t *testing.T) {
	for text, want := range map[string]string{"cpu: AMD EPYC\n": ", AMD EPYC", "goos: linux\ncpu: A B  \nBenchmarkX 1": ", A B", "BenchmarkX 1 cpu: \n": ""} {
		if got := on(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestBenchesExist: each table's package has the benchmark, or is a program.
func TestBenchesExist(t *testing.T) {
	names := map[string]bool{}
	for _, table := range tables {
		if names[table.name] {
			t.Errorf("two tables are %s", table.name)
		}
		names[table.name] = true
		for _, b := range table.benches {
			files, _ := filepath.Glob(filepath.Join("../..", b.dir, "*.go"))
			want := "(?m)^func main\\("
			if first, _, _ := strings.Cut(b.pattern, "/"); b.figure != nil {
				want = "(?m)^func " + first + "\\("
			} else if !b.program {
				want = "(?m)^func Benchmark" + first + "\\("
			}
			found := false
			for _, f := range files {
				text, err := os.ReadFile(f)
				found = found || err == nil && regexp.MustCompile(want).Match(text)
			}
			if !found {
				t.Errorf("%s: %s has no %s", table.name, b.dir, want)
			}
			if _, err := regexp.Compile(anchored(b.pattern)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRead: medians and ranges are over all runs of a benchmark, whatever stands between them, and
// survive the CSV.
func TestRead(t *testing.T) {
	const text = "goos: linux\nBenchmarkA/x=1-2 \t 3\t 30 ns/op\t 5 up-B\nPASS\nBenchmarkB 1 7 ns/op\nBenchmarkA/x=1 3 10 ns/op\nBenchmarkA/x=1-8 3 20 ns/op\nBenchmarkBroken-2\n"
	s := read(text)
	if got, ok := s.get("A/x=1", "ns/op"); !ok || got != (line{"A/x=1", "ns/op", 20, 10, 30, 3}) || len(s.lines) != 3 {
		t.Errorf("%+v", s.lines)
	}
	var out strings.Builder
	if err := s.write(&out); err != nil {
		t.Fatal(err)
	}
	again, err := readCSV(strings.NewReader(out.String()))
	if err != nil || len(again.lines) != len(s.lines) || again.lines[0] != s.lines[0] || again.lines[1] != s.lines[1] {
		t.Errorf("%+v, %v", again.lines, err)
	}
	for _, bad := range []string{"benchmark,unit\n", strings.Replace(out.String(), "20", "x", 1)} {
		if _, err := readCSV(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestSlower: what grew by more than 5% is listed, and so is a rate that fell. What is new, better,
// not a cost, or the wall time of a benchmark with numbers of its own is not.
func TestSlower(t *testing.T) {
	before := read("BenchmarkA 1 100 ns/op 100 MB/s\nBenchmarkA 1 102 ns/op 100 MB/s\nBenchmarkB 1 100 ns/op 2 power 10 x-B 5 before-x-B\nBenchmarkD 1 5 ns/op\n")
	now := read("BenchmarkA 1 120 ns/op 90 MB/s\nBenchmarkB 1 500 ns/op 4 power 10.4 x-B 9 before-x-B\nBenchmarkC 1 9 ns/op\nBenchmarkD 1 5 ns/op\n")
	var out strings.Builder
	if err := listSlower(&out, before, now); err != nil {
		t.Fatal(err)
	}
	const want = "2 of 4 medians are worse by more than 5%\n" +
		" +18.8%  A ns/op: 101 (100 to 102) is now 120 (120 to 120), ranges apart\n" +
		" +11.1%  A MB/s: 100 (100 to 100) is now 90.0 (90.0 to 90.0), ranges apart\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1.234: "1.23", 12.34: "12.3", 999.6: "1,000", 1234567: "1,234,567", -1234: "-1,234", 0.01234: "0.0123"} {
		if got := number(v); got != want {
			t.Errorf("%v is %s, not %s", v, got, want)
		}
	}
	if got := slope([]float64{1, 2, 4}, []float64{3, 12, 48}); got < 1.999 || got > 2.001 {
		t.Errorf("a square grows with the power %v", got)
	}
}

// TestFigures: what tests log is read as benchmarks.
func TestFigures(t *testing.T) {
	for name, c := range map[string]struct{ logged, want string }{
		"agents": {"    agents_test.go:113: figure: no-cache: rows 38 MB, peak 70 MB of 128, 0.16 times the rows and 64 MB; 40 MB after 10 s; 2.5 s, 1.2 s of processors a site, 9 queries\n",
			"Benchmarkno-cache 1 38 rows-MB 70 peak-MB 128 bound-MB 40 left-MB 2.5 wall-s\n"},
		"many": {"=== RUN   TestMany\n    many_test.go:213: operator's list, first              12.5 ms wall      3.0 ms processor\n    many_test.go:267: a snapshot of 3.0 MB\n",
			"Benchmarkcoordinator:operator's_list,_first 1 12.5 wall-ms 3.0 cpu-ms\n"},
	} {
		table, err := find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.benches[0].figure.lines(c.logged); got != c.want || read(got).lines == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestPatterns: a pattern matches whole names.
func TestPatterns(t *testing.T) {
	if got := anchored("Sum/d=64/k=(1|4)"); got != "^Benchmark(Sum)$/^(d=64)$/^(k=(1|4))$" {
		t.Error(got)
	}
}
