package picture

import (
	"fmt"
	"math"
	"slices"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// mostPanels is how many groups are drawn; the data have all.
const mostPanels = 12

// groups draws each group's density in a square of its own, with its own scale.
func groups(r *result.Result, p result.Picture) (Drawing, error) {
	density, err := New(p)
	if err != nil {
		return Drawing{}, err
	}
	const side, gap, left, top = 122.0, 28.0, 46.0, 54.0
	shown := min(mostPanels, len(p.Counts))
	columns := min(3, shown)
	rows := (shown + columns - 1) / columns
	of := "by site"
	if p.By == proposal.PictureByColumn {
		of = "by " + Short(p.Column, 30)
	}
	d := Drawing{
		Name: fmt.Sprintf("groups-%d-%d", p.Pair[0], p.Pair[1]), Title: fmt.Sprintf("%s: components %d and %d, %s", heading(r), p.Pair[0], p.Pair[1], of),
		Width: max(drawingWidth, left+float64(columns)*(side+gap)), Height: top + float64(rows)*(side+44),
	}
	d.text(14, 20, titleSize, -1, d.Title)
	names := Names(p.Groups, 18)
	for g := range shown {
		x, y := left+float64(g%columns)*(side+gap), top+float64(g/columns)*(side+44)
		name := ""
		if g < len(names) {
			name = names[g]
		}
		d.text(x, y-5, labelSize, -1, fmt.Sprintf("%s: %s units", name, approx(density.Total[g])))
		if slices.Max(density.Shown[g]) > 0 {
			tiles(&d, density.Shown[g], x, y, side, Hue(g%len(hues)))
		} else {
			d.text(x+side/2, y+side/2+14, tickSize, 0, "hidden by the noise")
		}
		d.frame(x, y, side, 2)
	}
	axes := fmt.Sprintf("across: component %d, in %s, up: component %d, in %s; scales differ", p.Pair[0], unit(r, p.Pair[0], p.X), p.Pair[1], unit(r, p.Pair[1], p.Y))
	d.text(left, d.Height-8, tickSize, -1, axes)
	low, high := 1.0, 0.0
	for _, h := range density.Hidden[:shown] {
		low, high = min(low, h), max(high, h)
	}
	d.Words = []string{fmt.Sprintf("Noised: ± %.3g units a bin, in each group; numbers of units ± %s (95%%). Noise hides %.0f%% to %.0f%% of a group; a lone bin needs %.0f units.", p.Sigma, approx(1.96*p.Sigma*bins), 100*low, 100*high, drawnBin(p.Sigma))}
	if shown < len(p.Counts) {
		d.Words = append(d.Words, fmt.Sprintf("The first %d of %d groups; the data hold all.", shown, len(p.Counts)))
	}
	if p.By == proposal.PictureBySite {
		d.Words = append(d.Words, "Each square shows an institution. The blocks are not authenticated: a corrupt site can add to another's. Privacy protects units, not sites.")
	}
	d.noise(map[int]bool{p.Pair[0]: noisy(r, p.Pair[0], p.X), p.Pair[1]: noisy(r, p.Pair[1], p.Y)})
	return d, nil
}

// stated are the quantiles of |score| that are said of each component.
var stated = []float64{0.5, 0.95, 0.99}

// histograms draws each component's scores, with the quantiles of their distance from the center.
func histograms(r *result.Result) (Drawing, error) {
	const width, height, gap, left, top = 186.0, 84.0, 46.0, 46.0, 54.0
	columns := min(2, len(r.Scores))
	shown := min(mostPanels, len(r.Scores))
	rows := (shown + columns - 1) / columns
	d := Drawing{
		Name: "scores", Title: heading(r) + ": scores on each component",
		Width: drawingWidth, Height: top + float64(rows)*(height+56) - 14,
	}
	d.text(14, 20, titleSize, -1, d.Title)
	hidden := map[int]bool{}
	for i, h := range r.Scores[:shown] {
		if err := check(h.Counts, study.ScoreBins, h.Sigma); err != nil {
			return Drawing{}, err
		}
		x, y := left+float64(i%columns)*(width+gap), top+float64(i/columns)*(height+56)
		most := max(slices.Max(h.Counts), 4*h.Sigma)
		step := width / study.ScoreBins
		noise := height * min(1, 2*h.Sigma/most)
		for j, c := range h.Counts {
			// Up to two deviations of noise a bar is pale.
			tall := height * max(0, c) / most
			if sure := tall - noise; sure > 0 {
				d.rect(x+step*float64(j), y+height-tall, step-0.6, sure, 0, 0.95)
			}
			if tall > 0 {
				d.rect(x+step*float64(j), y+height-min(tall, noise), step-0.6, min(tall, noise), 0, 0.35)
			}
		}
		d.line(ink, 0.8, 0.6, [2]float64{x, y + height}, [2]float64{x + width, y + height})
		for v := -study.PictureReach; v <= study.PictureReach; v += 2 {
			at := x + width*float64(v+study.PictureReach)/(2*study.PictureReach)
			d.line(ink, 0.8, 0.6, [2]float64{at, y + height}, [2]float64{at, y + height + 3})
			d.text(at, y+height+13, tickSize, 0, minus(v))
		}
		d.text(x-5, y+7, tickSize, 1, approx(most))
		d.text(x-5, y+height, tickSize, 1, "0")
		name := fmt.Sprintf("component %d", h.Component)
		if hidden[h.Component] = noisy(r, h.Component, h.Edges); hidden[h.Component] {
			name += ", in " + unit(r, h.Component, h.Edges)
		}
		d.text(x, y-6, labelSize, -1, name)
		said := ""
		for _, q := range stated {
			v, ok, err := QuantileOf(h, q)
			if err != nil {
				return Drawing{}, err
			}
			if said != "" {
				said += ", "
			}
			if ok {
				said += fmt.Sprintf("%.0f%% %.3g–%.3g", 100*q, v.Low, v.High)
			} else {
				said += fmt.Sprintf("%.0f%% hidden", 100*q)
			}
		}
		d.text(x, y+height+26, wordSize-1, -1, "within: "+said)
	}
	total, sigma := 0.0, 0.0
	for _, c := range r.Scores[0].Counts {
		total += c
	}
	for _, h := range r.Scores {
		sigma = math.Max(sigma, h.Sigma)
	}
	d.Words = []string{
		fmt.Sprintf("Noised: ± %.3g units a bar, pale up to two of these; %s units (%s by the roster). Across: standard deviations from the center; outermost bars also hold what lies beyond.", sigma, approx(max(0, total)), thousands(r.N)),
		"Within: the distance from the center that holds that part of the units, as 95% intervals that cover the noise of the counts alone; hidden where noise hides it.",
	}
	d.noise(hidden)
	if shown < len(r.Scores) {
		d.Words = append(d.Words, fmt.Sprintf("The first %d of %d components; the data hold all.", shown, len(r.Scores)))
	}
	return d, nil
}
