package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/picture"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// pictured is a sample with a picture by site and a histogram of each component.
func pictured() *result.Result {
	r := sample(4, 2, 3, proposal.SubspaceBlock, 0.01)
	edges := func(n int) (out []float64) {
		for i := range n + 1 {
			out = append(out, 8*float64(i)/float64(n)-4)
		}
		return out
	}
	p := result.Picture{Pair: [2]int{1, 2}, By: proposal.PictureBySite, Groups: []string{"amber", "=bay"}, X: edges(study.PictureBins), Y: edges(study.PictureBins), Sigma: 20}
	for g := range 2 {
		counts := make([]float64, study.PictureBins*study.PictureBins)
		for i := range counts {
			counts[i] = float64((i*37+g)%41) - 20
		}
		counts[100+16*g] = 9000
		p.Counts = append(p.Counts, counts)
	}
	r.Pictures = []result.Picture{p}
	for i := range 2 {
		h := result.ScoreHistogram{Component: i + 1, Edges: edges(study.ScoreBins), Sigma: 30}
		for j := range study.ScoreBins {
			h.Counts = append(h.Counts, 1000*math.Exp(-math.Pow(float64(j)-15.5, 2)/32)-float64(i))
		}
		r.Scores = append(r.Scores, h)
	}
	return r
}

// Pictures are drawn after the rest, as SVG and as a bitmap of the same shape with colors in it.
func TestPicturePlots(t *testing.T) {
	plots, err := Plots(pictured())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range plots {
		names = append(names, p.Name)
		if p.drawing == nil {
			continue
		}
		var svg, bitmap bytes.Buffer
		if err := errors.Join(p.WriteSVG(&svg), p.WritePNG(&bitmap)); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(svg.Bytes(), []byte("<svg ")) {
			t.Errorf("%s: %.40s", p.Name, &svg)
		}
		image, err := png.Decode(&bitmap)
		if err != nil {
			t.Fatal(err)
		}
		size, blue := image.Bounds(), 0
		for x := size.Min.X; x < size.Max.X; x++ {
			for y := size.Min.Y; y < size.Max.Y; y++ {
				if r, _, b, _ := image.At(x, y).RGBA(); b > r+0x4000 {
					blue++
				}
			}
		}
		if want := float64(p.width) * dotsPerInch / 72; math.Abs(float64(size.Dx())-want) > 1 || blue < 300 {
			t.Errorf("%s: %v, %d dots of blue", p.Name, size, blue)
		}
	}
	if want := []string{"scree", "loadings-1", "loadings-2", "convergence", "noise", "biplot-1-2", "groups-1-2", "scores"}; !slices.Equal(names, want) {
		t.Errorf("drawn %q, want %q", names, want)
	}
}

// The archive and the table have each count as it was released, and what is drawn of it.
func TestPictureData(t *testing.T) {
	r := pictured()
	density, err := picture.New(r.Pictures[0])
	if err != nil {
		t.Fatal(err)
	}
	_, z, archive := open(t, r)
	for name, want := range map[string][]float64{
		"picture_1_counts": slices.Concat(r.Pictures[0].Counts...), "picture_1_shown": slices.Concat(density.Shown...), "picture_1_x_edges": r.Pictures[0].X, "picture_1_y_edges": r.Pictures[0].Y,
		"scores_counts": slices.Concat(r.Scores[0].Counts, r.Scores[1].Counts), "scores_edges": slices.Concat(r.Scores[0].Edges, r.Scores[1].Edges), "scores_sigma": {30, 30},
	} {
		var got []float64
		if err := z.Read(name+".npy", &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got := texts(t, archive, "picture_1_groups"); !slices.Equal(got, r.Pictures[0].Groups) {
		t.Errorf("groups %q", got)
	}

	var b bytes.Buffer
	if err := WritePictures(&b, r); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 1+2*256+2*32 || !slices.Equal(lines[0], pictureFields) {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	// Bin (7, 4) of the second group: from -0.5 to 0 and -2 to -1.5.
	if want := []string{"1", "2", "'=bay", "-0.5", "0", "-2", "-1.5", "9000", "20", number(density.Shown[1][116])}; !slices.Equal(lines[1+256+116], want) {
		t.Errorf("%q, want %q", lines[1+256+116], want)
	}
	if want := []string{"2", "", "", "-4", "-3.75", "", "", number(r.Scores[1].Counts[0]), "30", ""}; !slices.Equal(lines[1+512+32], want) {
		t.Errorf("%q, want %q", lines[1+512+32], want)
	}
}

// What no study released is refused by name in every form.
func TestBadPictures(t *testing.T) {
	for field, change := range map[string]func(*result.Result){
		"pictures_":         func(r *result.Result) { r.Pictures[0].Counts[1] = nil },
		"score_histograms_": func(r *result.Result) { r.Scores[1].Edges = nil },
	} {
		r := pictured()
		change(r)
		_, err := Plots(r)
		for _, err := range []error{err, WriteNPZ(io.Discard, r), WritePictures(io.Discard, r)} {
			if e, ok := errors.AsType[*Error](err); !ok || e.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

// TestUnreadVarianceDrawsNoPicture: where explained variance is not known, a picture has no axes in
// standard deviations. All else is drawn, and its counts are in the archive.
func TestUnreadVarianceDrawsNoPicture(t *testing.T) {
	r := pictured()
	r.ExplainedVariance, r.VarianceInterval, r.VarianceRatio, r.TotalInterval, r.VarianceNote = nil, nil, nil, nil, result.VarianceUnread
	plots, err := Plots(r)
	var names []string
	for _, p := range plots {
		names = append(names, p.Name)
	}
	if want := []string{"loadings-1", "loadings-2", "convergence", "noise"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("drawn %q, %v, want %q", names, err, want)
	}
	if err := WriteNPZ(io.Discard, r); err != nil {
		t.Error(err)
	}
}

// TestBitmapsLackNoCharacter: what a bitmap's font cannot draw is a box, in plots and pictures, so
// that each bar and arrow has a name.
func TestBitmapsLackNoCharacter(t *testing.T) {
	drawn := func(name string) (out [][]byte) {
		r := pictured()
		r.Columns[0] = name
		plots, err := Plots(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range plots {
			if p.Name == "loadings-1" || p.Name == "biplot-1-2" {
				var b bytes.Buffer
				if err := p.WritePNG(&b); err != nil {
					t.Fatal(err)
				}
				out = append(out, b.Bytes())
			}
		}
		return out
	}
	boxes := drawn("血圧")
	for i, other := range [][][]byte{drawn("\u200a"), drawn("血圧血圧")} {
		for j := range boxes {
			if len(boxes) != 2 || bytes.Equal(boxes[j], other[j]) {
				t.Errorf("%d: the characters are not drawn in plot %d of %d", i, j, len(boxes))
			}
		}
	}
}

// TestPlotsOfUnknownWorth: what the page folds away and calls nothing to interpret, a drawing in a
// file does, too: a component that is not separated, and one of which nothing is known.
func TestPlotsOfUnknownWorth(t *testing.T) {
	good := worth.Component{Number: 1, Separated: true}
	for _, c := range []struct {
		of      *worth.Report
		caveats []bool // by component; and of the pictures
	}{
		{&worth.Report{Uncalibrated: "heavy tails"}, []bool{true, true, true}},
		{&worth.Report{Share: new(worth.Share), Components: []worth.Component{good, {Number: 2}}}, []bool{false, true, true}},
		{&worth.Report{Share: new(worth.Share), Components: []worth.Component{good, good}}, []bool{false, false, false}},
	} {
		plots, err := Plots(pictured(), c.of)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{"scree": slices.Contains(c.caveats, true), "loadings-1": c.caveats[0], "loadings-2": c.caveats[1], "biplot-1-2": c.caveats[2], "groups-1-2": c.caveats[2]}
		for _, p := range plots {
			var b bytes.Buffer
			if err := p.WriteSVG(&b); err != nil {
				t.Fatal(err)
			}
			want, known := names[p.Name]
			if said := strings.Contains(b.String(), "do not interpret") || strings.Contains(b.String(), "cannot be told apart") || strings.Contains(b.String(), "worth is not known") || strings.Contains(b.String(), ">separated from all others: 1 of 2"); known && said != want {
				t.Errorf("%s of %+v: a caveat %v, want %v", p.Name, c.of, said, want)
			}
			if hollow := strings.Contains(b.String(), "stroke-dasharray"); known && strings.HasPrefix(p.Name, "loadings") && hollow != want {
				t.Errorf("%s of %+v: hollow bars %v, want %v", p.Name, c.of, hollow, want)
			}
			delete(names, p.Name)
		}
		if len(names) > 0 {
			t.Errorf("not drawn: %v", names)
		}
	}
}

// TestPlotsAreRead: a screen reader reads each drawing's title and its numbers, with no name able
// to end them.
func TestPlotsAreRead(t *testing.T) {
	r := sample(4, 1, 5, proposal.SubspaceBlock, 0.01)
	r.Name, r.Columns[0] = "</title><script>", "</desc>&"
	of := &worth.Report{Share: new(worth.Share), Components: []worth.Component{{Number: 1, Separated: true, Loadings: make([][2]float64, 4)}}}
	plots, err := Plots(r, of)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plots {
		var b bytes.Buffer
		if err := p.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		var read struct {
			Role  string `xml:"role,attr"`
			Title string `xml:"title"`
			Desc  string `xml:"desc"`
		}
		if err := xml.Unmarshal(b.Bytes(), &read); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		want := map[string]string{
			"scree":       fmt.Sprintf("component 1 %.4g (%.4g to %.4g)", r.ExplainedVariance[0], r.VarianceInterval[0][0], r.VarianceInterval[0][1]),
			"loadings-1":  "</desc>& " + hundredths(r.Components[0][0]) + " (0.00 to 0.00); ",
			"convergence": "°",
			"noise":       "the last: ",
		}[p.Name]
		if read.Role != "img" || !strings.HasPrefix(read.Title, "</title><script>: ") || !strings.Contains(read.Desc, want) || want == "" {
			t.Errorf("%s is read as %+v, want %q", p.Name, read, want)
		}
	}
}

// TestLinesAreRead: of several lines, what is read says whose each value is, as the legend does.
func TestLinesAreRead(t *testing.T) {
	for name, c := range map[string]struct{ subspace, want string }{
		"convergence": {proposal.SubspaceBlock, "the last: component 1 "},
		"noise":       {proposal.SubspaceDeflation, "the last: run 1 "},
	} {
		plots, err := Plots(sample(4, 2, 5, c.subspace, 0.01))
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(plots, func(p Plot) bool { return p.Name == name })
		if !strings.Contains(string(plots[at].label()), c.want) {
			t.Errorf("%s is read as %s, want %q", name, plots[at].label(), c.want)
		}
	}
}
