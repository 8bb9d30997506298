package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"covey/internal/agent"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

const siteConfig = `site = "a"
coordinator = ["127.0.0.1:1"]
[[population]]
name = "patients"
cap_rho = 1.0
`

// makeLedger is "makeledger DIR": a site with one study that is over, ρ = 0.2, and one
// approved of ρ = 0.5 with a charge of 0.2.
func makeLedger(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: makeledger dir")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(os.WriteFile(filepath.Join(dir, siteconfig.File), []byte(siteConfig), 0o600))
	l, err := ledger.Open(filepath.Join(dir, "ledger"))
	ts.Check(err)
	over, open := [32]byte{1, 2, 3, 5}, [32]byte{1, 2, 3, 4}
	approve := func(id [32]byte, name string, rho float64) {
		ts.Check(l.Approve(ledger.Approval{Study: id, Name: name, Population: "patients", Rho: rho, CapRho: 1, By: "operator",
			Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}))
		j := l.Journal(id)
		ts.Check(j.PutConfirmation(ledger.Confirmed{Slots: map[int][]byte{0: []byte("secret")}}))
		_, err := j.Upload(0, 0, [32]byte{}, 0.2, func() ([]byte, error) { return nil, nil })
		ts.Check(err)
	}
	approve(over, "bone", 0.3)
	approve(open, "blood", 0.5)
	ts.Check(l.Finish(over, "completed"))
	ts.Check(l.Close())
}

// spent is "spent DIR POPULATION RHO".
func spent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: spent dir population rho")
	}
	l, err := ledger.Open(filepath.Join(ts.MkAbs(args[0]), "ledger"))
	ts.Check(err)
	defer l.Close()
	for _, p := range l.Populations() {
		if p.Name == args[1] && strconv.FormatFloat(p.SpentRho, 'g', 6, 64) == args[2] && p.ReservedRho == 0 {
			return
		}
	}
	ts.Fatalf("populations %+v, want %v spent and nothing reserved", l.Populations(), args[2])
}

// locked is "locked DIR PROGRAM ARGS…": the program fails because the ledger is in use.
func locked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: locked dir program args...")
	}
	l, err := ledger.Open(filepath.Join(ts.MkAbs(args[0]), "ledger"))
	ts.Check(err)
	defer l.Close()
	err = ts.Exec(args[1], args[2:]...)
	if err == nil || !strings.Contains(ts.ReadFile("stderr"), ledger.ErrLocked.Error()) {
		ts.Fatalf("%v, want a ledger in use", err)
	}
}

// TestRecoverFromExport starts a ledger from what the running agent exported, and does
// not while that agent runs.
func TestRecoverFromExport(t *testing.T) {
	dir, id := serving(t)
	command := func(code int, args ...string) string {
		t.Helper()
		var out, err bytes.Buffer
		if got := run(t.Context(), args, &out, &err); got != code {
			t.Fatalf("agent %q: exit status %d, want %d\n%s", args, got, code, err.String())
		}
		return out.String() + err.String()
	}
	command(0, "-C", dir, "study", "approve", id.String(), "--yes")
	export := filepath.Join(t.TempDir(), "export.json")
	text := command(0, "-C", dir, "ledger", "export")
	elsewhere := t.TempDir()
	config, err := os.ReadFile(filepath.Join(dir, siteconfig.File))
	if err := errors.Join(err, os.WriteFile(export, []byte(text), 0o600),
		os.WriteFile(filepath.Join(elsewhere, siteconfig.File), config, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--from", export}, nil} {
		if said := command(2, append([]string{"-C", dir, "ledger", "recover", "--yes"}, args...)...); !strings.Contains(said, "the agent is running") {
			t.Errorf("recover under a running agent: %s", said)
		}
	}
	command(0, "-C", elsewhere, "ledger", "recover", "--yes", "--from", export)
	l, err := ledger.Open(filepath.Join(elsewhere, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var was agent.LedgerReply
	if err := json.Unmarshal([]byte(text), &was); err != nil {
		t.Fatal(err)
	}
	all, p := l.Studies(), l.Populations()
	if len(all) != 1 || all[0].Study != id || all[0].State != ledger.Finished || all[0].Code != ledger.CodeRestored ||
		len(p) != 1 || p[0].SpentRho != was.Populations[0].ReservedRho || p[0].SpentRho == 0 {
		t.Errorf("restored %+v, %+v of %+v", all, p, was)
	}
}

// TestExportKeepsProposers: what an analyst's studies were charged counts after a recovery, too.
func TestExportKeepsProposers(t *testing.T) {
	_, studies := entriesOf(agent.LedgerReply{Studies: []agent.StudyView{{Proposer: &proposal.Party{Name: "ada", Identity: proposal.Key{7}}}}})
	if of := studies[0].Proposer; of.Name != "ada" || !bytes.Equal(of.Key, []byte{7}) {
		t.Errorf("restored as proposed by %+v", of)
	}
}

// TestOlderLedgerIsPrinted: budgets that lack studies say so before any number.
func TestOlderLedgerIsPrinted(t *testing.T) {
	var out bytes.Buffer
	printLedger(&out, agent.LedgerReply{Beyond: []proposal.Digest{{0xab}, {0xcd}}})
	if said := out.String(); !strings.HasPrefix(said, "THE LEDGER MAY BE AN OLDER COPY") || !strings.Contains(said, "(2, the first ab0000000000)") {
		t.Error(said)
	}
	out.Reset()
	if printLedger(&out, agent.LedgerReply{}); strings.Contains(out.String(), "OLDER") {
		t.Error(out.String())
	}
}

// TestImportedIsNotForfeited: by an export nobody knows which queries a study was charged for.
func TestImportedIsNotForfeited(t *testing.T) {
	var out bytes.Buffer
	printLedger(&out, agent.LedgerReply{Studies: []agent.StudyView{
		{Name: "imported", State: "finished", Code: "completed", SpentRho: 0.5, ForfeitRho: 0.5},
		{Name: "left", State: "finished", Code: ledger.CodeRecovered, SpentRho: 0.5, ForfeitRho: 0.5},
		{Name: "ours", State: "finished", Code: "completed", SpentRho: 0.5, Queries: 7},
	}})
	for _, want := range []string{`imported .* 0\.5 +- +- `, `left .* 0\.5 +0\.5 +0 `, `ours .* 0\.5 +0 +7 `} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
