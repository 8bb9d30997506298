package control

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// deep listens for a data directory whose path is too long for a socket's.
func deep(t *testing.T) (dir, path string, l net.Listener) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if path, err = SocketPath(dir); err != nil {
		t.Fatal(err)
	}
	return dir, path, l
}

// TestLongSocketPath puts the data directory where no socket fits.
func TestLongSocketPath(t *testing.T) {
	dir, path, l := deep(t)
	defer l.Close()
	defer os.Remove(filepath.Dir(path))
	if path != l.Addr().String() || strings.HasPrefix(path, dir) {
		t.Errorf("socket %q, the agent listens on %q", path, l.Addr())
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v, %v, want mode 0700", info, err)
	}
	t.Setenv("TMPDIR", dir)
	if _, err := listen(dir); err == nil || !strings.Contains(err.Error(), "103 bytes") {
		t.Errorf("with a temporary directory as long: %v", err)
	}
}

// TestSocketOfAnotherUser: where the agent's temporary directory is gone, as after a restart of the
// machine, and another user has made it again, nothing that listens there passes for the agent.
func TestSocketOfAnotherUser(t *testing.T) {
	dir, path, l := deep(t)
	at := filepath.Dir(path)
	defer os.RemoveAll(at)
	l.Close()
	refused := func(how string) {
		t.Helper()
		if path, err := SocketPath(dir); err == nil || path != "" || !strings.Contains(err.Error(), "folder of the agent's alone") {
			t.Errorf("%s: %q, %v", how, path, err)
		}
	}
	for _, mode := range []os.FileMode{0o755, 0o770, 0o701} {
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
		refused(mode.String())
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	if _, err := SocketPath(dir); !errors.Is(err, fs.ErrNotExist) && (err == nil || !strings.Contains(err.Error(), at)) {
		t.Errorf("gone: %v", err)
	}
	private := t.TempDir()
	if err := os.Symlink(private, at); err != nil {
		t.Fatal(err)
	}
	refused("a link to a private folder")
	if err := errors.Join(os.Remove(at), os.Mkdir(at, 0o700)); err != nil {
		t.Fatal(err)
	}
	if got, err := SocketPath(dir); err != nil || got != path {
		t.Errorf("the same user's: %q, %v", got, err)
	}
	if os.Getuid() != 0 {
		t.Skip("to give a folder to another user takes root")
	}
	if err := os.Chown(at, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	refused("another user's")
}

// TestUnreadFileIsNoFile: a file that cannot be read to its end does not come as a shorter one.
func TestUnreadFileIsNoFile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		file, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_CREATE|os.O_WRONLY, 0o600)
		reply(w, file, err)
	}))
	defer server.Close()
	if got, err := http.Get(server.URL); err == nil {
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		t.Errorf("%q, %v", text, err)
	}
}
