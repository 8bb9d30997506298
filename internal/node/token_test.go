package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDashboardTokenIsPrivate: the token that logs in at the page is made for its owner alone, and
// one that others can read or write is refused, as is one that could be guessed.
func TestDashboardTokenIsPrivate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, TokenFile)
	made, err := dashboardToken(dir)
	if err != nil || len(made) < 52 {
		t.Fatalf("%d characters, %v", len(made), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	for mode, open := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o604: true, 0o602: true, 0o601: true, 0o644: true} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		token, err := dashboardToken(dir)
		_, config := errors.AsType[*ConfigError](err)
		if open && (!config || token != "" || !strings.Contains(err.Error(), "is open to others")) || !open && (err != nil || token != made) {
			t.Errorf("mode %04o: %d characters, %v", mode, len(token), err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(made[:31]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := dashboardToken(dir); err == nil || token != "" {
		t.Errorf("a token of 31 characters: %v", err)
	}
}
