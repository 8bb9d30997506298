package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goodStudy is in order; each bad input below changes one thing of it, or gives a bad flag.
const goodStudy = `name = "s"
dataset = "icu"
epsilon = 1.0
delta = 1e-6
[[columns]]
name = "age"
offset = 50.0
scale = 10.0
[[columns]]
name = "hr"
`

const plan = "study validate study.toml --units 3000,3000,3000"

var badInputs = []struct {
	name, old, new, args string
	says                 []string
}{
	// Studies.
	{"unknown key", "delta =", "dleta =", plan, []string{"dleta"}},
	{"not TOML", "[[columns]]", "[[columns]", plan, []string{"line 5"}},
	{"no name", `name = "s"`, `name = ""`, plan, []string{"name"}},
	{"no data set", `dataset = "icu"`, `dataset = ""`, plan, []string{"dataset"}},
	{"epsilon 0", "epsilon = 1.0", "epsilon = 0.0", plan, []string{"epsilon", "got 0"}},
	{"epsilon NaN", "epsilon = 1.0", "epsilon = nan", plan, []string{"epsilon", "NaN"}},
	{"delta 1", "delta = 1e-6", "delta = 1.0", plan, []string{"delta", "got 1"}},
	{"delta negative", "delta = 1e-6", "delta = -1e-6", plan, []string{"delta"}},
	{"no columns", goodStudy[strings.Index(goodStudy, "[[columns]]"):], "", plan, []string{"columns"}},
	{"column twice", `name = "hr"`, `name = "age"`, plan, []string{"columns", `"age"`}},
	{"column's scale", "scale = 10.0", "scale = inf", plan, []string{"scale"}},
	{"column's offset", "offset = 50.0", "offset = inf", plan, []string{"offset"}},
	{"components", "delta = 1e-6", "delta = 1e-6\ncomponents = 101", plan, []string{"components"}},
	{"more components than columns", "delta = 1e-6", "delta = 1e-6\ncomponents = 3", plan, []string{"components"}},
	{"method", "delta = 1e-6", "delta = 1e-6\nmethod = \"lanczos\"", plan, []string{"method", `"lanczos"`}},
	{"subspace", "delta = 1e-6", "delta = 1e-6\nsubspace = \"all\"", plan, []string{"subspace", `"all"`}},
	{"center", "delta = 1e-6", "delta = 1e-6\ncenter = \"median\"", plan, []string{"center", `"median"`}},
	{"variance", "delta = 1e-6", "delta = 1e-6\nexplained_variance = \"all\"", plan, []string{"explained_variance"}},
	{"noise", "delta = 1e-6", "delta = 1e-6\nnoise = \"none\"", plan, []string{"noise", `"none"`}},
	{"profile", "delta = 1e-6", "delta = 1e-6\nprofile = \"fast\"", plan, []string{"profile", `"fast"`}},
	{"dropout", "delta = 1e-6", "delta = 1e-6\non_dropout = \"stop\"", plan, []string{"on_dropout", `"stop"`}},
	{"output", "delta = 1e-6", "delta = 1e-6\noutput = \"best\"", plan, []string{"output", `"best"`}},
	{"radius", "delta = 1e-6", "delta = 1e-6\nradius = -3.0", plan, []string{"radius", "-3"}},
	{"rounds", "delta = 1e-6", "delta = 1e-6\nrounds = -1", plan, []string{"rounds", "-1"}},
	{"few survivors", "delta = 1e-6", "delta = 1e-6\nmin_survivors = 1", plan, []string{"min_survivors", "got 1"}},
	{"one site", "", "", "study validate study.toml --units 3000", []string{"sites", "at least 2"}},
	{"no units", "", "", "study validate study.toml --units 0,10,10", []string{"units"}},
	{"other sites", "delta = 1e-6", "delta = 1e-6\nsites = [\"a\", \"b\"]", plan, []string{"--units has 3 counts, the study names 2 sites"}},
	{"absent", "", "", "study validate absent.toml", []string{"absent.toml"}},

	// Flags and folders.
	{"no such command", "", "", "frobnicate", []string{"frobnicate"}},
	{"no such flag", "", "", "serve --loud", []string{"--loud"}},
	{"no folder", "", "", "serve --data nowhere", []string{"nowhere is no data folder"}},
	{"no folder to ask", "", "", "site list --data nowhere", []string{"nowhere is no coordinator's data folder"}},
	{"log", "", "", "serve --log xml", []string{"--log"}},
	{"address", "", "", "init hub --address localhost", []string{`"localhost": host:port`}},
	{"listen", "", "", "init hub --listen 7443", []string{`listen "7443": host:port`}},
	{"name", "", "", "init hub --name One", []string{`"One"`, "a-z"}},
	{"host", "", "", "init hub --address sp%20ace:1", []string{"sp%20ace"}},
	{"half a peer port", "", "", "init hub --peer-listen :1", []string{"peer_listen and peer_address go together"}},
	{"join and a name", "", "", "init hub --join absent.join --name 2", []string{"--name goes without --join"}},
	{"join absent", "", "", "init hub --join absent.join", []string{"absent.join"}},
	{"half an own CA", "", "", "init hub --ca-cert ca.crt", []string{"--ca-cert and --ca-key go together"}},
	{"own CA absent", "", "", "init hub --ca-cert ca.crt --ca-key ca.key", []string{"ca."}},
	{"account epsilon", "", "", "account --epsilon -1 --rounds 1 --delta 1e-6", []string{"epsilon"}},
	{"account delta", "", "", "account --epsilon 1 --rounds 1 --delta 2", []string{"delta"}},
	{"verify absent", "", "", "verify absent.json", []string{"absent.json"}},
	{"verify's key", "", "", "verify study.toml --key abc", []string{"--key", "six groups"}},
	{"verify no result", "", "", "verify study.toml", []string{"study.toml is no result"}},
	{"export absent", "", "", "export absent.json", []string{"absent.json"}},
	{"completion", "", "", "completion csh", []string{"csh"}},
}

// TestBadInput: each gives exit status 2, says which file, key or bound is at fault, and changes nothing on
// disk.
func TestBadInput(t *testing.T) {
	if len(badInputs) < 45 {
		t.Errorf("%d bad inputs", len(badInputs))
	}
	for _, c := range badInputs {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if !strings.Contains(goodStudy, c.old) {
				t.Fatalf("the study has no %q", c.old)
			}
			if err := os.WriteFile("study.toml", []byte(strings.Replace(goodStudy, c.old, c.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			var out, errs bytes.Buffer
			if code := run(strings.Fields(c.args), &out, &errs); code != exitBad {
				t.Errorf("exit status %d, want %d\n%s", code, exitBad, errs.String())
			}
			for _, part := range c.says {
				if !strings.Contains(errs.String(), part) {
					t.Errorf("stderr has no %q:\n%s", part, errs.String())
				}
			}
			if after := tree(t, dir); after != before {
				t.Errorf("the disk changed:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// tree is every file below dir with its content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			out.WriteString(path + "\n")
			return err
		}
		text, err := os.ReadFile(path)
		out.WriteString(path + ": " + string(text) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
