package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/proposal"
	"covey/internal/simulate"
	"covey/internal/study"
)

// TestValidateJSON: a plan as JSON has the score and the shares of the budget that its text has.
func TestValidateJSON(t *testing.T) {
	text := []byte("name = \"x\"\ndataset = \"rows\"\nepsilon = 1\ndelta = 1e-6\nstandardize = \"private\"\n" +
		"missing = \"zero\"\n[[columns]]\nname = \"a\"\n[[columns]]\nname = \"b\"\nlevels = [\"x\", \"y\"]\n[[columns]]\nname = \"c\"\n")
	spec, err := proposal.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := simulate.Plan(spec, []int{3000, 3000, 3000}, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "study.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"study", "validate", file, "--units", "3000,3000,3000", "--json"}, &out, &errs); status != shared.ExitOK {
		t.Fatalf("exit status %d: %s", status, errs.String())
	}
	var got struct {
		Score  float64
		Shares study.Shares
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Score != want.Learning.Score || got.Shares != want.Shares() {
		t.Errorf("%+v, the plan says %v and %+v", got, want.Learning.Score, want.Shares())
	}
	if s := got.Shares; !(got.Score > 0 && s.Standardize > 0 && s.Levels > 0 && s.Filled > 0) {
		t.Errorf("%+v", got)
	}
}
