package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goodConfig, goodData and goodStudy are in order; each bad input below changes one thing of them.
const (
	goodConfig = `site = "north"
coordinator = ["hub.example:7443"]
[[population]]
name = "patients"
budget = { epsilon = 3.0, delta = 1e-6 }
[[dataset]]
name = "icu"
path = "icu.csv"
population = "patients"
[policy]
approve = "within-limits"
max_epsilon = 1.0
max_delta = 1e-6
`
	goodData  = "id,age,hr\n1,50,70\n2,51,71\n3,52,72\n"
	goodStudy = `name = "s"
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
	goodJoin = `coordinator = ["127.0.0.1:1"]
fingerprint = "0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000"
token = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
site = "north"
expires = 2100-01-01T00:00:00Z
`
)

// badInput is one thing wrong: in file, old becomes new (both "" for none), the command is run, and stderr has
// every part of says.
type badCase struct {
	name, file, old, new string
	args                 string
	says                 []string
}

var badInputs = []badCase{
	// Configurations.
	{"unknown key", "agent.toml", "site =", "sight = 1\nsite =", "check", []string{"agent.toml: sight", "unknown key, line 1"}},
	{"key of another case", "agent.toml", "max_delta", "maxdelta", "check", []string{"policy.maxdelta"}},
	{"not TOML", "agent.toml", "[[dataset]]", "[[dataset]", "check", []string{"agent.toml: line 6 column"}},
	{"wrong type", "agent.toml", "epsilon = 3.0", "epsilon = \"3\"", "check", []string{"agent.toml: line 5"}},
	{"site's name", "agent.toml", `"north"`, `"North Clinic"`, "check", []string{"site", `"North Clinic"`, "a-z"}},
	{"no coordinator", "agent.toml", `["hub.example:7443"]`, `[]`, "check", []string{"coordinator", "at least one host:port"}},
	{"no port", "agent.toml", "hub.example:7443", "hub.example", "check", []string{"coordinator[0]", "host:port is wanted"}},
	{"port 0", "agent.toml", ":7443", ":0", "check", []string{"coordinator[0]", "1..65535"}},
	{"port too large", "agent.toml", ":7443", ":70000", "check", []string{"coordinator[0]", "1..65535"}},
	{"epsilon 0", "agent.toml", "epsilon = 3.0", "epsilon = 0.0", "check", []string{"population[0]", "(0, 1000], got 0"}},
	{"epsilon NaN", "agent.toml", "epsilon = 3.0", "epsilon = nan", "check", []string{"population[0]", "got NaN"}},
	{"epsilon over 1000", "agent.toml", "epsilon = 3.0", "epsilon = 1001.0", "check", []string{"(0, 1000], got 1001"}},
	{"delta 1", "agent.toml", "delta = 1e-6 }", "delta = 1.0 }", "check", []string{"budget.delta", "(0, 1), got 1"}},
	{"two budgets", "agent.toml", "[[dataset]]", "cap_rho = 1.0\n[[dataset]]", "check", []string{"population[0]", "budget or cap_rho, not both"}},
	{"no budget", "agent.toml", "budget = { epsilon = 3.0, delta = 1e-6 }\n", "", "check", []string{"population[0]", "budget or a positive cap_rho"}},
	{"nameless population", "agent.toml", `name = "patients"`, `name = ""`, "check", []string{"population[0].name", "must be given"}},
	{"population twice", "agent.toml", "[[dataset]]", "[[population]]\nname = \"patients\"\ncap_rho = 1.0\n[[dataset]]", "check", []string{"population[1].name", "appears twice"}},
	{"unprintable name", "agent.toml", `name = "icu"`, `name = "i\u0007cu"`, "check", []string{"dataset[0].name", "unprintable"}},
	{"no path", "agent.toml", `path = "icu.csv"`, `path = ""`, "check", []string{"dataset[0]", "path"}},
	{"unknown format", "agent.toml", `path = "icu.csv"`, "path = \"icu.csv\"\nformat = \"xls\"", "check", []string{"dataset[0].format", `"xls"`}},
	{"no format in the name", "agent.toml", `icu.csv`, "icu.data", "check", []string{"dataset[0].path", "give format"}},
	{"unknown precision", "agent.toml", `path =`, "precision = \"float16\"\npath =", "check", []string{"dataset[0].precision", `"float16"`}},
	{"unknown cache", "agent.toml", `path =`, "cache = \"ever\"\npath =", "check", []string{"dataset[0].cache", `"ever"`}},
	{"another population", "agent.toml", `population = "patients"`, `population = "staff"`, "check", []string{"dataset[0].population", `"staff"`}},
	{"workers", "agent.toml", `path =`, "workers = -1\npath =", "check", []string{"dataset[0].workers", "0..1024, got -1"}},
	{"unit with a space", "agent.toml", `path =`, "unit = \" id\"\npath =", "check", []string{"dataset[0].unit", "spaces"}},
	{"policy word", "agent.toml", `"within-limits"`, `"always"`, "check", []string{"policy.approve", `"ask" or "within-limits"`}},
	{"policy without a limit", "agent.toml", "max_epsilon = 1.0\n", "", "check", []string{"policy.max_epsilon", "must be positive"}},
	{"policy epsilon", "agent.toml", "max_epsilon = 1.0", "max_epsilon = -1.0", "check", []string{"policy.max_epsilon", "got -1"}},
	{"policy delta", "agent.toml", "max_delta = 1e-6", "max_delta = 2.0", "check", []string{"policy.max_delta", "(0, 1), got 2"}},
	{"policy limits without effect", "agent.toml", `"within-limits"`, `"ask"`, "check", []string{"policy", `approve = "within-limits"`}},
	{"policy outside", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\noutside = \"drop\"\n", "check", []string{"policy.outside", `"drop"`}},
	{"policy dropout", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\non_dropout = [\"go\"]\n", "check", []string{"policy.on_dropout[0]", `"go"`}},
	{"policy noise", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\nnoise = [\"some\"]\n", "check", []string{"policy.noise[0]", `"some"`}},
	{"policy sites", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\nmin_sites = 1\n", "check", []string{"policy.min_sites", "2..", "got 1"}},
	{"policy peer's name", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\npeers = { \"So uth\" = \"abcd-efgh-ijkl-mnop-qrst-uvwx\" }\n", "check", []string{"policy.peers", `"So uth"`}},
	{"policy peer's key", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\npeers = { south = \"abcd\" }\n", "check", []string{"policy.peers.south", "six groups of four"}},
	{"policy of no data set", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\n[policy.dataset.ward]\nmax_epsilon = 1.0\n", "check", []string{"policy.dataset.ward", "no [[dataset]]"}},
	{"policy data set's epsilon", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\n[policy.dataset.icu]\nmax_epsilon = -1.0\n", "check", []string{"policy.dataset.icu.max_epsilon", "got -1"}},

	// Data files.
	{"no file", "agent.toml", "icu.csv", "absent.csv", "check", []string{"absent.csv"}},
	{"empty file", "icu.csv", goodData, "", "check", []string{"icu.csv"}},
	{"header alone", "icu.csv", "1,50,70\n2,51,71\n3,52,72\n", "", "check --study study.toml", []string{"icu.csv"}},
	{"ragged row", "icu.csv", "2,51,71", "2,51", "check", []string{"icu.csv: line 3: 2 fields, the header has 3"}},
	{"column twice", "icu.csv", "id,age,hr", "id,age,age", "check", []string{"icu.csv: line 1: fields 2 and 3 of the header are the same"}},
	{"open quote", "icu.csv", "2,51,71", "2,\"51,71", "check", []string{"icu.csv", "line"}},
	{"no such column", "icu.csv", "id,age,hr", "id,age,pulse", "check --study study.toml", []string{"icu.csv: line 1", `"hr"`}},
	{"a word", "icu.csv", "2,51,71", "2,fifty,71", "check --study study.toml", []string{`icu.csv: line 3, column "age"`}},
	{"missing value", "icu.csv", "2,51,71", "2,,71", "check --study study.toml", []string{`icu.csv: line 3, column "age"`}},
	{"infinite", "icu.csv", "2,51,71", "2,51,1e999", "check --study study.toml", []string{`icu.csv: line 3, column "hr"`}},

	// Studies sent ahead.
	{"study unknown key", "study.toml", "delta =", "dleta =", "check --study study.toml", []string{"dleta"}},
	{"study epsilon", "study.toml", "epsilon = 1.0", "epsilon = -1.0", "check --study study.toml", []string{"epsilon", "-1"}},
	{"study data set", "study.toml", `"icu"`, `"ward"`, "check --study study.toml", []string{`no data set "ward"`}},
	{"study unit", "study.toml", "delta = 1e-6", "delta = 1e-6\nunit = \"id\"", "check --study study.toml", []string{`its unit is ""`, `"id"`}},
	{"study absent", "", "", "", "check --study absent.toml", []string{"absent.toml"}},

	// Join files.
	{"join absent", "", "", "", "join absent.join", []string{"absent.join"}},
	{"join not TOML", "north.join", "site =", "site", "join north.join", []string{"north.join", "line 4: not TOML"}},
	{"join unknown key", "north.join", "site =", "colour = 1\nsite =", "join north.join", []string{`line 4: unknown key "colour"`}},
	{"join without a site", "north.join", "site = \"north\"\n", "", "join north.join", []string{"site: is no site name"}},
	{"join address", "north.join", "127.0.0.1:1", "127.0.0.1", "join north.join", []string{"coordinator: address 1: host:port"}},
	{"join no address", "north.join", `["127.0.0.1:1"]`, "[]", "join north.join", []string{"coordinator: 1 to 16"}},
	{"join fingerprint", "north.join", "0000-0000\"", "0000\"", "join north.join", []string{"fingerprint: sixteen groups"}},
	{"join token", "north.join", "AAAAAAAAAA\"", "\"", "join north.join", []string{"token: 43 characters"}},
	{"join without a token", "north.join", "token = \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"\n", "", "join north.join", []string{"token: is missing"}},
	{"join expiry", "north.join", "2100-01-01T00:00:00Z", "2100-01-01T00:00:00", "join north.join", []string{"expires", "offset"}},
	{"join expired", "north.join", "2100", "2001", "join north.join", []string{"expired at 2001-01-01"}},
	{"join of a coordinator", "north.join", `site = "north"`, `node = "2"`, "join north.join", []string{"coordinator init --join"}},
	{"join again before joining", "", "", "", "join north.join -o fresh --again", []string{"fresh"}},

	// Flags.
	{"no such command", "", "", "", "frobnicate", []string{"frobnicate"}},
	{"no such flag", "", "", "", "check --loud", []string{"--loud"}},
	{"no argument", "", "", "", "study show", []string{"<study>"}},
	{"bad duration", "", "", "", "check --timeout soon", []string{"--timeout"}},
	{"bad enum", "", "", "", "run --log xml", []string{"--log", "auto"}},
	{"no folder", "", "", "", "-C nowhere check", []string{"nowhere"}},
	{"verify without a file", "", "", "", "verify absent.json", []string{"absent.json"}},
	{"verify's key", "", "", "", "verify absent.json --key abc", []string{"--key", "six groups"}},
	{"recover from nothing", "", "", "", "ledger recover --yes --from absent.json", []string{"absent.json"}},
}

// TestBadInput: each gives exit status 2, says which file, key or bound is at fault, prints no value of the rows, and
// changes nothing on disk.
func TestBadInput(t *testing.T) {
	if len(badInputs) < 60 {
		t.Errorf("%d bad inputs, at least 60 are wanted", len(badInputs))
	}
	for _, c := range badInputs {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			for name, text := range map[string]string{"agent.toml": goodConfig, "icu.csv": goodData, "study.toml": goodStudy, "north.join": goodJoin} {
				if c.file == name {
					if !strings.Contains(text, c.old) {
						t.Fatalf("%s has no %q", name, c.old)
					}
					text = strings.Replace(text, c.old, c.new, 1)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, dir)
			var out, errs bytes.Buffer
			code := run(t.Context(), strings.Fields(c.args), &out, &errs)
			if code != exitInput {
				t.Errorf("exit status %d, want %d\n%s", code, exitInput, errs.String())
			}
			for _, part := range c.says {
				if !strings.Contains(errs.String(), part) {
					t.Errorf("stderr has no %q:\n%s", part, errs.String())
				}
			}
			if strings.Contains(errs.String()+out.String(), "fifty") {
				t.Error("a value of the rows is printed")
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
