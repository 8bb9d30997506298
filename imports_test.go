package covey

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows are who may import whom (docs/adr/0001-house.md). A package that is not
// here fails the test: say where a new room stands before building it.
var arrows = map[string][]string{
	"proto/covey/v1":     {},
	"internal/query":     {},
	"internal/histogram": {"internal/query"},
	"internal/clip":      {"internal/query"},
	// What released counts and moments say of columns.
	"internal/standardize": {"internal/query"},
	"internal/noise":       {},
	"internal/graph":       {},
	"internal/secagg":      {"internal/graph"},
	"internal/failpoint":   {},
	"internal/memory":      {},
	"internal/chain":       {},
	"internal/shelf":       {},
	"internal/outline":     {"internal/analysis", "internal/chain", "internal/membership", "internal/pki", "internal/proposal", "internal/round", "internal/shelf", "internal/study", "internal/wire"},
	"internal/bolt":        {},
	"internal/fsync":       {},
	"internal/ledger":      {"internal/bolt", "internal/chain", "internal/failpoint", "internal/fsync", "internal/packed"},
	"internal/strict":      {},
	"internal/studyfile":   {"internal/name", "internal/strict"},
	"internal/dataset":     {},
	// Readers of formats, which the commands that read them import.
	"internal/dataset/server":   {"internal/dataset"},
	"internal/dataset/mariadb":  {"internal/dataset", "internal/dataset/server"},
	"internal/dataset/npy":      {"internal/dataset"},
	"internal/dataset/parquet":  {"internal/dataset", "internal/memory"},
	"internal/dataset/postgres": {"internal/dataset", "internal/dataset/server"},
	"internal/rowcache":         {"internal/dataset"},
	"internal/name":             {},
	"internal/pki":              {"internal/fsync", "internal/name"},
	"internal/replica":          {"internal/bolt", "internal/failpoint", "internal/fsync"},
	"internal/frame":            {"internal/name"},
	// The one room of the generated messages.
	"internal/wire":       {"internal/chain", "internal/frame", "internal/name", "internal/noise", "internal/pki", "internal/proposal", "internal/study", "proto/covey/v1"},
	"internal/stream":     {"internal/chain", "internal/proposal", "internal/wire"},
	"internal/admission":  {"internal/pki", "internal/wire"},
	"internal/membership": {"internal/pki", "internal/proposal"},
	"internal/analysis":   {"internal/proposal", "internal/round", "internal/study", "internal/wire"},
	// Eigenvectors, the same to the last bit on every processor.
	"internal/linalg":      {},
	"internal/proposal":    {"internal/graph", "internal/linalg", "internal/name", "internal/query", "internal/strict", "internal/studyfile"},
	"internal/packed":      {},
	"internal/layout":      {"internal/proposal", "internal/query", "internal/standardize"},
	"internal/study":       {"internal/histogram", "internal/layout", "internal/linalg", "internal/noise", "internal/packed", "internal/query", "internal/secagg", "internal/standardize", "internal/proposal"},
	"internal/result":      {"internal/frame", "internal/chain", "internal/layout", "internal/linalg", "internal/packed", "internal/secagg", "internal/standardize", "internal/strict", "internal/proposal", "internal/study"},
	"internal/draft":       {"internal/frame", "internal/name", "internal/proposal", "internal/studyfile"},
	"internal/round":       {"internal/proposal", "internal/study", "internal/wire"},
	"internal/sheet":       {"internal/frame", "internal/result", "internal/proposal", "internal/study", "internal/worth"},
	"internal/picture":     {"internal/result", "internal/proposal", "internal/study"},
	"internal/report":      {"internal/name", "internal/picture", "internal/result", "internal/proposal", "internal/study", "internal/worth"},
	"internal/prior":       {"internal/linalg"},
	"internal/worth":       {"internal/linalg", "internal/prior", "internal/result", "internal/proposal", "internal/study"},
	"internal/compare":     {"internal/frame", "internal/linalg", "internal/result", "internal/proposal", "internal/study", "internal/worth"},
	"internal/answer":      {"internal/proposal", "internal/study", "internal/clip"},
	"internal/notify":      {"internal/pki"},
	"internal/siteconfig":  {"internal/dataset", "internal/name", "internal/noise", "internal/notify", "internal/pki", "internal/strict", "internal/proposal", "internal/study"},
	"internal/egress":      {"internal/proposal", "internal/study"},
	"internal/sitedata":    {"internal/clip", "internal/dataset", "internal/proposal", "internal/study"},
	"internal/simulate":    {"internal/aggregate", "internal/answer", "internal/clip", "internal/dataset", "internal/dataset/npy", "internal/layout", "internal/linalg", "internal/noise", "internal/siteconfig", "internal/sitedata", "internal/result", "internal/proposal", "internal/study", "internal/worth"},
	"internal/score":       {"internal/clip", "internal/dataset", "internal/linalg", "internal/name", "internal/sitedata", "internal/result", "internal/proposal", "internal/study"},
	"internal/profile":     {"internal/dataset", "internal/siteconfig", "internal/strict", "internal/proposal"},
	"internal/proposals":   {"internal/frame", "internal/packed", "internal/pki", "internal/proposal", "internal/study"},
	"internal/terms":       {"internal/frame", "internal/proposal", "internal/study"},
	"internal/enroll":      {"internal/frame", "internal/pki", "internal/siteconfig", "internal/wire"},
	"internal/analyst":     {"internal/enroll", "internal/frame", "internal/notify", "internal/pki", "internal/siteconfig", "internal/strict", "internal/result", "internal/proposal", "internal/study", "internal/wire"},
	"internal/doctor":      {"internal/dataset", "internal/enroll", "internal/frame", "internal/answer", "internal/memory", "internal/pki", "internal/profile", "internal/sitedata", "internal/siteconfig", "internal/proposal", "internal/study", "internal/wire"},
	"internal/holding":     {"internal/answer", "internal/clip", "internal/dataset", "internal/proposal", "internal/rowcache", "internal/siteconfig", "internal/sitedata", "internal/study"},
	"internal/uplink":      {"internal/graph", "internal/egress", "internal/enroll", "internal/failpoint", "internal/pki", "internal/proposal", "internal/proposals", "internal/study", "internal/wire"},
	"internal/limits":      {"internal/ledger", "internal/noise", "internal/pki", "internal/proposal", "internal/siteconfig", "internal/study"},
	"internal/keyring":     {"internal/ledger", "internal/secagg", "internal/study", "internal/wire"},
	"internal/chainwatch":  {"internal/chain", "internal/ledger", "internal/study", "internal/wire"},
	"internal/responder":   {"internal/aggregate", "internal/chain", "internal/chainwatch", "internal/clip", "internal/egress", "internal/frame", "internal/holding", "internal/keyring", "internal/ledger", "internal/proposal", "internal/result", "internal/secagg", "internal/study", "internal/uplink", "internal/wire"},
	"internal/agent":       {"internal/limits", "internal/chainwatch", "internal/keyring", "internal/egress", "internal/enroll", "internal/holding", "internal/uplink", "internal/proposals", "internal/sitedata", "internal/siteconfig", "internal/terms", "internal/result", "internal/proposal", "internal/study", "internal/ledger", "internal/dataset", "internal/rowcache", "internal/noise", "internal/pki", "internal/frame", "internal/notify", "internal/wire", "internal/responder"},
	"internal/control":     {"internal/agent", "internal/chain", "internal/chainwatch", "internal/ledger", "internal/pki", "internal/proposal", "internal/siteconfig", "internal/sitedata"},
	"internal/people":      {"internal/pki", "internal/proposal"},
	"internal/aggregate":   {"internal/noise", "internal/secagg", "internal/study"},
	"internal/session":     {"internal/aggregate", "internal/graph", "internal/round", "internal/secagg", "internal/study", "internal/wire"},
	"internal/coordinator": {"internal/admission", "internal/frame", "internal/stream", "internal/session", "internal/analysis", "internal/chain", "internal/membership", "internal/outline", "internal/people", "internal/shelf", "internal/result", "internal/proposal", "internal/study", "internal/round", "internal/pki", "internal/wire"},
	"internal/operator":    {"internal/coordinator", "internal/membership", "internal/outline", "internal/people", "internal/pki", "internal/proposal", "internal/study"},
	"internal/dashboard":   {"internal/frame", "internal/outline", "internal/people", "internal/round", "internal/sheet", "internal/result", "internal/proposal", "internal/study", "internal/noise", "internal/picture", "internal/pki", "internal/style", "internal/worth"},
	"internal/sitepage":    {"internal/agent", "internal/limits", "internal/doctor", "internal/egress", "internal/frame", "internal/ledger", "internal/pki", "internal/proposal", "internal/siteconfig", "internal/sitedata", "internal/study", "internal/style"},
	"internal/style":       {},
	"internal/trace":       {"internal/outline", "internal/round", "internal/proposal"},
	"internal/node":        {"internal/admission", "internal/coordinator", "internal/operator", "internal/outline", "internal/membership", "internal/notify", "internal/people", "internal/round", "internal/frame", "internal/dashboard", "internal/replica", "internal/pki", "internal/strict", "internal/proposal"},
	"test/history":         {"internal/failpoint", "internal/packed", "internal/round", "internal/proposal", "internal/study", "internal/secagg", "internal/noise", "proto/covey/v1"},
	"test/sim":             {"internal/result", "internal/agent", "internal/failpoint", "internal/ledger", "internal/node", "internal/replica", "internal/round", "internal/proposal", "internal/study", "test/fed", "test/history", "test/network", "test/site"},
	// Writes the assembly of internal/clip.
	"tools/kernels": {},
	// Writes the tables of the tutorials.
	"examples/clinic": {},
	// Runs a command on a container's first start; the image has no shell.
	"deploy/image/once": {},
	"deploy/release":    {},
	"cmd/agent":         {"cmd/internal/cli", "internal/control", "internal/chain", "internal/chainwatch", "internal/proposals", "internal/sitepage", "internal/agent", "internal/holding", "internal/profile", "internal/sitedata", "internal/doctor", "internal/enroll", "internal/egress", "internal/siteconfig", "internal/frame", "internal/clip", "internal/result", "internal/proposal", "internal/study", "internal/pki", "internal/ledger", "internal/limits", "internal/score", "internal/dataset", "internal/dataset/mariadb", "internal/dataset/parquet", "internal/dataset/postgres", "internal/memory", "internal/noise", "internal/dataset/npy"},
	"cmd/analyst":       {"cmd/internal/cli", "internal/analyst", "internal/dataset/parquet", "internal/enroll", "internal/frame", "internal/pki", "internal/report", "internal/sheet", "internal/result", "internal/proposal", "internal/study", "internal/wire", "internal/worth"},
	"cmd/internal/cli":  {"internal/compare", "internal/draft", "internal/enroll", "internal/frame", "internal/pki", "internal/simulate", "internal/result", "internal/proposal", "internal/study", "internal/wire", "internal/worth"},
	// The demo runs agents in the coordinator's process; nothing else there may.
	"cmd/coordinator": {"cmd/internal/cli", "internal/coordinator", "internal/operator", "internal/outline", "internal/membership", "internal/frame", "internal/people", "internal/round", "internal/result", "internal/proposal", "internal/study", "internal/noise", "internal/pki", "internal/node", "internal/agent", "internal/enroll", "internal/siteconfig", "internal/memory", "internal/simulate", "internal/trace", "internal/worth"},
	// A module of its own, which may import the rooms above.
	"experiments/run":      {"internal/layout", "internal/query", "internal/result", "internal/proposal", "internal/study", "internal/answer", "internal/clip", "internal/noise", "internal/simulate"},
	"experiments/accuracy": {"experiments/run", "internal/linalg", "internal/noise", "internal/picture", "internal/simulate", "internal/standardize", "internal/result", "internal/proposal", "internal/study", "internal/worth"},
	// Studies without a network, by the functions of agents and coordinator themselves.
	"experiments/audit":  {"internal/aggregate", "internal/clip", "internal/answer", "internal/linalg", "internal/noise", "internal/secagg", "internal/result", "internal/proposal", "internal/study", "test/parties"},
	"experiments/timing": {"internal/clip", "internal/noise", "internal/query"},
	// Benchmarks, for which a group of sites runs the protocol alone, and a baseline without masks.
	"experiments/bench":         {"internal/graph", "internal/noise", "internal/secagg", "internal/wire", "proto/covey/v1", "test/parties"},
	"experiments/bench/delay":   {},
	"experiments/bench/kernel":  {},
	"experiments/bench/masks":   {},
	"experiments/performance":   {},
	"experiments/bench/project": {"experiments/bench/table", "internal/dataset", "internal/dataset/npy", "internal/dataset/parquet", "internal/score", "internal/siteconfig", "internal/result", "internal/proposal", "internal/study"},
	"experiments/bench/table":   {},
	"experiments/bench/plain":   {"internal/clip", "internal/answer", "internal/noise", "internal/pki", "internal/secagg", "internal/proposal", "internal/study", "internal/wire", "proto/covey/v1"},
	// Servers for tests; built under the tags mariadb and postgres alone.
	"test/dbtest":    {},
	"test/mariatest": {"test/dbtest", "test/must", "test/network"},
	"test/pgtest":    {"test/dbtest"},
	// What several rooms of tests share.
	"test/fed":     {"internal/agent", "internal/enroll", "internal/siteconfig", "internal/outline", "internal/node", "internal/round", "internal/result", "internal/proposal", "test/must", "test/network", "test/site"},
	"test/browser": {},
	"test/network": {},
	"test/overlay": {},
	"test/port":    {"internal/pki", "internal/proposal", "internal/wire", "proto/covey/v1", "test/must", "test/site"},
	"test/parties": {"internal/secagg"},
	"test/cost":    {},
	"test/command": {},
	"test/disk":    {},
	"test/must":    {},
	"test/pty":     {},
	"test/lines":   {},
	"test/rows":    {"internal/dataset", "test/cost"},
	// A study of every kind: its text, and releases made up for it.
	"test/texts": {"internal/proposal"},
	"test/runs":  {"internal/secagg", "internal/query", "internal/linalg", "internal/proposal", "internal/study", "test/texts"},
	"test/site":  {"internal/answer", "internal/clip", "internal/pki", "internal/siteconfig", "internal/proposal", "internal/study", "test/must"},
}

// demoOnly are the files of cmd/coordinator that may import what is a site's alone.
const demoOnly = "cmd/coordinator/demo"

// The kinds of rooms that imports are held to, as the table of CONTRIBUTING.md has them.
const (
	pure     = "pure: no context, clock, logger, file or socket"
	siteOnly = "a site's"
)

var impure = []string{"context", "log", "log/slog", "net", "net/http", "os", "io/fs", "path/filepath", "os/exec", "syscall"}

// kindOf returns what CONTRIBUTING.md says that each package of internal is; what is in a package's
// folder is as the package.
func kindOf(t *testing.T) map[string]string {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| packages of internal/ | are |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	kinds := map[string]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		for _, name := range strings.Split(cells[0], ", ") {
			if arrows["internal/"+name] == nil || kinds["internal/"+name] != "" {
				t.Errorf("CONTRIBUTING.md: internal/%s is no package, or is in its table twice", name)
			}
			kinds["internal/"+name] = cells[1]
		}
	}
	for dir := range arrows {
		if name, ok := strings.CutPrefix(dir, "internal/"); ok {
			top, _, _ := strings.Cut(name, "/")
			if kinds[dir] == "" {
				kinds[dir] = kinds["internal/"+top]
			}
			if kinds[dir] == "" {
				t.Errorf("CONTRIBUTING.md does not say what %s is", dir)
			}
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(kinds)), pure) || !slices.Contains(slices.Collect(maps.Values(kinds)), siteOnly) {
		t.Fatal("CONTRIBUTING.md: no package is pure, or none is a site's")
	}
	return kinds
}

func TestImports(t *testing.T) {
	kinds := kindOf(t)
	seen := map[string]bool{}
	used := map[[2]string]bool{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != "." {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		path = filepath.ToSlash(path)
		dir := path[:max(0, strings.LastIndex(path, "/"))]
		seen[dir] = true
		allowed, known := arrows[dir]
		if !known {
			t.Errorf("%s: package %s has no place in the house", path, dir)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if kinds[dir] == pure && slices.Contains(impure, name) {
				t.Errorf("%s: imports %s, but %s is pure", path, name, dir)
			}
			if strings.HasPrefix(name, "github.com/hashicorp/raft") && dir != "internal/replica" {
				t.Errorf("%s: only internal/replica may see raft", path)
			}
			ours, ok := strings.CutPrefix(name, "covey/")
			if !ok {
				continue
			}
			used[[2]string{dir, ours}] = true
			if !slices.Contains(allowed, ours) {
				t.Errorf("%s: imports %s, which %s may not", path, ours, dir)
			}
			if kinds[ours] == siteOnly && dir == "cmd/coordinator" && !strings.HasPrefix(path, demoOnly) {
				t.Errorf("%s: only the demo may run agents here", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, all := range arrows {
		if !seen[dir] {
			t.Errorf("%s is in the house's plan and not in the tree", dir)
		}
		for _, to := range all {
			if !used[[2]string{dir, to}] {
				t.Errorf("%s may import %s and does not: it needs no leave to", dir, to)
			}
		}
	}
}

// TestFileLength keeps files at a length that one reads.
func TestFileLength(t *testing.T) {
	const limit = 550
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, ".pb.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), "\n"); n > limit {
			t.Errorf("%s has %d lines, at most %d", path, n, limit)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPackageLength keeps packages at a length that one can hold in mind: each directory by itself,
// without its tests and what a generator writes.
func TestPackageLength(t *testing.T) {
	const limit = 4500
	lines := map[string]int{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, ".pb.go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		lines[filepath.Dir(path)] += strings.Count(string(text), "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range lines {
		if n > limit {
			t.Errorf("%s has %d lines, at most %d: what of it has a narrow seam?", dir, n, limit)
		}
	}
}
