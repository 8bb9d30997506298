package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"covey/internal/proposal"
	"covey/internal/result"
)

// mostLines is how many lines a drawing has.
const mostLines = result.MostAngles

// convergence draws, for each component, its angle to the block that each round was asked about.
// With deflation a round's block has one component.
func convergence(r *result.Result) ([]Plot, error) {
	lines := make([]plotter.XYs, min(r.K, mostLines))
	steps := r.Steps()
	for i := range lines {
		lines[i] = course(r, steps, i)
	}
	if len(lines[0]) == 0 {
		return nil, nil // the covariance has no rounds
	}
	title, y := "convergence", "angle to the round's vector (degrees)"
	if r.K > 1 && r.Subspace != proposal.SubspaceDeflation {
		y = "angle to the round's block (degrees)"
	}
	if r.K > mostLines {
		title += fmt.Sprintf(" of the first %d components", mostLines)
	}
	p := newPlot(r, title, "round", y)
	p.Add(grid())
	for i, points := range lines {
		if err := addLine(p, i, points, label("component", r.K, i)); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.X.Max, p.X.Tick.Marker = 1, float64(max(2, r.Rounds)), counting{}
	p.Y.Min, p.Y.Max, p.Y.Padding = 0, 95, 0
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0°"}, {Value: 15, Label: "15°"}, {Value: 30, Label: "30°"}, {Value: 45, Label: "45°"}, {Value: 60, Label: "60°"}, {Value: 75, Label: "75°"}, {Value: 90, Label: "90°"}}
	return []Plot{{Name: "convergence", plot: p, says: y + " by round; the last: " + ends(lines, "component", func(v float64) string { return fmt.Sprintf("%.1f°", v) }), width: plotWidth, height: plotHeight}}, nil
}

// course is a component's angle over the rounds, which are counted from 1 as everywhere that people
// read.
func course(r *result.Result, steps []result.Step, i int) plotter.XYs {
	run := -1
	if r.Subspace == proposal.SubspaceDeflation {
		run = runOf(r, r.Components[i])
	}
	var out plotter.XYs
	for _, s := range steps {
		if run < 0 || s.Run == run {
			out = append(out, plotter.XY{X: float64(s.Round + 1), Y: s.Angles[i]})
		}
	}
	return out
}

// runOf is the run of deflation that found a component: outputs are in that order.
func runOf(r *result.Result, component []float64) int {
	return slices.IndexFunc(r.Outputs[r.Output], func(v []float64) bool { return slices.Equal(v, component) })
}

// The noise-to-signal axis stays within these, so that a step that is all noise, whose
// number can be the largest float, does not flatten the others.
const leastNoise, mostNoise = 1e-6, 1e2

// noiseToSignal draws each round's noise-to-signal.
func noiseToSignal(r *result.Result) ([]Plot, error) {
	var lines []plotter.XYs // one a run
	low, high := -1.0, 0.0
	beyond := false
	for _, s := range r.Steps() {
		if s.Run >= len(lines) {
			lines = append(lines, nil)
		}
		v := math.Log10(max(leastNoise, min(mostNoise, s.NoiseToSignal)))
		beyond = beyond || s.NoiseToSignal > mostNoise
		low, high = min(low, v), max(high, v)
		lines[s.Run] = append(lines[s.Run], plotter.XY{X: float64(s.Round + 1), Y: v})
	}
	if len(lines) == 0 {
		return nil, nil
	}
	title := "noise-to-signal"
	if beyond {
		title += fmt.Sprintf(" (above %g is drawn at %g)", float64(mostNoise), float64(mostNoise))
	}
	p := newPlot(r, title, "round", "noise of the step over its signal")
	p.Add(grid())
	for i, points := range lines[:min(len(lines), mostLines)] {
		if err := addLine(p, i, points, label("run", len(lines), i)); err != nil {
			return nil, err
		}
	}
	p.X.Min, p.X.Max, p.X.Tick.Marker = 1, float64(max(2, r.Rounds)), counting{}
	p.Y.Tick.Marker = decades{}
	p.Y.Min, p.Y.Max = low-0.1, high+0.1
	// the legend is above
	p.Y.Max += (p.Y.Max - p.Y.Min) * float64(min(len(lines), mostLines)) / 14
	return []Plot{{Name: "noise", plot: p, says: "noise of each step over its signal by round; the last: " + ends(lines, "run", func(v float64) string { return fmt.Sprintf("%.2g", math.Pow(10, v)) }), width: plotWidth, height: plotHeight}}, nil
}

// ends returns the last value of each line: of a component, or a run.
func ends(lines []plotter.XYs, what string, text func(float64) string) string {
	var out []string
	for i, points := range lines[:min(len(lines), mostLines)] {
		if n := len(points); n > 0 {
			out = append(out, strings.TrimSpace(label(what, len(lines), i)+" "+text(points[n-1].Y)))
		}
	}
	return strings.Join(out, ", ")
}

// decades ticks an axis of logarithms: 1, 2 and 5 of each power of ten, and only the
// powers where there are many. (With plot.LogScale the drawing is padded for a label
// that is not where it counts it.)
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	steps := []float64{1, 2, 5}
	if high-low > 2.5 {
		steps = steps[:1]
	}
	var out []plot.Tick
	for e := math.Floor(low); e <= high; e++ {
		for _, s := range steps {
			if v := e + math.Log10(s); v >= low && v <= high {
				out = append(out, plot.Tick{Value: v, Label: strconv.FormatFloat(s*math.Pow(10, e), 'g', 3, 64)})
			}
		}
	}
	return out
}

// label names line i of n; one alone needs no name.
func label(what string, n, i int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("%s %d", what, i+1)
}

// addLine adds line i with a dot at each of its points.
func addLine(p *plot.Plot, i int, points plotter.XYs, name string) error {
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return fault("releases", "%v", err)
	}
	line.LineStyle = draw.LineStyle{Color: palette[i], Width: 1.5}
	dots.GlyphStyle = draw.GlyphStyle{Color: palette[i], Radius: 2.2, Shape: draw.CircleGlyph{}}
	p.Add(line, dots)
	if name != "" {
		p.Legend.Add(name, line, dots)
	}
	return nil
}
