package sitedata

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/clip"
	"covey/internal/dataset"
	"covey/internal/query"
)

// gapFile is ten rows: weight lacks a fifth of them, dose all, height none.
const gapFile = `height,weight,dose,color
170,70,NA,red
171,NA,unknown,blue
172,75,,red
169,65,NA,
168,66,NA,green
174,80,NA,red
176,oops,NA,blue
171,72,NA,red
170,71,NA,red
165,60,NA,red
`

// TestGapsReachTheKernel: rows with gaps become a matrix with the same, of which the count of empty
// cells is what the file lacks; the operator is shown what share of each column is empty, of the
// file and of rows that were read alike, and figures of the values alone.
func TestGapsReachTheKernel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(gapFile), 0o600); err != nil {
		t.Fatal(err)
	}
	q := dataset.Request{Missing: dataset.MissingGaps, Columns: []dataset.Column{{Name: "height", Offset: 170, Scale: 5}, {Name: "weight", Offset: 70, Scale: 10}, {Name: "dose", Scale: 1}, {Name: "color", Scale: 1}}}
	q.Readings = []dataset.Reading{{}, {Indicator: true}, {}, {Levels: []string{"red", "blue"}, Indicator: true}}
	rows, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Matrix(rows)
	if err != nil {
		t.Fatal(err)
	}
	const d = 8 // height, weight, its indicator, dose, three of color and its indicator
	got, err := clip.CountGaps(m, []int{0, 1, 2, 3, 4, 5, 6, 7}, 1)
	if err != nil || m.D() != d {
		t.Fatal(m, err)
	}
	for j, want := range []int64{0, 2, 0, 10, 1, 1, 1, 0} {
		if got[j] != want<<16 {
			t.Errorf("coordinate %d lacks %v rows, want %d", j, float64(got[j])/(1<<16), want)
		}
	}
	sum, err := clip.Sum(m, clip.Query{Map: clip.Mean, Radius: 64, Grid: query.Grid(64)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// indicators, red, blue, other
	for j, want := range map[int]float64{2: 2, 4: 6, 5: 2, 6: 1, 7: 1} {
		if v := float64(sum[j]) * query.Grid(64); math.Abs(v-want) > 0.02 {
			t.Errorf("coordinate %d adds up to %v, want %v", j, v, want)
		}
	}
	looked, err := Look(dataset.Source{Path: path}, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Figures{looked, LookAt(rows, q.Columns, q.Readings...)} {
		// unknown and oops; a text of color is no fault
		if f.Rows != 10 || f.Dropped != 0 || f.Faulty != 2 {
			t.Errorf("%+v", f)
		}
		for j, want := range []float64{0, 0.2, 1, 0.1} {
			if c := f.Columns[j]; math.Abs(c.Empty-want) > 1e-12 {
				t.Errorf("%s: %v is empty, want %v", c.Name, c.Empty, want)
			}
		}
		if c := f.Columns[1]; math.Abs(c.Median-70.5) > 0.6 {
			t.Errorf("the median of weight is %v", c.Median)
		}
		warnings := strings.Join(f.Warnings(), "\n")
		if want := `column "dose" has no value in any row here`; !strings.Contains(warnings, want) || strings.Contains(warnings, "has no value in 20%") || strings.Contains(warnings, "has no value in 10%") {
			t.Errorf("%s\ndoes not say %s, or speaks of a few gaps", warnings, want)
		}
		for j, c := range f.Columns {
			if c.Unread != (j == 2) {
				t.Errorf("column %q: read is nothing: %t", c.Name, c.Unread)
			}
		}
	}
}

// TestManyGapsAreSaid: a small share of gaps causes no warning, since the study fills them. A large
// one does, and does not ask about the unit of measurement.
func TestManyGapsAreSaid(t *testing.T) {
	rows := &dataset.Rows{Rows: 10, Units: 10, D: 2, Values: make([]float64, 20), Gaps: make([]byte, 10)}
	for i := range 10 {
		rows.Values[2*i], rows.Values[2*i+1] = float64(i%3-1), 5+float64(i%3)
		if i < 4 {
			rows.Gaps[i] |= 1
		}
		if i < 2 {
			rows.Values[2*i+1] = 0
			rows.Gaps[i] |= 2
		}
	}
	f := LookAt(rows, []dataset.Column{{Name: "a", Scale: 1}, {Name: "b", Scale: 1}})
	w := f.Warnings()
	if len(w) != 2 || w[0] != `column "a" has no value in 40% of the rows here: missing, or at fault` || AsksUnit(w[0]) || !AsksUnit(w[1]) || !strings.Contains(w[1], `column "b" lies`) {
		t.Errorf("%q", w)
	}
}
