//go:build sklearn

package python

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/report"
	"covey/internal/result"
	"covey/internal/score"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

// sample is what the Python tests read of a study: result.json, result.npz, rows.csv, and this.
type sample struct {
	Absent []int     `json:"absent"` // rows of rows.csv that the study leaves out
	Scores []float64 `json:"scores"` // as package score has them, rows by components
	T2     []float64 `json:"t2"`
	SPE    []float64 `json:"spe"`
}

const sampleRows = 400

// write makes a sample of a result and a site's rows in a new folder.
func write(t *testing.T, dir string, r *result.Result, rows []byte) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Verify(text); err != nil {
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

// expected reads rows as an agent does, and projects them as it does.
func expected(t *testing.T, r *result.Result, path string) sample {
	t.Helper()
	plan, err := study.NewPlan(r.Proposal)
	if err != nil {
		t.Fatal(err)
	}
	model, err := score.New(r, plan)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := dataset.Read(dataset.Source{Path: path}, siteconfig.Dataset{}.Request(plan.Proposal.Spec), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.Block(dataset.Block{Values: rows.Values, Gaps: rows.Gaps, Absent: rows.Absent})
	if err != nil {
		t.Fatal(err)
	}
	return sample{append([]int{}, rows.Absent...), s.Values, s.T2, s.SPE}
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
		// in a rare level: some 1.5 of all sites' 6,000 rows, where 12 are needed for a level of
		// its own
		if rng.IntN(4000) < 1 {
			color = "Z"
		}
		fmt.Fprintf(&out, "%s,%s,%s,%s,%s\n", since, color, carat, sold, price)
	}
	return out.String()
}
