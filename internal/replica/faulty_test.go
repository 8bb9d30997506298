package replica

import (
	"io"
	"sync"
	"testing"

	"github.com/hashicorp/raft"
)

// faulty is a set of stores of which one operation fails from its after-th
// call on; it counts the calls that come after the failure.
type faulty struct {
	mu    sync.Mutex
	op    string
	after int
	hit   bool
	later int
	raft.LogStore
	raft.StableStore
	raft.SnapshotStore
}

func (f *faulty) check(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hit {
		f.later++
	}
	if op != f.op {
		return nil
	}
	if f.after--; f.after >= 0 {
		return nil
	}
	f.hit = true
	return errDisk
}

func (f *faulty) arm(op string, after int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.op, f.after = op, after
}

func (f *faulty) FirstIndex() (uint64, error) {
	if err := f.check("FirstIndex"); err != nil {
		return 0, err
	}
	return f.LogStore.FirstIndex()
}

func (f *faulty) LastIndex() (uint64, error) {
	if err := f.check("LastIndex"); err != nil {
		return 0, err
	}
	return f.LogStore.LastIndex()
}

func (f *faulty) GetLog(i uint64, l *raft.Log) error {
	if err := f.check("GetLog"); err != nil {
		return err
	}
	return f.LogStore.GetLog(i, l)
}

func (f *faulty) StoreLogs(l []*raft.Log) error {
	if err := f.check("StoreLogs"); err != nil {
		return err
	}
	return f.LogStore.StoreLogs(l)
}

func (f *faulty) DeleteRange(a, b uint64) error {
	if err := f.check("DeleteRange"); err != nil {
		return err
	}
	return f.LogStore.DeleteRange(a, b)
}

func (f *faulty) Set(k, v []byte) error {
	if err := f.check("Set"); err != nil {
		return err
	}
	return f.StableStore.Set(k, v)
}

func (f *faulty) Get(k []byte) ([]byte, error) {
	if err := f.check("Get"); err != nil {
		return nil, err
	}
	return f.StableStore.Get(k)
}

func (f *faulty) SetUint64(k []byte, v uint64) error {
	if err := f.check("SetUint64"); err != nil {
		return err
	}
	return f.StableStore.SetUint64(k, v)
}

func (f *faulty) GetUint64(k []byte) (uint64, error) {
	if err := f.check("GetUint64"); err != nil {
		return 0, err
	}
	return f.StableStore.GetUint64(k)
}

func (f *faulty) Create(v raft.SnapshotVersion, i, term uint64, c raft.Configuration, ci uint64, t raft.Transport) (raft.SnapshotSink, error) {
	if err := f.check("Create"); err != nil {
		return nil, err
	}
	s, err := f.SnapshotStore.Create(v, i, term, c, ci, t)
	return &faultySink{s, f}, err
}

func (f *faulty) List() ([]*raft.SnapshotMeta, error) {
	if err := f.check("List"); err != nil {
		return nil, err
	}
	return f.SnapshotStore.List()
}

func (f *faulty) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	if err := f.check("Open"); err != nil {
		return nil, nil, err
	}
	m, r, err := f.SnapshotStore.Open(id)
	return m, &faultyReader{r, f}, err
}

type faultySink struct {
	raft.SnapshotSink
	f *faulty
}

func (s *faultySink) Write(p []byte) (int, error) {
	if err := s.f.check("Write"); err != nil {
		return 0, err
	}
	return s.SnapshotSink.Write(p)
}

func (s *faultySink) Close() error {
	if err := s.f.check("Close"); err != nil {
		return err
	}
	return s.SnapshotSink.Close()
}

type faultyReader struct {
	io.ReadCloser
	f *faulty
}

func (r *faultyReader) Read(p []byte) (int, error) {
	if err := r.f.check("Read"); err != nil {
		return 0, err
	}
	return r.ReadCloser.Read(p)
}

// newFaulty keeps snapshots in files: raft's store in memory forgets the last
// snapshot as soon as the next begins.
func newFaulty(t *testing.T) (*faulty, stores) {
	on := memory()
	snaps, err := raft.NewFileSnapshotStoreWithLogger(t.TempDir(), retain, newBridge(nil))
	must(t, err)
	f := &faulty{LogStore: on.logs, StableStore: on.stable, SnapshotStore: snaps}
	return f, stores{logs: f, stable: f, snaps: f}
}
