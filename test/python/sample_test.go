//go:build sklearn

package python

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/clip"
	"covey/internal/dataset"
	"covey/internal/report"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// sample is what the Python tests read of a study: result.json and result.npz, rows.csv, and this.
type sample struct {
	// Scaled are the first rows of rows.csv as the study's own code has them with the result's
	// constants, gaps filled by its components: rows by D. Nil stands for a row that the study
	// leaves out.
	Scaled [][]float64 `json:"scaled"`
	Scores [][]float64 `json:"scores"`
}

const sampleRows = 400

// write makes a sample of a result and a site's rows in a new folder.
func write(t *testing.T, dir string, r *study.Result, rows []byte) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := study.Verify(text); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(rows), "\n")
	table := strings.Join(lines[:min(len(lines), sampleRows+1)], "")
	for name, content := range map[string][]byte{"result.json": text, "rows.csv": []byte(table)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, write := range map[string]func(f *os.File) error{
		"result.npz": func(f *os.File) error { return report.WriteNPZ(f, r) },
		"result.csv": func(f *os.File) error { return report.WriteCSV(f, r) },
		"sample.json": func(f *os.File) error {
			return json.NewEncoder(f).Encode(expected(t, r, filepath.Join(dir, "rows.csv")))
		},
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			err = write(f)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// expected reads rows as an agent does, and moves and fills them as a study does.
func expected(t *testing.T, r *study.Result, path string) (out sample) {
	t.Helper()
	plan, err := study.NewPlan(r.Proposal)
	if err != nil {
		t.Fatal(err)
	}
	q := siteconfig.Dataset{}.Request(plan.Proposal.Spec)
	rows, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	absent := map[int]bool{}
	for _, i := range rows.Absent {
		absent[i] = true
	}
	// The file's rows are less the offsets already, and over the public scales.
	center, scale, limit := make([]float64, r.D), make([]float64, r.D), make([]float64, r.D)
	left := map[string]bool{}
	for _, l := range r.LeftOut {
		left[l.Column] = true
	}
	for j, at := range plan.Coordinates() {
		scale[j], limit[j] = r.Scale[j], math.Inf(1)
		if c := plan.Proposal.Spec.Columns[at.Column]; !at.Gap {
			scale[j] /= c.Scale
		}
		center[j] = r.Mean[j] * scale[j]
		if left[r.Columns[j]] {
			scale[j] = 0
		}
	}
	var found []float64
	for _, v := range r.Components {
		found = append(found, v...)
	}
	stride := (rows.D + 7) / 8
	for i := range rows.Rows {
		if absent[i] {
			out.Scaled, out.Scores = append(out.Scaled, nil), append(out.Scores, nil)
			continue
		}
		one := &dataset.Rows{Values: rows.Values[i*rows.D : (i+1)*rows.D], Rows: 1, Units: 1, D: rows.D}
		if rows.Gaps != nil {
			one.Gaps = rows.Gaps[i*stride : (i+1)*stride]
		}
		row := scaled(t, plan, one, center, scale, limit, found)
		scores := make([]float64, r.K)
		for c, v := range r.Components {
			for j := range v {
				scores[c] += v[j] * row[j]
			}
		}
		out.Scaled, out.Scores = append(out.Scaled, row), append(out.Scores, scores)
	}
	return out
}

// scaled returns one row as package clip makes it: a mean of one unit, on a grid of 2^-32.
func scaled(t *testing.T, plan *study.Plan, one *dataset.Rows, center, scale, limit, found []float64) []float64 {
	t.Helper()
	m, err := sitedata.Matrix(one)
	if into := plan.JoinLevels(scale); err == nil && into != nil {
		m, err = m.Join(into)
	}
	if err == nil {
		m, err = m.Standardize(center, scale, limit)
	}
	if err == nil && plan.Proposal.Spec.Missing == study.MissingFill {
		m, err = m.Fill(found)
	}
	const radius = 256
	const grid = radius * 0x1p-40
	var sum []int64
	if err == nil {
		of, _ := clip.MapOf(study.KindMean)
		sum, err = clip.Sum(m, clip.Query{Map: of, Radius: radius, Grid: grid}, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, square := make([]float64, len(sum)), 0.0
	for j, v := range sum {
		out[j] = float64(v) * grid
		square += out[j] * out[j]
	}
	if square > radius*radius/4 {
		t.Fatalf("%s: a row may be clipped", plan.Proposal.Spec.Name)
	}
	return out
}

// table is a site's table as an export has it: numbers, levels, booleans and dates in several ways
// of writing, empty cells, and cells that are no value.
func table(i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 18))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	var out strings.Builder
	out.WriteString("since,color,carat,sold,price\n")
	for range 2000 {
		x := rng.NormFloat64()
		color, carat, sold := pick("E", " E", "F", "G ", "g", "unknown", "=1+1"), fmt.Sprintf("%.4f", 0.8+0.5*x), pick("yes", "TRUE", "1", "t")
		if x > 0.5 {
			color = "D"
		}
		if rng.NormFloat64() > x {
			sold = pick("No", "false", "0", "N")
		}
		since, price := fmt.Sprintf("20%02d-0%d-1%d", 10+rng.IntN(10), 1+rng.IntN(9), rng.IntN(10)), fmt.Sprintf("%.2f", 4000+3000*x+1000*rng.NormFloat64())
		switch rng.IntN(12) {
		case 0:
			since = pick("soon", "", "2012-02-30", "NA")
		case 1:
			since += pick("T08:30:00Z", " 23:59", "T08:30:00+02:00")
		case 2:
			color = pick("", "NA", "nan", "  ")
		case 3:
			carat = pick("", "NaN", "n/a", "1_0", "1_", "0x10", "0x1p-1", "１")
		case 4:
			sold = pick("maybe", "", "2")
		case 5:
			price = pick("", "1e999", "inf", "-", "4000 $")
		}
		// in a rare level, of 3 rows in 1,000
		if rng.IntN(1000) < 3 {
			color = "Z"
		}
		fmt.Fprintf(&out, "%s,%s,%s,%s,%s\n", since, color, carat, sold, price)
	}
	return out.String()
}
