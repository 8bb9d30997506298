//go:build sklearn

// Package python runs the tests of the package in python/ on what real studies release.
package python

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/test/fed"
	"covey/test/site"
)

// TestPython runs python/tests with samples of demo studies and of studies of a messy table. The
// tests name the samples that they need.
func TestPython(t *testing.T) {
	samples, bin := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "covey/cmd/coordinator", "covey/cmd/analyst").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, flags := range map[string]string{
		"demo":           "--components 3",
		"demo-raw":       "--raw --components 3",
		"demo-private":   "--center private --noise distributed --components 2 --method covariance",
		"demo-pairs":     "--center pairs --components 2 --subspace deflation",
		"demo-unbought":  "--variance none",
		"demo-deflation": "--components 2 --subspace deflation",
	} {
		demo(t, filepath.Join(bin, "coordinator"), filepath.Join(samples, name), flags)
	}
	studies(t, samples)

	python := cmp.Or(os.Getenv("PYTHON"), "python3")
	root, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	// A warning of NumPy or of scikit-learn would be a user's, too.
	c := exec.Command(python, "-W", "error", "-m", "unittest", "discover", "-s", filepath.Join(root, "tests"), "-t", root)
	c.Env = append(os.Environ(), "PYTHONPATH="+root, "PYTHONDONTWRITEBYTECODE=1", "COVEY_SAMPLES="+samples, "COVEY_BIN="+bin)
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "skipped") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// demo keeps a demo's result, and the rows of one of its sites.
func demo(t *testing.T, coordinator, dir, flags string) {
	t.Helper()
	kept := filepath.Join(t.TempDir(), "demo")
	c := exec.Command(coordinator, append([]string{"demo", "--json", "--keep", kept}, strings.Fields(flags)...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("demo %s: %v\n%s", flags, err, out)
	}
	text, err := os.ReadFile(filepath.Join(kept, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r result.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile(filepath.Join(kept, "fair.csv"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, &r, rows)
}

// studies writes samples of studies of messy rows: of every way to treat cells without a value, of
// levels of which two are rare, of booleans, of dates and of learned constants.
func studies(t *testing.T, samples string) {
	t.Helper()
	f := fed.Start(t, t.TempDir(), fed.Options{Sites: fed.Names(3), Rows: table})
	// Y and Z are in no row, or hardly any. A level is kept from 4 deviations of its noise up,
	// which an empty one passes in 3 of 100,000 studies: both do in one of 10^9.
	levels := []string{"D", "E", "F", "G", "Z", "Y"}
	columns := func(indicator bool) []proposal.Column {
		return []proposal.Column{
			{Name: "carat", Offset: 0.8, Scale: 0.5, Indicator: indicator},
			{Name: "color", Levels: levels, Indicator: indicator},
			{Name: "sold", As: proposal.AsBoolean, Offset: 0.5, Scale: 0.5},
			{Name: "since", As: "days since 2000-01-01", Offset: 5475, Scale: 1050, Indicator: indicator},
			{Name: "price", Offset: 4000, Scale: 3000},
		}
	}
	specs := []proposal.Spec{
		{Name: "fill", Missing: proposal.MissingFill, Columns: columns(true)},
		{Name: "zero", Missing: proposal.MissingZero, Columns: columns(true), Method: proposal.MethodPower, Rounds: 4},
		{Name: "drop", Missing: proposal.MissingDropRow, Columns: columns(false)},
		{Name: "learned", Missing: proposal.MissingFill, Columns: columns(false), Standardize: proposal.StandardizePrivate},
	}
	levels = levels[:4] // all of them kept, so that the archive has all of the result
	specs = append(specs, proposal.Spec{Name: "whole", Missing: proposal.MissingFill, Columns: columns(true)})
	rows := []byte(table(0))
	for _, s := range specs {
		s.Dataset, s.Epsilon, s.Delta, s.Components = site.Dataset, 20, 1e-6, 3
		if s.Standardize != "" {
			for j := range s.Columns {
				s.Columns[j].Offset, s.Columns[j].Scale = 0, 0
			}
		}
		d := f.Propose(s)
		f.Finish(d)
		write(t, filepath.Join(samples, s.Name), f.Result(d), rows)
	}
}
