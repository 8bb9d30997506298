package control

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLongSocketPath puts the data directory where no socket fits.
func TestLongSocketPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path, err := SocketPath(dir)
	if err != nil {
		t.Fatal(err)
	}
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
