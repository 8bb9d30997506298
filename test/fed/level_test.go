package fed

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/layout"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/test/site"
)

// rawTable is a site's table as an export has it: numbers, texts of any kind, booleans and dates in
// several ways of writing, and cells that cannot be read as any of these.
func rawTable(i int) string {
	rng := rand.New(rand.NewPCG(uint64(i), 9))
	var out strings.Builder
	out.WriteString("since,color,carat,sold\n")
	for range 3000 {
		x := rng.NormFloat64()
		color := []string{"E", " E", "F", "G ", "g", "unknown", "=1+1"}[rng.IntN(7)]
		if x > 0.5 {
			color = "D"
		}
		sold := []string{"yes", "TRUE", "1", "t"}[rng.IntN(4)]
		if rng.NormFloat64() > x {
			sold = []string{"No", "false", "0", "N"}[rng.IntN(4)]
		}
		if rng.IntN(20) == 0 {
			sold = "maybe"
		}
		since := fmt.Sprintf("20%02d-0%d-1%d", 10+rng.IntN(10), 1+rng.IntN(9), rng.IntN(10))
		switch rng.IntN(30) {
		case 0:
			since = "soon"
		case 1:
			since += "T08:30:00Z"
		}
		fmt.Fprintf(&out, "%s,%s,%.4f,%s\n", since, color, 0.8+0.5*x, sold)
	}
	return out.String()
}

// TestStudyOfRawTable: a table of numbers, categories, booleans and dates through agents and
// coordinator to a result that verifies from its bytes alone.
func TestStudyOfRawTable(t *testing.T) {
	o := Options{Sites: Names(3), Rows: rawTable}
	f := Start(t, t.TempDir(), o)
	s := proposal.Spec{Name: "raw", Dataset: site.Dataset, Epsilon: 8, Delta: 1e-6, Components: 1, Missing: proposal.MissingDropRow, Columns: []proposal.Column{
		{Name: "carat", Offset: 0.8, Scale: 0.5},
		{Name: "color", Levels: []string{"D", "E", "F", "G", "Z"}},
		{Name: "sold", As: proposal.AsBoolean, Offset: 0.5, Scale: 0.5},
		{Name: "since", As: "days since 2000-01-01", Offset: 5475, Scale: 1050},
	}}
	d := f.Propose(s)
	f.Finish(d)
	r := f.Result(d)
	file, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Verify(file); err != nil {
		t.Error(err)
	}
	want := []string{"carat", "color=D", "color=E", "color=F", "color=G", "color=Z", "color=other", "sold", "since"}
	if !slices.Equal(r.Columns, want) || r.D != len(want) || r.Noise != proposal.NoiseDistributed {
		t.Fatalf("%q, noise %s", r.Columns, r.Noise)
	}
	if len(r.LeftOut) != 1 || r.LeftOut[0] != (result.LeftOut{Column: "color=Z", Why: layout.Joined}) {
		t.Errorf("left out are %v", r.LeftOut)
	}
	x := r.Components[0]
	if x[0] < 0.4 || x[1] < 0.3 || x[5] != 0 || x[7] < 0.15 || math.Abs(x[8]) > 0.15 {
		t.Errorf("%.3f", x)
	}
	// of E, " E" and F and "G " of 7 other texts where x is at most 0.5 (0.69): 2, 1, 1 and 3 of 7
	for j, share := range map[int]float64{1: 0.31, 2: 0.197, 3: 0.099, 4: 0.099, 6: 0.296} {
		if got := r.Scale[j] * r.Scale[j]; math.Abs(got-share) > 0.025 {
			t.Errorf("%s has the share %.3f, want about %.3f", r.Columns[j], got, share)
		}
	}
}
