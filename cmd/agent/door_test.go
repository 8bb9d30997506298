package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/control"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// TestAnotherStudyIsNotDecided: an agent that answers about another study than the one that was
// meant is not believed, before the decision or after it.
func TestAnotherStudyIsNotDecided(t *testing.T) {
	asked, other := proposal.DigestOf([]byte("asked")), proposal.DigestOf([]byte("other"))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, siteconfig.File), []byte("site = \"a\"\ncoordinator = [\"127.0.0.1:1\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := control.SocketPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var found, decided proposal.Digest
	var posts []string
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := found
		if r.Method == http.MethodPost {
			id = decided
			posts = append(posts, r.URL.Path)
		}
		json.NewEncoder(w).Encode(agent.StudyDetail{StudyView: agent.StudyView{Digest: id, State: "pending"}})
	})}
	go server.Serve(l) // ends with Close
	t.Cleanup(func() { server.Close() })
	for _, c := range []struct {
		found, decided proposal.Digest
		posts, code    int
	}{
		{other, other, 0, shared.ExitFailure},
		{asked, other, 1, shared.ExitFailure},
		{asked, asked, 1, shared.ExitOK},
	} {
		found, decided = c.found, c.decided
		for _, args := range [][]string{{"study", "approve", asked.String(), "--yes"}, {"study", "reject", asked.String(), "--yes"}, {"study", "withdraw", asked.String(), "--yes"}} {
			posts = nil
			var out, err bytes.Buffer
			if code := run(t.Context(), append([]string{"-C", dir}, args...), &out, &err); code != c.code || len(posts) != c.posts {
				t.Errorf("%q, found %s, decided %s: exit status %d, %q asked\n%s", args, c.found, c.decided, code, posts, err.String())
			}
			for _, path := range posts {
				if !strings.Contains(path, asked.String()) {
					t.Errorf("%q asks for %s", args, path)
				}
			}
			if c.code != shared.ExitOK && (out.Len() > 0 || strings.Contains(err.String(), "approved")) {
				t.Errorf("%q says %s%s", args, out.String(), err.String())
			}
		}
	}
}
