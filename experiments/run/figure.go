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

// Point is a measured number at x: the median of runs, between their 10% and 90% quantiles.
type Point struct {
	X, Median, Low, High, Mean float64
	Runs                       int
}

// Point sums a sample up.
func (s Sample) Point(x float64) Point {
	return Point{x, s.Quantile(0.5), s.Quantile(0.1), s.Quantile(0.9), s.Mean(), len(s)}
}

// Curve is a measured number over x.
type Curve struct {
	Name   string
	Points []Point
}

// Panel is one set of axes.
type Panel struct {
	Title  string
	Curves []Curve
}

// Figure is panels, three to a row, with logarithmic axes.
type Figure struct {
	X, Y   string // what the axes are
	Panels []Panel
}

// palette is Okabe and Ito's, whose colors everybody can tell apart.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0x55, 0x55, 0x55, 0xff}, {0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff},
}

const (
	panelWidth  = 9 * vg.Centimeter
	panelHeight = 7.5 * vg.Centimeter
	gap         = 4 // points around a panel
)

// smallest is what a logarithmic axis shows of anything smaller.
const smallest = 1e-4

// WriteSVG writes the figure with its texts as texts.
func (f Figure) WriteSVG(path string) error {
	columns := min(3, len(f.Panels))
	rows := (len(f.Panels) + columns - 1) / columns
	width, height := panelWidth*vg.Length(columns), panelHeight*vg.Length(rows)
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	for i, panel := range f.Panels {
		p, err := f.plot(panel)
		if err != nil {
			return err
		}
		left, top := panelWidth*vg.Length(i%columns), panelHeight*vg.Length(i/columns)
		p.Draw(draw.Crop(c, left+gap, left+panelWidth-width-gap, height-top-panelHeight+gap, -top-gap))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// A reader without the font takes one of the same widths, not its serif default.
	return os.WriteFile(path, bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), 0o644)
}

// decades labels 1, 2 and 5 of each.
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); math.Pow(10, e) <= high; e++ {
		for m := range 9 {
			v := float64(m+1) * math.Pow(10, e)
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			label := ""
			if m == 0 || high < 300*low && (m == 1 || m == 4) {
				label = strconv.FormatFloat(v, 'g', 3, 64)
				if v >= 1000 {
					label = strconv.FormatFloat(v/1000, 'g', 3, 64) + "k"
				}
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}

func (f Figure) plot(panel Panel) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = panel.Title, f.X, f.Y
	p.Title.TextStyle.Font.Size, p.X.Label.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size = 10, 9, 9
	p.Legend.TextStyle.Font.Size = 7
	p.Legend.ThumbnailWidth = 10
	p.Legend.Left = true
	p.BackgroundColor = color.White
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	for i, c := range panel.Curves {
		var line, upper, lower plotter.XYs
		for _, v := range c.Points {
			at := func(y float64) plotter.XY { return plotter.XY{X: v.X, Y: max(y, smallest)} }
			line, upper = append(line, at(v.Median)), append(upper, at(v.High))
			lower = append(plotter.XYs{at(v.Low)}, lower...)
		}
		shade := palette[i%len(palette)]
		band, err := plotter.NewPolygon(append(upper, lower...))
		if err != nil {
			return nil, err
		}
		band.Color, band.LineStyle.Width = color.NRGBA{shade.R, shade.G, shade.B, 0x28}, 0
		l, s, err := plotter.NewLinePoints(line)
		if err != nil {
			return nil, err
		}
		l.Color, l.Width = shade, 1.2
		s.Color, s.Radius, s.Shape = shade, 1.8, draw.CircleGlyph{}
		p.Add(band, l, s)
		p.Legend.Add(c.Name, l, s)
	}
	return p, nil
}

var header = []string{"panel", "curve", "x", "median", "q10", "q90", "mean", "runs"}

// WriteCSV writes a line for each point.
func (f Figure) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(header)
	for _, p := range f.Panels {
		for _, c := range p.Curves {
			for _, v := range c.Points {
				line := []string{p.Title, c.Name, strconv.FormatFloat(v.X, 'g', -1, 64)}
				for _, y := range []float64{v.Median, v.Low, v.High, v.Mean} {
					line = append(line, strconv.FormatFloat(y, 'f', 6, 64))
				}
				out.Write(append(line, strconv.Itoa(v.Runs)))
			}
		}
	}
	out.Flush()
	return out.Error()
}

// ReadCSV reads what WriteCSV wrote.
func ReadCSV(r io.Reader) ([]Panel, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	var panels []Panel
	for i, f := range lines {
		if i == 0 {
			continue
		}
		if len(f) != len(header) {
			return nil, fmt.Errorf("run: line %d has %d fields, want %d", i+1, len(f), len(header))
		}
		var v [6]float64
		for j := range v {
			if v[j], err = strconv.ParseFloat(f[2+j], 64); err != nil {
				return nil, err
			}
		}
		if len(panels) == 0 || panels[len(panels)-1].Title != f[0] {
			panels = append(panels, Panel{Title: f[0]})
		}
		p := &panels[len(panels)-1]
		if len(p.Curves) == 0 || p.Curves[len(p.Curves)-1].Name != f[1] {
			p.Curves = append(p.Curves, Curve{Name: f[1]})
		}
		c := &p.Curves[len(p.Curves)-1]
		c.Points = append(c.Points, Point{v[0], v[1], v[2], v[3], v[4], int(v[5])})
	}
	return panels, nil
}
