package report

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
	"pgregory.net/rapid"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// open returns the names in an archive, its reader and its bytes.
func open(t *testing.T, r *result.Result) ([]string, *npz.Reader, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNPZ(&b, r); err != nil {
		t.Fatal(err)
	}
	z, err := npz.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range z.Keys() {
		names = append(names, strings.TrimSuffix(name, ".npy"))
	}
	return names, z, b.Bytes()
}

// texts returns the letters of a unicode array of one dimension, which npz reads
// otherwise than NumPy does: n times the dtype's width in UTF-32, padded with zeros.
func texts(t *testing.T, archive []byte, name string) []string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open(name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	head := 12 + int(binary.LittleEndian.Uint32(all[8:])) // format 2.0
	var width, n int
	if _, err := fmt.Sscanf(string(all[12:head]), "{'descr': '<U%d', 'fortran_order': False, 'shape': (%d,), }", &width, &n); err != nil || len(all) != head+4*width*n {
		t.Fatalf("%s: %v: %d bytes after %q", name, err, len(all)-head, all[12:head])
	}
	var out []string
	for i := range n {
		var text []rune
		for at := head + 4*width*i; at < head+4*width*(i+1); at += 4 {
			text = append(text, rune(binary.LittleEndian.Uint32(all[at:])))
		}
		out = append(out, strings.TrimRight(string(text), "\x00"))
	}
	return out
}

// What NumPy reads is the result, number by number and with its shape. The archive is
// read by NumPy itself in TestScikitLearn.
func TestNPZ(t *testing.T) {
	r := sample(7, 3, 6, proposal.SubspaceBlock, 0.01)
	r.Columns[2] = "größe (cm)"
	r.Unit, r.PerUnit, r.Lambda = "patient", 2.5, 4
	r.Missing, r.RowsKept, r.RowsKeptInterval = proposal.MissingFill, 19_000, &[2]float64{18_900, 19_100}
	for j := range r.D {
		r.Filled = append(r.Filled, float64(j)/100)
		r.FilledInterval = append(r.FilledInterval, [2]float64{0, float64(j) / 50})
	}
	names, z, archive := open(t, r)
	numbers := func(name string, want []float64, shape ...int) {
		t.Helper()
		var got []float64
		if err := z.Read(name+".npy", &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h := z.Header(name + ".npy"); !slices.Equal(got, want) || !slices.Equal(h.Descr.Shape, shape) || h.Descr.Fortran || h.Descr.Type != "<f8" {
			t.Errorf("%s: %v of %+v, want %v of %v", name, got, h.Descr, want, shape)
		}
	}
	numbers("components_", slices.Concat(r.Components...), 3, 7)
	numbers("outputs_last", slices.Concat(r.Outputs["last"]...), 3, 7)
	numbers("mean_", r.Mean, 7)
	numbers("offset_", r.Offset, 7)
	numbers("scale_", r.Scale, 7)
	whole := *r // no row is left out
	whole.RowsKeptInterval = nil
	for i, v := range singularValues(&whole) {
		if want := math.Sqrt(r.ExplainedVariance[i] * (20_000*2.5 - 1)); v != want {
			t.Errorf("the singular value of all rows is %v, want %v", v, want)
		}
	}
	numbers("explained_variance_", r.ExplainedVariance, 3)
	numbers("explained_variance_ratio_", r.VarianceRatio, 3)
	var ends, singular []float64
	left := r.TotalVariance
	for i, v := range r.ExplainedVariance {
		ends = append(ends, r.VarianceInterval[i][0], r.VarianceInterval[i][1])
		singular = append(singular, math.Sqrt(v*(19_000-1)))
		left -= v
	}
	numbers("explained_variance_interval_", ends, 3, 2)
	numbers("singular_values_", singular, 3)
	numbers("total_variance_interval_", r.TotalInterval[:], 2)
	numbers("filled_", r.Filled, 7)
	numbers("filled_interval_", []float64{0, 0, 0, 0.02, 0, 0.04, 0, 0.06, 0, 0.08, 0, 0.1, 0, 0.12}, 7, 2)
	numbers("rows_kept_interval_", []float64{18_900, 19_100}, 2)
	for name, want := range map[string]float64{
		"total_variance_": r.TotalVariance, "noise_variance_": left / 4, "epsilon": 1, "delta": 1e-6, "rho": 0.0243, "radius": 8, "lambda": 4, "rows_kept_": 19_000, "rows_per_unit": 2.5, "noise_to_signal": 0.04,
	} {
		var got float64
		if err := z.Read(name+".npy", &got); err != nil || got != want || len(z.Header(name+".npy").Descr.Shape) != 0 {
			t.Errorf("%s: %v, %v, want %v of no dimension", name, got, err, want)
		}
	}
	for name, want := range map[string]int64{"n_components_": 3, "n_features_in_": 7, "n_samples_": 20_000, "rounds": 6, "sites_per_unit": 2} {
		var got int64
		if err := z.Read(name+".npy", &got); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
	if columns := texts(t, archive, "feature_names_in_"); !slices.Equal(columns, r.Columns) {
		t.Errorf("feature_names_in_: %q", columns)
	}
	for name, want := range map[string]string{"name": "sample", "digest": strings.Repeat("0", 64), "unit": "patient", "missing": "fill", "adjacency": "replace-one", "method": "power"} {
		if got := texts(t, archive, name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}

	// What was not bought is not there.
	bare := sample(7, 3, 6, proposal.SubspaceBlock, 0.01)
	bare.ExplainedVariance, bare.VarianceInterval, bare.VarianceRatio, bare.TotalVariance, bare.TotalInterval, bare.VarianceNote = nil, nil, nil, 0, nil, ""
	less, _, _ := open(t, bare)
	var gone []string
	for _, name := range names {
		if !slices.Contains(less, name) {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	if want := []string{"explained_variance_", "explained_variance_interval_", "explained_variance_ratio_", "filled_", "filled_interval_", "lambda", "missing", "noise_variance_", "rows_kept_", "rows_kept_interval_", "rows_per_unit",
		"singular_values_", "total_variance_", "total_variance_interval_", "unit", "variance_note"}; !slices.Equal(gone, want) {
		t.Errorf("not there: %q, want %q", gone, want)
	}
}

// The variance that is left to other directions is never negative, and 0 where there
// are none.
func TestNoiseVariance(t *testing.T) {
	r := sample(7, 3, 2, proposal.SubspaceBlock, 0.01)
	r.TotalVariance = 1
	if v := noiseVariance(r); v != 0 {
		t.Errorf("%v of a total below its parts, want 0", v)
	}
	r = sample(3, 3, 2, proposal.SubspaceBlock, 0.01)
	r.TotalVariance = 1000
	if v := noiseVariance(r); v != 0 {
		t.Errorf("%v where all directions are components, want 0", v)
	}
}

// TestCSVHasNoFormula: the names of columns are their proposer's, and a spreadsheet is where tables
// are opened.
func TestCSVHasNoFormula(t *testing.T) {
	r := sample(6, 2, 3, proposal.SubspaceBlock, 0.01)
	copy(r.Columns, []string{"=HYPERLINK(\"https://x.example\")", "+1", "-1", "@x", "a;\"=cmd|' /C calc'!A0;＠x", "＠x"})
	for _, of := range [][]*worth.Report{nil, {{}}} {
		var b bytes.Buffer
		if err := WriteCSV(&b, r, of...); err != nil {
			t.Fatal(err)
		}
		// as a spreadsheet with decimal commas parts cells, whose own quotes fall away
		header, _, _ := strings.Cut(b.String(), "\n")
		for cell := range strings.SplitSeq(header, ";") {
			if strings.IndexAny(strings.TrimLeft(cell, "\""), "=+-@＝＠") == 0 {
				t.Errorf("a spreadsheet takes %q for a formula", cell)
			}
		}
		table, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if table[0][5] != "'"+r.Columns[0] {
			t.Errorf("header %q", table[0])
		}
		for _, name := range table[0] {
			if strings.IndexAny(name, "=+-@＝＠") == 0 {
				t.Errorf("a spreadsheet takes the name %q for a formula", name)
			}
		}
	}
}

func TestCSV(t *testing.T) {
	r := sample(4, 2, 3, proposal.SubspaceBlock, 0.01)
	r.Columns[1] = "a,\"b\"\nc"
	var b bytes.Buffer
	if err := WriteCSV(&b, r); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"component", "explained_variance", "explained_variance_low", "explained_variance_high", "explained_variance_ratio", "column_1", "a,\"b\"\nc", "column_3", "column_4", "epsilon", "delta", "adjacency"}; !slices.Equal(table[0], want) || len(table) != 6 {
		t.Fatalf("header %q, %d lines", table[0], len(table))
	}
	for i, want := range [][]float64{r.Offset, r.Scale, r.Mean} {
		line, name := table[1+i], []string{"offset", "scale", "mean"}[i]
		if !slices.Equal(line[:5], []string{name, "", "", "", ""}) || !slices.Equal(line[9:], []string{"1", "1e-06", "replace-one"}) {
			t.Errorf("the line of %s is %q", name, line)
		}
		for j, v := range want {
			if line[5+j] != number(v) {
				t.Errorf("%s of %s: %q, want %v", name, table[0][5+j], line[5+j], v)
			}
		}
	}
	for i, line := range table[4:] {
		if tail := line[9:]; !slices.Equal(tail, []string{"1", "1e-06", "replace-one"}) {
			t.Errorf("line %d ends with %q", i+1, tail)
		}
		want := append([]float64{float64(i + 1), r.ExplainedVariance[i], r.VarianceInterval[i][0], r.VarianceInterval[i][1], r.VarianceRatio[i]}, r.Components[i]...)
		for j, text := range line[:9] {
			if v, err := strconv.ParseFloat(text, 64); err != nil || v != want[j] {
				t.Errorf("line %d, %s: %q, want %v", i+1, table[0][j], text, want[j])
			}
		}
	}
	var archive, drawing bytes.Buffer
	share := "," + number(r.VarianceRatio[0]) + ","
	apart := &worth.Report{Apart: true}
	plots, err := Plots(r, apart)
	if b.Reset(); err != nil || WriteCSV(&b, r, apart) != nil || WriteNPZ(&archive, r, apart) != nil || plots[0].WriteSVG(&drawing) != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), share) || bytes.Contains(archive.Bytes(), []byte("explained_variance_ratio_")) || strings.Contains(drawing.String(), ">"+r.ShareText(0)+"<") {
		t.Errorf("shares that say nothing are written: %s", &b)
	}
	all := *r // of the total, which noise made of the first component
	all.VarianceRatio = slices.Concat([]float64{1}, r.VarianceRatio[1:])
	_, z, _ := open(t, &all)
	var shares []float64
	if err := z.Read("explained_variance_ratio_.npy", &shares); err != nil || !math.IsNaN(shares[0]) || !slices.Equal(shares[1:], r.VarianceRatio[1:]) {
		t.Errorf("%v, shares %v", err, shares)
	}
	if b.Reset(); WriteCSV(&b, &all) != nil || !strings.Contains(b.String(), "\n1,"+number(r.ExplainedVariance[0])+","+number(r.VarianceInterval[0][0])+","+number(r.VarianceInterval[0][1])+",,") {
		t.Errorf("a share that noise made is written: %s", &b)
	}
	r.ExplainedVariance, r.VarianceInterval, r.VarianceRatio = nil, nil, nil
	b.Reset()
	if err := WriteCSV(&b, r); err != nil || !strings.Contains(b.String(), "\n1,,,,,"+number(r.Components[0][0])+",") {
		t.Errorf("without explained variance: %v\n%s", err, &b)
	}
}

// The same result gives the same bytes, each drawing is there when it has something to
// say, and a name cannot leave its place in the SVG.
func TestPlots(t *testing.T) {
	covariance := sample(4, 2, 1, proposal.SubspaceBlock, 0.01)
	covariance.Method, covariance.Releases = proposal.MethodCovariance, nil
	bare := sample(50, 2, 5, proposal.SubspaceDeflation, 0.01)
	bare.ExplainedVariance, bare.VarianceInterval, bare.VarianceRatio, bare.TotalInterval = nil, nil, nil, nil
	hostile := sample(4, 1, 5, proposal.SubspaceBlock, 0.01)
	hostile.Name, hostile.Columns[0] = `"><script>alert(1)</script>`, `</text><script>&amp;`
	for name, c := range map[string]struct {
		r    *result.Result
		want []string
	}{
		"power":      {hostile, []string{"scree", "loadings-1", "convergence", "noise"}},
		"covariance": {covariance, []string{"scree", "loadings-1", "loadings-2"}},
		"not bought": {bare, []string{"loadings-1", "loadings-2", "convergence", "noise"}},
	} {
		t.Run(name, func(t *testing.T) {
			plots, err := Plots(c.r)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Plots(c.r)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i, p := range plots {
				names = append(names, p.Name)
				var svg, bitmap, svg2, bitmap2 bytes.Buffer
				err := errors.Join(p.WriteSVG(&svg), again[i].WriteSVG(&svg2))
				if !testing.Short() || i == 0 { // a bitmap takes seconds with the race detector
					err = errors.Join(err, p.WritePNG(&bitmap), again[i].WritePNG(&bitmap2))
					if _, err := png.DecodeConfig(bytes.NewReader(bitmap.Bytes())); err != nil {
						t.Errorf("%s: %v", p.Name, err)
					}
				}
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(svg.Bytes(), svg2.Bytes()) || !bytes.Equal(bitmap.Bytes(), bitmap2.Bytes()) {
					t.Errorf("%s: the same result gives other bytes", p.Name)
				}
				for d := xml.NewDecoder(&svg); ; {
					token, err := d.Token()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatalf("%s is no XML: %v", p.Name, err)
					}
					if e, ok := token.(xml.StartElement); ok && !slices.Contains([]string{"svg", "title", "desc", "g", "path", "text"}, e.Name.Local) {
						t.Errorf("%s has an element %s", p.Name, e.Name.Local)
					}
				}
			}
			if !slices.Equal(names, c.want) {
				t.Errorf("drawn %q, want %q", names, c.want)
			}
		})
	}
}

// With more than 40 columns only the largest loadings are drawn, and said to be.
func TestLargestLoadings(t *testing.T) {
	for d, want := range map[int]int{40: 40, 41: topColumns} {
		r := sample(d, 1, 2, proposal.SubspaceBlock, 0.01)
		plots, err := Plots(r)
		if err != nil {
			t.Fatal(err)
		}
		var svg bytes.Buffer
		if err := plots[1].WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		order := make([]int, d)
		for j := range order {
			order[j] = j
		}
		slices.SortFunc(order, func(a, b int) int {
			return int(math.Copysign(1, math.Abs(r.Components[0][b])-math.Abs(r.Components[0][a])))
		})
		for at, j := range order {
			if drawn := strings.Contains(svg.String(), ">"+r.Columns[j]+"<"); drawn != (at < want) {
				t.Errorf("%d columns: %s, number %d by magnitude, drawn %v", d, r.Columns[j], at+1, drawn)
			}
		}
		if said := strings.Contains(svg.String(), "the 20 largest loadings of 41"); said != (d == 41) {
			t.Errorf("%d columns: it says of how many: %v", d, said)
		}
	}
}

// Deflation's second run, whose component was put first by its variance, is compared
// with that component; a block with all of them.
func TestConvergence(t *testing.T) {
	for _, subspace := range []string{proposal.SubspaceDeflation, proposal.SubspaceBlock} {
		r := sample(6, 2, 15, subspace, 1e-4)
		for i := range r.K {
			points := course(r, r.Steps(), i)
			if len(points) != r.Rounds {
				t.Fatalf("%s, component %d: %d points, want %d", subspace, i, len(points), r.Rounds)
			}
			for round, p := range points {
				if p.X != float64(round+1) || round == 0 && p.Y < 10 || round == r.Rounds-1 && p.Y > 5 {
					t.Errorf("%s, component %d, point %d: %v° in round %v", subspace, i, round, p.Y, p.X)
				}
			}
		}
	}
}

// Whatever numbers a signed result may hold: bytes or an *Error, and no panic.
func TestExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := sample(rapid.IntRange(1, 5).Draw(t, "d"), 1, rapid.IntRange(1, 3).Draw(t, "rounds"), proposal.SubspaceBlock, 0.01)
		magnitude := rapid.SampledFrom([]float64{0, 5e-324, 1e-300, 1, 1e300, math.MaxFloat64})
		v := magnitude.Draw(t, "variance")
		r.ExplainedVariance[0] = v
		r.VarianceInterval[0] = [2]float64{min(v, magnitude.Draw(t, "low")), max(v, magnitude.Draw(t, "high"))}
		r.TotalVariance, r.PerUnit = magnitude.Draw(t, "total"), magnitude.Draw(t, "rows")
		for i := range r.Releases {
			if rapid.Bool().Draw(t, "nothing") {
				clear(r.Releases[i].Noised)
			}
			r.Releases[i].Grid = magnitude.Draw(t, "grid")
		}
		write := []func(io.Writer) error{func(w io.Writer) error { return WriteNPZ(w, r) }, func(w io.Writer) error { return WriteCSV(w, r) }}
		plots, err := Plots(r)
		for _, p := range plots {
			write = append(write, p.WriteSVG)
		}
		for _, w := range write {
			err = errors.Join(err, w(io.Discard))
		}
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatal(err)
			}
		}
	})
}

// A result that is not whole is refused by name, never indexed out of range.
func TestBadResults(t *testing.T) {
	count := 1
	// Both lengths agree here and are no block of four columns.
	short := sample(4, 2, 3, proposal.SubspaceBlock, 0.01)
	short.Releases[0].X, short.Releases[0].Noised = short.Releases[0].X[1:], short.Releases[0].Noised[1:]
	if _, err := Plots(short); err == nil {
		t.Error("a power step of seven numbers in four columns is drawn")
	}
	for field, change := range map[string]func(*result.Result){
		"n_features_in_":               func(r *result.Result) { r.D = 0 },
		"mean_":                        func(r *result.Result) { r.Mean = nil },
		"feature_names_in_":            func(r *result.Result) { r.Columns = r.Columns[1:] },
		"filled_":                      func(r *result.Result) { r.Filled = make([]float64, r.D) },
		"scale_":                       func(r *result.Result) { r.Scale = append(r.Scale, 1) },
		"components_":                  func(r *result.Result) { r.Components[1] = r.Components[1][1:] },
		"outputs.last":                 func(r *result.Result) { r.Outputs["last"] = r.Outputs["last"][1:] },
		"explained_variance_":          func(r *result.Result) { r.ExplainedVariance = nil },
		"explained_variance_interval_": func(r *result.Result) { r.VarianceInterval = r.VarianceInterval[1:] },
		"explained_variance_ratio_":    func(r *result.Result) { r.VarianceRatio = r.VarianceRatio[1:] },
		"releases":                     func(r *result.Result) { r.Releases[0].X = r.Releases[0].X[1:] },
	} {
		count++
		r := sample(4, 2, 3, proposal.SubspaceBlock, 0.01)
		change(r)
		_, err := Plots(r)
		for _, err := range []error{err, WriteNPZ(io.Discard, r), WriteCSV(io.Discard, r)} {
			if e, ok := errors.AsType[*Error](err); !ok || e.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	t.Logf("figure: %d bad inputs: results to draw", count)
}

// docs/result-file.md names every field of a result file and every array of the archive, and
// docs/results.md links to the examples, of at most 20 lines, that TestScikitLearn runs.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/result-file.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, v := range []any{result.Result{}, study.Release{}} {
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names[name] = true
		}
	}
	r := sample(4, 2, 3, proposal.SubspaceBlock, 0.01)
	drawn, err := pictureArrays(pictured())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(arrays(r), drawn...) {
		names[a.name] = true
	}
	for _, p := range append(slices.Clone(pictureFields), "scree", "loadings-1", "convergence", "noise", "biplot-1-2", "groups-1-2", "scores") {
		names[p] = true
	}
	for name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/result-file.md does not say what %s is", name)
		}
	}
	_, releases, _ := strings.Cut(string(page), "\n## Releases\n")
	for f := range reflect.TypeFor[study.Release]().Fields() {
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + name + "`[^|]*\\|").MatchString(releases) {
			t.Errorf("docs/result-file.md has no row of a release's %s", name)
		}
	}
	if page, err = os.ReadFile("../../docs/results.md"); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"sklearn_pca.py", "scores.R"} {
		text, err := os.ReadFile("../../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "(../examples/"+file+")") {
			t.Errorf("docs/results.md does not link to examples/%s", file)
		}
		if n := bytes.Count(text, []byte("\n")); n > 20 {
			t.Errorf("examples/%s has %d lines, at most 20", file, n)
		}
	}
}
