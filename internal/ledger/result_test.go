package ledger

import (
	"errors"
	"testing"
)

// MUST: a site signs one result of a study, ever: the signature is on disk before it leaves, the
// same draft gets the same bytes, also when the study is over, and another is refused.
func TestOneResultAStudy(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	failed := errors.New("it does not verify")
	if _, err := j.SignResult([32]byte{1}, func() ([]byte, error) { return nil, failed }); err != failed {
		t.Fatal(err)
	}
	if on, err := j.ResultSigned(); on || err != nil {
		t.Fatalf("a failure leaves a trace: %v", err)
	}
	for _, step := range []func(){func() {}, func() { l = mustOpen(t, crash(t, l.dir)) }, func() { must(t, l.Finish(study(1), "done")) }, func() { l = mustOpen(t, crash(t, l.dir)) }} {
		step()
		j := l.Journal(study(1))
		compute := value("signed")
		if on, _ := j.ResultSigned(); on {
			compute = never(t)
		}
		if v, err := j.SignResult([32]byte{1}, compute); string(v) != "signed" || err != nil {
			t.Fatalf("%q, %v", v, err)
		}
		if c, ok := errors.AsType[*ConflictError](second(j.SignResult([32]byte{2}, never(t)))); !ok || c.What != "result" {
			t.Fatal("a second result is signed")
		}
	}
	// Nothing is signed of a study that is over, or was never approved.
	must(t, l.Approve(approval(2, 1)))
	must(t, l.Finish(study(2), "done"))
	for _, n := range []byte{2, 3} {
		if _, ok := errors.AsType[*StateError](second(l.Journal(study(n)).SignResult([32]byte{1}, value("signed")))); !ok {
			t.Errorf("study %d: a result is signed", n)
		}
	}
}

func second(_ []byte, err error) error { return err }
