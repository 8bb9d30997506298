package bolt

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/bbolt"
)

// TestMake: of many that make one file at a time all find the same, which opens, and leave nothing
// else; a file that is there is left as it is.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	var all sync.WaitGroup
	infos := make([]os.FileInfo, 8)
	for i := range infos {
		all.Go(func() {
			err := Make(path)
			if err == nil {
				infos[i], err = os.Stat(path)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for _, info := range infos {
		if !os.SameFile(info, infos[0]) || info.Mode().Perm() != 0o600 {
			t.Errorf("%v was replaced", info.Mode())
		}
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v stay, %v", names, err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Make(path); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, []byte("x")) {
		t.Errorf("it is %q, %v", got, err)
	}
	if Make(filepath.Join(dir, "none", "db")) == nil {
		t.Error("one is made in a folder that is not there")
	}
}
