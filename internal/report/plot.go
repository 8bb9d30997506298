package report

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"covey/internal/picture"
	"covey/internal/result"
	"covey/internal/worth"
)

// Plot is one drawing. Name is a file name without its end: scree, loadings-1,
// convergence, noise,
// biplot-1-2, groups-1-2 or scores.
type Plot struct {
	Name string

	plot          *plot.Plot       // or
	drawing       *picture.Drawing // of a histogram
	says          string           // what plot shows, for readers who do not see it
	width, height vg.Length
}

// Plots draws what there is to draw: a scree plot where explained variance was bought,
// the loadings of each component, for power steps the convergence over rounds and
// the noise-to-signal, and the pictures of scores where they were bought.
func Plots(r *result.Result, of ...*worth.Report) ([]Plot, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	if len(of) > 0 {
		r = of[0].Shown(r)
	}
	var out []Plot
	heights := func(r *result.Result) ([]Plot, error) { return scree(r, of) }
	bars := func(r *result.Result) ([]Plot, error) { return loadings(r, of) }
	scores := func(r *result.Result) ([]Plot, error) { return pictures(r, of) }
	for _, draw := range []func(*result.Result) ([]Plot, error){heights, bars, convergence, noiseToSignal, scores} {
		plots, err := draw(r)
		if err != nil {
			return nil, err
		}
		out = append(out, plots...)
	}
	return out, nil
}

// WriteSVG writes the drawing with its texts as texts.
func (p Plot) WriteSVG(w io.Writer) error {
	if p.drawing != nil {
		return p.drawing.WriteSVG(w, true)
	}
	c := vgsvg.NewWith(vgsvg.UseWH(p.width, p.height))
	p.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// A reader without the font takes one of the same widths, not its serif default.
	text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	text = bytes.Replace(text, []byte("<svg "), []byte(`<svg role="img" `), 1)
	_, err := w.Write(bytes.Replace(text, []byte("<g "), append(p.label(), "<g "...), 1))
	return err
}

// label returns the drawing's title and description, which a screen reader reads in its place.
func (p Plot) label() []byte {
	var b bytes.Buffer
	for _, part := range [][2]string{{"title", strings.ReplaceAll(p.plot.Title.Text, "\n", ", ")}, {"desc", p.says}} {
		b.WriteString("<" + part[0] + ">")
		xml.EscapeText(&b, []byte(part[1])) // a buffer takes everything
		b.WriteString("</" + part[0] + ">\n")
	}
	return b.Bytes()
}

func (p Plot) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	if p.drawing != nil {
		paint(c, p.drawing)
		return
	}
	p.plot.Draw(draw.Crop(c, margin, -margin, margin, -margin))
}

// dotsPerInch of the bitmaps: sharp at twice the usual size on a screen.
const dotsPerInch = 192

// WritePNG writes the drawing as a bitmap of 192 dots to the inch.
func (p Plot) WritePNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dotsPerInch))
	p.draw(draw.New(bitmap{c}))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// bitmap draws a box for each character that its font lacks, such as Chinese or Arabic, where
// nothing would be drawn: two names could look the same, or a bar have none.
type bitmap struct{ *vgimg.Canvas }

func (b bitmap) FillString(f font.Face, at vg.Point, text string) {
	b.Canvas.FillString(f, at, boxed(f, text))
}

func boxed(f font.Face, text string) string {
	return strings.Map(func(r rune) rune {
		if i, err := f.Face.GlyphIndex(nil, r); err != nil || i == 0 {
			return '□'
		}
		return r
	}, text)
}

// The colors that Okabe and Ito chose to be told apart by everybody.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff}, color.RGBA{0x55, 0x55, 0x55, 0xff}, color.RGBA{0x99, 0x33, 0x33, 0xff},
}

var (
	ink = color.RGBA{0x33, 0x33, 0x33, 0xff}
	// dark is for whiskers: on the palette's blue, ink has less than the contrast of 3 to 1 that
	// shapes need.
	dark = color.RGBA{0x00, 0x00, 0x00, 0xff}
	pale = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
)

const (
	plotWidth  = 6 * vg.Inch
	plotHeight = 4 * vg.Inch
	margin     = 14 // points, around the drawing
)

// newPlot makes an empty drawing in this package's style.
func newPlot(r *result.Result, title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = picture.Short(r.Name, 40) + ": " + title
	if r.Simulated {
		p.Title.Text = "SIMULATED, " + p.Title.Text
	}
	p.Title.Padding = 10
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.Title.TextStyle.Font.Variant, p.Title.TextStyle.Font.Size = "Sans", 12
	p.Title.TextStyle.Color = ink
	p.Legend.TextStyle.Font.Variant, p.Legend.TextStyle.Font.Size = "Sans", 9
	p.Legend.TextStyle.Color = ink
	p.Legend.Top, p.Legend.Padding, p.Legend.ThumbnailWidth = true, 2, 16
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Variant, a.Label.TextStyle.Font.Size = "Sans", 10
		a.Tick.Label.Font.Variant, a.Tick.Label.Font.Size = "Sans", 9
		a.Label.TextStyle.Color, a.Tick.Label.Color = ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
		a.Label.Padding = 5
		a.Tick.Length = 4
	}
	return p
}

// even ticks about six round numbers.
type even struct{}

func (even) Ticks(low, high float64) []plot.Tick {
	width := high - low
	if !(width > 0) || math.IsInf(width, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(width/5)))
	if !(step > 0) {
		return nil
	}
	for i := 0; width/step > 6.5; i++ {
		step *= []float64{2, 2.5, 2}[i%3]
	}
	var out []plot.Tick
	for i := math.Ceil(low / step); i <= high/step && len(out) < 10; i++ {
		out = append(out, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 4, 64)})
	}
	return out
}

// counting ticks whole numbers, at most about ten of them.
type counting struct{}

func (counting) Ticks(low, high float64) []plot.Tick {
	step := 1.0
	for i := 0; (high-low)/step > 10; i++ {
		step *= []float64{2, 2.5, 2}[i%3]
	}
	var out []plot.Tick
	for v := math.Ceil(low/step) * step; v <= high; v += step {
		out = append(out, plot.Tick{Value: v, Label: strconv.Itoa(int(v))})
	}
	return out
}
