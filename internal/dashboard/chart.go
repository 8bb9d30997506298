package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/result"
)

// chart is a small drawing: the template gives it the page's colors, light or dark. Its
// numbers are in the tables too, for those who do not see it.
type chart struct {
	ID, Title, About string
	Width, Height    float64
	XTicks, YTicks   []tick
	XLabel           string
	Lines            []line
	Bars             []bar
}

type tick struct {
	At    float64
	Label string
}

type line struct {
	Points string // x,y pairs
	Dots   []dot
	Class  string
}

type dot struct {
	X, Y  float64
	Title string
}

type bar struct {
	X, Y, Width, Height float64
	Low, High, Middle   float64 // of the interval
	Label, Title        string
	Hollow              bool // it is no answer
}

// The drawing's frame, in its own units: one is about a pixel in a card of 400.
const (
	chartWidth, chartHeight         = 400.0, 220.0
	frameLeft, frameRight           = 44.0, 390.0
	frameTop, frameBottom           = 14.0, 182.0
	mostLines                       = 6
	leastNoise, mostNoise   float64 = 1e-4, 1e1
)

func newChart(id, title, about string) chart {
	return chart{ID: id, Title: title, About: about, Width: chartWidth, Height: chartHeight}
}

// charts draws the power steps so far: how far each turned its block, and its noise.
func charts(s outline.Story) []chart {
	if s.Method == proposal.MethodCovariance {
		return nil
	}
	var turns, noises [][]point
	beyond := false
	for _, r := range s.Rounds {
		if r.NoiseToSignal < 0 {
			continue
		}
		for len(noises) <= r.Run {
			turns, noises = append(turns, nil), append(noises, nil)
		}
		at := float64(r.Round + 1)
		beyond = beyond || r.NoiseToSignal > mostNoise
		noises[r.Run] = append(noises[r.Run], point{at, math.Log10(max(leastNoise, min(mostNoise, r.NoiseToSignal))), short3(r.NoiseToSignal)})
		if r.Turn >= 0 {
			turns[r.Run] = append(turns[r.Run], point{at, r.Turn, fmt.Sprintf("%.1f°", r.Turn)})
		}
	}
	if len(noises) == 0 {
		return nil
	}
	last := float64(max(2, s.Plan.Rounds))
	turn := newChart("turn", "Convergence", "How far each round turned the direction, in degrees. It falls as the power iteration converges, and also where it only moves slowly.")
	turn.axes(1, last, 0, 90, map[float64]string{0: "0°", 30: "30°", 60: "60°", 90: "90°"})
	turn.draw(turns, 1, last, 0, 90)
	low, high := -1.5, 0.5
	for _, run := range noises {
		for _, p := range run {
			low, high = min(low, p.y-0.1), max(high, p.y+0.1)
		}
	}
	about := "The noise of each step over its signal. A small value does not mean that the iteration has finished."
	if beyond {
		about += fmt.Sprintf(" Values above %g are drawn at %g.", mostNoise, mostNoise)
	}
	noise := newChart("noise", "Noise to signal", about)
	decades := map[float64]string{}
	for e := math.Ceil(low); e <= high; e++ {
		decades[e] = strconv.FormatFloat(math.Pow(10, e), 'g', 3, 64)
	}
	noise.axes(1, last, low, high, decades)
	noise.draw(noises, 1, last, low, high)
	return []chart{turn, noise}
}

type point struct {
	x, y float64
	text string
}

func scale(v, low, high, from, to float64) float64 {
	return math.Round(10*(from+(v-low)/(high-low)*(to-from))) / 10
}

// axes of a chart over rounds.
func (c *chart) axes(left, right, low, high float64, labels map[float64]string) {
	step := 1.0
	for i := 0; (right-left)/step > 9; i++ {
		step *= []float64{2, 2.5, 2}[i%3]
	}
	for v := left; v <= right; v++ {
		if v == left || math.Mod(v, step) == 0 {
			c.XTicks = append(c.XTicks, tick{scale(v, left, right, frameLeft+8, frameRight-8), strconv.Itoa(int(v))})
		}
	}
	for v, text := range labels {
		c.YTicks = append(c.YTicks, tick{scale(v, low, high, frameBottom, frameTop), text})
	}
	c.sortTicks()
	c.XLabel = "round"
}

// draw adds a line for each run, as many as can be told apart.
func (c *chart) draw(runs [][]point, left, right, low, high float64) {
	for i, run := range runs {
		if i == mostLines {
			break
		}
		l := line{Class: "s" + strconv.Itoa(i+1)}
		var points []string
		for _, p := range run {
			x, y := scale(p.x, left, right, frameLeft+8, frameRight-8), scale(p.y, low, high, frameBottom, frameTop)
			title := fmt.Sprintf("round %d: %s", int(p.x), p.text)
			if len(runs) > 1 {
				title = fmt.Sprintf("component %d, ", i+1) + title
			}
			points, l.Dots = append(points, fmt.Sprintf("%g,%g", x, y)), append(l.Dots, dot{x, y, title})
		}
		l.Points = strings.Join(points, " ")
		c.Lines = append(c.Lines, l)
	}
}

// scree draws each component's explained variance with its interval; nil where it was not bought.
func scree(r *result.Result) *chart {
	n := min(len(r.ExplainedVariance), mostExplained)
	if n == 0 {
		return nil
	}
	top := 0.0
	for i, v := range r.ExplainedVariance[:n] {
		top = max(top, v, r.VarianceInterval[i][1])
	}
	if !(top > 0) || math.IsInf(top, 0) {
		return nil
	}
	about := "The variance of each component"
	if all := len(r.ExplainedVariance); n < all {
		about = fmt.Sprintf("The file has the variances of all %d components. Here are those of the first %d", all, n)
	}
	about += ", with the noise's 95% interval (for a component picked before looking)"
	labeled := n <= 8 && len(r.VarianceRatio) > 0
	if labeled {
		about += " and, above it, its share of the total"
	}
	c := newChart("scree", "Explained variance", about+".")
	step := math.Pow(10, math.Floor(math.Log10(top)))
	for i := 0; top/step < 3; i++ {
		step /= []float64{2, 2.5, 2}[i%3]
	}
	high := top * 1.15
	for v := 0.0; v <= high; v += step {
		c.YTicks = append(c.YTicks, tick{scale(v, 0, high, frameBottom, frameTop), strconv.FormatFloat(v, 'g', 3, 64)})
	}
	slot := (frameRight - frameLeft) / float64(n)
	for i, v := range r.ExplainedVariance[:n] {
		y := scale(v, 0, high, frameBottom, frameTop)
		b := bar{Width: min(60, slot*0.6), Y: y, Height: frameBottom - y}
		b.Middle = math.Round(10*(frameLeft+slot*(float64(i)+0.5))) / 10
		b.X = b.Middle - b.Width/2
		b.Low, b.High = scale(r.VarianceInterval[i][0], 0, high, frameBottom, frameTop), scale(r.VarianceInterval[i][1], 0, high, frameBottom, frameTop)
		b.Title = fmt.Sprintf("component %d: %s (%s to %s)", i+1, number(v), number(r.VarianceInterval[i][0]), number(r.VarianceInterval[i][1]))
		if labeled && i < len(r.VarianceRatio) {
			b.Label = r.ShareText(i)
		}
		c.Bars = append(c.Bars, b)
		c.XTicks = append(c.XTicks, tick{b.Middle, strconv.Itoa(i + 1)})
	}
	c.XLabel = "component"
	return &c
}

// sortTicks keeps what is rendered the same from one time to the next: streams compare it.
func (c *chart) sortTicks() {
	slices.SortFunc(c.YTicks, func(a, b tick) int { return cmp.Compare(b.At, a.At) })
}
