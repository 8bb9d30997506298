package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"covey/internal/result"
	"covey/internal/worth"
)

// scree draws each component's explained variance with its interval and, where what the result is
// worth is given, what the intervals leave out.
func scree(r *result.Result, of []*worth.Report) ([]Plot, error) {
	if len(r.ExplainedVariance) == 0 {
		return nil, nil
	}
	x := "component"
	if r.TotalInterval != nil && r.TotalVariance > 0 {
		x = fmt.Sprintf("component (total variance %.4g, 95%% interval %.4g to %.4g)", r.TotalVariance, r.TotalInterval[0], r.TotalInterval[1])
	}
	title := "explained variance"
	if len(of) > 0 {
		title += screeCaveat(r, of[0])
	}
	p := newPlot(r, title, x, "variance, with the noise's 95% interval")
	says := x + "; variance, with the noise's 95% interval: "
	var points errorPoints
	top := 0.0
	for i, v := range r.ExplainedVariance {
		low, high := r.VarianceInterval[i][0], r.VarianceInterval[i][1]
		points.XYs = append(points.XYs, plotter.XY{X: float64(i + 1), Y: v})
		points.YErrors = append(points.YErrors, struct{ Low, High float64 }{max(0, v-low), max(0, high-v)})
		top = max(top, v, high)
		says += fmt.Sprintf("component %d %.4g (%.4g to %.4g); ", i+1, v, low, high)
	}
	if !(top > 0) || top > math.MaxFloat64/4 {
		top = 1
	}
	bars, err := plotter.NewBarChart(plotter.Values(r.ExplainedVariance), min(36, vg.Length(270/float64(r.K))))
	if err != nil {
		return nil, fault("explained_variance_", "%v", err)
	}
	bars.XMin, bars.Color, bars.LineStyle.Width = 1, palette[0], 0
	if len(of) > 0 && !standsOut(of[0]) { // no solid bars: nothing here is an answer
		hollow(bars)
	}
	whiskers, err := plotter.NewYErrorBars(points)
	if err != nil {
		return nil, fault("explained_variance_interval_", "%v", err)
	}
	whiskers.LineStyle = draw.LineStyle{Color: dark, Width: 1}
	whiskers.CapWidth = min(10, bars.Width/2)
	p.Add(grid(), bars, whiskers)
	if r.K <= 12 && len(r.VarianceRatio) == r.K && r.TotalVariance > 0 {
		labels := plotter.XYLabels{}
		for i := range r.VarianceRatio {
			labels.XYs = append(labels.XYs, plotter.XY{X: float64(i + 1), Y: max(r.ExplainedVariance[i], r.VarianceInterval[i][1])})
			labels.Labels = append(labels.Labels, r.ShareText(i))
		}
		ratios, err := plotter.NewLabels(labels)
		if err != nil {
			return nil, fault("explained_variance_ratio_", "%v", err)
		}
		for i := range ratios.TextStyle {
			ratios.TextStyle[i] = p.X.Tick.Label
			ratios.TextStyle[i].XAlign, ratios.TextStyle[i].YAlign = draw.XCenter, draw.YBottom
		}
		ratios.Offset.Y = 3
		p.Add(ratios)
	}
	p.X.Min, p.X.Max, p.X.Tick.Marker = 0.4, float64(r.K)+0.6, counting{}
	p.Y.Min, p.Y.Max, p.Y.Padding, p.Y.Tick.Marker = 0, 1.1*top, 0, even{}
	return []Plot{{Name: "scree", plot: p, says: strings.TrimSuffix(says, "; "), width: plotWidth, height: plotHeight}}, nil
}

// screeCaveat returns a title's second line where the variances are not what they seem.
func screeCaveat(r *result.Result, of *worth.Report) string {
	apart := 0
	for _, c := range of.Components {
		if c.Separated {
			apart++
		}
	}
	switch {
	case of.Uncalibrated != "":
		return "\nof clipped rows; what the result is worth is not known"
	case of.Alarm != nil && *of.Alarm:
		return "\nof clipped rows; large rows look different from small ones"
	case of.Share == nil:
		return "\nnothing stands out from the noise"
	case apart == 0:
		return "\nno component is separated from all others"
	case apart < r.K:
		return fmt.Sprintf("\nseparated from all others: %d of %d components", apart, r.K)
	}
	return ""
}

// standsOut reports whether some component can be told apart from all others.
func standsOut(of *worth.Report) bool {
	return slices.ContainsFunc(of.Components, func(c worth.Component) bool { return c.Separated })
}

// hollow draws bars as outlines alone.
func hollow(b *plotter.BarChart) {
	b.LineStyle = draw.LineStyle{Color: b.Color, Width: 0.8, Dashes: []vg.Length{3, 2}}
	b.Color = color.White
}

type errorPoints struct {
	plotter.XYs
	plotter.YErrors
}

// grid returns horizontal lines, drawn behind everything.
func grid() plot.Plotter {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal = draw.LineStyle{Color: pale, Width: 0.5}
	return g
}
