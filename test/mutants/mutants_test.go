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
	for _, m := range mutants() {
		if strings.Contains(m.name, *only) {
			table = append(table, m)
		}
	}
	began := time.Now()
	t.Run("tree", func(t *testing.T) { treePasses(t, table) })
	var mu sync.Mutex
	survived, byAudit := map[string]bool{}, map[string]bool{}
	busy := map[string]time.Duration{} // by mutant
	report := func(m mutant, audit bool, took time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		busy[m.name] += took
		switch {
		case err != nil:
			t.Errorf("%s: %v", m.name, err)
			survived[m.name] = true
		case audit:
			byAudit[m.name] = true
		}
	}
	t.Run("mutants", func(t *testing.T) {
		for _, m := range table {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				if !m.test.empty() {
					took, err := m.test.kills(t, m.edits)
					report(m, false, took, err)
				}
				if !m.audit.empty() && (*withAudit || m.test.empty()) {
					took, err := m.audit.kills(t, m.edits)
					report(m, true, took, err)
				}
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

// treePasses runs every killer on the tree as it is, each in a process of its own. A package's
// tests are linked once for each set of tags.
func treePasses(t *testing.T, table []mutant) {
	root, err := overlay.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	type tests struct{ pkg, tags string }
	all := map[tests][]killer{}
	for _, m := range table {
		for _, k := range []killer{m.test, m.audit} {
			k.says = ""
			if of := (tests{k.pkg, k.tags}); !k.empty() && !slices.Contains(all[of], k) {
				all[of] = append(all[of], k)
			}
		}
	}
	for of, killers := range all {
		t.Run(of.pkg+","+of.tags, func(t *testing.T) {
			t.Parallel()
			// without debug information, as go test links what it runs itself
			binary := filepath.Join(dir, strings.NewReplacer("/", "_", ",", "_").Replace(of.pkg+","+of.tags)+".test")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", quick, "-ldflags=-s -w", "-tags", of.tags, "-o", binary)
			build.Dir = filepath.Join(root, of.pkg)
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%.3000s", err, out)
			}
			for _, k := range killers {
				t.Run(k.String(), func(t *testing.T) {
					cmd := exec.CommandContext(t.Context(), binary, "-test.run", overlay.Pattern(k.run), "-test.v", "-test.timeout=5m", "-test.paniconexit0")
					cmd.Dir = build.Dir
					if k.env != "" {
						cmd.Env = append(os.Environ(), k.env)
					}
					out, err := cmd.CombinedOutput()
					if name, _, _ := strings.Cut(k.run, "/"); err != nil || !strings.Contains(string(out), "--- PASS: "+name) {
						t.Errorf("it must pass where nothing is broken: %v\n%.3000s", err, out)
					}
				})
			}
		})
	}
}
