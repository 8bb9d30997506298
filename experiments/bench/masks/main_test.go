package main

import "testing"

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

// TestLine: a pair has both numbers and their ratio, but no ratio to zero. A missing number is an
// error.
func TestLine(t *testing.T) {
	m := measure{"Round/N=5", 3, false, []string{"a-ms", "b-ms"}}
	got, err := m.line(map[string]float64{"a-ms": 10, "b-ms": 0}, map[string]float64{"a-ms": 5, "b-ms": 3})
	if want := "BenchmarkMasks/Round/N=5 3 10 before-a-ms 5 a-ms 0.5 ratio-a-ms 0 before-b-ms 3 b-ms"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := m.line(map[string]float64{"a-ms": 10}, map[string]float64{"a-ms": 5, "b-ms": 3}); err == nil {
		t.Error("a missing number passes")
	}
}
