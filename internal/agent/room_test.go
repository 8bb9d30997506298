package agent

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestResultLeavesRoom: of a result that is fetched nothing is written once too little of the disk
// would be left for the ledger.
func TestResultLeavesRoom(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "result"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	left := uint64(spare + 150)
	w := roomy{file, func(*os.File) (uint64, bool) { return left, true }}
	for i := range 3 {
		n, err := w.Write(make([]byte, 100))
		if fits := i == 0; fits != (err == nil) || fits != (n == 100) || !fits && !errors.Is(err, errSpare) {
			t.Errorf("write %d: %d, %v", i, n, err)
		}
		left -= uint64(n)
	}
	if at, err := file.Stat(); err != nil || at.Size() != 100 {
		t.Errorf("%v, %v", at.Size(), err)
	}
	w.free = func(*os.File) (uint64, bool) { return 0, false }
	if _, err := w.Write(make([]byte, 100)); err != nil {
		t.Errorf("where it is not known: %v", err)
	}
}

// TestTakenLeavesRoom: a file that would take what is spare is refused, and none has a name.
func TestTakenLeavesRoom(t *testing.T) {
	dir := t.TempDir()
	for _, left := range []uint64{spare + 6, spare + 5} {
		file, err := taken(dir, func(*os.File) (uint64, bool) { return left, true }, func(to io.Writer) error {
			_, err := io.WriteString(to, "result")
			return err
		})
		if left < spare+6 {
			if !errors.Is(err, errSpare) {
				t.Errorf("%d bytes are left: %v", left, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(file); err != nil || string(text) != "result" {
			t.Errorf("%q, %v", text, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v stay, %v", names, err)
	}
}
