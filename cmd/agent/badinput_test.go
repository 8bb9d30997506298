package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/doctor"
	"covey/test/command"
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
peers = { south = "abcd-efgh-ijkl-mnop-qrst-uvwx" }
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
scale = 1
`
	goodJoin = `coordinator = ["127.0.0.1:1"]
fingerprint = "0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000"
token = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
site = "north"
expires = 2100-01-01T00:00:00Z
`
)

// badCase is one thing wrong: in file, old becomes new (both "" for none), the command is run, and
// stderr has every part of says.
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
	{"no port", "agent.toml", "hub.example:7443", "hub.example", "check", []string{"coordinator[0]", "must be host:port"}},
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
	{"policy without peers", "agent.toml", "peers =", "# peers =", "check", []string{"policy.peers", "is needed", "agent status"}},
	{"policy of nobody", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\nanalysts = {}\n", "check", []string{"policy.analysts", "lists nobody"}},
	{"policy analyst's key", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\nanalysts = { ada = { key = \"abcd\" } }\n", "check", []string{"policy.analysts.ada.key", "six groups"}},
	{"policy limits without effect", "agent.toml", `"within-limits"`, `"ask"`, "check", []string{"policy", `approve = "within-limits"`}},
	{"policy outside", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\noutside = \"drop\"\n", "check", []string{"policy.outside", `"drop"`}},
	{"policy dropout", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\non_dropout = [\"go\"]\n", "check", []string{"policy.on_dropout[0]", `"go"`}},
	{"policy noise", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\nnoise = [\"some\"]\n", "check", []string{"policy.noise[0]", `"some"`}},
	{"policy sites", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\nmin_sites = 1\n", "check", []string{"policy.min_sites", "2..", "got 1"}},
	{"policy peer's name", "agent.toml", "{ south =", "{ \"So uth\" =", "check", []string{"policy.peers", `"So uth"`}},
	{"policy peer's key", "agent.toml", "abcd-efgh-ijkl-mnop-qrst-uvwx", "abcd", "check", []string{"policy.peers.south", "six groups of four"}},
	{"policy of no data set", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\n[policy.dataset.ward]\nmax_epsilon = 1.0\n", "check", []string{"policy.dataset.ward", "no [[dataset]]"}},
	{"policy data set's epsilon", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\n[policy.dataset.icu]\nmax_epsilon = -1.0\n", "check", []string{"policy.dataset.icu.max_epsilon", "got -1"}},

	{"site forgotten", "agent.toml", "site = \"north\"\n", "", "check", []string{"agent.toml: site"}},
	{"site a number", "agent.toml", `site = "north"`, "site = 7", "check", []string{"agent.toml: line 1"}},
	{"coordinator a word", "agent.toml", `["hub.example:7443"]`, `"hub.example:7443"`, "check", []string{"agent.toml: line 2"}},
	{"coordinator's port a word", "agent.toml", ":7443", ":https", "check", []string{"coordinator[0]", "1..65535"}},
	{"coordinator a URL", "agent.toml", "hub.example:7443", "https://hub.example:7443", "check", []string{"coordinator[0]"}},
	{"epsilon infinite", "agent.toml", "epsilon = 3.0", "epsilon = inf", "check", []string{"population[0]", "(0, 1000], got +Inf"}},
	{"epsilon with a unit", "agent.toml", "epsilon = 3.0", "epsilon = 3.0e", "check", []string{"agent.toml: line 5"}},
	{"delta 0", "agent.toml", "delta = 1e-6 }", "delta = 0.0 }", "check", []string{"budget.delta", "(0, 1), got 0"}},
	{"delta forgotten", "agent.toml", ", delta = 1e-6 }", " }", "check", []string{"budget.delta", "got 0"}},
	{"delta in per cent", "agent.toml", "delta = 1e-6 }", "delta = \"1%\" }", "check", []string{"agent.toml: line 5"}},
	{"budget a number", "agent.toml", "{ epsilon = 3.0, delta = 1e-6 }", "3.0", "check", []string{"agent.toml: line 5"}},
	{"budget in another word", "agent.toml", "{ epsilon = 3.0", "{ eps = 3.0", "check", []string{"eps: unknown key, line 5"}},
	{"cap negative", "agent.toml", "budget = { epsilon = 3.0, delta = 1e-6 }", "cap_rho = -1.0", "check", []string{"population[0]", "cap_rho"}},
	{"cap NaN", "agent.toml", "budget = { epsilon = 3.0, delta = 1e-6 }", "cap_rho = nan", "check", []string{"population[0]", "cap_rho"}},
	{"cap infinite", "agent.toml", "budget = { epsilon = 3.0, delta = 1e-6 }", "cap_rho = inf", "check", []string{"population[0]", "cap_rho"}},
	{"data set nameless", "agent.toml", `name = "icu"`, `name = ""`, "check", []string{"dataset[0].name", "must be given"}},
	{"data set twice", "agent.toml", "[policy]", "[[dataset]]\nname = \"icu\"\npath = \"icu.csv\"\npopulation = \"patients\"\n[policy]", "check", []string{"dataset[1].name", `"icu" appears twice`}},
	{"data set's name long", "agent.toml", `name = "icu"`, `name = "` + strings.Repeat("i", 201) + `"`, "check", []string{"dataset[0].name", "at most 200 bytes, got 201"}},
	{"path and query", "agent.toml", `path = "icu.csv"`, "path = \"icu.csv\"\nquery = \"select 1\"", "check", []string{"dataset[0].path", "not both"}},
	{"query without a server", "agent.toml", `path = "icu.csv"`, `query = "select 1"`, "check", []string{"dataset[0].dsn_file"}},
	{"two servers", "agent.toml", `path = "icu.csv"`, "query = \"select 1\"\ndsn_file = \"a\"\ndsn_env = \"B\"", "check", []string{"dataset[0].dsn_file"}},
	{"server without a query", "agent.toml", `path = "icu.csv"`, "path = \"icu.csv\"\ndsn_env = \"B\"", "check", []string{"dataset[0].query"}},
	{"query that writes", "agent.toml", `path = "icu.csv"`, "query = \"delete from icu\"\ndsn_env = \"B\"", "check", []string{"dataset[0].query"}},
	{"two statements", "agent.toml", `path = "icu.csv"`, "query = \"select 1; select 2\"\ndsn_env = \"B\"", "check", []string{"dataset[0].query"}},
	{"query's time without a unit", "agent.toml", `path = "icu.csv"`, "query = \"select a from b order by a\"\ndsn_env = \"B\"\nquery_timeout = \"10\"", "check", []string{"dataset[0].query_timeout", "1s..24h", `"10"`}},
	{"query's time long", "agent.toml", `path = "icu.csv"`, "query = \"select a from b order by a\"\ndsn_env = \"B\"\nquery_timeout = \"25h\"", "check", []string{"dataset[0].query_timeout", `"25h"`}},
	{"names of a CSV", "agent.toml", `path =`, "names = [\"a\"]\npath =", "check", []string{"dataset[0].names", ".npy and .npz"}},
	{"a name twice", "agent.toml", `path = "icu.csv"`, "names = [\"a\", \"a\"]\npath = \"icu.npy\"", "check", []string{"dataset[0].names[1]", "appears twice"}},
	{"too many workers", "agent.toml", `path =`, "workers = 1025\npath =", "check", []string{"dataset[0].workers", "0..1024, got 1025"}},
	{"policy epsilon NaN", "agent.toml", "max_epsilon = 1.0", "max_epsilon = nan", "check", []string{"policy.max_epsilon", "got NaN"}},
	{"policy key unknown", "agent.toml", "max_epsilon", "max_eps", "check", []string{"policy.max_eps: unknown key"}},
	{"policy peers' list", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\npeers = [\"south\"]\n", "check", []string{"agent.toml: line"}},
	{"policy data set's word", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\n[policy.dataset.icu]\napprove = \"yes\"\n", "check", []string{"policy.dataset.icu.approve"}},
	{"policy data set's noise", "agent.toml", "max_delta = 1e-6\n", "max_delta = 1e-6\n[policy.dataset.icu]\nnoise = [\"some\"]\n", "check", []string{"policy.dataset.icu.noise: unknown key, line 16"}},

	// Data files.
	{"no file", "agent.toml", "icu.csv", "absent.csv", "check", []string{"absent.csv"}},
	{"empty file", "icu.csv", goodData, "", "check", []string{"icu.csv"}},
	{"header alone", "icu.csv", "1,50,70\n2,51,71\n3,52,72\n", "", "check --study study.toml", []string{"icu.csv"}},
	{"ragged row", "icu.csv", "2,51,71", "2,51", "check", []string{"icu.csv: line 3: 2 fields, the header has 3"}},
	{"column twice", "icu.csv", "id,age,hr", "id,age,age", "check", []string{"icu.csv: line 1: fields 2 and 3 of the header are the same"}},
	{"column twice, in a profile", "icu.csv", "id,age,hr", "id,age,age", "data profile icu --values", []string{"the same: give one of the two another name in the export"}},
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
	{"study not TOML", "study.toml", "[[columns]]", "[[columns]", "check --study study.toml", []string{"line 5"}},
	{"study delta", "study.toml", "delta = 1e-6", "delta = 1.0", "check --study study.toml", []string{"delta", "got 1"}},
	{"study without columns", "study.toml", goodStudy[strings.Index(goodStudy, "[[columns]]"):], "", "check --study study.toml", []string{"columns"}},
	{"study column twice", "study.toml", `"hr"`, `"age"`, "check --study study.toml", []string{`"age" appears twice`}},
	{"study scale", "study.toml", "scale = 10.0", "scale = -10.0", "check --study study.toml", []string{"columns[0].scale"}},
	{"study offset", "study.toml", "offset = 50.0", "offset = nan", "check --study study.toml", []string{"columns[0].offset"}},
	{"study name", "study.toml", `name = "s"`, `name = "s\u001b"`, "check --study study.toml", []string{"name"}},
	{"study column spaces", "study.toml", `"hr"`, `" hr"`, "check --study study.toml", []string{`" hr"`}},
	{"study of a value", "study.toml", `"hr"`, `"51"`, "check --study study.toml", []string{`"51"`}},
	{"study absent", "", "", "", "check --study absent.toml", []string{"absent.toml"}},

	// Join files.
	{"join absent", "", "", "", "join absent.join", []string{"absent.join"}},
	{"join not TOML", "north.join", "site =", "site", "join north.join", []string{"north.join", "line 4: not TOML"}},
	{"join unknown key", "north.join", "site =", "colour = 1\nsite =", "join north.join", []string{`line 4: unknown key "colour"`}},
	{"join without a site", "north.join", "site = \"north\"\n", "", "join north.join", []string{"site: a join file names one"}},
	{"join address", "north.join", "127.0.0.1:1", "127.0.0.1", "join north.join", []string{"coordinator: address 1: must be host:port"}},
	{"join no address", "north.join", `["127.0.0.1:1"]`, "[]", "join north.join", []string{"coordinator: must be 1 to 16"}},
	{"join fingerprint", "north.join", "0000-0000\"", "0000\"", "join north.join", []string{"fingerprint: must be sixteen groups"}},
	{"join token", "north.join", "AAAAAAAAAA\"", "\"", "join north.join", []string{"token: must be 43 characters"}},
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
	{"log as a flag of old", "", "", "", "run --log=", []string{"--log"}},
	{"timeout without a unit", "", "", "", "check --timeout 10", []string{"--timeout"}},
	{"two join files", "", "", "", "join north.join south.join", []string{"south.join"}},
	{"reject nothing", "", "", "", "study reject", []string{"<study>"}},
	{"approve nothing", "", "", "", "study approve --yes", []string{"<study>"}},
	{"completion", "", "", "", "completion csh", []string{"csh"}},
	{"no result", "", "", "", "verify study.toml", []string{"study.toml is not a result"}},
	{"no folder", "", "", "", "-C nowhere check", []string{"nowhere"}},
	{"verify without a file", "", "", "", "verify absent.json", []string{"absent.json"}},
	{"verify's key", "", "", "", "verify absent.json --key abc", []string{"--key", "six groups"}},
	{"recover from nothing", "", "", "", "ledger recover --yes --from absent.json", []string{"absent.json"}},
}

// TestBadInput: each gives exit status 2, says which file, key or bound is at fault, prints no
// value of the rows, and changes nothing on disk, a ledger in use included.
func TestBadInput(t *testing.T) {
	used := newBadFolder(t)
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
			if err := os.CopyFS("ledger", os.DirFS(filepath.Join(used.dir, "ledger"))); err != nil {
				t.Fatal(err)
			}
			printed := command.Refused(t, dir, c.says, func(out, errs io.Writer) int { return run(t.Context(), strings.Fields(c.args), out, errs) })
			if strings.Contains(printed, "fifty") {
				t.Error("a value of the rows is printed")
			}
		})
	}
	t.Logf("figure: %d bad inputs: an agent's configuration, data, studies, join files, flags", len(badInputs))
}

// TestFaultsOfAStudyAreInput: a study that cannot be read or does not fit is bad input, for which
// "agent check" exits with 2; what it finds on the way to the coordinator is not.
func TestFaultsOfAStudyAreInput(t *testing.T) {
	for code, input := range map[doctor.Code]bool{doctor.CheckStudyFile: true, doctor.CheckDryRun: true, doctor.CheckTCP: false} {
		if err := (checkError{found: []doctor.Finding{{Code: code, Err: errors.New("fault")}}}); shared.Is[*shared.InputError](err) != input {
			t.Errorf("%s: input %v", code, !input)
		}
	}
}
