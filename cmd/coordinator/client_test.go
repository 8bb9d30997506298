package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/coordinator"
	"covey/internal/node"
	"covey/internal/operator"
)

// serveSocket returns a data folder on whose operator's socket a handler answers.
func serveSocket(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "covey") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, node.ConfigFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, node.SocketFile))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: answer}
	go server.Serve(l) // ends with Close
	t.Cleanup(func() { server.Close() })
	return dir
}

// TestMomentWithoutLeader: a request that did nothing since no coordinator leads is made again; one
// that may have been taken is not.
func TestMomentWithoutLeader(t *testing.T) {
	calls := map[string]int{}
	dir := serveSocket(t, func(w http.ResponseWriter, r *http.Request) {
		calls[r.URL.Path]++
		switch {
		case r.URL.Path == "/unsure":
			operator.Reply(w, nil, fmt.Errorf("the leader is gone: %w", &operator.UnknownOutcomeError{Err: coordinator.ErrNotLeader}))
		case calls[r.URL.Path] < 3:
			operator.Reply(w, nil, fmt.Errorf("the entry: %w", coordinator.ErrNotLeader))
		default:
			operator.Reply(w, struct{}{}, nil)
		}
	})
	c, err := (&terminal{&shared.Terminal{Ctx: t.Context()}, dir}).client()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.do("POST", "/elected", nil, nil); err != nil || calls["/elected"] != 3 {
		t.Errorf("%v after %d calls, want the third to do it", err, calls["/elected"])
	}
	if err := c.do("POST", "/unsure", nil, nil); err == nil || calls["/unsure"] != 1 {
		t.Errorf("%v after %d calls, want an error after one", err, calls["/unsure"])
	}
}

// TestSavedSecret: a join file, as any other secret, is for its owner alone and replaces nothing:
// one that cannot be written is not even asked for.
func TestSavedSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "north.join")
	if err := saveSecret(path, func() ([]byte, error) { return []byte("first"), nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	err := saveSecret(path, func() ([]byte, error) {
		t.Error("it is asked for")
		return []byte("second"), nil
	})
	if !shared.Is[*shared.InputError](err) {
		t.Errorf("over another: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "first" {
		t.Errorf("%q, %v", text, err)
	}
}
