package analyst

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/test/must"
	"covey/test/port"
)

// join has an analyst join into a new folder.
func join(t *testing.T, h *port.Hub) *Client {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ada")
	must.Do(t, Newcomer(false).Join(port.Bounded(t), h.Invite(t), dir, time.Now()))
	return opened(t, dir)
}

func opened(t *testing.T, dir string) *Client {
	t.Helper()
	c := must.Get(Open(dir))(t)
	t.Cleanup(c.Close)
	return c
}

func spec(t testing.TB, more string) proposal.Spec {
	t.Helper()
	s, err := proposal.ParseSpec([]byte(more + `name = "weights"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
[[columns]]
name = "height"
offset = 1.0
scale = 10.0
[[columns]]
name = "weight"
offset = 1.0
scale = 10.0
`))
	must.Do(t, err)
	return s
}

func wantErr[E error](t *testing.T, err error, says ...string) E {
	t.Helper()
	at, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("got %v, want a %T", err, at)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v: lacks %q", err, text)
		}
	}
	return at
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}
