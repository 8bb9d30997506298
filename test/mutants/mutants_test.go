//go:build mutants

package mutants

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"covey/test/overlay"
)

var (
	withAudit = flag.Bool("audit", true, "also run the privacy audit on every mutant that it should kill")
	only      = flag.String("only", "", "part of the names of the mutants to build")
)

type edit = overlay.Edit

// quick builds the package under test without inlining, which takes a third of the processor time
// away: a mutant's test runs once. The tree's are built alike.
const quick = "-gcflags=-l"

// killer is a test that must pass on the tree as it is and fail on a mutant.
type killer struct {
	pkg  string // below the module's root
	run  string // as -run takes it, without anchors
	tags string
	env  string // one variable, NAME=value
	says string // in its output when it fails, where its name does not say enough
}

// mutant is a build that breaks a promise.
type mutant struct {
	name  string
	item  int // of the thirteen kinds of broken promise; 0 for further ones
	edits []edit
	test  killer
	audit killer // the audit's scene that kills it too; empty where no release shows it
}

// tests are a package's, built with tags.
type tests struct{ pkg, tags string }

func (k killer) of() tests { return tests{k.pkg, k.tags} }

// trial is a mutant and one of the tests that must see it.
type trial struct {
	mutant
	killer
	audit bool
}

func (k killer) empty() bool { return k.run == "" }

func (k killer) String() string {
	s := strings.TrimPrefix(k.pkg, "internal/") + " " + k.run
	if k.env != "" {
		s += " (" + k.env + ")"
	}
	return s
}

// command is the go test of a killer on a mutant, of which list is the overlay, without the
// needless files of tests.
func (k killer) command(t *testing.T, list string, needless []string) *exec.Cmd {
	cmd := overlay.Test(t.Context(), k.pkg, k.run, "-timeout=5m", quick, "-tags", k.tags, "-overlay", list)
	if drawsAtRandom(t, k.pkg, needless) {
		// a failure that is wanted leaves nothing in the tree
		cmd.Args = append(cmd.Args, "-rapid.nofailfile")
	}
	if k.env != "" {
		cmd.Env = append(os.Environ(), k.env)
	}
	return cmd
}

// drawsAtRandom reports whether a package's tests use rapid, without those of needless.
func drawsAtRandom(t *testing.T, pkg string, needless []string) bool {
	root, err := overlay.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		if slices.Contains(needless, filepath.ToSlash(filepath.Join(pkg, filepath.Base(file)))) {
			return false
		}
		raw, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(raw), `"pgregory.net/rapid"`)
	})
}

var (
	asserted = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: `)
	crashed  = regexp.MustCompile(`(?m)^(panic: |fatal error: |FAIL\s.*\[(build|setup) failed\]|testing: warning: no tests to run)`)
)

// kills runs the test on the mutant. Only an assertion of that test kills: what does not compile,
// panics or runs out of time does not.
// busy is the processor time of the build and the test.
func (k killer) kills(t *testing.T, edits []edit) (busy time.Duration, err error) {
	needless, err := overlay.Needless(k.pkg, k.run)
	if err != nil {
		return 0, err
	}
	list, err := overlay.Write(t.TempDir(), edits, needless...)
	if err != nil {
		return 0, err
	}
	cmd := k.command(t, list, needless)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil {
		busy = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return busy, k.judge(string(out), err)
}

// judge returns why a run that ended with err and printed text kills nothing.
func (k killer) judge(text string, err error) error {
	name, _, _ := strings.Cut(k.run, "/")
	switch {
	case err == nil:
		return fmt.Errorf("%s passes on it", k)
	case crashed.MatchString(text), !strings.Contains(text, "--- FAIL: "+name), !asserted.MatchString(text), !strings.Contains(text, k.says):
		return fmt.Errorf("%s fails, but not by an assertion of its own:\n%.3000s", k, text)
	}
	return nil
}

// TestMutants: every mutant is killed, by a test that passes without it.
func TestMutants(t *testing.T) {
	var table []mutant
	all := map[tests][]trial{}
	for _, m := range mutants() {
		if !strings.Contains(m.name, *only) {
			continue
		}
		table = append(table, m)
		if !m.test.empty() {
			all[m.test.of()] = append(all[m.test.of()], trial{m, m.test, false})
		}
		if !m.audit.empty() && (*withAudit || m.test.empty()) {
			all[m.audit.of()] = append(all[m.audit.of()], trial{m, m.audit, true})
		}
	}
	began := time.Now()
	var mu sync.Mutex
	survived, byAudit := map[string]bool{}, map[string]bool{}
	busy := map[string]time.Duration{} // by mutant
	report := func(r trial, took time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		busy[r.name] += took
		switch {
		case err != nil:
			t.Errorf("%s: %v", r.name, err)
			survived[r.name] = true
		case r.audit:
			byAudit[r.name] = true
		}
	}
	t.Run("of", func(t *testing.T) {
		for of, trials := range all {
			t.Run(of.pkg+","+of.tags, func(t *testing.T) {
				t.Parallel()
				of.judge(t, trials, report)
			})
		}
	})
	builds, killed := map[int]int{}, map[int]int{} // by item
	seen := map[int]bool{}
	for _, m := range table {
		audit := "no release shows it"
		if byAudit[m.name] {
			audit = "killed by " + m.audit.run
		} else if !m.audit.empty() {
			audit = "not run, or survived"
		}
		t.Logf("%2d %5.1f s %-62s %s; audit: %s", m.item, busy[m.name].Seconds(), m.name, m.test, audit)
		builds[m.item]++
		if !survived[m.name] {
			killed[m.item]++
		}
		seen[m.item] = seen[m.item] || byAudit[m.name]
	}
	listed, shown := 0, 0
	for item := 1; item <= 13; item++ {
		if builds[item] > 0 && killed[item] == builds[item] {
			listed++
		}
		if seen[item] {
			shown++
		}
	}
	t.Logf("figure: %d of 13 killed, %d of them by the audit alone too; with %d builds of these and %d further mutants %d of %d killed, %.0f s",
		listed, shown, len(table)-builds[0], builds[0], len(table)-len(survived), len(table), time.Since(began).Seconds())
	if *only == "" && listed != 13 {
		t.Errorf("%d of the 13 are killed", listed)
	}
}

// judge builds what of trials goes into one program, runs each test on it as the tree is, then with
// each mutant; the others get builds of their own.
func (of tests) judge(t *testing.T, trials []trial, report func(trial, time.Duration, error)) {
	var sets [][]edit
	for _, r := range trials {
		sets = append(sets, r.edits)
	}
	list, merged, err := overlay.Merge(t.TempDir(), sets)
	if err != nil {
		t.Fatal(err)
	}
	// without debug information, as go test links what it runs itself
	binary := filepath.Join(t.TempDir(), "all.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", quick, "-ldflags=-s -w", "-tags", of.tags, "-overlay", list, "-o", binary)
	if build.Dir, err = folder(of.pkg); err != nil {
		t.Fatal(err)
	}
	if out, err := build.CombinedOutput(); err != nil {
		// Together they are no program: each is then built by itself, and who is none says so.
		t.Logf("the mutants of %s do not build together: %v\n%.3000s", of.pkg, err, out)
		for _, r := range trials {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				took, err := r.kills(t, r.edits)
				report(r, took, err)
			})
		}
		return
	}
	rapid := drawsAtRandom(t, of.pkg, nil)
	run := func(k killer, variant int) (string, time.Duration, error) {
		cmd := exec.CommandContext(t.Context(), binary, "-test.run", overlay.Pattern(k.run), "-test.v", "-test.timeout=5m", "-test.paniconexit0")
		if rapid {
			cmd.Args = append(cmd.Args, "-rapid.nofailfile") // a failure that is wanted leaves nothing in the tree
		}
		cmd.Dir, cmd.Env = build.Dir, append(os.Environ(), fmt.Sprintf("%s=%d", overlay.Variant, variant))
		if k.env != "" {
			cmd.Env = append(cmd.Env, k.env)
		}
		out, err := cmd.CombinedOutput()
		var busy time.Duration
		if cmd.ProcessState != nil {
			busy = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		return string(out), busy, err
	}
	seen := map[killer]bool{}
	t.Run("tree", func(t *testing.T) {
		for _, r := range trials {
			k := r.killer
			k.says = ""
			if seen[k] {
				continue
			}
			seen[k] = true
			t.Run(k.String(), func(t *testing.T) {
				t.Parallel()
				out, _, err := run(k, 0)
				if name, _, _ := strings.Cut(k.run, "/"); err != nil || !strings.Contains(out, "--- PASS: "+name) {
					t.Errorf("it must pass where nothing is broken: %v\n%.3000s", err, out)
				}
			})
		}
	})
	for i, r := range trials {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if !merged[i] {
				took, err := r.kills(t, r.edits)
				report(r, took, err)
				return
			}
			out, took, err := run(r.killer, i+1)
			if err = r.judge(out, err); err != nil { // what survives among others is tried by itself
				var more time.Duration
				more, err = r.kills(t, r.edits)
				took += more
			}
			report(r, took, err)
		})
	}
}

// folder returns the folder of a package that is named from the module's root.
func folder(pkg string) (string, error) {
	root, err := overlay.Root()
	return filepath.Join(root, pkg), err
}
