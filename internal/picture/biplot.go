package picture

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"covey/internal/result"
	"covey/internal/study"
)

// Drawings returns everything that is drawn of a result's histograms: of each picture a biplot, of
// all groups together, and its groups side by side where it has several; and the histograms of all
// components. There are none where a study bought no pictures, or where explained variance is not
// known: bins are then of no known width in standard deviations. It returns an [*Error] for
// histograms that no study released.
func Drawings(r *result.Result) ([]Drawing, error) {
	if r.VarianceUnknown() {
		return nil, nil
	}
	var out []Drawing
	for _, p := range r.Pictures {
		d, err := biplot(r, p)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
		if len(p.Counts) > 1 {
			if d, err = groups(r, p); err != nil {
				return nil, err
			}
			out = append(out, d)
		}
	}
	if len(r.Scores) > 0 {
		d, err := histograms(r)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// together returns the picture of all groups as one: their counts added up, with the noise of each.
func together(p result.Picture) result.Picture {
	if len(p.Counts) < 2 {
		return p
	}
	sum := make([]float64, bins*bins)
	for _, counts := range p.Counts {
		for i := range min(len(sum), len(counts)) {
			sum[i] += counts[i]
		}
	}
	p.By, p.Column, p.Groups = "", "", nil
	p.Sigma *= math.Sqrt(float64(len(p.Counts)))
	p.Counts = [][]float64{sum}
	return p
}

// mostArrows is how many columns' arrows are drawn: the longest.
const mostArrows = 10

const (
	panelLeft, panelTop, panelSide = 52.0, 34.0, 340.0
	drawingWidth                   = 480.0
)

// biplot draws the density of two components' scores and, as arrows, the loadings of the columns
// times the components' standard deviations (Gabriel 1971: with scores in standard deviations these
// are the markers whose products with scores approximate the columns).
func biplot(r *result.Result, p result.Picture) (Drawing, error) {
	for _, counts := range p.Counts {
		if err := check(counts, bins*bins, p.Sigma); err != nil {
			return Drawing{}, err
		}
	}
	whole := together(p)
	density, err := New(whole)
	if err != nil {
		return Drawing{}, err
	}
	for _, c := range p.Pair {
		if c < 1 || c > len(r.Components) || c > len(r.ExplainedVariance) {
			return Drawing{}, fault("a picture of component %d of %d", c, len(r.Components))
		}
	}
	d := Drawing{
		Name: fmt.Sprintf("biplot-%d-%d", p.Pair[0], p.Pair[1]), Width: drawingWidth, Height: panelTop + panelSide + 46,
		Title: fmt.Sprintf("%s: components %d and %d", heading(r), p.Pair[0], p.Pair[1]),
	}
	d.text(panelLeft, 20, titleSize, -1, d.Title)
	tiles(&d, density.Shown[0], panelLeft, panelTop, panelSide, 0)
	d.frame(panelLeft, panelTop, panelSide, 1)
	d.text(panelLeft+panelSide/2, panelTop+panelSide+34, labelSize, 0, axis(r, p.Pair[0], p.X))
	d.text(16, panelTop+panelSide/2, labelSize, 0, axis(r, p.Pair[1], p.Y)).Up = true
	d.scale(slices.Max(density.Shown[0]))
	drawn := d.arrows(r, p.Pair)

	d.Words = []string{shows(r, density.Total[0], whole.Sigma)}
	d.Words = append(d.Words, hides(density.Hidden[0], density.Peaks[0], whole.Sigma))
	arrows := "Arrows are the columns' loadings times the components' standard deviations, all at one scale"
	switch {
	case drawn == 0:
		arrows = "There are no arrows, since both components' released variances are 0"
	case drawn < r.D:
		arrows += fmt.Sprintf("; the %d longest of %d", drawn, r.D)
	}
	d.Words = append(d.Words, arrows+".")
	d.noise(map[int]bool{p.Pair[0]: noisy(r, p.Pair[0], p.X), p.Pair[1]: noisy(r, p.Pair[1], p.Y)})
	return d, nil
}

// heading is the study's name, and of a simulated one says so.
func heading(r *result.Result) string {
	name := Short(r.Name, 40)
	if r.Simulated {
		return "SIMULATED, " + name
	}
	return name
}

// shows says what the picture is of.
func shows(r *result.Result, total, sigma float64) string {
	return fmt.Sprintf("Density of %s units' scores (%s by the roster), noised: ± %.3g units a bin (one standard deviation). Outermost bins also hold what lies beyond.", approx(total), thousands(r.N), sigma)
}

// hides says what noise hides. A peak in an outermost bin may come only from what lies beyond it,
// and is counted separately.
func hides(hidden float64, peaks []int, sigma float64) string {
	if len(peaks) == 0 {
		return fmt.Sprintf("Nothing stands out from the noise: a lone bin needs %.0f units to be drawn.", drawnBin(sigma))
	}
	inner := 0
	for _, p := range peaks {
		if x, y := p/bins, p%bins; min(x, y) > 0 && max(x, y) < bins-1 {
			inner++
		}
	}
	many := "One peak stands"
	if inner != 1 {
		many = fmt.Sprintf("%d separate peaks stand", inner)
	}
	many += " out from the noise"
	if outer := len(peaks) - inner; outer > 0 {
		many += fmt.Sprintf(", and %d in outermost bins, where units beyond them add up", outer)
	}
	return fmt.Sprintf("%s (at most one picture in 100 shows one that is not there). Noise hides %.1f%% of the units; a lone bin needs %.0f units.", many, 100*hidden, drawnBin(sigma))
}

// drawnBin is how many units a lone bin needs so that a coefficient of it is drawn. Each of its two
// finest levels halves it.
func drawnBin(sigma float64) float64 { return 2 * threshold * sigma }

// step is the length of 1 on an axis.
func step(edges []float64) float64 {
	return (edges[len(edges)-1] - edges[0]) / (2 * study.PictureReach)
}

// noisy reports whether 1 on a component's axis is no standard deviation, since its variance does
// not stand out from the noise, which made the bins wider.
func noisy(r *result.Result, component int, edges []float64) bool {
	if len(edges) == 0 || component < 1 || component > len(r.ExplainedVariance) {
		return false
	}
	return step(edges) > 1.001*math.Sqrt(max(0, r.ExplainedVariance[component-1]))
}

// unit says what 1 on a component's axis is.
func unit(r *result.Result, component int, edges []float64) string {
	if noisy(r, component, edges) {
		return fmt.Sprintf("steps of %.2g", step(edges))
	}
	return "standard deviations"
}

// noise says of which components axes are of steps that the noise sets.
func (d *Drawing) noise(components map[int]bool) {
	var names []string
	for _, c := range slices.Sorted(maps.Keys(components)) {
		if components[c] {
			names = append(names, strconv.Itoa(c))
		}
	}
	if len(names) > 0 {
		of := "component " + names[0]
		if len(names) > 1 {
			of = "components " + strings.Join(names, ", ")
		}
		d.Words = append(d.Words, fmt.Sprintf("The released variance of %s does not stand out from the noise: 1 on such an axis is a step that the noise sets, not a standard deviation.", of))
	}
}

// axis names a component's axis.
func axis(r *result.Result, component int, edges []float64) string {
	s := fmt.Sprintf("component %d, in %s", component, unit(r, component, edges))
	if component <= len(r.VarianceRatio) {
		s += " (" + r.ShareText(component-1) + " of the variance)"
	}
	return s
}

// opacity of v units where most is the most in a bin: the root, so that thin parts are seen.
func opacity(v, most float64) float64 { return 0.92 * math.Sqrt(v/most) }

// tiles draws the bins of a density in a square.
func tiles(d *Drawing, shown []float64, left, top, side float64, h Hue) {
	most := slices.Max(shown)
	step := side / bins
	for i, v := range shown {
		if v > most/2000 { // thinner than can be seen
			d.rect(left+step*float64(i/bins), top+side-step*float64(i%bins+1), step, step, h, opacity(v, most))
		}
	}
}

// frame draws the axes of a square of four standard deviations to each side, with the numbers at
// every second where numbers are wanted.
func (d *Drawing) frame(left, top, side float64, every int) {
	at := func(v int) float64 { return side * float64(v+study.PictureReach) / (2 * study.PictureReach) }
	right, bottom := left+side, top+side
	for _, v := range []int{-2, 0, 2} {
		opacity := 0.12
		if v == 0 {
			opacity = 0.3
		}
		d.line(ink, 0.6, opacity, [2]float64{left + at(v), top}, [2]float64{left + at(v), bottom})
		d.line(ink, 0.6, opacity, [2]float64{left, bottom - at(v)}, [2]float64{right, bottom - at(v)})
	}
	d.line(ink, 0.8, 0.6, [2]float64{left, top}, [2]float64{left, bottom}, [2]float64{right, bottom}, [2]float64{right, top}, [2]float64{left, top})
	for v := -study.PictureReach; v <= study.PictureReach; v += 2 * every {
		s := minus(v)
		d.line(ink, 0.8, 0.6, [2]float64{left + at(v), bottom}, [2]float64{left + at(v), bottom + 3})
		d.line(ink, 0.8, 0.6, [2]float64{left - 3, bottom - at(v)}, [2]float64{left, bottom - at(v)})
		d.text(left+at(v), bottom+14, tickSize, 0, s)
		d.text(left-6, bottom-at(v)+3, tickSize, 1, s)
	}
}

// scale draws what the colors stand for.
func (d *Drawing) scale(most float64) {
	if most <= 0 {
		return
	}
	left, top := panelLeft+panelSide+16, panelTop+14
	d.text(left, panelTop+4, tickSize, -1, "units a bin")
	for i, part := range []float64{1, 0.5, 0.25, 0.1, 0.03} {
		y := top + 17*float64(i)
		d.rect(left, y, 18, 13, 0, opacity(part, 1))
		d.text(left+23, y+10, tickSize, -1, approx(part*most))
	}
}

// arrows draws the longest columns' arrows with their names and returns how many. Their names are
// moved apart.
func (d *Drawing) arrows(r *result.Result, pair [2]int) int {
	type arrow struct {
		name           string
		x, y, length   float64
		labelX, labelY float64
	}
	var all []arrow
	for j, name := range Names(r.Columns, 22) {
		a := arrow{name: name}
		for i, to := range []*float64{&a.x, &a.y} {
			c := pair[i] - 1
			*to = r.Components[c][j] * math.Sqrt(max(0, r.ExplainedVariance[c]))
		}
		if a.length = math.Hypot(a.x, a.y); a.length > 0 && !math.IsInf(a.length, 0) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b arrow) int { return cmp.Compare(b.length, a.length) })
	if len(all) > mostArrows {
		all = all[:mostArrows]
	}
	if len(all) == 0 {
		return 0
	}
	const reach = 0.36 * panelSide
	center := [2]float64{panelLeft + panelSide/2, panelTop + panelSide/2}
	unit := reach / all[0].length
	for i := range all {
		a := &all[i]
		x, y := center[0]+unit*a.x, center[1]-unit*a.y
		d.line(arrowHue, 1.4, 1, center, [2]float64{x, y})
		// The head is a triangle of 6 points, shorter on a short arrow.
		head := min(6, unit*a.length)
		cx, cy := a.x/a.length, -a.y/a.length
		d.Shapes = append(d.Shapes, Shape{Hue: arrowHue, Opacity: 1, Points: [][2]float64{
			{x + cx*2, y + cy*2}, {x - cx*head - cy*head/2, y - cy*head + cx*head/2}, {x - cx*head + cy*head/2, y - cy*head - cx*head/2},
		}})
		a.labelX, a.labelY = x+7*cx, y+8*cy+3
		// A name that would leave the square goes above an arrow that points up, below one that
		// points down: behind its tip it would cover the axis, or be cut off.
		if inside := within(a.labelX, a.x < 0, a.name); inside != a.labelX {
			a.labelX, a.labelY = inside, y-6
			if cy > 0 {
				a.labelY = y + 13
			}
		}
	}
	// From top to bottom on each side, a name at least a line under the last.
	slices.SortStableFunc(all, func(a, b arrow) int { return cmp.Compare(a.labelY, b.labelY) })
	var last [2]float64
	for _, a := range all {
		side, anchor := 0, -1
		if a.x < 0 {
			side, anchor = 1, 1
		}
		y := max(a.labelY, last[side]+11)
		last[side] = y
		d.text(a.labelX, y, tickSize, anchor, a.name).Bold = true
	}
	return len(all)
}

// within returns where an arrow's name, which ends there if the arrow points to the left and else
// begins there, has room in the square.
func within(x float64, left bool, name string) float64 {
	const margin = 4
	wide := 0.0 // as bold letters are at the most, on average
	for _, r := range name {
		wide += 0.62 * tickSize
		if r >= '\u1100' {
			wide += 0.38 * tickSize
		}
	}
	if left {
		return max(x, panelLeft+margin+wide)
	}
	return min(x, panelLeft+panelSide-margin-wide)
}

// minus writes a number with a true minus sign.
func minus(v int) string { return strings.Replace(strconv.Itoa(v), "-", "−", 1) }

// Names cuts names of columns or of groups to n letters. One that is then like another, or whose
// letters a bitmap lacks, has its number before it: an arrow, a bar or a square without a name says
// nothing.
func Names(columns []string, n int) []string {
	out, same := make([]string, len(columns)), map[string]int{}
	for j, name := range columns {
		out[j] = Short(name, n)
		same[out[j]]++
	}
	lacks := func(r rune) bool {
		return !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common, unicode.Inherited)
	}
	for j, name := range columns {
		if same[Short(name, n)] > 1 || strings.ContainsFunc(name, lacks) {
			out[j] = Short(fmt.Sprintf("%d: %s", j+1, name), n)
		}
	}
	return out
}

// Short cuts a text to n letters.
func Short(s string, n int) string {
	letters := []rune(s)
	if len(letters) <= n {
		return s
	}
	return strings.TrimRight(string(letters[:n-1]), " ") + "…"
}

// approx writes a noised number of units to three digits, of small ones the nearest.
func approx(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return thousands(int(math.Round(v/unit) * unit))
}

// thousands writes a number of units with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
