package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/agent"
	"covey/internal/control"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/siteconfig"
	"covey/test/site"
)

// serving returns the directory of a joined site whose agent answers on its socket
// and has one proposal pending, and the proposal's digest.
func serving(t *testing.T) (dir string, id proposal.Digest) {
	t.Helper()
	return servingRows(t, "x,y\n1,2\n3,4\n", 2)
}

// servingRows is serving with n rows.
func servingRows(t *testing.T, rows string, n int) (dir string, id proposal.Digest) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, id = joinedSiteRows(t, rows, n)
	config, err := siteconfig.Read(dir)
	check(err)
	a, err := agent.New(agent.Options{Config: config})
	check(err)
	socket, err := control.SocketPath(dir)
	check(err)
	l, err := net.Listen("unix", socket)
	check(err)
	server := &http.Server{Handler: control.Handler(a)}
	go server.Serve(l) // ends with Close
	t.Cleanup(func() { server.Close(); a.Close() })
	return dir, id
}

// joinedSite is serving without the agent.
func joinedSite(t *testing.T) (dir string, id proposal.Digest) {
	t.Helper()
	return joinedSiteRows(t, "x,y\n1,2\n3,4\n", 2)
}

// joinedSiteRows is joinedSite with n rows.
func joinedSiteRows(t *testing.T, rows string, n int) (dir string, id proposal.Digest) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	dir = filepath.Join(root, "alpha")
	authority := site.Authority(t, filepath.Join(root, "c"), time.Now())
	alpha := site.Issue(t, dir, "alpha", authority, time.Now())
	other, _, err := ed25519.GenerateKey(nil)
	check(err)
	body, err := proposal.Propose(proposal.Spec{Center: proposal.CenterPublic, Name: "blood", Dataset: "rows", Epsilon: 0.5, Delta: 1e-6, Rounds: 3, Radius: "1", ExplainedVariance: proposal.VarianceNone,
		Columns: []proposal.Column{{Name: "x", Scale: 1}, {Name: "y", Scale: 1}}},
		[]proposal.Member{{Name: "alpha", Identity: proposal.Key(alpha.Identity().Public().(ed25519.PublicKey)), Units: n}, {Name: "beta", Identity: proposal.Key(other), Units: 7}},
		authority.SigningKey().Public().(ed25519.PublicKey), [32]byte{1})
	check(err)
	id = proposal.DigestOf(body)
	pending, err := proposals.OpenPending(filepath.Join(dir, "pending"))
	check(err)
	check(pending.Put(body))
	check(os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o600))
	c := site.Config("alpha", "rows.csv")
	c.Coordinator, c.Populations[0], c.Datasets[0].Population = []string{"127.0.0.1:1"}, siteconfig.Population{Name: "patients", CapRho: 0.5}, "patients"
	c.Policy = siteconfig.Policy{}
	check(site.Write(dir, c))
	return dir, id
}

// TestOperatorCommands reads, approves and leaves a study through the command line.
func TestOperatorCommands(t *testing.T) {
	dir, id := serving(t)
	agent := func(code int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, err bytes.Buffer
		if got := run(t.Context(), append([]string{"-C", dir}, args...), &out, &err); got != code {
			t.Fatalf("agent %q: exit status %d, want %d\n%s", args, got, code, err.String())
		}
		return out.String(), err.String()
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
	}
	out, _ := agent(0, "status")
	has(out, "alpha", "no link", "1 await you, 0 approved")
	out, _ = agent(0, "study", "list")
	has(out, id.String()[:12], "blood", "pending", "patients")

	// Everything that an operator must have seen before saying yes.
	out, _ = agent(0, "study", "show", "blood")
	has(out, id.String(), "ε = 0.5, δ = 1e-06", "under replacement of one unit", "queries in 3 rounds",
		"What leaves this site", "announcement", "the sum of 2 clipped vectors of 2 numbers, masked", "shares",
		"alpha (this site)", "beta", "left before this study  0.5", "left after", "Warnings", "colludes with the coordinator",
		"Who could learn what", "the leader and the other site", "outside, so you decide", "min_sites   3 ", "2 sites", "OUTSIDE", "agent check --study")
	if strings.Count(out, "clipped vectors") != 1 {
		t.Errorf("uploads alike are not one line:\n%s", out)
	}

	_, said := agent(2, "study", "approve", "blood")
	has(said, "--yes")
	_, said = agent(2, "study", "approve", "other", "--yes")
	has(said, `no study "other"`)
	// A name or a beginning may mean another study by now than the one that was read.
	for _, ref := range []string{"blood", id.String()[:10], id.String()[:63]} {
		_, said = agent(2, "study", "approve", ref, "--yes")
		has(said, "whole digest")
	}
	// Rows that the study cannot read leave it pending, and the next step is named.
	rows := filepath.Join(dir, "rows.csv")
	for _, text := range []string{"x,z\n1,2\n3,4\n", "x,y\n1,2\n3,4\n"} {
		if err := os.WriteFile(rows, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "x,z") {
			_, said = agent(2, "study", "approve", id.String(), "--yes")
			has(said, "Not approved: ", "agent check --study FILE", "pending/"+id.String()+".toml.gz", "has this name")
		}
	}
	out, said = agent(0, "study", "approve", id.String(), "--yes")
	has(said, "warning: ", "colludes with the coordinator")
	if out != id.String()+"\n" {
		t.Errorf("stdout %q, want the digest alone", out)
	}
	has(said, "is approved", `population "patients"`)
	out, _ = agent(0, "ledger", "show")
	has(out, "Budgets in ρ", "patients    0.5", "Charges by study", id.String()[:12], "blood", "approved", "QUERIES")
	exported, _ := agent(0, "ledger", "export")
	asJSON, _ := agent(0, "ledger", "show", "--json")
	if exported != asJSON || !json.Valid([]byte(exported)) {
		t.Errorf("export and show --json differ:\n%s\n%s", exported, asJSON)
	}
	for _, word := range []string{"withdraw", "reject"} {
		_, said = agent(2, "study", word, id.String())
		has(said, "stdin is not a terminal", "--yes", "What leaves this site")
		for _, ref := range []string{"blood", id.String()[:10], id.String()[:63]} {
			_, said = agent(2, "study", word, ref, "--yes")
			has(said, "whole digest")
		}
	}
	out, _ = agent(0, "study", "list")
	has(out, "approved")
	before := time.Now().UTC().Format("2006-01-02T")
	out, said = agent(0, "study", "withdraw", id.String(), "--yes")
	after := time.Now().UTC().Format("2006-01-02T") // another day, if it was midnight
	if out != id.String()+"\n" {
		t.Errorf("stdout %q, want the digest alone", out)
	}
	has(said, "is withdrawn", `population "patients" is free again`, "the study ends when the coordinator hears of it")
	out, _ = agent(0, "ledger", "show")
	has(out, "patients    0.5  0      0         0.5")
	out, _ = agent(0, "study", "list")
	has(out, "finished (withdrawn)", "WHEN")
	if !strings.Contains(out, before) && !strings.Contains(out, after) {
		t.Errorf("no %q in\n%s", after, out)
	}
	out, _ = agent(0, "study", "show", "blood")
	has(out, "finished (withdrawn); approved by operator", "when     ", "left     egress.jsonl does not count this study's messages", "charged  ρ = 0 over 0 queries", "It is over here", "What leaves this site in a whole run, which can differ from what left", "Roster")
	_, said = agent(0, "study", "withdraw", id.String(), "--yes")
	has(said, "is withdrawn")
	_, said = agent(0, "study", "withdraw", id.String(), "-y", "--json")
	has(said, "is withdrawn")
	_, said = agent(2, "study", "approve", id.String(), "--yes")
	has(said, "finished")

	for _, args := range [][]string{{"status"}, {"study", "list"}, {"study", "show", "blood"}, {"ledger", "export"}, {"egress"}} {
		out, _ := agent(0, append(args, "--json")...)
		if !json.Valid([]byte(out)) {
			t.Errorf("agent %q --json: not one JSON value:\n%s", args, out)
		}
	}
}
