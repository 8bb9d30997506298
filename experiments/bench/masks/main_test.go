package main

import (
	"strings"
	"testing"
)

// TestMetrics: what a benchmark prints is read, and neither none nor two of them pass for one.
func TestMetrics(t *testing.T) {
	const one = "goos: linux\nBenchmarkRound/N=10-2 \t 20\t 88273887 ns/op\t 4.084 agent-ms\t 9709 up-B\nPASS\n"
	got, err := metrics(one)
	if err != nil || got["agent-ms"] != 4.084 || got["up-B"] != 9709 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"PASS", one + one, "BenchmarkX 1 what ns/op"} {
		if got, err := metrics(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestTable: ratios are of pairs of runs, and one above its aim shows.
func TestTable(t *testing.T) {
	var out strings.Builder
	rows := []row{
		{"a", quantity{"x", "x", 0.5, 0}, []float64{10, 20, 40}, []float64{6, 8, 40}},
		{"b", quantity{"y", "y", 2, 0}, []float64{1}, []float64{2}},
		{"c", quantity{"z", "z", 0, 2}, []float64{0}, []float64{3}},
	}
	if err := writeTable(&out, "abc", rows); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a x 3 20 8 0.60 0.40 1.00 at most 0.5 MISSED", "b y 1 1 2 2.00 2.00 2.00 at most 2", "c z 1 0 3 – – – now 2 MISSED"} {
		if line := strings.Join(strings.Fields(strings.Split(out.String(), "\n")[3+i]), " "); line != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
	if m := median([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Error(m)
	}
}
