package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/test/lines"
)

// in changes words of a site's agent.toml.
func in(t *testing.T, dir, old, new string) {
	t.Helper()
	file := filepath.Join(dir, siteconfig.File)
	text, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%q: %v\n%s", old, err, text)
	}
	if err := pki.ReplaceFile(file, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReloadCommand: what agent.toml says is taken whole or not at all, and said.
func TestReloadCommand(t *testing.T) {
	dir, id := serving(t)
	said := func(code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if got := run(t.Context(), append([]string{"-C", dir}, args...), &out, &out); got != code {
			t.Fatalf("agent %q: exit status %d, want %d\n%s", args, got, code, out.String())
		}
		return out.String()
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
	}
	has(said(0, "reload"), "agent.toml has not changed since it was last read.")
	has(said(0, "status"), "DATA SET", "rows", "patients", "csv", "no study", "not since the start")
	in(t, dir, "patients", "others")
	in(t, dir, "patients", "others")
	has(said(2, "reload"), "nothing was changed", `data set "rows" was charged to another population than "others", whose budget does not count those charges`, "agent reload --yes")
	has(said(0, "study", "show", id.String()), "patients")
	has(said(0, "reload", "--yes"), "whose budget does not count those charges", "+population.others", "-population.patients", "dataset.rows.population", "Studies under way keep the data sets that were approved")
	has(said(0, "study", "show", id.String()), "others")
	said(0, "study", "approve", "--yes", id.String())
	has(said(0, "status"), "looks as pinned")
	has(said(0, "status", "--hash"), "as pinned")
	has(said(0, "status", "--hash", "--json"), `"data": "as pinned"`, `"kind": "csv"`, `"studies": 1`)
	in(t, dir, "127.0.0.1:1", "127.0.0.1:2")
	has(said(2, "reload"), "nothing was changed: a new coordinator needs a restart")
}

// TestHangup: SIGHUP is a reload without --yes, and ends nothing.
func TestHangup(t *testing.T) {
	dir, _ := joinedSite(t)
	ctx, stop := context.WithCancel(t.Context())
	log := &lines.Log{}
	done := make(chan int, 1)
	go func() { done <- run(ctx, []string{"-C", dir, "run", "--log", "json"}, io.Discard, log) }()
	log.Wait(t, "no link to the coordinator")
	hangup := func(said string) {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		log.Wait(t, said)
	}
	in(t, dir, "cap_rho", "cap_roh")
	hangup("agent.toml is refused; the agent keeps the configuration")
	in(t, dir, "cap_roh = 0.5", "cap_rho = 0.75")
	hangup(`"changed":["population.patients.cap_rho"]`)
	in(t, dir, "patients", "others")
	in(t, dir, "patients", "others")
	hangup("whose budget does not count those charges")
	stop()
	if code := <-done; code != 0 {
		t.Errorf("exit status %d", code)
	}
}
