package agent

import (
	"errors"
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
