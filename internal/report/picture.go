package report

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"covey/internal/name"
	"covey/internal/picture"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// pictures are the drawings of histograms of scores: of each pair of components a biplot, and
// groups where there are several; and all components' histograms. Where not all components are
// known to be separated, the first sentence under each says so.
func pictures(r *result.Result, of []*worth.Report) ([]Plot, error) {
	if _, err := pictureArrays(r); err != nil {
		return nil, err
	}
	all, err := picture.Drawings(r)
	if err != nil {
		return nil, fault("pictures_", "%v", err)
	}
	loose := len(of) > 0 && (len(of[0].Components) < len(r.Components) || slices.ContainsFunc(of[0].Components, func(c worth.Component) bool { return !c.Separated }))
	var out []Plot
	for _, d := range all {
		if loose {
			d.Words = slices.Insert(slices.Clone(d.Words), 0, "Some components cannot be told apart, or that is not known: do not interpret their axes and arrows.")
		}
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

// pictureArrays are the histograms of scores as they were released, and pictures as they are drawn.
// It checks them all.
func pictureArrays(r *result.Result) ([]array, error) {
	var out []array
	for i, p := range r.Pictures {
		density, err := picture.New(p)
		if err != nil {
			return nil, fault("pictures_", "%v", err)
		}
		of := fmt.Sprintf("picture_%d_", i+1)
		if len(p.Groups) > 0 {
			out = append(out, array{of + "groups", p.Groups})
		}
		out = append(out,
			array{of + "pair", []int64{int64(p.Pair[0]), int64(p.Pair[1])}},
			array{of + "x_edges", p.X}, array{of + "y_edges", p.Y},
			array{of + "counts", dense(p.Counts)}, array{of + "shown", dense(density.Shown)}, array{of + "sigma", p.Sigma},
		)
	}
	if len(r.Scores) == 0 {
		return out, nil
	}
	var edges, counts [][]float64
	var sigma []float64
	for _, h := range r.Scores {
		if _, _, err := picture.QuantileOf(h, 0.5); err != nil {
			return nil, fault("score_histograms_", "%v", err)
		}
		edges, counts, sigma = append(edges, h.Edges), append(counts, h.Counts), append(sigma, h.Sigma)
	}
	return append(out, array{"scores_edges", dense(edges)}, array{"scores_counts", dense(counts)}, array{"scores_sigma", sigma}), nil
}

var pictureFields = []string{"component_x", "component_y", "group", "x_low", "x_high", "y_low", "y_high", "count", "sigma", "shown"}

// WritePictures writes a table of RFC 4180 with a header and a line for each bin of each picture's
// groups, then of each component's histogram, whose y fields and shown are empty: edges in scores,
// the noised count and its noise's standard deviation, and how many units are drawn there. A
// group's name that a spreadsheet might take for a formula has an apostrophe before it. Of a
// simulated result every line has the word true under "simulated", last.
func WritePictures(w io.Writer, r *result.Result) error {
	if _, err := pictureArrays(r); err != nil {
		return err
	}
	c := csv.NewWriter(w)
	lines := [][]string{pictureFields}
	for _, p := range r.Pictures {
		density, err := picture.New(p)
		if err != nil {
			return fault("pictures_", "%v", err)
		}
		for g, counts := range p.Counts {
			group := ""
			if g < len(p.Groups) {
				group = name.Cell(p.Groups[g])
			}
			for i, count := range counts {
				x, y := i/study.PictureBins, i%study.PictureBins
				lines = append(lines, []string{
					strconv.Itoa(p.Pair[0]), strconv.Itoa(p.Pair[1]), group, number(p.X[x]), number(p.X[x+1]), number(p.Y[y]), number(p.Y[y+1]),
					number(count), number(p.Sigma), number(density.Shown[g][i]),
				})
			}
		}
	}
	for _, h := range r.Scores {
		for i, count := range h.Counts {
			lines = append(lines, []string{strconv.Itoa(h.Component), "", "", number(h.Edges[i]), number(h.Edges[i+1]), "", "", number(count), number(h.Sigma), ""})
		}
	}
	if r.Simulated {
		lines[0] = append(slices.Clone(lines[0]), "simulated")
		for i := range lines[1:] {
			lines[i+1] = append(lines[i+1], "true")
		}
	}
	return c.WriteAll(lines)
}
