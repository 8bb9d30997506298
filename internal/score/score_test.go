package score

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"covey/internal/dataset"
	"covey/internal/layout"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

// sample is a result of d columns and k components of a proposal with random constants, as a study
// could have it but for signatures.
func sample(t testing.TB, d, k int, change func(*proposal.Spec)) (*result.Result, *study.Plan) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(d), uint64(k)))
	spec := proposal.Spec{Name: "s", Dataset: "rows", Components: proposal.Components(k), Epsilon: 1, Delta: 1e-6, Rounds: 8}
	for j := range d {
		spec.Columns = append(spec.Columns, proposal.Column{Name: fmt.Sprintf("c%d", j), Offset: rng.NormFloat64() * 10, Scale: 0.5 + rng.Float64()})
	}
	if change != nil {
		change(&spec)
	}
	var roster []proposal.Member
	for i := range 3 {
		public, _, _ := ed25519.GenerateKey(nil)
		roster = append(roster, proposal.Member{Name: fmt.Sprintf("site%d", i), Identity: proposal.Key(public), Units: 5000})
	}
	public, _, _ := ed25519.GenerateKey(nil)
	body, err := proposal.Propose(spec, roster, public, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	r := &result.Result{Digest: p.Digest, D: p.D, K: k}
	for _, at := range p.Layout.Coordinates {
		c := p.Proposal.Spec.Columns[at.Column]
		if at.Gap {
			c.Offset, c.Scale = 0, 1
		}
		r.Columns, r.Offset, r.Scale = append(r.Columns, at.Name), append(r.Offset, c.Offset), append(r.Scale, c.Scale)
		r.Mean = append(r.Mean, rng.NormFloat64())
	}
	for range k {
		v := make([]float64, p.D)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for range 2 {
			for _, w := range r.Components {
				s := linalg.Dot(v, w)
				for j := range v {
					v[j] -= s * w[j]
				}
			}
			n := math.Sqrt(linalg.Dot(v, v))
			for j := range v {
				v[j] /= n
			}
		}
		r.Components = append(r.Components, v)
		r.ExplainedVariance = append(r.ExplainedVariance, 1+rng.Float64())
		r.TotalVariance += r.ExplainedVariance[len(r.ExplainedVariance)-1]
	}
	r.TotalVariance += float64(p.D - k)
	return r, p
}

// write makes a CSV of values.
func write(t testing.TB, names []string, rows [][]string) dataset.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(names)
	w.WriteAll(rows)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dataset.Source{Path: path}
}

func project(t testing.TB, m *Model, s dataset.Source, q dataset.Request, o Options) ([]byte, *Summary) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := Project(m, s, q, f, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if bytes, err := os.ReadFile(s.Path); err != nil || sum.Read != sha256.Sum256(bytes) {
		t.Errorf("read %x, %v", sum.Read, err)
	}
	return text, sum
}

func table2(t testing.TB, text []byte) [][]string {
	t.Helper()
	if !bytes.HasPrefix(text, []byte("# individual data")) {
		t.Fatalf("the first line is %.80q", text)
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	out, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestScoresAreTheDefinitions: scores, T², squared prediction errors and flags are those of the
// three steps of docs/results.md, in all formats and over many batches.
func TestScoresAreTheDefinitions(t *testing.T) {
	const d, k, n = 7, 3, 30_000
	r, p := sample(t, d, k, nil)
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rows, values := make([][]string, n), make([][]float64, n)
	for i := range rows {
		for j := range d {
			v := r.Offset[j] + 3*rng.NormFloat64()
			values[i] = append(values[i], v)
			rows[i] = append(rows[i], strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	s := write(t, r.Columns, rows)
	q := siteconfig.Dataset{}.Request(p.Proposal.Spec)
	text, sum := project(t, m, s, q, Options{Format: CSV, Quantiles: []float64{0.9, 0.99}})
	lines := table2(t, text)
	if got := strings.Join(lines[0], ","); got != "row,score_1,score_2,score_3,t2,spe,t2_above_0.9,spe_above_0.9,t2_above_0.99,spe_above_0.99,note" {
		t.Errorf("columns %s", got)
	}
	if sum.Rows != n || len(lines) != n+1 || sum.LeftOut != 0 {
		t.Fatalf("%d rows, %d lines", sum.Rows, len(lines))
	}
	flagged := 0
	for i, line := range lines[1:] {
		z := make([]float64, d)
		for j := range z {
			z[j] = (values[i][j]-r.Offset[j])/r.Scale[j] - r.Mean[j]
		}
		t2, rest := 0.0, append([]float64(nil), z...)
		for l, v := range r.Components {
			want := linalg.Dot(z, v)
			if got := number(t, line[1+l]); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("row %d, score %d: %v, want %v", i, l+1, got, want)
			}
			t2 += want * want / r.ExplainedVariance[l]
			for j := range rest {
				rest[j] -= want * v[j]
			}
		}
		spe := linalg.Dot(rest, rest)
		if got := number(t, line[4]); math.Abs(got-t2) > 1e-9*(1+t2) {
			t.Fatalf("row %d: T² %v, want %v", i, got, t2)
		}
		if got := number(t, line[5]); math.Abs(got-spe) > 1e-9*(1+linalg.Dot(z, z)) {
			t.Fatalf("row %d: SPE %v, want %v", i, got, spe)
		}
		// Of k = 3 and 4 other directions of variance 1: tables of chi-square.
		if (line[8] == "1") != (t2 > 11.344867) || (line[9] == "1") != (spe > 13.276704) {
			t.Fatalf("row %d: flags %v for T² %v, SPE %v", i, line, t2, spe)
		}
		if line[8] == "1" || line[9] == "1" {
			flagged++
		}
		if line[0] != strconv.Itoa(i+1) {
			t.Fatalf("row %d is called %s", i+1, line[0])
		}
	}
	if flagged != sum.Flagged[1] || flagged == 0 {
		t.Errorf("%d rows flagged, %d said", flagged, sum.Flagged[1])
	}

	raw, _ := project(t, m, s, q, Options{Format: NPY, Quantiles: []float64{0.99}})
	if len(raw) != 128+8*n*7 || !bytes.Contains(raw[:128], []byte("'shape': (30000, 7)")) {
		t.Errorf("%d bytes of NPY, head %q", len(raw), raw[:128])
	}
	packed, _ := project(t, m, s, q, Options{Format: Parquet, Quantiles: []float64{0.99}})
	f, err := parquet.OpenFile(bytes.NewReader(packed), int64(len(packed)))
	if err != nil || f.NumRows() != n {
		t.Fatalf("parquet: %v", err)
	}
	reader := parquet.NewGenericReader[struct {
		Row   int64    `parquet:"row"`
		Score *float64 `parquet:"score_2"`
		Above *bool    `parquet:"t2_above_0.99"`
		Note  *string  `parquet:"note"`
	}](bytes.NewReader(packed))
	defer reader.Close()
	at := make([]struct {
		Row   int64    `parquet:"row"`
		Score *float64 `parquet:"score_2"`
		Above *bool    `parquet:"t2_above_0.99"`
		Note  *string  `parquet:"note"`
	}, n)
	if got, err := reader.Read(at); got != n || err != nil && err != io.EOF {
		t.Fatalf("%d rows, %v", got, err)
	}
	for i, row := range at {
		if row.Row != int64(i+1) || row.Score == nil || *row.Score != number(t, lines[i+1][2]) || *row.Above != (lines[i+1][8] == "1") || row.Note != nil {
			t.Fatalf("row %d of Parquet: %+v", i+1, row)
		}
	}
}

// TestRowsLeftOut: a row that the study would drop has a place, a note and no scores, and units'
// names cannot become formulas.
func TestRowsLeftOut(t *testing.T) {
	r, p := sample(t, 2, 1, func(s *proposal.Spec) { s.Missing = proposal.MissingDropRow })
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	s := write(t, []string{"id", "c0", "c1"}, [][]string{{"=1+2", "1", "2"}, {"b,\"c", "NA", "2"}, {"＠x", "3", "oops"}, {"#9;=1+2", "4", "5"}})
	q := siteconfig.Dataset{}.Request(p.Proposal.Spec)
	q.Unit = "id"
	text, sum := project(t, m, s, q, Options{Format: CSV, Quantiles: []float64{0.99}})
	lines := table2(t, text)
	if sum.LeftOut != 2 || len(lines) != 5 {
		t.Fatalf("%+v, %q", sum, text)
	}
	for i, want := range []string{"'=1+2", "b,\"c", "'＠x", "#9;'=1+2"} {
		if lines[i+1][1] != want {
			t.Errorf("unit %q, want %q", lines[i+1][1], want)
		}
	}
	for i, left := range []bool{false, true, true, false} {
		line := lines[i+1]
		if (line[2] == "") != left || (line[len(line)-1] == note) != left {
			t.Errorf("row %d: %q", i+1, line)
		}
	}
	raw, _ := project(t, m, s, q, Options{Format: NPY})
	if nan := raw[128+8*3*1 : 128+8*3*1+8]; nan[7]&0x7f != 0x7f {
		t.Errorf("a row that is left out is %x in NPY", nan)
	}
}

// TestGapsAreFilled: a gap has the value that the study's own fill gives it, and how many a row has
// is written.
func TestGapsAreFilled(t *testing.T) {
	r, p := sample(t, 4, 1, func(s *proposal.Spec) { s.Missing = proposal.MissingFill; s.Noise = proposal.NoiseDistributed })
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	s := write(t, r.Columns, [][]string{{"1", "2", "3", "4"}, {"1", "", "3", "4"}})
	text, _ := project(t, m, s, siteconfig.Dataset{}.Request(p.Proposal.Spec), Options{Format: CSV, Gaps: true})
	lines := table2(t, text)
	// V_O and y_O without the gap, then a = V_Oᵀy_O/(V_OᵀV_O + 0.05) and t = V_Oᵀy_O + v²a.
	v := r.Components[0]
	raw := []float64{1, 0, 3, 4}
	sum, square := 0.0, 0.0
	for j := range raw {
		if j != 1 {
			sum += v[j] * ((raw[j]-r.Offset[j])/r.Scale[j] - r.Mean[j])
			square += v[j] * v[j]
		}
	}
	want := sum + v[1]*v[1]*sum/(square+0.05)
	if got := number(t, lines[2][1]); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
		t.Errorf("score %v, want %v", got, want)
	}
	if at := len(lines[0]) - 2; lines[0][at] != "filled_cells" || lines[1][at] != "0" || lines[2][at] != "1" {
		t.Errorf("%q", lines)
	}
}

// TestLevelsAreJoined: a level that the result left out as joined counts as the column's other.
func TestLevelsAreJoined(t *testing.T) {
	r, p := sample(t, 2, 1, func(s *proposal.Spec) {
		s.Columns[1] = proposal.Column{Name: "color", Levels: []string{"D", "E"}}
		s.Noise = proposal.NoiseDistributed
	})
	// c0, D, E (joined), other
	r.LeftOut = []result.LeftOut{{Column: "color=E", Why: layout.Joined}}
	r.Mean, r.Scale = []float64{0, 0.5, 0, 0.8}, []float64{r.Scale[0], 0.5, 1, 0.8}
	r.Components = [][]float64{{0.6, 0, 0, 0.8}}
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	s := write(t, []string{"c0", "color"}, [][]string{{"1", "D"}, {"1", "E"}, {"1", "zzz"}})
	text, _ := project(t, m, s, siteconfig.Dataset{}.Request(p.Proposal.Spec), Options{Format: CSV})
	lines := table2(t, text)
	base := 0.6 * (1 - r.Offset[0]) / r.Scale[0]
	for i, want := range []float64{base - 0.8*0.8, base + 0.8*(1/0.8-0.8), base + 0.8*(1/0.8-0.8)} {
		if got := number(t, lines[i+1][1]); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("row %d: %v, want %v", i+1, got, want)
		}
	}
}

// TestHostileResults: a result whose numbers make no sense is refused, whatever signed it.
func TestHostileResults(t *testing.T) {
	for name, change := range map[string]func(*result.Result){
		"NaN component":        func(r *result.Result) { r.Components[0][1] = math.NaN() },
		"huge component":       func(r *result.Result) { r.Components[1][0] = 1e308 },
		"infinite component":   func(r *result.Result) { r.Components[1][0] = math.Inf(1) },
		"equal components":     func(r *result.Result) { r.Components[1] = r.Components[0] },
		"short component":      func(r *result.Result) { r.Components[1] = r.Components[1][:2] },
		"long component":       func(r *result.Result) { r.Components[0] = []float64{2, 0, 0, 0} },
		"more than columns":    func(r *result.Result) { r.Components, r.K = make([][]float64, 5), 5 },
		"no component":         func(r *result.Result) { r.Components, r.K = nil, 0 },
		"other count":          func(r *result.Result) { r.K = 1 },
		"other name":           func(r *result.Result) { r.Columns[2] = "../../etc/passwd" },
		"other order":          func(r *result.Result) { r.Columns[0], r.Columns[1] = r.Columns[1], r.Columns[0] },
		"other offset":         func(r *result.Result) { r.Offset[0]++ },
		"a column less":        func(r *result.Result) { r.Columns = r.Columns[:3] },
		"zero scale":           func(r *result.Result) { r.Scale[3] = 0 },
		"negative scale":       func(r *result.Result) { r.Scale[3] = -1 },
		"huge scale":           func(r *result.Result) { r.Scale[3] = 1e308 },
		"NaN mean":             func(r *result.Result) { r.Mean[3] = math.NaN() },
		"huge mean":            func(r *result.Result) { r.Mean[3] = 1e308 },
		"NaN variance":         func(r *result.Result) { r.ExplainedVariance[0] = math.NaN() },
		"negative variance":    func(r *result.Result) { r.ExplainedVariance[0] = -1 },
		"a variance more":      func(r *result.Result) { r.ExplainedVariance = append(r.ExplainedVariance, 1) },
		"infinite total":       func(r *result.Result) { r.TotalVariance = math.Inf(1) },
		"other proposal":       func(r *result.Result) { r.Digest[0]++ },
		"loading where it out": func(r *result.Result) { r.LeftOut = []result.LeftOut{{Column: "c1"}} },
	} {
		r, p := sample(t, 4, 2, nil)
		if _, err := New(r, p); err != nil {
			t.Fatal(err)
		}
		change(r)
		_, err := New(r, p)
		if _, ok := errors.AsType[*ResultError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFarRows: values at the end of what a study reads have scores that are numbers.
func TestFarRows(t *testing.T) {
	r, p := sample(t, 3, 2, nil)
	r.ExplainedVariance[0] = 1e-80
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	s := write(t, r.Columns, [][]string{{"1e144", "-1e144", "1e144"}, {"0", "0", "0"}})
	text, _ := project(t, m, s, siteconfig.Dataset{}.Request(p.Proposal.Spec), Options{Format: CSV, Quantiles: []float64{0.5}})
	for _, bad := range []string{"NaN", "Inf"} {
		if bytes.Contains(text, []byte(bad)) {
			t.Errorf("%s in %q", bad, text)
		}
	}
}

// TestVariancesNotBought: there is no T² and no flag then, and a quantile is one.
func TestVariancesNotBought(t *testing.T) {
	r, p := sample(t, 3, 1, nil)
	r.ExplainedVariance, r.TotalVariance = nil, 0
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	limits, err := m.Limits([]float64{0.99})
	if err != nil || limits[0].T2 != 0 || limits[0].SPE != 0 || m.hasT2() {
		t.Errorf("%+v, %v", limits, err)
	}
	for _, q := range []float64{0, 1, -1, math.NaN()} {
		if _, err := m.Limits([]float64{q}); err == nil {
			t.Errorf("quantile %v", q)
		}
	}
}

// TestLimitsAreTheLaws: chi-square's quantiles from a table, with as many degrees of freedom as
// there are components and other directions of the columns that are in.
func TestLimitsAreTheLaws(t *testing.T) {
	for _, c := range []struct {
		k       int
		out     bool
		t2, spe float64 // of 0.95; the latter of a mean variance of 1
	}{{1, false, 3.841459, 7.814728}, {2, false, 5.991465, 5.991465}, {1, true, 3.841459, 5.991465}} {
		r, p := sample(t, 4, c.k, nil)
		rest := 3.0 - float64(c.k)
		if c.out {
			r.Scale[3], r.LeftOut = 0, []result.LeftOut{{Column: r.Columns[3]}}
			for _, v := range r.Components {
				clear(v)
				v[0] = 1
			}
		} else {
			rest++
		}
		r.TotalVariance = 0.7 * rest
		for _, v := range r.ExplainedVariance {
			r.TotalVariance += v
		}
		m, err := New(r, p)
		if err != nil {
			t.Fatal(err)
		}
		limits, err := m.Limits([]float64{0.95})
		if err != nil || math.Abs(limits[0].T2-c.t2) > 1e-5 || math.Abs(limits[0].SPE-0.7*c.spe) > 1e-5 {
			t.Errorf("%+v: %+v, %v", c, limits, err)
		}
	}
}

// TestPairsHaveNoT2: variances within sites are not about the offsets, by which all rows would seem
// far out where these are not the sites' means.
func TestPairsHaveNoT2(t *testing.T) {
	for _, center := range []string{proposal.CenterPrivate, proposal.CenterPairs, proposal.CenterPublic} {
		r, p := sample(t, 3, 1, func(s *proposal.Spec) { s.Center = center })
		r.Center = center
		m, err := New(r, p)
		if err != nil {
			t.Fatal(err)
		}
		limits, err := m.Limits([]float64{0.99})
		if want := center != proposal.CenterPairs; err != nil || m.hasT2() != want || (limits[0].T2 > 0) != want || (limits[0].SPE > 0) != want {
			t.Errorf("%s: %+v, %v", center, limits, err)
		}
	}
}

// TestPlainIsStepwise: the fast path's numbers are those of the functions that answer a study's
// queries, to the bit.
func TestPlainIsStepwise(t *testing.T) {
	r, p := sample(t, 13, 3, nil)
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	values := make([]float64, 13*50)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	a, err := m.stepwise(dataset.Block{Values: slices.Clone(values)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.plain(dataset.Block{Values: slices.Clone(values)})
	if err != nil || !slices.Equal(a.Values, b.Values) || !slices.Equal(a.SPE, b.SPE) || !slices.Equal(a.T2, b.T2) || slices.Max(a.SPE) == 0 {
		t.Errorf("other numbers: %v", err)
	}
}

// TestGapIsNotPredictedFromBeingOne: as in the study, a cell is filled from other columns alone.
func TestGapIsNotPredictedFromBeingOne(t *testing.T) {
	r, p := sample(t, 2, 1, func(s *proposal.Spec) { s.Missing, s.Columns[1].Indicator = proposal.MissingFill, true })
	v := []float64{0.48, 0.64, 0.6}
	r.Components = [][]float64{v}
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Block(dataset.Block{Values: []float64{2, 0, 1}, Gaps: []byte{1 << 1}})
	if err != nil {
		t.Fatal(err)
	}
	a, says := (2-m.center[0])/m.scale[0], (1-m.center[2])/m.scale[2]
	want := v[0]*a + v[1]*(v[1]*v[0]*a/(v[0]*v[0]+0.05)) + v[2]*says
	if math.Abs(s.Values[0]-want) > 1e-12 {
		t.Errorf("a score of %v, want %v", s.Values[0], want)
	}
}
