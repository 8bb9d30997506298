package replica

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// picky is a machine that takes one snapshot.
type picky struct{ want []byte }

func (p picky) Apply([]byte) any { return nil }
func (p picky) Snapshot() (func(io.Writer) error, error) {
	return func(w io.Writer) error { _, err := w.Write(p.want); return err }, nil
}
func (p picky) Restore(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(b, p.want) {
		err = errors.New("another snapshot")
	}
	return err
}

// FuzzSnapshotFiles damages a snapshot's two files, its description and its state: what is opened
// is what was written, byte for byte, or nothing and the node ends.
func FuzzSnapshotFiles(f *testing.F) {
	want := []byte(`{"state":"of a machine"}`)
	openIn := func(t testing.TB, dir string) (*snapshots, *latch) {
		t.Helper()
		files, err := raft.NewFileSnapshotStoreWithLogger(dir, 2, newBridge(nil))
		if err != nil {
			t.Fatal(err)
		}
		l := newLatch()
		return &snapshots{SnapshotStore: files, dir: filepath.Join(dir, "snapshots"), log: &store{}, latch: l}, l
	}
	home := f.TempDir()
	s, _ := openIn(f, home)
	sink, err := s.Create(1, 10, 2, raft.Configuration{}, 1, nil)
	if err == nil {
		write, _ := picky{want}.Snapshot()
		err = image(write).Persist(sink)
	}
	if err != nil {
		f.Fatal(err)
	}
	id := sink.ID()
	meta, err := os.ReadFile(filepath.Join(home, "snapshots", id, "meta.json"))
	if err != nil {
		f.Fatal(err)
	}
	state, err := os.ReadFile(filepath.Join(home, "snapshots", id, "state.bin"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(meta, state)
	f.Add(meta[:len(meta)-3], state)
	f.Add(meta, state[1:])
	f.Add([]byte(strings.Replace(string(meta), "\"Size\":", "\"Size\":9", 1)), state)
	f.Add([]byte("null"), []byte{})
	f.Fuzz(func(t *testing.T, meta, state []byte) {
		dir := t.TempDir()
		at := filepath.Join(dir, "snapshots", id)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"meta.json": meta, "state.bin": state} {
			if err := os.WriteFile(filepath.Join(at, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, l := openIn(t, dir)
		all, err := s.List()
		if err != nil {
			return
		}
		for _, listed := range all {
			_, r, err := s.Open(listed.ID)
			if err != nil {
				if l.get() == nil {
					t.Fatalf("%v, and the node goes on", err)
				}
				return
			}
			m := &machine{m: picky{want}, mark: &mark{}, backlog: &backlog{}, latch: l}
			if err := m.Restore(io.NopCloser(r)); err != nil && l.get() == nil {
				t.Fatalf("%v, and the node goes on", err)
			}
			r.Close()
		}
	})
}
