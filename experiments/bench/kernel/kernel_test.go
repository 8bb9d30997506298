package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"covey/internal/clip"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{5, 1, 3}, 3}, {[]float64{4, 1, 3, 2}, 2.5}, {[]float64{9, 9, 1}, 9}} {
		before := c.v[0]
		if got := median(c.v); got != c.want || c.v[0] != before {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("a median of nothing")
	}
}

func TestSlope(t *testing.T) {
	x := []float64{1, 10, 100}
	for _, p := range []float64{0.5, 1, 2} {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = 7 * math.Pow(x[i], p)
		}
		if got := slope(x, y); math.Abs(got-p) > 1e-12 {
			t.Errorf("power %v: slope %v", p, got)
		}
	}
}

func TestMarkdown(t *testing.T) {
	u := table{Title: "Title.", Head: []string{"name", "a", "b"}}
	u.add("one", 0.98765, math.NaN())
	u.add("two", 1234.5, 12)
	want := "Title.\n\n| name | a | b |\n|---|--:|--:|\n| one | 0.99 |  |\n| two | 1234 | 12 |\n"
	if got := u.markdown(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b, err := json.Marshal(u)
	if err != nil || !strings.Contains(string(b), `{"name":"one","numbers":[0.98765,null]}`) {
		t.Errorf("%s %v", b, err)
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0.0123: "0.01", 0.00123: "0.0012", 9.994: "9.99", 9.996: "10.0", 99.96: "100", 131072: "131072", 1: "1.00"} {
		if got := digits(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// Contestants take turns, and the first turn is not counted.
func TestTurns(t *testing.T) {
	var order []string
	play := func(name string) contestant {
		return contestant{name, 1, func() error { order = append(order, name); return nil }}
	}
	spent, err := turns([]contestant{play("a"), play("b")}, 2)
	if err != nil || strings.Join(order, "") != "ababab" || len(spent["a"]) != 2 || len(spent[clock("b")]) != 2 {
		t.Errorf("%v, %v turns of a (%v)", order, len(spent["a"]), err)
	}
	bad := errors.New("bad")
	if _, err := turns([]contestant{{"a", 1, func() error { return bad }}}, 1); !errors.Is(err, bad) {
		t.Error(err)
	}
}

// A ratio is the median of the turns' ratios, not the ratio of medians.
func TestRatio(t *testing.T) {
	spent := times{"a": {2, 4, 100}, "b": {1, 3, 10}}
	if got := spent.ratio("a", "b"); got != 2 {
		t.Errorf("got %v", got)
	}
	if got := spent.ratio("a", "none"); !math.IsNaN(got) {
		t.Errorf("got %v for what did not run", got)
	}
	spent[clock("a")], spent[clock("b")] = []float64{6, 8}, []float64{9, 2}
	if got := spent.best("a", "b"); got != 3 || !math.IsNaN(spent.best("", "b")) {
		t.Errorf("best: got %v", got)
	}
	if got := spent.fastest("a", "b"); got != "b" {
		t.Errorf("the fastest is %s", got)
	}
}

func TestNumbers(t *testing.T) {
	if got, err := numbers("1, 20"); err != nil || len(got) != 2 || got[1] != 20 {
		t.Error(got, err)
	}
	for _, s := range []string{"", "0", "a", "1,,2", "-1"} {
		if got, err := numbers(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// A small run has all tables, in both forms, and every path's integers are the same: it would fail otherwise.
func TestRun(t *testing.T) {
	defer func() {
		if err := clip.SetPath(""); err != nil {
			t.Error(err)
		}
	}()
	var text, numbers bytes.Buffer
	if err := run(&text, "8,40", "1,3", "sums,blocks,growth", 1, 1, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**One direction, d = 8**", "**k directions at once, d = 40**", "**Growth with n**", "**Growth with d**", "covey portable float32, 2 cores", "mapped file", "gonum, two Gemv"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
	if err := run(&numbers, "8", "2", "sums", 1, 1, true); err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(numbers.Bytes(), &r); err != nil || len(r.Tables) != 1 || len(r.Tables[0].Lines) < 8 || r.Repeat != 1 {
		t.Errorf("%v: %s", err, numbers.String())
	}
	for _, bad := range []func() error{
		func() error { return run(&text, "0", "1", "sums", 1, 1, false) },
		func() error { return run(&text, "8", "x", "sums", 1, 1, false) },
		func() error { return run(&text, "8", "1", "other", 1, 1, false) },
		func() error { return run(&text, "8", "1", "sums", 0, 1, false) },
		func() error { return run(&text, "8", "1", "sums", 1, 0, false) },
		func() error { return run(&text, "1000000", "1", "sums", 1, 1, false) },
	} {
		if bad() == nil {
			t.Error("a bad argument is taken")
		}
	}
}

func TestOtherIntegersFail(t *testing.T) {
	var s same
	if s.check("a", []int64{1}) != nil || s.check("b", []int64{1}) != nil || s.check("c", []int64{2}) == nil {
		t.Error("other integers pass, or the same do not")
	}
}
