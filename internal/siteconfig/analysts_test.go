package siteconfig

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestAnalystsAreChecked: names, fingerprints and limits of [policy.analysts]; a key is listed
// once.
func TestAnalystsAreChecked(t *testing.T) {
	const a, b = "abcd-efgh-ijkl-mnop-qrst-uvwx", "bbcd-efgh-ijkl-mnop-qrst-uvwx"
	good := strings.Replace(goodConfig, "cap_rho = 0.25", "budget = { epsilon = 3.0, delta = 1e-6 }", 1)
	for _, c := range []struct{ analysts, key, reason string }{
		{`ada = { key = "` + a + `" }`, "", ""},
		{`ada = { key = "` + a + `", max_epsilon_total = 2.0 }`, "", ""},
		{`ada = { key = "` + a + `", max_epsilon_total = -1.0 }`, "policy.analysts.ada.max_epsilon_total", "positive"},
		{`ada = { key = "` + a + `", max_epsilon_total = inf }`, "policy.analysts.ada.max_epsilon_total", "positive"},
		{`ada = { key = "` + a + `", max_epsilon_total = 2000.0 }`, "policy.analysts.ada.max_epsilon_total", "epsilon"},
		{"", "policy.analysts", "lists nobody"},
		{`ada = { key = "abcd" }`, "policy.analysts.ada.key", "fingerprint"},
		{`ada = { max_epsilon_total = 1.0 }`, "policy.analysts.ada.key", "fingerprint"},
		{`"A b" = { key = "` + a + `" }`, "policy.analysts", "name"},
		{`ada = { key = "` + a + `" }` + "\n" + `bob = { key = "` + a + `" }`, "policy.analysts.bob.key", "ada"},
		{`ada = { key = "` + a + `", budget = 1 }`, "policy.analysts.ada.budget", "unknown"},
	} {
		_, err := Parse([]byte(good+"[policy.analysts]\n"+c.analysts+"\n"), File)
		at, bad := errors.AsType[*Error](err)
		if bad != (c.key != "") || bad && (!strings.HasPrefix(at.Key, c.key) || !strings.Contains(at.Error(), c.reason)) {
			t.Errorf("%s: %v", c.analysts, err)
		}
	}
	limited := []byte(goodConfig + "[policy.analysts]\nada = { key = \"" + a + "\", max_epsilon_total = 1.0 }\n")
	if _, err := Parse(limited, File); err == nil || !strings.Contains(err.Error(), "in place of cap_rho") {
		t.Errorf("a limit in ε for a budget in ρ: %v", err)
	}
	old, err := Parse([]byte(good), File)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := Parse([]byte(good+"[policy.analysts]\nada = { key = \""+a+"\" }\n"), File)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Parse([]byte(good+"[policy.analysts]\nada = { key = \""+b+"\", max_epsilon_total = 1.0 }\n"), File)
	if err != nil {
		t.Fatal(err)
	}
	if d := old.Diff(listed); !slices.Equal(d, []string{"+policy.analysts.ada"}) || len(NeedsRestart(d)) > 0 {
		t.Errorf("a new analyst: %q", d)
	}
	if d := listed.Diff(other); !slices.Equal(d, []string{"policy.analysts.ada.key", "policy.analysts.ada.max_epsilon_total"}) {
		t.Errorf("another key: %q", d)
	}
	if words := listed.Policy.Unattended(); !strings.Contains(words, `signed by a listed analyst ("ada")`) {
		t.Error(words)
	}
	if words := old.Policy.Unattended(); !strings.Contains(words, "own operator, without a signature") {
		t.Error(words)
	}
}
