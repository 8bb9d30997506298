package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"covey/internal/picture"
	"covey/internal/result"
	"covey/internal/worth"
)

const (
	allColumns = 40 // up to so many are all drawn, in the result's order
	topColumns = 20 // else so many, by falling magnitude
	barHeight  = 9  // points
	barPitch   = 15
)

// loadings draws each component as bars, one a column, with the columns' names and, where what the
// result is worth is given, the loadings' intervals or that they are not determined.
func loadings(r *result.Result, of []*worth.Report) ([]Plot, error) {
	var out []Plot
	short := picture.Names(r.Columns, 32)
	for i, v := range r.Components {
		shown := make([]int, r.D)
		for j := range shown {
			shown[j] = j
		}
		title := fmt.Sprintf("component %d", i+1)
		var under []string // on a line of its own, which no long name cuts off
		if r.D > allColumns {
			slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(math.Abs(v[b]), math.Abs(v[a])) })
			shown = shown[:topColumns]
			under = append(under, fmt.Sprintf("the %d largest loadings of %d", topColumns, r.D))
		}
		var intervals [][2]float64
		switch {
		case len(of) == 0:
		case i >= len(of[0].Components):
			under = append(under, "what it is worth is not known: do not interpret")
		case of[0].Components[i].Loadings != nil:
			intervals = of[0].Components[i].Loadings
			under = append(under, "separated, 95% intervals")
		case of[0].Components[i].Separated:
			under = append(under, "separated, but the loadings' intervals are not known")
		default:
			under = append(under, "not separated: do not interpret")
		}
		if len(under) > 0 {
			title += "\n" + strings.Join(under, "; ")
		}
		slices.Reverse(shown) // the axis goes up, a list goes down
		p := newPlot(r, title, "loading", "")
		names := make([]string, len(shown))
		says := make([]string, len(shown)) // in the order of reading
		plus, minus := make(plotter.Values, len(shown)), make(plotter.Values, len(shown))
		top := 0.0
		for at, j := range shown {
			names[at] = short[j]
			plus[at], minus[at] = max(0, v[j]), min(0, v[j])
			top = max(top, math.Abs(v[j]))
			said := names[at] + " " + hundredths(v[j])
			if intervals != nil {
				top = max(top, -intervals[j][0], intervals[j][1])
				said += " (" + hundredths(intervals[j][0]) + " to " + hundredths(intervals[j][1]) + ")"
			}
			says[len(shown)-1-at] = said
		}
		if top == 0 {
			top = 1
		}
		g := plotter.NewGrid()
		g.Horizontal.Color = nil
		g.Vertical = draw.LineStyle{Color: pale, Width: 0.5}
		p.Add(g)
		for side, values := range []plotter.Values{plus, minus} {
			bars, err := plotter.NewBarChart(values, barHeight)
			if err != nil {
				return nil, fault("components_", "%v", err)
			}
			bars.Horizontal, bars.Color, bars.LineStyle.Width = true, palette[side], 0
			if len(of) > 0 && (i >= len(of[0].Components) || !of[0].Components[i].Separated) {
				hollow(bars) // not to be interpreted
			}
			p.Add(bars)
		}
		for at, j := range shown {
			if intervals == nil {
				break
			}
			whisker, err := plotter.NewLine(plotter.XYs{{X: intervals[j][0], Y: float64(at)}, {X: intervals[j][1], Y: float64(at)}})
			if err != nil {
				return nil, fault("components_", "%v", err)
			}
			whisker.LineStyle = draw.LineStyle{Color: dark, Width: 1}
			p.Add(whisker)
		}
		zero, err := plotter.NewLine(plotter.XYs{{X: 0, Y: -0.5}, {X: 0, Y: float64(len(shown)) - 0.5}})
		if err != nil {
			return nil, err
		}
		zero.LineStyle = draw.LineStyle{Color: ink, Width: 0.5}
		p.Add(zero)
		p.NominalY(names...)
		p.X.Min, p.X.Max = -1.05*top, 1.05*top
		p.X.Tick.Marker = even{}
		p.Y.Min, p.Y.Max = -0.5, float64(len(shown))-0.5
		out = append(out, Plot{Name: fmt.Sprintf("loadings-%d", i+1), plot: p, says: "loadings: " + strings.Join(says, "; "), width: plotWidth, height: vg.Length(130 + barPitch*len(shown))})
	}
	return out, nil
}

// hundredths prints a loading, with no sign before zeros.
func hundredths(v float64) string {
	return fmt.Sprintf("%.2f", math.Round(100*v)/100+0)
}
