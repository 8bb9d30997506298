package run

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Curve is a measured number over x, one Sample at each.
type Curve struct {
	Name string
	X    []float64
	Y    []Sample
}

// Panel is one set of axes: curves with their medians and 10/90 bands.
type Panel struct {
	Title, X, Y string
	LogX, LogY  bool
	Curves      []Curve
}

// Figure is panels side by side.
type Figure []Panel

// The colours that Okabe and Ito chose to be told apart by everybody.
var colours = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0x55, 0x55, 0x55, 0xff}, {0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff},
}

const (
	panelWidth  = 9 * vg.Centimeter
	panelHeight = 7.5 * vg.Centimeter
)

// smallest is what a logarithmic axis shows of anything smaller.
const smallest = 1e-4

// WriteSVG writes the figure with its texts as texts.
func (f Figure) WriteSVG(path string) error {
	width := panelWidth * vg.Length(len(f))
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, panelHeight))
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	for i, panel := range f {
		p, err := panel.plot()
		if err != nil {
			return err
		}
		left := panelWidth * vg.Length(i)
		p.Draw(draw.Crop(c, left+4, left+panelWidth-width-4, 4, -4))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// A reader without the font takes one of the same widths, not its serif default.
	return os.WriteFile(path, bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), 0o644)
}

func (f Panel) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.Legend.Top = true
	p.Legend.TextStyle.Font.Size = 8
	p.BackgroundColor = color.White
	if f.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if f.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	for i, c := range f.Curves {
		var line, upper, lower plotter.XYs
		for j, x := range c.X {
			at := func(q float64) plotter.XY {
				y := c.Y[j].Quantile(q)
				if f.LogY {
					y = math.Max(y, smallest)
				}
				return plotter.XY{X: x, Y: y}
			}
			line, upper = append(line, at(0.5)), append(upper, at(0.9))
			lower = append(plotter.XYs{at(0.1)}, lower...)
		}
		colour := colours[i%len(colours)]
		band, err := plotter.NewPolygon(append(upper, lower...))
		if err != nil {
			return nil, err
		}
		band.Color, band.LineStyle.Width = color.NRGBA{colour.R, colour.G, colour.B, 0x28}, 0
		l, s, err := plotter.NewLinePoints(line)
		if err != nil {
			return nil, err
		}
		l.Color, l.Width = colour, 1.2
		s.Color, s.Radius, s.Shape = colour, 2, draw.CircleGlyph{}
		p.Add(band, l, s)
		p.Legend.Add(c.Name, l, s)
	}
	return p, nil
}

// WriteCSV writes one line for each point: panel, curve, x, median, 10% and 90%
// quantile, mean and count.
func (f Figure) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"panel", "curve", "x", "median", "q10", "q90", "mean", "runs"})
	for _, p := range f {
		for _, c := range p.Curves {
			for i, x := range c.X {
				line := []string{p.Title, c.Name, strconv.FormatFloat(x, 'g', -1, 64)}
				for _, v := range []float64{c.Y[i].Quantile(0.5), c.Y[i].Quantile(0.1), c.Y[i].Quantile(0.9), c.Y[i].Mean()} {
					line = append(line, fmt.Sprintf("%.6f", v))
				}
				out.Write(append(line, strconv.Itoa(len(c.Y[i]))))
			}
		}
	}
	out.Flush()
	return out.Error()
}
