package proposals

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"covey/internal/study"
)

var moment = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestPendingIsBounded checks what a coordinator can make an unwilling site keep.
func TestPendingIsBounded(t *testing.T) {
	p, err := OpenPending(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxPending {
		if err := p.Put(fmt.Appendf(nil, "proposal %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Put([]byte("one more")); !errors.Is(err, errPendingFull) {
		t.Errorf("one over %d: %v", maxPending, err)
	}
	if err := p.Put([]byte("proposal 0")); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := p.Remove(study.DigestOf([]byte("proposal 0"))); err != nil {
		t.Fatal(err)
	}
	if err := p.Put([]byte("one more")); err != nil {
		t.Errorf("after one was removed: %v", err)
	}
}

// TestPendingIsWhatItsNameSays checks that a file is approved by its content.
func TestPendingIsWhatItsNameSays(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPending(dir)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("proposal")
	id := study.DigestOf(body)
	if err := p.Put(body); err != nil {
		t.Fatal(err)
	}
	if got, ok := p.Get(id); !ok || string(got) != string(body) {
		t.Errorf("got %q, %v", got, ok)
	}
	if info, err := os.Stat(p.path(id)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	if err := os.WriteFile(p.path(id), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.Get(id); ok {
		t.Error("a file of another digest than its name is taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "x.toml.123.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = OpenPending(dir); err != nil {
		t.Fatal(err)
	}
	if all, err := p.List(); err != nil || len(all) != 1 {
		t.Errorf("list %v, %v", all, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); left != nil {
		t.Errorf("a crash's files stay: %v", left)
	}
}
