package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"covey/internal/result"
)

// scree draws each component's explained variance with its interval.
func scree(r *result.Result) ([]Plot, error) {
	if len(r.ExplainedVariance) == 0 {
		return nil, nil
	}
	x := "component"
	if r.TotalInterval != nil && r.TotalVariance > 0 {
		x = fmt.Sprintf("component (total variance %.4g, 95%% interval %.4g to %.4g)", r.TotalVariance, r.TotalInterval[0], r.TotalInterval[1])
	}
	p := newPlot(r, "explained variance", x, "variance, with the noise's 95% interval")
	var points errorPoints
	top := 0.0
	for i, v := range r.ExplainedVariance {
		low, high := r.VarianceInterval[i][0], r.VarianceInterval[i][1]
		points.XYs = append(points.XYs, plotter.XY{X: float64(i + 1), Y: v})
		points.YErrors = append(points.YErrors, struct{ Low, High float64 }{max(0, v-low), max(0, high-v)})
		top = max(top, v, high)
	}
	if !(top > 0) || top > math.MaxFloat64/4 {
		top = 1
	}
	bars, err := plotter.NewBarChart(plotter.Values(r.ExplainedVariance), min(36, vg.Length(270/float64(r.K))))
	if err != nil {
		return nil, fault("explained_variance_", "%v", err)
	}
	bars.XMin, bars.Color, bars.LineStyle.Width = 1, palette[5], 0
	whiskers, err := plotter.NewYErrorBars(points)
	if err != nil {
		return nil, fault("explained_variance_interval_", "%v", err)
	}
	whiskers.LineStyle = draw.LineStyle{Color: ink, Width: 1}
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
	return []Plot{{Name: "scree", plot: p, width: plotWidth, height: plotHeight}}, nil
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
