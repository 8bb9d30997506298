package ledger

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// TestActive: the approved studies that are not finished are listed, before and after others are,
// and of each Study returns what Studies lists. What is finished is not read again.
func TestActive(t *testing.T) {
	l, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := l.Active(); len(got) != 0 {
		t.Errorf("a new ledger has %+v", got)
	}
	for i := range byte(4) {
		if err := l.Approve(Approval{Study: [32]byte{i}, Name: "x", Population: "people", Proposal: []byte("p"), Rho: 0.1, CapRho: 1, By: "operator", Time: time.Unix(int64(i), 0)}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...byte) {
		t.Helper()
		got := l.Active()
		if len(got) != len(want) {
			t.Fatalf("%+v", got)
		}
		for i, s := range got {
			if s.Study != [32]byte{want[i]} || s.State != Approved {
				t.Errorf("%d: %+v", i, s)
			}
		}
		all := l.Studies()
		if len(all) != 4 {
			t.Errorf("%d studies", len(all))
		}
		for _, s := range all {
			if one, ok := l.Study(s.Study); !ok || !reflect.DeepEqual(one, s) {
				t.Errorf("%+v by itself, %+v in the list", one, s)
			}
			if state, ok := l.State(s.Study); !ok || state != s.State {
				t.Errorf("%q by itself, %q in the list", state, s.State)
			}
		}
	}
	check(0, 1, 2, 3)
	if err := l.Finish([32]byte{1}, "done"); err != nil {
		t.Fatal(err)
	}
	check(0, 2, 3)
	few := testing.AllocsPerRun(10, func() { l.Active() })
	for _, i := range []byte{0, 3} {
		if err := l.Finish([32]byte{i}, "done"); err != nil {
			t.Fatal(err)
		}
	}
	check(2)
	if one := testing.AllocsPerRun(10, func() { l.Active() }); one > few*2/3 {
		t.Errorf("one of four studies takes %v allocations, three took %v", one, few)
	}
	if _, ok := l.Study([32]byte{9}); ok {
		t.Error("a study that is not there is found")
	}
	if state, ok := l.State([32]byte{9}); ok || state != "" {
		t.Errorf("a study that is not there is %q", state)
	}
	l.Close()
	if _, ok := l.Study([32]byte{2}); ok || l.Active() != nil {
		t.Error("a closed ledger answers")
	}
	if state, ok := l.State([32]byte{2}); ok || state == Approved {
		t.Error("a closed ledger says how a study stands")
	}
}

// TestFinishedStudiesTakeLittle: what a study's proposal took is free again once the study is over,
// so that studies which are approved and ended one after another do not fill the disk.
func TestFinishedStudiesTakeLittle(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const size, studies = 1 << 20, 16
	text, rng := make([]byte, size), rand.NewChaCha8([32]byte{})
	for i := range byte(studies) {
		rng.Read(text)
		a := Approval{Study: [32]byte{i}, Name: "x", Population: "people", Proposal: text, Rho: 0.1, CapRho: 1, By: ByPolicy, Time: time.Unix(int64(i), 0)}
		if err := l.Approve(a); err != nil {
			t.Fatal(err)
		}
		if err := l.Finish(a.Study, "aborted"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, dbName))
	if err != nil || info.Size() > studies/2*size {
		t.Errorf("after %d studies of %d bytes the ledger has %d, %v", studies, size, info.Size(), err)
	}
	if _, ok := l.Proposal([32]byte{1}); ok {
		t.Error("a finished study's proposal is there")
	}
}
