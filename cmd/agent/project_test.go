package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/score"
	"covey/internal/siteconfig"
)

// TestProjectionKeys: the keys of --json are lower-case, as everywhere.
func TestProjectionKeys(t *testing.T) {
	text, err := json.Marshal(&projection{
		Summary: &score.Summary{Limits: []score.Limit{{Quantile: 0.99, T2: 9, SPE: 7}}},
		Rotated: &score.Rotation{Axes: [][]float64{{1}}, Variances: []float64{2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"quantile":0.99,"t2":9,"spe":7}`, `{"axes":[[1]],"variances":[2]}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// TestProjectionAsksForUnits: where most rows are flagged, which a column in another unit of
// measurement causes, it is asked for.
func TestProjectionAsksForUnits(t *testing.T) {
	for flagged, asked := range map[int]bool{2: false, 45: false, 46: true, 90: true} {
		p := &projection{Summary: &score.Summary{Rows: 100, LeftOut: 10, Limits: []score.Limit{{Quantile: 0.99, T2: 9, SPE: 7}}, Flagged: []int{flagged}}}
		if text := p.text(); strings.Contains(text, "another unit of measurement") != asked {
			t.Errorf("%d of 90 flagged: %s", flagged, text)
		}
	}
}

// TestProjectionKeepsAFile: a file that is there stays as it is, and the error says what to do.
func TestProjectionKeepsAFile(t *testing.T) {
	c := projectCmd{Out: filepath.Join(t.TempDir(), "scores.csv")}
	if err := os.WriteFile(c.Out, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := c.write(t.Context(), func(io.WriteSeeker) error { return nil }, &projection{})
	if err == nil || !strings.Contains(err.Error(), "scores.csv: file exists and is not overwritten") || !strings.Contains(err.Error(), "--out") {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(c.Out); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestProjectionWithoutVariances: a study that paid for variances which noise hid is not said to
// have saved them.
func TestProjectionWithoutVariances(t *testing.T) {
	for unknown, want := range map[string]string{"": "the study did not buy", result.VarianceUnread: "too few units at this ε"} {
		p := &projection{Summary: &score.Summary{Rows: 100, Limits: []score.Limit{{Quantile: 0.99}}, Flagged: []int{0}}, unknown: unknown}
		if text := p.text(); !strings.Contains(text, "No row is flagged") || !strings.Contains(text, want) || unknown != "" && strings.Contains(text, "did not buy") {
			t.Errorf("%q: %s", unknown, text)
		}
	}
}

// TestProjectionOfNoise: limits from variances that are mostly noise are not said to flag what they
// would.
func TestProjectionOfNoise(t *testing.T) {
	for name, c := range map[string]struct {
		v        float64
		in       [2]float64
		total    float64
		of       [2]float64
		d        int
		expected bool
	}{
		"clear":                      {4, [2]float64{3.8, 4.2}, 7, [2]float64{6.8, 7.2}, 5, false},
		"a variance of noise":        {0.16, [2]float64{0, 2.3}, 7, [2]float64{6.8, 7.2}, 5, true},
		"a total of noise":           {4, [2]float64{3.8, 4.2}, 5, [2]float64{4, 6}, 5, true},
		"a total that plays no part": {4, [2]float64{3.8, 4.2}, 5, [2]float64{4, 6}, 1, false},
		"more than the total":        {4, [2]float64{3.8, 4.2}, 3.9, [2]float64{3.8, 4}, 5, true},
	} {
		r := &result.Result{K: 1, D: c.d, ExplainedVariance: []float64{c.v}, VarianceInterval: [][2]float64{c.in}, TotalVariance: c.total, TotalInterval: &c.of}
		p := &projection{Summary: &score.Summary{Rows: 100, Limits: []score.Limit{{Quantile: 0.99, T2: 9, SPE: 7}}, Flagged: []int{2}}, unsure: unsure(r)}
		if text := p.text(); strings.Contains(text, "noise may move the variances") != c.expected {
			t.Errorf("%s: %s", name, text)
		}
	}
	if unsure(&result.Result{}) {
		t.Error("nothing was bought")
	}
}

// TestProjectionOfOtherRows: of rows, or a mapping, that changed since the study it is said, and
// nothing where the ledger does not know what the study used, or of another data set.
func TestProjectionOfOtherRows(t *testing.T) {
	d := siteconfig.Dataset{Name: "icu", Path: "icu.csv"}
	mapped := d
	mapped.Columns = map[string]any{"age": map[string]any{"multiply": 2.0}}
	spec := proposal.Spec{Dataset: "icu"}
	held := &agent.Held{Data: d.Pin([32]byte{1})}
	for name, c := range map[string]struct {
		h       *agent.Held
		dataset string
		d       siteconfig.Dataset
		read    byte
		want    bool
	}{
		"the same":         {held, "icu", d, 1, false},
		"other bytes":      {held, "icu", d, 2, true},
		"another mapping":  {held, "icu", mapped, 1, true},
		"another data set": {held, "ward", d, 2, false},
		"an export's":      {&agent.Held{}, "icu", d, 2, false},
		"no ledger":        {nil, "icu", d, 2, false},
	} {
		spec.Dataset = c.dataset
		p := &projection{Summary: &score.Summary{Rows: 100}, Changed: otherRows(c.h, spec, c.d, [32]byte{c.read})}
		if text := p.text(); p.Changed != c.want || strings.Contains(text, "not the rows that the study used") != c.want {
			t.Errorf("%s: %t, %s", name, p.Changed, text)
		}
	}
}

// TestProjectionInterrupted: Ctrl-C ends a long projection, also one that waits for its first row,
// or whose file is not hashed yet, and leaves no file without a record.
func TestProjectionInterrupted(t *testing.T) {
	var ctx context.Context
	for _, answers := range []bool{true, false} {
		now, interrupt := context.WithCancel(t.Context())
		ctx = now
		c := projectCmd{Out: filepath.Join(t.TempDir(), "scores.csv")}
		err := c.write(ctx, func(to io.WriteSeeker) error {
			if answers {
				_, err := to.Write([]byte("a row"))
				interrupt()
				return err
			}
			_, err := projected(ctx, func() (*score.Summary, error) {
				if _, err := to.Write([]byte("a row")); err != nil {
					t.Error(err)
				}
				interrupt()
				<-t.Context().Done() // a database that does not answer
				return nil, nil
			})
			return err
		}, &projection{})
		if !errors.Is(err, errInterrupted) {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(c.Out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a part of the file is left: %v", err)
		}
	}
	if err := record(&terminal{&shared.Terminal{Ctx: ctx}, t.TempDir()}, &siteconfig.Config{}, &projection{}); !errors.Is(err, errInterrupted) {
		t.Errorf("recorded: %v", err)
	}
}

// TestNamesOfScores: a .npy file holds no names, so the summary has them, and no other file's.
func TestNamesOfScores(t *testing.T) {
	for file, want := range map[string]bool{"scores.npy": true, "scores.csv": false} {
		p := &projection{File: file, Summary: &score.Summary{Rows: 2, Columns: []string{"score_1", "spe"}}}
		if got := strings.Contains(p.text(), "Its columns are score_1, spe."); got != want {
			t.Errorf("%s: %q", file, p.text())
		}
	}
}
