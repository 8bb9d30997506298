package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// table is lines of numbers under heads, the first of which is a name's.
type table struct {
	Title string   `json:"title"`
	Head  []string `json:"head"`
	Lines []line   `json:"lines"`
}

type line struct {
	Name    string    `json:"name"`
	Numbers []float64 `json:"-"` // NaN: none
	Known   []any     `json:"numbers"`
}

func (t *table) add(name string, numbers ...float64) {
	known := make([]any, len(numbers))
	for i, v := range numbers {
		if !math.IsNaN(v) {
			known[i] = v
		}
	}
	t.Lines = append(t.Lines, line{name, numbers, known})
}

// markdown is the table as Markdown: numbers flush right, three digits.
func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n| %s |\n|---%s|\n", t.Title, strings.Join(t.Head, " | "), strings.Repeat("|--:", len(t.Head)-1))
	for _, l := range t.Lines {
		fmt.Fprintf(&b, "| %s", l.Name)
		for _, v := range l.Numbers {
			fmt.Fprintf(&b, " | %s", digits(v))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// digits is v with three digits, or as many as it has before the point; "" for NaN.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return ""
	case v == math.Trunc(v) && a >= 10 && a < 1e15:
		return fmt.Sprintf("%.0f", v)
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.01:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// median is the middle of v, or the mean of the two in the middle; NaN of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// slope is that of the line through (log x, log y) with the least squares: 1 where y grows as x does.
func slope(x, y []float64) float64 {
	var mx, my, xx, xy float64
	for i := range x {
		mx += math.Log(x[i]) / float64(len(x))
		my += math.Log(y[i]) / float64(len(x))
	}
	for i := range x {
		a := math.Log(x[i]) - mx
		xx += a * a
		xy += a * (math.Log(y[i]) - my)
	}
	return xy / xx
}
