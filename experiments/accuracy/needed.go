package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"covey/experiments/run"
)

// alphas are the errors that needed asks about.
var alphas = []float64{0.2, 0.1, 0.05, 0.02, 0.01}

// needed prints, from the measured size.csv, the n at which each curve's median error falls to α,
// interpolated between neighboring n in logarithms, and the exponent with which n grows in 1/α.
// Theorem 1 promises d/α² + d/(εα), so an exponent between 1 and 2.
func needed(dir string, to io.Writer) error {
	f, err := os.Open(filepath.Join(dir, "size.csv"))
	if err != nil {
		return err
	}
	defer f.Close()
	panels, err := run.ReadCSV(f)
	if err != nil {
		return err
	}
	head := "data\tmethod\t"
	for _, a := range alphas {
		head += fmt.Sprintf("α = %g\t", a)
	}
	w := columns(to, head+"exponent\t")
	for _, p := range panels {
		for _, c := range p.Curves {
			line(w, p.Title, c)
		}
	}
	return w.Flush()
}

func line(w io.Writer, title string, c run.Curve) {
	var n, loss, la, ln []float64
	for _, v := range c.Points {
		n, loss = append(n, v.X), append(loss, max(v.Median, 1e-6))
	}
	fmt.Fprintf(w, "%s\t%s\t", title, c.Name)
	for _, a := range alphas {
		at, how := crossing(n, loss, a)
		if how == "" {
			la, ln = append(la, math.Log(1/a)), append(ln, math.Log(at))
		}
		fmt.Fprintf(w, "%s%.0f\t", how, at)
	}
	exponent := "-"
	if len(la) > 1 {
		exponent = fmt.Sprintf("%.1f", slope(la, ln))
	}
	fmt.Fprintf(w, "%s\t\n", exponent)
}

// crossing returns the n at which loss falls to α for good. how is "<" or ">" where that is outside
// what was measured, and at is then the nearest end.
func crossing(n, loss []float64, alpha float64) (at float64, how string) {
	last := len(n) - 1
	if loss[last] > alpha {
		return n[last], ">"
	}
	for last > 0 && loss[last-1] <= alpha {
		last--
	}
	if last == 0 {
		return n[0], "<"
	}
	part := math.Log(loss[last-1]/alpha) / math.Log(loss[last-1]/loss[last])
	return n[last-1] * math.Pow(n[last]/n[last-1], part), ""
}

// slope returns that of the least squares line.
func slope(x, y []float64) float64 {
	var mx, my, xy, xx float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(y))
	}
	for i := range x {
		xy, xx = xy+(x[i]-mx)*(y[i]-my), xx+(x[i]-mx)*(x[i]-mx)
	}
	return xy / xx
}
