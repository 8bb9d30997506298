package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/result"
	"covey/internal/siteconfig"
	"covey/test/runs"
	"covey/test/site"
	"covey/test/texts"
)

// TestOwnRowsStandOut: with constants that the study learned, a site hears after it which of its
// own columns are in another unit of measurement than all others', and at no other time.
func TestOwnRowsStandOut(t *testing.T) {
	const text = "name = \"s\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\nstandardize = \"private\"\n" +
		"columns = [{name = \"ward\", levels = [\"a\"]}, \"height\", \"weight\", \"lost\"]\n"
	body, err := texts.Propose(text, 20_000, 20_000, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	plan := runs.MustPlan(t, text, 20_000, 20_000, 20_000)
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("ward,height,weight,lost\n")
	for i := range 100 {
		fmt.Fprintf(&rows, "a,%d,%d,%d\n", 160+i%20, 60_000+150*i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := site.Config("alpha", "rows.csv")
	c.Coordinator = []string{"127.0.0.1:1"}
	c.Policy = siteconfig.Policy{}
	if err := site.Write(dir, c); err != nil {
		t.Fatal(err)
	}
	said := func(change func(*result.Result)) string {
		r := result.Result{
			Proposal: body, Columns: make([]string, plan.D), ScaleNote: "learned", LeftOut: []result.LeftOut{{Column: "lost"}},
			Offset: make([]float64, plan.D), Scale: make([]float64, plan.D), Mean: make([]float64, plan.D),
		}
		for j, at := range plan.Layout.Coordinates {
			r.Columns[j], r.Scale[j] = at.Name, 1
			switch at.Name {
			case "height":
				r.Scale[j], r.Mean[j] = 10, 17
			case "weight":
				r.Scale[j], r.Mean[j] = 15, 5
			}
		}
		change(&r)
		var out, errs bytes.Buffer
		standOut(&terminal{&shared.Terminal{Ctx: t.Context(), Out: &out, Err: &errs}, dir}, &r)
		if out.Len() > 0 {
			t.Errorf("stdout has %q", out.String())
		}
		return errs.String()
	}
	got := said(func(*result.Result) {})
	for _, want := range []string{"Nothing is sent.", "WARNING, for this site alone: column \"weight\" lies 4.5e+03 scales above the study's offset: is it in the unit", "column \"weight\" spreads over"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, never := range []string{`"height"`, `"lost"`, `"ward"`} {
		if strings.Contains(got, never) {
			t.Errorf("%s is warned of:\n%s", never, got)
		}
	}
	if got := said(func(r *result.Result) { r.ScaleNote = "" }); got != "" {
		t.Errorf("nothing was learned: %q", got)
	}
	if err := os.Remove(filepath.Join(dir, "rows.csv")); err != nil {
		t.Fatal(err)
	}
	if got := said(func(*result.Result) {}); strings.Contains(got, "WARNING") || strings.Contains(got, "rows.csv") {
		t.Errorf("no rows are no failure: %q", got)
	}
}
