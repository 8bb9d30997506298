package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckHoldsAStudyAgainstTheBudget: a budget of a study's own epsilon and delta has room for
// it, once, and what makes room for one that does not fit is said.
func TestCheckHoldsAStudyAgainstTheBudget(t *testing.T) {
	dir, id := serving(t)
	on := func(dir string, code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if got := run(t.Context(), append([]string{"-C", dir}, args...), &out, &out); got != code {
			t.Fatalf("agent %q: exit status %d, want %d\n%s", args, got, code, out.String())
		}
		return out.String()
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
	}
	const budget = "budget = { epsilon = 0.5, delta = 1e-6 }"
	in(t, dir, "cap_rho = 0.5", budget)
	has(on(dir, 0, "reload"), "population.patients.cap_rho")
	sent := filepath.Join(dir, "pending", id.String()+".toml.gz")
	kept := filepath.Join(t.TempDir(), "sent.toml.gz")
	text, err := os.ReadFile(sent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, text, 0o600); err != nil {
		t.Fatal(err)
	}
	const fits = `ok budget of patients population "patients": the study takes ρ = 0.00770116811304`
	has(on(dir, 1, "check", "--study", kept), fits, "; 0 more such studies fit after it")
	has(on(dir, 0, "study", "show", id.String()), "more such studies 0", "by gdp")
	has(on(dir, 0, "study", "approve", "--yes", id.String()), "is approved")
	has(on(dir, 1, "check", "--study", kept), fits, "; 0 more such studies fit after it")
	another := filepath.Join(t.TempDir(), "another.toml")
	if err := os.WriteFile(another, []byte("name = \"another\"\ndataset = \"rows\"\nepsilon = 0.5\ndelta = 1e-6\n[[columns]]\nname = \"x\"\noffset = 0.0\nscale = 1.0\n[[columns]]\nname = \"y\"\noffset = 0.0\nscale = 1.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	has(on(dir, 2, "check", "--study", another), "FAILED budget of patients budget: population", "do: set budget.epsilon to at least 0.7")
	has(on(dir, 2, "check", "--json", "--study", another), `"code": "budget"`)

	alone, _ := joinedSite(t)
	in(t, alone, "cap_rho = 0.5", budget)
	has(on(alone, 1, "check", "--study", another), "ok budget of patients", "; the agent does not answer, so that what was charged before is not counted")
	in(t, alone, "epsilon = 0.5", "epsilon = 0.25")
	has(on(alone, 2, "check", "--study", another), "FAILED budget of patients", "do: at δ = 1e-06 a study of epsilon = 0.25 would fit; or set budget.epsilon to at least 0.5 in agent.toml")
}
