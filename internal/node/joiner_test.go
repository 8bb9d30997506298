package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"

	"covey/internal/pki"
)

// logged returns the index of the last entry in a coordinator's log.
func logged(t *testing.T, n *Node) uint64 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(n.members.dir, "raft", "raft.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := raftboltdb.NewBoltStore(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	last, err := db.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// TestStrangersWriteNothing: PEER-8. Whoever reaches the coordinators' port without a token that
// was given out adds nothing to any coordinator's log, however large its requests are, and makes
// one request a connection.
func TestStrangersWriteNothing(t *testing.T) {
	pair(t, func(t *testing.T, one, two *Node) {
		before := [2]uint64{logged(t, one), logged(t, two)}
		pub := one.authority.NodeKey()
		for _, n := range []*Node{one, two} {
			served := 0
			for i := range 10 {
				conn, err := dialJoin(t.Context(), n.options.Dial, n.Config.PeerAddress, n.authority.Fingerprint())
				if err != nil {
					t.Fatal(err)
				}
				transport := &http.Transport{MaxConnsPerHost: 1, DialContext: onceDial(conn)}
				for range 3 {
					token, err := pki.NewToken()
					if err != nil {
						t.Fatal(err)
					}
					name := []string{"three", strings.Repeat("x", 1<<19), "a\x1b[2K", ""}[i%4]
					body, _ := json.Marshal(joinRequest{token.Bytes(), name, pub})
					r, _ := http.NewRequestWithContext(t.Context(), "POST", "http://x/v1/raft/join", bytes.NewReader(body))
					answer, err := transport.RoundTrip(r)
					if err != nil {
						continue
					}
					served++
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					if answer.StatusCode == http.StatusOK {
						t.Errorf("%.20q was given the keys", name)
					}
				}
				transport.CloseIdleConnections()
				conn.Close()
			}
			if served > 10 {
				t.Errorf("%d requests were answered on 10 connections", served)
			}
		}
		if after := [2]uint64{logged(t, one), logged(t, two)}; after != before {
			t.Errorf("the logs went from %v to %v entries", before, after)
		}
	})
}

// TestJoinersBodyIsBounded: PEER-8. What is over 4 KiB is not read.
func TestJoinersBodyIsBounded(t *testing.T) {
	for padding, want := range map[int]string{100: "is not an Ed25519 public key", maxJoin: "is not JSON"} {
		answer := httptest.NewRecorder()
		body := fmt.Sprintf("{%s\"name\":\"two\"}", strings.Repeat(" ", padding))
		new(Node).joinerHandler().ServeHTTP(answer, httptest.NewRequest("POST", "/v1/raft/join", strings.NewReader(body)))
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%d bytes: %s", len(body), answer.Body)
		}
	}
}

// onceDial returns a connection, and no second one.
func onceDial(c net.Conn) func(context.Context, string, string) (net.Conn, error) {
	used := false
	return func(context.Context, string, string) (net.Conn, error) {
		if used {
			return nil, errors.New("the connection ended")
		}
		used = true
		return c, nil
	}
}
