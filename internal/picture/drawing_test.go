package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// sample has one picture without groups, one by site, and three histograms.
func sample() *result.Result {
	random := rand.New(rand.NewPCG(2, 2))
	truth := counted(random, 20_000, unseen[3].draw)
	r := &result.Result{
		Name: "made up", N: 20_000, D: 3, K: 3, Columns: []string{"length", "width", "age"},
		Components:        [][]float64{{0.8, 0.6, 0}, {-0.6, 0.8, 0}, {0, 0, 1}},
		ExplainedVariance: []float64{4, 1, 0.25}, VarianceInterval: [][2]float64{{3.9, 4.1}, {0.98, 1.02}, {0.245, 0.255}}, VarianceRatio: []float64{0.7, 0.2, 0.05},
	}
	plain := released(random, sigma, truth)
	sites := released(random, sigma, truth, truth, make([]float64, bins*bins))
	sites.By, sites.Groups, sites.Pair = proposal.PictureBySite, []string{"amber", "bay", "cove"}, [2]int{3, 1}
	r.Pictures = []result.Picture{plain, sites}
	line := make([]float64, study.ScoreBins)
	for i := range line {
		line[i] = 2000 * math.Exp(-math.Pow(float64(i)-15.5, 2)/32)
	}
	for i := range 3 {
		h := scores(random, line, sigma)
		h.Component = i + 1
		r.Scores = append(r.Scores, h)
	}
	return r
}

func drawings(t *testing.T, r *result.Result) map[string]Drawing {
	t.Helper()
	all, err := Drawings(r)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Drawing{}
	for _, d := range all {
		out[d.Name] = d
	}
	return out
}

// Each drawing is an element of shapes and texts within its frame, the same every time, that no
// name can leave; on a page it takes the page's color.
func TestSVG(t *testing.T) {
	r := sample()
	r.Name, r.Columns[0], r.Pictures[1].Groups[0] = `"><script>alert(1)</script>`, "</text><a href='x'>&amp;\x00\u202e", `<b onload="x">`
	all := drawings(t, r)
	if len(all) != 4 || all["biplot-1-2"].Name == "" || all["biplot-3-1"].Name == "" || all["groups-3-1"].Name == "" || all["scores"].Name == "" {
		t.Fatalf("%d drawings", len(all))
	}
	again := drawings(t, r)
	for name, d := range all {
		for _, alone := range []bool{false, true} {
			shown, same := d, again[name]
			if alone {
				shown, same = d.Captioned(), same.Captioned()
			}
			var svg, svg2 bytes.Buffer
			if err := errors.Join(shown.WriteSVG(&svg, alone), same.WriteSVG(&svg2, alone)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(svg.Bytes(), svg2.Bytes()) {
				t.Errorf("%s: the same result gives other bytes", name)
			}
			if !alone && regexp.MustCompile(`#333333|#ffffff| color=`).Match(svg.Bytes()) {
				t.Errorf("%s has ink of its own on a page", name)
			}
			for dec := xml.NewDecoder(&svg); ; {
				token, err := dec.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%s is no XML: %v", name, err)
				}
				e, ok := token.(xml.StartElement)
				if !ok {
					continue
				}
				if !slices.Contains([]string{"svg", "title", "path", "text"}, e.Name.Local) {
					t.Errorf("%s has an element %s", name, e.Name.Local)
				}
				for _, a := range e.Attr {
					if n := a.Name.Local; n == "style" || n == "href" || strings.HasPrefix(n, "on") {
						t.Errorf("%s has an attribute %s", name, n)
					}
				}
			}
			for _, s := range shown.Shapes {
				for _, p := range s.Points {
					if !(p[0] >= 0 && p[0] <= shown.Width && p[1] >= 0 && p[1] <= shown.Height) {
						t.Fatalf("%s: a point at %v of %v by %v", name, p, shown.Width, shown.Height)
					}
				}
			}
			for _, s := range shown.Texts {
				if !(s.X >= 0 && s.X <= shown.Width && s.Y >= 0 && s.Y <= shown.Height) {
					t.Errorf("%s: %q at %v, %v of %v by %v", name, s.S, s.X, s.Y, shown.Width, shown.Height)
				}
			}
		}
	}
}

// Every drawing of a simulated study says so, in its title and where that is written.
func TestSimulatedIsMarked(t *testing.T) {
	r := sample()
	for _, simulated := range []bool{false, true} {
		r.Simulated = simulated
		for name, d := range drawings(t, r) {
			if strings.HasPrefix(d.Title, "SIMULATED, ") != simulated || !slices.ContainsFunc(d.Texts, func(s Text) bool { return s.S == d.Title }) {
				t.Errorf("%s: simulated is %v, the title %q", name, simulated, d.Title)
			}
		}
	}
}

// TestNoiseIsNoDeviation: a component whose released variance does not stand out from the noise has
// bins that the noise set, and no drawing calls their unit its standard deviation.
func TestNoiseIsNoDeviation(t *testing.T) {
	wide := func(edges []float64, by float64) (out []float64) {
		for _, e := range edges {
			out = append(out, by*e)
		}
		return out
	}
	for _, hidden := range []bool{false, true} {
		r := sample() // whose edges are of deviations of 1
		r.ExplainedVariance = []float64{1, 1, 1}
		if hidden {
			r.ExplainedVariance[2] = 0.04
			r.Scores[2].Edges = wide(r.Scores[2].Edges, 0.3)
			r.Pictures[1].X = wide(r.Pictures[1].X, 0.3)
		}
		for name, d := range drawings(t, r) {
			of3 := name != "biplot-1-2"
			told := slices.ContainsFunc(d.Words, func(s string) bool {
				return strings.HasPrefix(s, "The released variance of component 3 does not stand out from the noise")
			})
			axis := slices.ContainsFunc(d.Texts, func(s Text) bool { return strings.Contains(s.S, "component 3, in steps of 0.3") })
			if told != (hidden && of3) || axis != told {
				t.Errorf("%s, hidden %v: %q, on an axis %v", name, hidden, d.Words, axis)
			}
		}
	}
	r := sample()
	r.ExplainedVariance[0], r.ExplainedVariance[1] = 0, 0
	if d := drawings(t, r)["biplot-1-2"]; !slices.Contains(d.Words, "There are no arrows, since both components' released variances are 0.") {
		t.Errorf("%q", d.Words)
	}
}

// TestSquaresAreTold: of sites whose names begin alike, each square says whose it is.
func TestSquaresAreTold(t *testing.T) {
	r := sample()
	r.Pictures[1].Groups = []string{"university-hospital-of-the-north", "university-hospital-of-the-south", "bay"}
	var names []string
	for _, s := range drawings(t, r)["groups-3-1"].Texts {
		if name, _, ok := strings.Cut(s.S, " units"); ok && strings.Contains(name, ": ") && s.Size == labelSize {
			names = append(names, name[:strings.LastIndex(name, ": ")])
		}
	}
	if want := []string{"1: university-hos…", "2: university-hos…", "bay"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// All units in one bin are drawn there, the first component to the right and the second upwards.
func TestPlace(t *testing.T) {
	r := sample()
	truth := make([]float64, bins*bins)
	truth[3*bins+12] = 20_000
	r.Pictures = []result.Picture{released(rand.New(rand.NewPCG(1, 1)), sigma, truth)}
	d := drawings(t, r)["biplot-1-2"]
	densest := slices.MaxFunc(d.Shapes, func(a, b Shape) int {
		if a.Width > 0 || a.Hue != 0 || a.Points[0][0] > panelLeft+panelSide { // lines, arrows, the scale
			return -1
		}
		return int(math.Copysign(1, a.Opacity-b.Opacity))
	})
	x, y := panelLeft+panelSide*3/bins, panelTop+panelSide*3/bins // the thirteenth from below
	if p := densest.Points[0]; math.Abs(p[0]-x) > 1e-9 || math.Abs(p[1]-y) > 1e-9 {
		t.Errorf("drawn at %v, want %v, %v", p, x, y)
	}
}

// Arrows are loadings times standard deviations at one scale, and the longest are drawn.
func TestArrows(t *testing.T) {
	r := sample()
	d := drawings(t, r)["biplot-1-2"]
	var ends [][2]float64
	for _, s := range d.Shapes {
		if s.Hue == arrowHue && s.Width > 0 {
			ends = append(ends, [2]float64{s.Points[1][0] - s.Points[0][0], s.Points[0][1] - s.Points[1][1]})
		}
	}
	// (0.8·2, -0.6·1) and (0.6·2, 0.8·1); age has no part in either component.
	want := [][2]float64{{1.6, -0.6}, {1.2, 0.8}}
	if len(ends) != len(want) {
		t.Fatalf("%d arrows, want %d", len(ends), len(want))
	}
	unit := math.Hypot(ends[0][0], ends[0][1]) / math.Hypot(1.6, 0.6)
	for i, w := range want {
		if math.Abs(ends[i][0]-unit*w[0]) > 1e-9 || math.Abs(ends[i][1]-unit*w[1]) > 1e-9 {
			t.Errorf("arrow %d is %v, want %v times %v", i, ends[i], unit, w)
		}
	}
	r.D, r.Columns, r.Components = 30, nil, [][]float64{make([]float64, 30), make([]float64, 30), make([]float64, 30)}
	for j := range 30 {
		r.Columns = append(r.Columns, fmt.Sprintf("column %d.", j))
		r.Components[0][j] = float64(j) / 100
	}
	d = drawings(t, r)["biplot-1-2"]
	names := 0
	for _, s := range d.Texts {
		if number, ok := strings.CutPrefix(s.S, "column "); ok {
			names++
			if j, _ := strconv.Atoi(strings.TrimSuffix(number, ".")); j < 20 {
				t.Errorf("%q is drawn", s.S)
			}
		}
	}
	if names != mostArrows || !strings.Contains(strings.Join(d.Words, " "), "the 10 longest of 30") {
		t.Errorf("%d names; %q", names, d.Words)
	}
}

// TestLongNamesStayInside: an arrow's name covers no axis and is not cut off, however long it is
// and wherever its arrow points.
func TestLongNamesStayInside(t *testing.T) {
	r := sample()
	const name = "protein measurement, batch corrected"
	for angle := range 36 {
		sin, cos := math.Sincos(float64(angle) * math.Pi / 18)
		r.Columns, r.Components = []string{name, "体重 体重 体重 体重 体重 体重 体重 体重", "c"}, [][]float64{{cos / 2, -cos / 2, 0}, {sin, -sin, 0}, {0, 0, 1}}
		seen := 0
		for _, s := range drawings(t, r)["biplot-1-2"].Texts {
			if !s.Bold {
				continue
			}
			seen++
			wide := 0.0
			for _, r := range s.S {
				if wide += 0.55 * s.Size; r > 0x1100 {
					wide += 0.45 * s.Size
				}
			}
			from := s.X
			if s.Anchor > 0 {
				from -= wide
			}
			if from < panelLeft || from+wide > panelLeft+panelSide {
				t.Errorf("at %d0 degrees %q goes from %.0f to %.0f", angle, s.S, from, from+wide)
			}
		}
		if seen != 2 {
			t.Errorf("at %d0 degrees %d names", angle, seen)
		}
	}
}

// The words have the noise, the units and what is hidden; by site, what that shows.
func TestWords(t *testing.T) {
	all := drawings(t, sample())
	for name, want := range map[string][]string{
		"biplot-1-2": {"noised: ± 26.7 units a bin", "20,000 by the roster", "5 separate peaks", "Noise hides", "at most one picture in 100"},
		"biplot-3-1": {"noised: ± 46.3 units a bin"}, // of three groups together
		"groups-3-1": {"± 26.7 units a bin", "shows an institution", "not authenticated", "Privacy protects units, not sites"},
		"scores":     {"± 26.7 units a bar", "20,000 by the roster", "95% intervals"},
	} {
		text := strings.Join(all[name].Words, " ")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q: %q", name, w, text)
			}
		}
	}
	hidden := slices.ContainsFunc(all["groups-3-1"].Texts, func(s Text) bool { return s.S == "hidden by the noise" })
	if !hidden {
		t.Error("a group of nobody does not say that noise hides it")
	}
	heavy, truth := sample(), make([]float64, bins*bins)
	truth[5*bins+5], truth[15*bins+5], truth[10*bins+15] = 9000, 9000, 9000
	heavy.Pictures = []result.Picture{released(rand.New(rand.NewPCG(1, 1)), sigma, truth)}
	if text := strings.Join(drawings(t, heavy)["biplot-1-2"].Words, " "); !strings.Contains(text, "One peak stands out from the noise, and 2 in outermost bins") {
		t.Errorf("of peaks at the edge it says %q", text)
	}
	empty := sample()
	empty.Pictures = []result.Picture{released(rand.New(rand.NewPCG(1, 1)), sigma, make([]float64, bins*bins))}
	if text := strings.Join(drawings(t, empty)["biplot-1-2"].Words, " "); !strings.Contains(text, "Nothing stands out from the noise") {
		t.Errorf("of nobody it says %q", text)
	}
}

// A picture that does not fit its result is an [*Error].
func TestBadResults(t *testing.T) {
	for name, change := range map[string]func(*result.Result){
		"component 4":      func(r *result.Result) { r.Pictures[0].Pair[1] = 4 },
		"component 0":      func(r *result.Result) { r.Pictures[0].Pair[0] = 0 },
		"no variance":      func(r *result.Result) { r.ExplainedVariance = nil },
		"short group":      func(r *result.Result) { r.Pictures[1].Counts[1] = r.Pictures[1].Counts[1][:5] },
		"huge group":       func(r *result.Result) { r.Pictures[1].Counts[1][0] = math.MaxFloat64 },
		"short histogram":  func(r *result.Result) { r.Scores[1].Counts = nil },
		"silent histogram": func(r *result.Result) { r.Scores[1].Sigma = 0 },
	} {
		r := sample()
		change(r)
		_, err := Drawings(r)
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTogether: a biplot is of all groups, bin by bin, with the noise of each.
func TestTogether(t *testing.T) {
	p := result.Picture{Pair: [2]int{2, 1}, By: proposal.PictureBySite, Groups: []string{"a", "b", "c"}, Sigma: 5}
	for group := range 3 {
		counts := make([]float64, bins*bins)
		counts[0], counts[7+group], counts[bins*bins-1] = 1, 10, float64(group)
		p.Counts = append(p.Counts, counts)
	}
	all := together(p)
	if len(all.Counts) != 1 || all.Groups != nil || all.By != "" || all.Pair != p.Pair || math.Abs(all.Sigma-5*math.Sqrt(3)) > 1e-12 {
		t.Errorf("%d groups %q by %q, ± %v", len(all.Counts), all.Groups, all.By, all.Sigma)
	}
	for i, v := range all.Counts[0] {
		if want := map[int]float64{0: 3, 7: 10, 8: 10, 9: 10, bins*bins - 1: 3}[i]; v != want {
			t.Errorf("bin %d holds %v, want %v", i, v, want)
		}
	}
	if p.Counts[0][0] != 1 {
		t.Error("a group's own counts changed")
	}
	p.Counts = p.Counts[1:2]
	if one := together(p); one.Sigma != 5 || one.Counts[0][8] != 10 {
		t.Errorf("of one group: %+v", one)
	}
}

// TestNames: what is drawn tells columns apart, and none has a name that a bitmap cannot show.
func TestNames(t *testing.T) {
	columns := []string{"visit1_blood_pressure_systolic", "重量", "visit1_blood_pressure_diastolic", "Körpergröße", "вес (кг)", "α-HCG", "visit1_blood_sugar_fasting"}
	want := []string{"1: visit1_blood_press…", "2: 重量", "3: visit1_blood_press…", "Körpergröße", "вес (кг)", "α-HCG", "visit1_blood_sugar_fa…"}
	if got := Names(columns, 22); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
