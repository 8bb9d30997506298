package report

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"covey/internal/picture"
	"covey/internal/study"
)

// pictures are the drawings of histograms of scores: of each pair of components a biplot, and groups
// where there are several; and all components' histograms.
func pictures(r *study.Result) ([]Plot, error) {
	all, err := picture.Drawings(r)
	if err != nil {
		return nil, fault("pictures_", "%v", err)
	}
	var out []Plot
	for _, d := range all {
		d = d.Captioned()
		out = append(out, Plot{Name: d.Name, drawing: &d, width: vg.Length(d.Width), height: vg.Length(d.Height)})
	}
	return out, nil
}

// paint draws shapes and texts, whose heights are from the top, where the canvas has them from the
// bottom.
func paint(c draw.Canvas, d *picture.Drawing) {
	at := func(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: vg.Length(d.Height - y)} }
	for _, s := range d.Shapes {
		var path vg.Path
		for i, p := range s.Points {
			if i == 0 {
				path.Move(at(p[0], p[1]))
			} else {
				path.Line(at(p[0], p[1]))
			}
		}
		c.SetColor(colored(s.Hue, s.Opacity))
		if s.Width > 0 {
			c.SetLineWidth(vg.Length(s.Width))
			c.Stroke(path)
		} else {
			path.Close()
			c.Fill(path)
		}
	}
	for _, t := range d.Texts {
		style := draw.TextStyle{Color: colored(t.Hue, 1), Font: plot.DefaultFont, Handler: plot.DefaultTextHandler, XAlign: [...]text.XAlignment{draw.XLeft, draw.XCenter, draw.XRight}[t.Anchor+1], YAlign: draw.YBottom}
		style.Font.Variant, style.Font.Size = "Sans", vg.Length(t.Size)
		if t.Bold {
			style.Font.Weight = 3 // bold, as golang.org/x/image/font counts
		}
		if t.Up {
			style.Rotation = math.Pi / 2
		}
		c.FillText(style, at(t.X, t.Y), t.S)
	}
}

func colored(h picture.Hue, opacity float64) color.Color {
	v, _ := strconv.ParseUint(h.CSS()[1:], 16, 24) // the package's own constants
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), uint8(math.Round(255 * opacity))}
}
