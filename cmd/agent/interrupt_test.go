package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/enroll"
	"covey/internal/pki"
)

// TestJoinInterrupted: a join says whom it asks and for how long; Ctrl-C is neither the file's
// fault nor the coordinator's.
func TestJoinInterrupted(t *testing.T) {
	token, err := pki.NewToken()
	if err != nil {
		t.Fatal(err)
	}
	join := pki.Join{Coordinator: []string{"127.0.0.1:1", "127.0.0.1:2"}, Fingerprint: strings.Repeat("abcd-", 15) + "abcd", Token: token, Site: "north", Expires: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
	text, err := join.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "north.join")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out, said bytes.Buffer
	if code := run(ctx, []string{"join", file, "-o", filepath.Join(dir, "north")}, &out, &said); code != shared.ExitFailure {
		t.Errorf("exit status %d", code)
	}
	for _, want := range []string{"Joining at 127.0.0.1:1, 127.0.0.1:2 (at most 20s for each address)", "interrupted: try the same join file again"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in %q", want, said.String())
		}
	}
}

// TestSwallowedHandshake: a network that answers nothing is no bad input; a certificate that is
// wrong is.
func TestSwallowedHandshake(t *testing.T) {
	if badInput(&enroll.HandshakeError{Err: context.DeadlineExceeded}) {
		t.Error("no answer is bad input")
	}
	if !badInput(&enroll.HandshakeError{Err: &pki.WrongCAError{}}) {
		t.Error("a wrong CA is no bad input")
	}
}
