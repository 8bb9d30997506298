package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"covey/test/command"
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
scale = 1
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
	{"name of spaces", `name = "s"`, `name = "  "`, plan, []string{"name", "space"}},
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
	{"one site", "", "", "study validate study.toml --units 3000", []string{"--units 3000", "at least 2 sites", "a count per site"}},
	{"no units", "", "", "study validate study.toml --units 0,10,10", []string{"units"}},
	{"other sites", "delta = 1e-6", "delta = 1e-6\nsites = [\"a\", \"b\"]", plan, []string{"--units has 3 counts, the study names 2 sites"}},
	{"no site's name", "delta = 1e-6", "delta = 1e-6\nsites = [\"a\", \"B\", \"c\"]", plan, []string{"study.toml: sites", `"B"`, "a-z"}},
	{"absent", "", "", "study validate absent.toml", []string{"absent.toml"}},
	{"alpha 0", "delta = 1e-6", "delta = 1e-6\nalpha = 0.0", plan, []string{"alpha"}},
	{"alpha 1", "delta = 1e-6", "delta = 1e-6\nalpha = 1.0", plan, []string{"alpha"}},
	{"constant negative", "delta = 1e-6", "delta = 1e-6\nc = -1.0", plan, []string{"c:"}},
	{"center's share", "delta = 1e-6", "delta = 1e-6\ncenter = \"private\"\ncenter_share = 1.0", plan, []string{"center_share"}},
	{"center's share NaN", "delta = 1e-6", "delta = 1e-6\ncenter = \"private\"\ncenter_share = nan", plan, []string{"center_share"}},
	{"variance's share", "delta = 1e-6", "delta = 1e-6\nvariance_share = -0.1", plan, []string{"variance_share"}},
	{"variance's share of none", "delta = 1e-6", "delta = 1e-6\nexplained_variance = \"none\"\nvariance_share = 0.1", plan, []string{"variance_share"}},
	{"radius's share", "delta = 1e-6", "delta = 1e-6\nradius_share = 2.0", plan, []string{"radius_share"}},
	{"lambda infinite", "delta = 1e-6", "delta = 1e-6\nlambda = inf", plan, []string{"lambda"}},
	{"lambda a word", "delta = 1e-6", "delta = 1e-6\nlambda = \"large\"", plan, []string{"lambda"}},
	{"lambda's range", "delta = 1e-6", "delta = 1e-6\nlambda = \"private\"\nradius = \"paper\"\nlambda_range = [0.0, 1.0]", plan, []string{"lambda_range"}},
	{"lambda's share", "delta = 1e-6", "delta = 1e-6\nlambda = \"private\"\nradius = \"paper\"\nlambda_share = 1.5", plan, []string{"lambda_share"}},
	{"norm bound", "delta = 1e-6", "delta = 1e-6\nmethod = \"covariance\"\nnorm_bound = 0.0", plan, []string{"norm_bound"}},
	{"bound's share", "delta = 1e-6", "delta = 1e-6\nmethod = \"covariance\"\nbound_share = 1.0", plan, []string{"bound_share"}},
	{"accountant", "delta = 1e-6", "delta = 1e-6\naccountant = \"moments\"", plan, []string{"accountant", "\"moments\""}},
	{"schedule", "delta = 1e-6", "delta = 1e-6\nschedule = \"falling\"", plan, []string{"schedule", "\"falling\""}},
	{"missing", "delta = 1e-6", "delta = 1e-6\nmissing = \"mean\"", plan, []string{"missing", "\"mean\""}},
	{"corrupt negative", "delta = 1e-6", "delta = 1e-6\ncorrupt = -1", plan, []string{"corrupt"}},
	{"corrupt too many", "delta = 1e-6", "delta = 1e-6\ncorrupt = 3", plan, []string{"corrupt"}},
	{"dropout", "delta = 1e-6", "delta = 1e-6\ndropout = 1.0", plan, []string{"dropout"}},
	{"spare slots", "delta = 1e-6", "delta = 1e-6\nspare_slots = -1", plan, []string{"spare_slots"}},
	{"spare slots many", "delta = 1e-6", "delta = 1e-6\nspare_slots = 2000", plan, []string{"slots"}},
	{"rounds many", "delta = 1e-6", "delta = 1e-6\nrounds = 501", plan, []string{"rounds", "501"}},
	{"rounds a fraction", "delta = 1e-6", "delta = 1e-6\nrounds = 1.5", plan, []string{"line 5"}},
	{"survivors more than sites", "delta = 1e-6", "delta = 1e-6\nmin_survivors = 4", plan, []string{"min_survivors"}},
	{"deadline without a unit", "delta = 1e-6", "delta = 1e-6\n[deadlines]\nround = \"10\"", plan, []string{"line 6"}},
	{"deadline negative", "delta = 1e-6", "delta = 1e-6\n[deadlines]\nround = \"-10s\"", plan, []string{"deadlines"}},
	{"deadline endless", "delta = 1e-6", "delta = 1e-6\n[deadlines]\nround = \"9000h\"", plan, []string{"deadlines"}},
	{"tick longer than a round", "delta = 1e-6", "delta = 1e-6\n[deadlines]\nround = \"1s\"\ntick = \"1h\"", plan, []string{"deadlines"}},
	{"site twice", "delta = 1e-6", "delta = 1e-6\nsites = [\"a\", \"a\", \"b\"]", plan, []string{"sites", "\"a\""}},
	{"site's name", "delta = 1e-6", "delta = 1e-6\nsites = [\"a\\u001b\", \"b\", \"c\"]", plan, []string{"study.toml: sites", `"a\x1b"`, "a-z"}},
	{"pairs of units", "delta = 1e-6", "delta = 1e-6\ncenter = \"pairs\"\nunit = \"ward\"", plan, []string{"center"}},
	{"unit among columns", "delta = 1e-6", "delta = 1e-6\nunit = \"age\"", plan, []string{"unit", "\"age\""}},
	{"radius of paper without lambda", "delta = 1e-6", "delta = 1e-6\nradius = \"paper\"", plan, []string{"lambda"}},
	{"paper distributed", "delta = 1e-6", "delta = 1e-6\nprofile = \"paper\"\nlambda = 1.0\nrounds = 3\nnoise = \"distributed\"", plan, []string{"noise"}},
	{"deflation of a covariance", "delta = 1e-6", "delta = 1e-6\nmethod = \"covariance\"\nsubspace = \"deflation\"", plan, []string{"subspace"}},
	{"auto with a radius", "delta = 1e-6", "delta = 1e-6\nmethod = \"auto\"\nradius = 2.0", plan, []string{"method"}},
	{"epsilon over 100", "epsilon = 1.0", "epsilon = 101.0", plan, []string{"epsilon", "(0, 100], got 101"}},
	{"epsilon a word", "epsilon = 1.0", "epsilon = \"1\"", plan, []string{"line 3"}},
	{"epsilon infinite", "epsilon = 1.0", "epsilon = inf", plan, []string{"epsilon", "+Inf"}},
	{"delta NaN", "delta = 1e-6", "delta = nan", plan, []string{"delta", "NaN"}},
	{"name unprintable", `name = "s"`, `name = "s\u001b"`, plan, []string{"name"}},
	{"data set's name long", `"icu"`, `"` + strings.Repeat("i", 201) + `"`, plan, []string{"dataset"}},
	{"column nameless", `name = "hr"`, `name = ""`, plan, []string{"columns[1].name"}},
	{"column's scale negative", "scale = 10.0", "scale = -1.0", plan, []string{"columns[0].scale"}},
	{"column's key", "offset = 50.0", "ofset = 50.0", plan, []string{"ofset"}},
	{"units a word", "", "", "study validate study.toml --units many", []string{"--units"}},
	{"units negative", "", "", "study validate study.toml --units=-5,10,10", []string{"units"}},
	{"units over 2^40", "", "", "study validate study.toml --units 1099511627776,10,10", []string{"2^40"}},

	// Flags and folders.
	{"no such command", "", "", "frobnicate", []string{"frobnicate"}},
	{"no such flag", "", "", "serve --loud", []string{"--loud"}},
	{"no folder", "", "", "serve --data nowhere", []string{"nowhere: not a coordinator data folder"}},
	{"no folder to ask", "", "", "site list --data nowhere", []string{"nowhere: not a coordinator data folder"}},
	{"log", "", "", "serve --log xml", []string{"--log"}},
	{"address", "", "", "init hub --address localhost", []string{`"localhost": must be host:port`}},
	{"listen", "", "", "init hub --listen 7443", []string{`listen "7443": must be host:port`}},
	{"listen far out", "", "", "init hub --listen :99999", []string{`listen ":99999": must be host:port`}},
	{"address's port", "", "", "init hub --address localhost:74430", []string{`"localhost:74430": must be host:port`}},
	{"name", "", "", "init hub --name One", []string{`"One"`, "a-z"}},
	{"host", "", "", "init hub --address sp%20ace:1", []string{"sp%20ace"}},
	{"half a peer port", "", "", "init hub --peer-listen :1", []string{"peer_listen and peer_address go together"}},
	{"join and a name", "", "", "init hub --join absent.join --name 2", []string{"--name cannot be combined with --join"}},
	{"join absent", "", "", "init hub --join absent.join", []string{"absent.join"}},
	{"half an own CA", "", "", "init hub --ca-cert ca.crt", []string{"--ca-cert and --ca-key go together"}},
	{"own CA absent", "", "", "init hub --ca-cert ca.crt --ca-key ca.key", []string{"ca."}},
	{"account epsilon", "", "", "account --epsilon -1 --rounds 1 --delta 1e-6", []string{"epsilon"}},
	{"account delta", "", "", "account --epsilon 1 --rounds 1 --delta 2", []string{"delta"}},
	{"verify absent", "", "", "verify absent.json", []string{"absent.json"}},
	{"verify's key", "", "", "verify study.toml --key abc", []string{"--key", "six groups"}},
	{"verify no result", "", "", "verify study.toml", []string{"study.toml is not a result"}},
	{"account both", "", "", "account --epsilon 1 --sigma 1 --delta 1e-6", []string{"one of --sigma and --epsilon"}},
	{"account neither", "", "", "account --delta 1e-6", []string{"one of --sigma and --epsilon"}},
	{"account without delta", "", "", "account --epsilon 1", []string{"--delta"}},
	{"account delta 0", "", "", "account --epsilon 1 --delta 0", []string{"delta"}},
	{"account rounds", "", "", "account --epsilon 1 --delta 1e-6 --rounds 0", []string{"--rounds", "got 0"}},
	{"account sensitivity", "", "", "account --epsilon 1 --delta 1e-6 --sensitivity 0", []string{"--sensitivity", "got 0"}},
	{"account sigma", "", "", "account --sigma=-1 --delta 1e-6", []string{"--sigma", "got -1"}},
	{"account sigma NaN", "", "", "account --sigma NaN --delta 1e-6", []string{"--sigma", "NaN"}},
	{"account epsilon in per cent", "", "", "account --epsilon 10% --delta 1e-6", []string{"--epsilon"}},
	{"join and an own CA", "", "", "init hub --join a.join --ca-cert a --ca-key b", []string{"--ca-cert cannot be combined with --join"}},
	{"join file no join file", "", "", "init hub --join study.toml --peer-listen :1 --peer-address h:1", []string{"line"}},
	{"peer address", "", "", "init hub --peer-listen :1 --peer-address h", []string{`peer_address "h"`}},
	{"own CA no certificate", "", "", "init hub --ca-cert study.toml --ca-key study.toml", []string{"study.toml"}},
	{"dashboard flags alone", "", "", "serve --dashboard-plain", []string{"--dashboard HOST:PORT"}},
	{"invite without a name", "", "", "site invite", []string{"<site>"}},
	{"invite's time", "", "", "site invite a --valid 3days", []string{"--valid"}},
	{"revoke without a name", "", "", "site revoke", []string{"<site>"}},
	{"add without a name", "", "", "raft add", []string{"<name>"}},
	{"demo's coordinators", "", "", "demo --coordinators 0", []string{"--coordinators"}},
	{"demo's noise", "", "", "demo --noise none", []string{"--noise"}},
	{"demo's method", "", "", "demo --method svd", []string{"--method"}},
	{"demo's epsilon", "", "", "demo --epsilon 0", []string{"epsilon"}},
	{"demo's site", "", "", "demo --kill-site 9", []string{"--kill-site"}},
	{"completion", "", "", "completion csh", []string{"csh"}},
}

// TestBadInput: each gives exit status 2, says which file, key or bound is at fault, and changes
// nothing on disk.
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
			command.Refused(t, dir, c.says, func(out, errs io.Writer) int { return run(t.Context(), strings.Fields(c.args), out, errs) })
		})
	}
	t.Logf("figure: %d bad inputs: studies, flags and folders of a coordinator", len(badInputs))
}
