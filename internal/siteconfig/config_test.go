package siteconfig

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/proposal"
)

const goodConfig = `
site = "alpha"
coordinator = ["c.example:7443", "[::1]:7443"]
[[population]]
name = "p"
budget = { epsilon = 3.0, delta = 1e-6 }
[[population]]
name = "q"
cap_rho = 0.25
[[dataset]]
name = "rows"
path = "data/rows.csv"
population = "p"
[policy]
approve = "within-limits"
max_epsilon = 1.0
max_delta = 1e-6
peers = { beta = "abcd-efgh-ijkl-mnop-qrst-uvwx" }
`

func TestConfigIsStrict(t *testing.T) {
	for _, c := range []struct{ name, old, new, key, reason string }{
		{"unknown key", `name = "rows"`, "name = \"rows\"\ncolour = 1", "dataset.colour", "unknown key, line 12"},
		{"unknown section", "[policy]", "[politics]", "politics", "unknown key"},
		{"wrong type", `site = "alpha"`, "site = 3", "", "line 2 column"},
		{"site name", `"alpha"`, `"Al pha"`, "site", "name"},
		{"no coordinator", `["c.example:7443", "[::1]:7443"]`, `[]`, "coordinator", "at least one"},
		{"no port", `c.example:7443`, `c.example`, "coordinator[0]", "host:port"},
		{"port 0", `c.example:7443`, `c.example:0`, "coordinator[0]", "port"},
		{"epsilon 0", "epsilon = 3.0", "epsilon = 0.0", "population[0]", "epsilon"},
		{"epsilon nan", "epsilon = 3.0", "epsilon = nan", "population[0]", "epsilon"},
		{"delta 1", "delta = 1e-6 }", "delta = 1.0 }", "population[0]", "delta"},
		{"cap infinite", "cap_rho = 0.25", "cap_rho = inf", "population[1]", "cap_rho"},
		{"cap negative", "cap_rho = 0.25", "cap_rho = -1.0", "population[1]", "cap_rho"},
		{"two budgets", "cap_rho = 0.25", "cap_rho = 0.25\nbudget = { epsilon = 1.0, delta = 1e-6 }", "population[1]", "not both"},
		{"population twice", `name = "q"`, `name = "p"`, "population[1].name", "twice"},
		{"no such population", `population = "p"`, `population = "r"`, "dataset[0].population", `"r"`},
		{"no path", `path = "data/rows.csv"`, "", "dataset[0].path", "must be given"},
		{"path and query", `name = "rows"`, "name = \"rows\"\nquery = \"select 1 order by 1\"", "dataset[0].path", "not both"},
		{"a query without a server", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"", "dataset[0].dsn_file", "give dsn_file or dsn_env"},
		{"a variable that is a connection string", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_env = \"postgres://u:hidden@h/x\"", "dataset[0].dsn_env", "must be the name of"},
		{"a file that is a URL", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"postgres://u:hidden@h/x\"", "dataset[0].dsn_file", "must be the path of"},
		{"a file that is words", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"host=h password=hidden\"", "dataset[0].dsn_file", "must be the path of"},
		{"a file that is MariaDB's", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"u:hidden@tcp(h:3306)/x\"", "dataset[0].dsn_file", "must be the path of"},
		{"a file that is MariaDB's, without a host", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"u:hidden@/x\"", "dataset[0].dsn_file", "must be the path of"},
		{"two servers", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"a\"\ndsn_env = \"B\"", "dataset[0].dsn_file", "give dsn_file or dsn_env"},
		{"a server without a query", `name = "rows"`, "name = \"rows\"\ndsn_file = \"a\"", "dataset[0].query", "must be given with"},
		{"a query without an order", `path = "data/rows.csv"`, "query = \"select 1\"\ndsn_file = \"a\"", "dataset[0].query", "ORDER BY"},
		{"another server", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"a\"\nserver = \"oracle\"", "dataset[0].server", "must be one of"},
		{"a server of a file", `name = "rows"`, "name = \"rows\"\nserver = \"mariadb\"", "dataset[0].query", "must be given with"},
		{"MariaDB's comment", `path = "data/rows.csv"`, "query = \"select 1 # order by 1\"\ndsn_file = \"a\"\nserver = \"mariadb\"", "dataset[0].query", "ORDER BY"},
		{"a query's time", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"a\"\nquery_timeout = \"10\"", "dataset[0].query_timeout", "1s..24h"},
		{"no known end", `path = "data/rows.csv"`, `path = "data/rows.xls"`, "dataset[0].path", "save the sheet as CSV"},
		{"a folder of no format", `path = "data/rows.csv"`, `path = "data/rows"`, "dataset[0].path", `"parquet" for a folder`},
		{"format", `name = "rows"`, "name = \"rows\"\nformat = \"xls\"", "dataset[0].format", "must be one of [csv csv.gz parquet npy npz]"},
		{"names of a csv file", `name = "rows"`, "name = \"rows\"\nnames = [\"a\"]", "dataset[0].names", "have their own"},
		{"a name twice", `name = "rows"`, "name = \"rows\"\nformat = \"npy\"\nnames = [\"a\", \"a\"]", "dataset[0].names[1]", "twice"},
		{"an empty name", `name = "rows"`, "name = \"rows\"\nformat = \"npz\"\nnames = [\"\"]", "dataset[0].names[0]", "must be given"},
		{"spaces around a name", `name = "rows"`, "name = \"rows\"\nformat = \"npz\"\nnames = [\"a \"]", "dataset[0].names[0]", "spaces"},
		{"precision", `name = "rows"`, "name = \"rows\"\nprecision = \"float16\"", "dataset[0].precision", "must be"},
		{"cache", `name = "rows"`, "name = \"rows\"\ncache = \"disk\"", "dataset[0].cache", "must be"},
		{"unprintable unit", `name = "rows"`, "name = \"rows\"\nunit = \"pa\\u0007tient\"", "dataset[0].unit", "unprintable"},
		{"spaces around a unit", `name = "rows"`, "name = \"rows\"\nunit = \" patient\"", "dataset[0].unit", "spaces"},
		{"unprintable name", `name = "rows"`, `name = "ro\u0007ws"`, "dataset[0].name", "unprintable"},
		{"policy word", `"within-limits"`, `"always"`, "policy.approve", "must be"},
		{"no limit", "max_epsilon = 1.0", "", "policy.max_epsilon", "must be positive"},
		{"no peers", `peers = { beta = "abcd-efgh-ijkl-mnop-qrst-uvwx" }`, "", "policy.peers", "as its operator read it to you"},
		{"empty peers", `{ beta = "abcd-efgh-ijkl-mnop-qrst-uvwx" }`, "{}", "policy.peers", "as its operator read it to you"},
		{"limits without effect", `approve = "within-limits"`, `approve = "ask"`, "policy", "within-limits"},
		{"dropout word", "max_delta = 1e-6\n", "max_delta = 1e-6\non_dropout = [\"go\"]\n", "policy.on_dropout[0]", `"go"`},
		{"a data set twice", "[policy]", "[[dataset]]\nname = \"rows\"\npath = \"a.csv\"\npopulation = \"p\"\n[policy]", "dataset[1].name", "twice"},
		{"too many data sets", "[policy]", strings.Repeat("[[dataset]]\n", maxEntries) + "[policy]", "", "at most 1000 populations and 1000 data sets"},
		{"too many populations", "[policy]", strings.Repeat("[[population]]\n", maxEntries-1) + "[policy]", "", "at most 1000 populations and 1000 data sets"},
		{"fewer workers than none", `name = "rows"`, "name = \"rows\"\nworkers = -1", "dataset[0].workers", "0..1024"},
		{"too many workers", `name = "rows"`, "name = \"rows\"\nworkers = 1025", "dataset[0].workers", "0..1024"},
		{"a long name", `name = "rows"`, `name = "` + strings.Repeat("r", 201) + `"`, "dataset[0].name", "200"},
		{"a name with DEL", `name = "rows"`, `name = "ro\u007fws"`, "dataset[0].name", "unprintable"},
		{"a name with a wide space", `name = "rows"`, `name = "ro\u00a0ws"`, "dataset[0].name", "unprintable character U+00A0"},
		{"a name of no text", `name = "rows"`, `name = "ro\uFFFDws"`, "dataset[0].name", "unprintable"},
		{"a query for less than a second", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"a\"\nquery_timeout = \"999ms\"", "dataset[0].query_timeout", "1s..24h"},
		{"a query for more than a day", `path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"a\"\nquery_timeout = \"24h1s\"", "dataset[0].query_timeout", "1s..24h"},
		{"epsilon above 1000", "epsilon = 3.0", "epsilon = 1001.0", "population[0]", "epsilon must be"},
		{"delta 0", "delta = 1e-6 }", "delta = 0.0 }", "population[0]", "delta must be"},
		{"infinite limit", "max_epsilon = 1.0", "max_epsilon = inf", "policy.max_epsilon", "must be positive"},
		{"all of delta", "max_delta = 1e-6", "max_delta = 1.0", "policy.max_delta", "(0, 1)"},
		{"none of delta", "max_delta = 1e-6", "max_delta = -1e-6", "policy.max_delta", "(0, 1)"},
		{"too many sites", "max_delta = 1e-6\n", "max_delta = 1e-6\nmin_sites = 10001\n", "policy.min_sites", "2.."},
		{"all sites corrupt", "max_delta = 1e-6\n", "max_delta = 1e-6\nmin_corrupt = 10000\n", "policy.min_corrupt", "1..9999"},
		{"outside word", "max_delta = 1e-6\n", "max_delta = 1e-6\noutside = \"refuse\"\n", "policy.outside", `"refuse"`},
		{"noise word", "max_delta = 1e-6\n", "max_delta = 1e-6\nnoise = [\"distributed\", \"none\"]\n", "policy.noise[1]", `"none"`},
		{"a limit of epsilon without effect", "approve = \"within-limits\"\nmax_epsilon = 1.0\nmax_delta = 1e-6\n", "max_epsilon = 1.0\n", "policy", "within-limits"},
		{"a limit of delta without effect", "approve = \"within-limits\"\nmax_epsilon = 1.0\n", "", "policy", "within-limits"},
		{"outside without effect", "approve = \"within-limits\"\nmax_epsilon = 1.0\nmax_delta = 1e-6\n", "outside = \"reject\"\n", "policy", "within-limits"},
		{"a peer's key", `"abcd-efgh-ijkl-mnop-qrst-uvwx"`, `"abcd-efgh-ijkl-mnop-qrst"`, "policy.peers.beta", "must be a fingerprint"},
		{"a peer's name", `{ beta =`, `{ "Be ta" =`, "policy.peers", "name"},
		{"limits of no data set", "[policy]", "[policy.dataset.row]\nmax_epsilon = 0.5\n[policy]", "policy.dataset.row", `no [[dataset]] is named "row"`},
		{"a data set's negative limit", "[policy]", "[policy.dataset.rows]\nmax_epsilon = -0.5\n[policy]", "policy.dataset.rows.max_epsilon", "must be positive"},
		{"a data set's infinite limit", "[policy]", "[policy.dataset.rows]\nmax_epsilon = inf\n[policy]", "policy.dataset.rows.max_epsilon", "must be positive"},
		{"one site", "max_delta = 1e-6\n", "max_delta = 1e-6\nmin_sites = 1\n", "policy.min_sites", "2.."},
		{"fewer corrupt sites than none", "max_delta = 1e-6\n", "max_delta = 1e-6\nmin_corrupt = -1\n", "policy.min_corrupt", "1.."},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(goodConfig, c.old, c.new, 1)
			if text == goodConfig {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse([]byte(text), "agent.toml")
			at, ok := err.(*Error)
			if !ok {
				t.Fatalf("got %v, want a *Error", err)
			}
			if at.File != "agent.toml" || at.Key != c.key || !strings.Contains(at.Reason, c.reason) || strings.Contains(at.Error(), "hidden") {
				t.Errorf("got key %q reason %q, want %q and %q within", at.Key, at.Reason, c.key, c.reason)
			}
		})
	}
}

// TestConfigTakesItsBounds: what is as large or as small as it may be is taken.
func TestConfigTakesItsBounds(t *testing.T) {
	for _, c := range [][2]string{
		{`name = "rows"`, "name = \"rows\"\nworkers = 1024"},
		{`name = "rows"`, `name = "` + strings.Repeat("r", 200) + `"`},
		{`path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"a\"\nquery_timeout = \"1s\""},
		{`path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_env = \"A_1\"\nquery_timeout = \"24h\""},
		{`path = "data/rows.csv"`, "query = \"select 1 order by 1\"\ndsn_file = \"a\""},
		{"epsilon = 3.0", "epsilon = 1000.0"},
		{"max_delta = 1e-6\n", "max_delta = 1e-6\nmin_sites = 2\n"},
		{"max_delta = 1e-6\n", "max_delta = 1e-6\nmin_sites = 10000\n"},
	} {
		if _, err := Parse([]byte(strings.Replace(goodConfig, c[0], c[1], 1)), "agent.toml"); err != nil {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

func TestConfigValues(t *testing.T) {
	c, err := Parse([]byte(goodConfig), "/etc/covey/agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.path(c.Datasets[0].Path), "/etc/covey/data/rows.csv"; got != want {
		t.Errorf("path %q, want %q: relative to the file", got, want)
	}
	if got := c.DataDir(); got != "/etc/covey" {
		t.Errorf("data directory %q", got)
	}
	limit, err := c.Populations[0].Cap()
	if err != nil {
		t.Fatal(err)
	}
	want, err := noise.ZCDP.BudgetRho(3, 1e-6)
	if err != nil || limit != want {
		t.Errorf("cap %v, want noise.BudgetRho's %v", limit, want)
	}
	// A cap rounded up would let studies pass (ε, δ).
	if eps, err := noise.Epsilon(limit, 1e-6); err != nil || eps > 3 || eps < 3-1e-6 {
		t.Errorf("cap is worth ε = %v (%v), want at most 3 and close to it", eps, err)
	}
	// A cap on record grows where its operator says so. A fresh budget has a study's default.
	for _, of := range []struct {
		accountant    string
		bridged, grow bool
	}{{"", false, false}, {"", true, true}, {"zcdp", true, false}, {"zcdp", false, false}, {"gdp", false, true}, {"gdp", true, true}} {
		p := Population{Budget: &Budget{Epsilon: 3, Delta: 1e-6, Accountant: of.accountant}}
		old, more, err := p.Caps(of.bridged)
		if err != nil || old != limit || (more > old) != of.grow {
			t.Errorf("%+v: caps of %v and %v, %v", of, old, more, err)
		}
		if eps, err := p.Curve(of.bridged).Epsilon(more, 1e-6); err != nil || eps > 3 || eps < 3-1e-6 {
			t.Errorf("%+v: a cap of %v is worth ε = %v, %v", of, more, eps, err)
		}
	}
	if _, err := (Population{Budget: &Budget{Epsilon: 3, Delta: 1e-6, Accountant: "paper"}}).Cap(); err == nil {
		t.Error("a budget by an accountant that there is none of")
	}
	if _, limit, _ := c.Populations[1].Caps(true); limit != 0.25 {
		t.Errorf("cap_rho %v by gdp", limit)
	}
	if limit, _ := c.Populations[1].Cap(); limit != 0.25 {
		t.Errorf("cap_rho %v", limit)
	}
	if c.Policy.MinSites != 3 || len(c.Policy.OnDropout) != 0 || !slices.Equal(c.Policy.Noise, []string{proposal.NoiseDistributed}) {
		t.Errorf("policy defaults %+v", c.Policy)
	}
}

// TestConfigByteOrderMark: a file that an editor began with one, and whose lines end with CRLF,
// reads like any other.
func TestConfigByteOrderMark(t *testing.T) {
	if _, err := Parse([]byte("\ufeff"+strings.ReplaceAll(goodConfig, "\n", "\r\n")), "/etc/covey/agent.toml"); err != nil {
		t.Error(err)
	}
}

// TestSampleConfig checks that what a join leaves parses, as it is and filled in
// by taking the comment signs off.
func TestSampleConfig(t *testing.T) {
	text, err := Sample(pki.Join{Site: "alpha", Coordinator: []string{"c.example:7443"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(text, filepath.Join("alpha", File))
	if err != nil || c.Policy.Approve != ApproveAsk || len(c.Datasets) != 0 {
		t.Fatalf("as it is: %+v, %v", c, err)
	}
	var filled []string
	for _, line := range strings.Split(string(text), "\n") {
		bare, commented := strings.CutPrefix(line, "# ")
		switch {
		case commented && (strings.Contains(bare, " = ") || strings.HasPrefix(bare, "[")):
			line = bare
		case strings.HasPrefix(line, `approve = "ask"`):
			line = `approve = "within-limits"`
		}
		filled = append(filled, line)
	}
	c, err = Parse([]byte(strings.Join(filled, "\n")), File)
	if err != nil {
		t.Fatalf("filled in: %v", err)
	}
	if len(c.Datasets) != 3 || len(c.Populations) != 1 || len(c.Notify) != 1 || c.Policy.MinSites != 3 || c.Policy.MaxEpsilon != 1 {
		t.Errorf("filled in: %+v", c)
	}
}

// TestWhoseItIs: somebody whom the system refuses agent.toml is told whose it is.
func TestWhoseItIs(t *testing.T) {
	denied := unread("agent.toml", &os.PathError{Op: "open", Path: "agent.toml", Err: syscall.EACCES}).Error()
	if want := "agent.toml: permission denied: run this as the user that runs the agent"; denied != want {
		t.Errorf("%q, want %q", denied, want)
	}
	if _, err := Read(t.TempDir()); err == nil || strings.Contains(err.Error(), "run this as") {
		t.Errorf("without a file: %v", err)
	}
}
