package main

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/layout"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/simulate"
)

// TestDemoRaw runs the demo of the raw table. 40 runs captured 0.9967 on average and 0.9946 at
// least (accuracy raw): 0.9, below which the demo fails, is over 40 times as far from the mean, and
// missed with a probability below 1e-9 unless something is broken. Each of 50 files' columns has 5%
// of at least 1,610 cells empty: 2% to 8% is more than 5 deviations away, together a false reject
// in 10^5 runs.
func TestDemoRaw(t *testing.T) {
	if testing.Short() {
		t.Skip("a second demo")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	r, _ := demo(t, "--raw", "--keep", dir)
	if !(r.Captured >= enough && r.Captured <= 1+1e-12) {
		t.Errorf("captured %v, want %v to 1", r.Captured, enough)
	}
	if r.D != 30 || len(r.Columns) != 30 || r.Columns[1] != "cut=Fair" || len(r.Filled) != 30 || r.N != 53940 {
		t.Errorf("d %d, %q, %d shares of filled cells, n %d", r.D, r.Columns, len(r.Filled), r.N)
	}
	if r.Noise != proposal.NoiseDistributed || r.Center != proposal.CenterPrivate || r.Epsilon != 1 {
		t.Errorf("noise %q, center %q, ε %v", r.Noise, r.Center, r.Epsilon)
	}
	text, err := os.ReadFile(filepath.Join(dir, "study.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"offset", "scale", "noise"} {
		if strings.Contains(string(text), "\n"+key) || strings.Contains(string(text), "{ "+key) {
			t.Errorf("study.toml gives %s:\n%s", key, text)
		}
	}
	spec, err := proposal.ParseSpec(text)
	if err != nil || spec.Method != proposal.MethodAuto || spec.Noise != proposal.NoiseDistributed || spec.CentralDetail || bytes.Count(text, []byte("\n")) > 25 {
		t.Errorf("study.toml: %v, method %q, noise %q:\n%s", err, spec.Method, spec.Noise, text)
	}
	var rows int
	for _, site := range diamondSites() {
		file, err := os.Open(filepath.Join(dir, site+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		table, err := csv.NewReader(file).ReadAll()
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		rows += len(table) - 1
		for j, name := range table[0] {
			empty := 0
			for _, row := range table[1:] {
				if row[j] == "" {
					empty++
				}
			}
			share := float64(empty) / float64(len(table)-1)
			if name == parcelColumn && share != 0 || name != parcelColumn && !(share > 0.02 && share < 0.08) {
				t.Errorf("%s: %g of the cells of %s are empty", site, share, name)
			}
		}
	}
	if rows != r.N {
		t.Errorf("the sites' files have %d rows of %d", rows, r.N)
	}
}

// pooling is a demo's study, and what pooling its table finds.
func pooling(t *testing.T, c demoCmd) (proposal.Spec, *simulate.Pooled) {
	t.Helper()
	_, spec, err := c.parsed()
	if err != nil {
		t.Fatal(err)
	}
	rows, column, err := readDiamonds()
	if err != nil {
		t.Fatal(err)
	}
	data, err := pooled(rows[1:], column, spec)
	if err != nil {
		t.Fatal(err)
	}
	return spec, data
}

// TestDemoPooled: what a demo of public constants is held against has the eigenvalues of the pooled
// second moments, by an independent program to four places.
func TestDemoPooled(t *testing.T) {
	c := demoCmd{Epsilon: 1, Delta: 1e-6, Components: 1, Rounds: 12, Subspace: proposal.SubspaceBlock, Profile: proposal.ProfilePractical, Coordinators: 1}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	spec, data := pooling(t, c)
	got := 0.0
	for k, want := range []float64{4.7955, 1.3174, 0.6700, 0.1770, 0.0430, 0.0323, 0.0125} {
		sum, _ := data.Best(k + 1)
		if math.Abs(sum-got-want) > 0.00006 {
			t.Errorf("eigenvalue %d: %.5f, want %.4f", k+1, sum-got, want)
		}
		got = sum
	}
	_, best := data.Best(2)
	r := &result.Result{Scale: make([]float64, len(spec.Columns))}
	for j, c := range spec.Columns {
		r.Scale[j] = c.Scale
	}
	if all := data.Fit(r, best).Captured; math.Abs(all-1) > 1e-9 {
		t.Errorf("the pooled answer captures %v of itself", all)
	}
}

// TestDemoRawPooled: the pooled answer captures all of itself, whatever the scales that a result
// divides by; another one does not.
func TestDemoRawPooled(t *testing.T) {
	c := demoCmd{Raw: true, Epsilon: 1, Delta: 1e-6, Components: 3, Subspace: proposal.SubspaceBlock}
	spec, data := pooling(t, c)
	_, best := data.Best(3)
	at := slices.IndexFunc(spec.Coordinates(), func(c proposal.Coordinate) bool { return c.Name == "clarity=SI1" })
	last := slices.IndexFunc(spec.Coordinates(), func(c proposal.Coordinate) bool { return c.Name == "clarity=other" })
	for name, c := range map[string]struct {
		change func(*result.Result, [][]float64)
		most   float64
	}{
		"as it is": {func(*result.Result, [][]float64) {}, 1},
		"divided by twice the scales": {func(r *result.Result, x [][]float64) {
			for j := range r.Scale {
				r.Scale[j] *= 2
			}
		}, 1},
		"a scale and its loadings halved": {func(r *result.Result, x [][]float64) {
			r.Scale[0] /= 2
			for k := range x {
				x[k][0] /= 2
			}
		}, 1},
		"a level that joined other": {func(r *result.Result, x [][]float64) {
			r.LeftOut = []result.LeftOut{{Column: "clarity=SI1", Why: layout.Joined}}
			r.Scale[last] = r.Scale[at]
			for k := range x {
				x[k][at], x[k][last] = 0, x[k][at]
			}
		}, 1},
		"without carat": {func(r *result.Result, x [][]float64) {
			for k := range x {
				x[k][0] = 0
			}
		}, 0.99},
	} {
		r := &result.Result{Scale: slices.Clone(data.Scale)}
		for j, s := range r.Scale {
			if s == 0 {
				r.Scale[j] = 1
			}
		}
		x := make([][]float64, len(best))
		for k := range best {
			x[k] = slices.Clone(best[k])
		}
		c.change(r, x)
		got := data.Fit(r, x).Captured
		if c.most == 1 && math.Abs(got-1) > 1e-9 || got > c.most+1e-9 {
			t.Errorf("%s: captured %v, want %v", name, got, c.most)
		}
	}
}

// TestDemoRawRefuses: what makes no sense of a raw table is refused, with the flag's name.
func TestDemoRawRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"--noise", "central"}, {"--profile", "paper"}, {"--lambda", "7"}, {"--center", "public"}, {"--center", "pairs"},
		{"--kill-site", "2", "--at-round", "3"}, {"--kill-leader-at-round", "5", "--coordinators", "3"},
	} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), append([]string{"demo", "--raw"}, args...), &out, &errs); status != shared.ExitBad {
			t.Errorf("%v: exit status %d", args, status)
		}
		if !strings.Contains(errs.String(), args[0]) || !strings.Contains(errs.String(), "--raw") {
			t.Errorf("%v: %s", args, errs.String())
		}
	}
}
