package proposals

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"covey/internal/proposal"
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
	if err := p.Put([]byte("one more")); !errors.Is(err, ErrFull) {
		t.Errorf("one over %d: %v", maxPending, err)
	}
	if err := p.Put([]byte("proposal 0")); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := p.Remove(proposal.DigestOf([]byte("proposal 0"))); err != nil {
		t.Fatal(err)
	}
	if err := p.Put([]byte("one more")); err != nil {
		t.Errorf("after one was removed: %v", err)
	}
}

// TestPendingProposalsAreBounded: by their number, and by their bytes together, which a coordinator
// chooses.
func TestPendingProposalsAreBounded(t *testing.T) {
	for _, c := range []struct{ bytes, fit int }{{10, maxPending}, {maxPendingBytes / 4, 4}} {
		p, err := OpenPending(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, c.bytes)
		for i := range c.fit {
			body := bytes.Clone(first)
			body[0] = byte(i)
			if err := p.Put(body); err != nil {
				t.Fatalf("%d of %d bytes: %v", i, c.bytes, err)
			}
		}
		one := bytes.Clone(first)
		one[1] = 1
		if err := p.Put(one); err != ErrFull {
			t.Errorf("one more than %d of %d bytes: %v", c.fit, c.bytes, err)
		}
		if err := p.Put(first); err != nil {
			t.Errorf("one that is there: %v", err)
		}
		if err := p.Remove(proposal.DigestOf(first)); err != nil {
			t.Fatal(err)
		}
		if err := p.Put(one); err != nil {
			t.Errorf("in the place of one that was decided: %v", err)
		}
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
	id := proposal.DigestOf(body)
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
