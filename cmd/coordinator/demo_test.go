package main

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/proposal"
	"covey/internal/result"
)

// demo runs the demo in this process and gives the one object on its stdout, as
// strict JSON of the documented fields and as raw fields.
func demo(t *testing.T, args ...string) (demoReport, map[string]json.RawMessage) {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"demo", "--json"}, args...), &out, &errs); status != shared.ExitOK {
		t.Fatalf("demo %v: exit status %d\n%s", args, status, errs.String())
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &fields); err != nil {
		t.Fatalf("stdout is not one JSON object: %v\n%s", err, out.String())
	}
	var r demoReport
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Error("stdout holds more than the object")
	}
	return r, fields
}

// TestDemo runs the whole federation. At ε = 1 the noise is a fiftieth of the
// signal: captured falls below 0.9 only if something is broken.
func TestDemo(t *testing.T) {
	t.Parallel()
	r, fields := demo(t)
	for _, name := range []string{
		"captured", "epsilon", "delta", "rounds", "sites", "n", "d", "output", "component", "digest", "bytes_per_site_per_round", "seconds",
	} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %q", name)
		}
	}
	if !(r.Captured >= 0.9 && r.Captured <= 1+1e-12) {
		t.Errorf("captured %v, want 0.9 to 1", r.Captured)
	}
	if r.Epsilon != 1 || r.Delta != 1e-6 || r.Rounds != 12 || r.Profile != proposal.ProfilePractical {
		t.Errorf("ε %v, δ %v, %d rounds, profile %q", r.Epsilon, r.Delta, r.Rounds, r.Profile)
	}
	if r.Sites != 5 || r.FewestSurvivors != 5 || r.N != 53940 || r.D != 7 || len(r.Columns) != 7 || len(r.Component) != 7 {
		t.Errorf("sites %d, fewest %d, n %d, d %d, columns %q, component %v", r.Sites, r.FewestSurvivors, r.N, r.D, r.Columns, r.Component)
	}
	norm := 0.0
	for _, v := range r.Component {
		norm += v * v
	}
	if math.Abs(norm-1) > 1e-9 {
		t.Errorf("the component's squared length is %v", norm)
	}
	if !slices.Contains([]string{proposal.OutputLast, proposal.OutputPooled}, r.Output) || r.CapturedOutputs[r.Output] != r.Captured || len(r.CapturedOutputs) != 3 {
		t.Errorf("output %q, captured %v of %v", r.Output, r.Captured, r.CapturedOutputs)
	}
	if r.Digest == (proposal.Digest{}) || !(r.BytesPerSitePerRound > 0) || !(r.Seconds > 0) || !(r.Rho > 0) || !(r.NoiseToSignal > 0 && r.NoiseToSignal < 1) {
		t.Errorf("digest %v, bytes %v, seconds %v, ρ %v, noise-to-signal %v", r.Digest, r.BytesPerSitePerRound, r.Seconds, r.Rho, r.NoiseToSignal)
	}
}

// TestDemoDropout stops one site's agent and brings it back: the rounds in
// between are over the other four.
func TestDemoDropout(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a round's deadline several times")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	r, _ := demo(t, "--kill-site", "2", "--at-round", "3", "--return-at", "6", "--keep", dir)
	if r.FewestSurvivors != 4 || r.Sites != 5 || r.N != 53940 {
		t.Errorf("fewest survivors %d of %d sites, n %d; want 4 of 5, 53940", r.FewestSurvivors, r.Sites, r.N)
	}
	if r.Captured < 0.9 {
		t.Errorf("captured %v", r.Captured)
	}
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var result result.Result
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	// Round 3 is the third: its site is out, and in again at the end.
	out := 0
	for _, rel := range result.Releases {
		back := slices.Contains(rel.Survivors, 1)
		if !back {
			out++
			if len(rel.Survivors) != 4 {
				t.Errorf("query %d: survivors %v", rel.Query, rel.Survivors)
			}
		}
		switch human := rel.Round + 1; {
		case human < 3 && !back:
			t.Errorf("round %d: site 2 is out before it was stopped", human)
		case human == result.Rounds && !back:
			t.Errorf("round %d: site 2 has not come back", human)
		}
	}
	if out == 0 {
		t.Error("no release is without site 2")
	}
	checkKept(t, dir, r)
}

// checkKept looks at what --keep left: everything that a person needs to run
// the parts by hand, and no secret that others can read.
func checkKept(t *testing.T, dir string, r demoReport) {
	want := []string{"README.md", "study.toml", "result.json", "coordinator/coordinator.toml", "coordinator/ca.key", "coordinator/signing.key"}
	for _, cut := range diamondCuts {
		site := siteName(cut)
		want = append(want, site+".csv", site+".join", site+"/agent.toml", site+"/identity.key")
	}
	for _, name := range want {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name := e.Name()
		secret := strings.HasSuffix(name, ".key") || strings.HasSuffix(name, ".join") || strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, ".toml") ||
			strings.HasSuffix(name, ".db") || name == "result.json"
		if secret && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", path, info.Mode().Perm())
		}
		// Of a data folder itself; what lies deeper is behind it.
		if e.IsDir() && (path == dir || filepath.Dir(path) == dir) && info.Mode().Perm() != 0o700 {
			t.Errorf("folder %s has mode %v, want 0700", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "study.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if spec, err := proposal.ParseSpec(text); err != nil || spec.Epsilon != r.Epsilon || len(spec.Sites) != 5 {
		t.Errorf("study.toml: %v, ε %v, sites %q", err, spec.Epsilon, spec.Sites)
	}
	// It says what is in force, not what was left to defaults.
	if strings.Contains(string(text), "''") || !strings.Contains(string(text), "on_dropout = 'continue'") {
		t.Errorf("study.toml has empty fields:\n%s", text)
	}
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"study", "validate", filepath.Join(dir, "study.toml"), "--units", "1610,4906,12082,13791,21551"}, &out, &errs); status != shared.ExitOK {
		t.Errorf("study validate: exit status %d: %s", status, errs.String())
	}
}

// TestDemoFailover stops the coordinator that leads: another goes on, and the
// component is as good.
func TestDemoFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("a second demo, of three coordinators")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	r, fields := demo(t, "--coordinators", "3", "--kill-leader-at-round", "5", "--keep", dir)
	if r.Coordinators != 3 || r.LeadersKilled != 1 || !(r.ResumeSeconds > 0 && r.ResumeSeconds < r.Seconds) {
		t.Errorf("%d coordinators, %d leaders killed, resumed after %v of %v s", r.Coordinators, r.LeadersKilled, r.ResumeSeconds, r.Seconds)
	}
	if r.Captured < 0.9 || r.FewestSurvivors != 5 {
		t.Errorf("captured %v, fewest survivors %d", r.Captured, r.FewestSurvivors)
	}
	if _, ok := fields["resume_seconds"]; !ok {
		t.Error("no field resume_seconds")
	}
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Verify(text); err != nil {
		t.Errorf("the result does not verify: %v", err)
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil || !strings.Contains(string(readme), "coordinator-3") {
		t.Errorf("README.md does not name the third coordinator's folder: %v", err)
	}
}
