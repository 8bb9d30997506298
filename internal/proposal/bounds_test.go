package proposal_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// refused reports an error that is no *FieldError or does not say what is wanted.
func refused(t *testing.T, what string, err error, want string) {
	t.Helper()
	if _, ok := errors.AsType[*proposal.FieldError](err); !ok || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestBoundsOfASpec: each of these lines is refused by its own name, whether or not another check
// would stop the study later.
func TestBoundsOfASpec(t *testing.T) {
	const paper = "accountant = \"paper\"\nlambda = 1.0\nradius = \"paper\"\n"
	const vectors = "[start]\nfile = \"r.json\"\n"
	for _, c := range [][2]string{
		{`profile = "best"`, `profile: must be "practical" or "paper"`},
		{`name = " weights"`, "name: must not begin or end with a space"},
		{fmt.Sprintf("name = %q", strings.Repeat("w", 201)), "name: at most 200 bytes, got 201"},
		{"alpha = 1.0", "alpha: must be in (0, 1)"},
		{"alpha = -0.1", "alpha: must be in (0, 1)"},
		{"c = -1.0", "c: must be in (0, 1e6]"},
		{"c = 2e6", "c: must be in (0, 1e6]"},
		{"dropout = 0.5", "dropout: must be at least 0 and below 0.5"},
		{"dropout = -0.1", "dropout: must be at least 0 and below 0.5"},
		{"spare_slots = -1", "spare_slots: must be in 0.."},
		{fmt.Sprint("spare_slots = ", proposal.MaxSlots+1), "spare_slots: must be in 0.."},
		{"deadlines.round = \"99ms\"", "deadlines.round: must be in 100ms..720h"},
		{"deadlines.round = \"721h\"", "deadlines.round: must be in 100ms..720h"},
		{"deadlines.tick = \"999us\"", "deadlines.tick: must be in 1ms..deadlines.round"},
		{"deadlines.tick = \"2h\"", "deadlines.tick: must be in 1ms..deadlines.round"},
		{"radius = 1e-90", "radius: must be in 2^-200..2^200"},
		{"radius = 1e90", "radius: must be in 2^-200..2^200"},
		{"accountant = \"paper\"\nradius = \"private\"", `accountant: "paper" has no charge for a private radius`},
		{paper + "epsilon = 1.5", "epsilon: accountant = \"paper\" is proved for epsilon <= 1, got 1.5"},
		{paper + "explained_variance = \"private\"", "explained_variance: accountant = \"paper\""},
		{strings.Replace(paper, "1.0", `"private"`, 1), "lambda: accountant = \"paper\""},
		{"components = \"auto\"\n" + paper, "components: must be 1 with accountant"},
		{"components = \"some\"", "components: must be in 1..100, or \"auto\""},
		{"components = \"auto\"\nexplained_variance = \"private\"\n" + vectors, "components: must be a number with a start"},
		{"method = \"covariance\"\nrows = \"sphere\"", "rows: \"sphere\" is of power iteration"},
		{"method = \"power\"\nradius = 2.0\nrows = \"sphere\"", "rows: \"sphere\" needs radius"},
		{"method = \"power\"\nunit = \"patient\"\nrows = \"sphere\"", "rows: \"sphere\" needs one row per unit"},
		{"method = \"covariance\"\n" + vectors, "start: is of no use"},
		{"method = \"power\"\n[start]\nfile = \"" + strings.Repeat("r", 201) + "\"", "start.file: at most 200 bytes"},
		{"method = \"power\"\n" + vectors + "vectors = \"AAAAAAAAAAA=\"", "start: has a file and vectors"},
		{"method = \"power\"\n" + vectors + "[[columns]]\nname = \"l\"\nlevels = [\"x\", \"y\"]", "start: needs public constants: vectors found at other shares of levels"},
		{"method = \"power\"\nmissing = \"zero\"\n" + vectors + "[[columns]]\nname = \"g\"\nscale = 1\nindicator = true", "start: needs public constants: vectors found at other shares of missing"},
		{`sites = ["a", "b", "a"]`, `sites: "a" appears twice`},
		{`expires = "-1h"`, "expires: must be a date"},
		{`expires = "2161h"`, "expires: must be a date"},
		{`expires = "soon"`, "expires: must be a date"},
		{"delta = none", "delta: must be given"},
		{"epsilon = -1.0", "epsilon: must be in "},
		{"epsilon = 100.1", "epsilon: must be in "},
		{"delta = 1.0", "delta: must be in "},
		{"delta = -1e-6", "delta: must be in "},
		{"delta = 9.99e-16", "delta: must be in "},
		{"rounds = -1", "rounds: must be in 1..500"},
		{"rounds = 501", "rounds: must be in 1..500"},
		{"sites_per_unit = -1", "sites_per_unit: must be in 1..10000"},
		{"sites_per_unit = 10001", "sites_per_unit: must be in 1..10000"},
		{`output = "best"`, "output: must be one of"},
		{`on_dropout = "stop"`, "on_dropout: must be one of"},
		{"on_dropout = \"wait\"\nmin_survivors = 3", `min_survivors: is of no use with on_dropout = "wait"`},
		{"radius = \"paper\"", "lambda: must be positive"},
		{"radius = \"paper\"\nlambda = 2e150", "lambda: must be positive and at most 1e150"},
		{"radius = \"paper\"\nlambda = -1.0", "lambda: must be positive and at most 1e150"},
		{`lambda = "some"`, `lambda: must be "private" or a number`},
		{`lambda = "private"`, `lambda: "private" is bought for radius = "paper" alone`},
		{"radius = \"paper\"\nlambda = 1.0\nlambda_range = [1.0, 2.0]", `lambda_range: needs lambda = "private"`},
		{"radius = \"paper\"\nlambda = \"private\"\nlambda_range = [2.0, 1.0]", "lambda_range: must be two numbers"},
		{"radius = \"paper\"\nlambda = \"private\"\nlambda_range = [1e-61, 1.0]", "lambda_range: must be two numbers"},
		{"radius = \"paper\"\nlambda = \"private\"\nlambda_range = [1.0, 1e61]", "lambda_range: must be two numbers"},
		{"radius = \"paper\"\nlambda = \"private\"\nlambda_range = [1.0]", "lambda_range: must be two numbers"},
		{"method = \"covariance\"\nnorm_bound = 1e31", "norm_bound: must be in 2^-100..2^100"},
		{"method = \"covariance\"\nnorm_bound = 1e-31", "norm_bound: must be in 2^-100..2^100"},
		{"method = \"covariance\"\nnorm_bound = \"some\"", `norm_bound: must be "private" or a number`},
		{"method = \"power\"\nnorm_bound = 1.0", `norm_bound: has no effect with method = "power"`},
		{"method = \"auto\"\nnorm_bound = 1.0", `method: "auto" compares a private radius with a private norm bound`},
		{"method = \"auto\"\nradius = 1.0", `method: "auto" compares a private radius with a private norm bound`},
		{"method = \"covariance\"\nsubspace = \"deflation\"", `subspace: is of method = "power"`},
		{"center = \"pairs\"\nunit = \"patient\"", `center: "pairs" needs one row per unit`},
		{"center_share = 0.1", "center_share: has no effect"},
		{"explained_variance = \"none\"\nvariance_share = 0.1", "variance_share: has no effect"},
		{"center = \"private\"\ncenter_share = 1.0", "center_share: must be in (0, 1)"},
		{"center = \"private\"\ncenter_share = -0.1", "center_share: must be in (0, 1)"},
		{"center = \"private\"\ncenter_share = 0.7\nradius_share = 0.22", "epsilon: at least 0.1 of the budget must remain"},
	} {
		_, err := proposal.ParseSpec([]byte(with(c[0])))
		refused(t, c[0], err, c[1])
	}
	_, err := proposal.ParseSpec([]byte(texts.Minimal[:strings.Index(texts.Minimal, "[[columns]]")]))
	refused(t, "no columns", err, "columns: at least one column is needed")
}

// TestSpecTakesItsBounds: what is as large or as small as it may be is taken.
func TestSpecTakesItsBounds(t *testing.T) {
	for _, lines := range []string{
		"epsilon = 100.0", "delta = 1e-15", "rounds = 500", "sites_per_unit = 10000", "dropout = 0.499",
		"deadlines.round = \"100ms\"", "deadlines.round = \"720h\"", "deadlines.tick = \"1ms\"",
		"radius = \"paper\"\nlambda = 1e150",
		"radius = \"paper\"\nlambda = \"private\"\nlambda_range = [6.223015277861142e-61, 1.6069380442589903e60]",
		"method = \"covariance\"\nnorm_bound = 1.2676506002282294e30", "method = \"covariance\"\nnorm_bound = 7.888609052210118e-31",
		"center = \"private\"\ncenter_share = 0.7\nradius_share = 0.1\nexplained_variance = \"none\"",
	} {
		if _, err := proposal.ParseSpec([]byte(with(lines))); err != nil {
			t.Errorf("%s: %v", lines, err)
		}
	}
}

// with returns the smallest study with lines that replace its own of the same key; none removes
// one. Tables go behind.
func with(lines string) string {
	own, columns, _ := strings.Cut(texts.Minimal, "[[columns]]")
	lines, table, _ := strings.Cut(lines, "[start]")
	var out []string
	for line := range strings.Lines(own) {
		key, _, _ := strings.Cut(line, "=")
		if !strings.Contains("\n"+lines, "\n"+key+"=") {
			out = append(out, line)
		}
	}
	for line := range strings.Lines(lines + "\n") {
		if !strings.HasSuffix(line, "= none\n") {
			out = append(out, line)
		}
	}
	if table != "" {
		table = "\n[start]" + table
	}
	return strings.Join(out, "") + "[[columns]]" + columns + table
}

// TestBoundsOfAProposal: what a site is sent names what it is, and all keys that its signatures are
// checked with.
func TestBoundsOfAProposal(t *testing.T) {
	body, err := proposal.Propose(smallSpec(t), texts.Roster(fives...), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	line := func(key string) string {
		_, rest, _ := strings.Cut("\n"+string(body), "\n"+key+" = ")
		value, _, _ := strings.Cut(rest, "\n")
		return key + " = " + value + "\n"
	}
	for what, c := range map[string][3]string{
		"another version":  {line("version"), "version = 2\n", "version: must be 3, got 2"},
		"no nonce":         {line("nonce"), "", "nonce: must be 32 bytes"},
		"a short nonce":    {line("nonce"), "nonce = '00'\n", "nonce"},
		"no coordinator":   {line("coordinator"), "", "coordinator: must be an Ed25519 public key"},
		"no identity":      {line("identity"), "", "roster[0].identity: must be an Ed25519 public key"},
		"sites by name":    {line("dataset"), line("dataset") + "sites = ['a']\n", "study.sites: must be empty"},
		"readers by name":  {line("dataset"), line("dataset") + "readers = ['a']\n", "study.readers: must be empty"},
		"a proposer alone": {"[[roster]]", "[proposer]\nname = 'ada'\n\n[[roster]]", "proposer.identity: must be an Ed25519 public key"},
	} {
		text := strings.Replace(string(body), c[0], c[1], 1)
		if text == string(body) {
			t.Errorf("%s: nothing changed", what)
		}
		_, err := proposal.Parse([]byte(text))
		refused(t, what, err, c[2])
	}
}
