package fed

import (
	"errors"
	"os"
	"testing"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/test/must"
)

// Test is a federation whose errors are a test's end.
type Test struct {
	*Federation
	T testing.TB
}

// Start forms a federation that ends with the test, which fails if a part ended by itself.
func Start(t testing.TB, dir string, o Options) *Test {
	t.Helper()
	f := &Test{New(dir, o), t}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	f.Must(f.Form())
	return f
}

// InMemory returns a folder of the test's that is on no disk where there is such a place.
func InMemory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "covey-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Must ends the test with an error.
func (f *Test) Must(err error) {
	f.T.Helper()
	must.Do(f.T, err)
}

// Await waits until something is done.
func (f *Test) Await(what string, done func() bool) {
	f.T.Helper()
	_, err := Retry(f.Federation, func() (bool, error) {
		if !done() {
			return false, errNotYet
		}
		return true, nil
	})
	if err != nil {
		f.T.Fatalf("waited in vain for %s: %v", what, err)
	}
}

// Propose creates a study.
func (f *Test) Propose(spec proposal.Spec) proposal.Digest {
	f.T.Helper()
	d, err := f.Create(spec)
	f.Must(err)
	return d
}

// When waits until something is so of a study, for as long as that goes on: a busy machine may take
// minutes for its queries, and patience is for one that stands still.
func (f *Test) When(d proposal.Digest, what func(outline.View) bool) outline.View {
	f.T.Helper()
	type place struct {
		status      round.Status
		query, slot int
		phase       string
	}
	for last := (place{}); ; {
		v, err := f.Until(d, f.o.Patience, what)
		if !errors.Is(err, errNotYet) {
			f.Must(err)
			return v
		}
		now := place{v.Status, v.Query, v.Slot, v.Phase}
		if now == last {
			f.T.Fatalf("it does not come to that: %+v", v)
		}
		last = now
	}
}

// Finish waits for a study's end.
func (f *Test) Finish(d proposal.Digest) outline.View {
	f.T.Helper()
	return f.When(d, Over)
}

// Result returns a completed study's result.
func (f *Test) Result(d proposal.Digest) *result.Result {
	f.T.Helper()
	r, err := f.Leader().Coordinator.Result(d)
	f.Must(err)
	return r
}
