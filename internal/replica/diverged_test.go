package replica

import (
	"errors"
	"testing"
)

// elsewhere is a machine to which one entry shows that another past was decided.
type elsewhere struct{ list }

type diverged struct{ older bool }

func (diverged) Error() string    { return "another past" }
func (d diverged) Diverged() bool { return d.older }

func (m *elsewhere) Apply(entry []byte) any {
	if string(entry) == "of another past" {
		return diverged{}
	}
	return m.list.Apply(entry)
}

// TestDivergedMachineEndsTheNode: a machine's error that says so ends the node, its log kept;
// neither it nor a copy starts again.
func TestDivergedMachineEndsTheNode(t *testing.T) {
	dir := t.TempDir()
	n := mustOpen(t, dir, &elsewhere{}, Options{})
	apply(t, n, "an entry")
	n.Apply(t.Context(), []byte("of another past"))
	for name, err := range map[string]error{"Failed": <-n.Failed(), "Barrier": n.Barrier(t.Context())} {
		_, failed := errors.AsType[*StoreError](err)
		if _, lost := errors.AsType[*LostError](err); !failed || !lost || !errors.Is(err, diverged{}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, n.Close())
	for _, dir := range []string{crash(t, dir), dir} {
		if _, err := Open(dir, &elsewhere{}, Options{}); !errors.Is(err, diverged{}) {
			t.Errorf("the next start: %v", err)
		}
	}
}
