package analyst

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/wire"
	"covey/test/port"
)

func TestFind(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	one, two, three := proposal.Digest{0xab, 0xcd, 1}, proposal.Digest{0xab, 0xcd, 2}, proposal.Digest{3}
	h.Told = []wire.Told{{Study: one, Name: "a", Phase: wire.PhaseRunning}, {Study: two, Name: "b", Phase: wire.PhaseRunning}, {Study: three, Name: "b", Phase: wire.PhaseRunning}}
	c := join(t, h)
	for ref, want := range map[string]proposal.Digest{"a": one, "abcd02": two, "ABCD01": one, three.String(): three} {
		if got, err := c.Find(ctx, ref); err != nil || got.Study != want {
			t.Errorf("%s: %v, %v", ref, got.Study, err)
		}
	}
	for ref, matches := range map[string]int{"b": 2, "abcd": 2, "abc": 0, "x": 0, "": 0} {
		_, err := c.Find(ctx, ref)
		if bad := wantErr[*UnknownStudyError](t, err); len(bad.Matches) != matches {
			t.Errorf("%s: %v", ref, bad)
		}
	}
	// What is said of another study is no answer.
	h.Watches = func(_ int, of proposal.Digest, see func(wire.Told) error) error { return see(h.Told[0]) }
	_, err := c.Study(ctx, two)
	wantErr[*AnswerError](t, err, one.String())
	h.Watches = func(int, proposal.Digest, func(wire.Told) error) error { return nil }
	_, err = c.Study(ctx, two)
	wantErr[*AnswerError](t, err)
	h.Watches = nil
	_, err = c.Study(ctx, proposal.Digest{9})
	wantErr[*UnknownStudyError](t, err)
	if err := c.Withdraw(ctx, two); err != nil || len(h.Withdrawn) != 1 || h.Withdrawn[0] != two {
		t.Errorf("%v, %v", err, h.Withdrawn)
	}
}

// TestFindOfOneName: who proposed again under the same name means the study that is not over, or
// else the one that has a result; a study of somebody else never takes its place.
func TestFindOfOneName(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	c := join(t, h)
	for _, test := range []struct {
		phases []wire.Phase
		others bool
		want   int // 0: none
	}{
		{[]wire.Phase{wire.PhaseEnded, wire.PhaseCompleted}, false, 2},
		{[]wire.Phase{wire.PhaseCompleted, wire.PhaseProposed}, false, 2},
		{[]wire.Phase{wire.PhaseRunning, wire.PhaseCompleted, wire.PhaseEnded}, false, 1},
		{[]wire.Phase{wire.PhaseCompleted, wire.PhaseCompleted}, false, 0},
		{[]wire.Phase{wire.PhaseEnded, wire.PhaseEnded}, false, 0},
		{[]wire.Phase{wire.PhaseSetup, wire.PhaseRunning, wire.PhaseCompleted}, false, 0},
		{[]wire.Phase{wire.PhaseEnded, wire.PhaseCompleted}, true, 0},
	} {
		h.Told = nil
		for i, phase := range test.phases {
			h.Told = append(h.Told, wire.Told{Study: proposal.Digest{byte(i + 1)}, Name: "vitals", Phase: phase, Own: i == 0 || !test.others})
		}
		got, err := c.Find(ctx, "vitals")
		if test.want == 0 {
			wantErr[*UnknownStudyError](t, err)
		} else if err != nil || got.Study != (proposal.Digest{byte(test.want)}) {
			t.Errorf("%v: %v, %v", test.phases, got.Study, err)
		}
	}
}

// TestWatch: a watch goes on at the coordinator that leads after the one that did was lost, says
// that it looks for it, and ends with the study.
func TestWatch(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	next := port.HubOf(t, h.Authority)
	c := join(t, h)
	c.config.Coordinator = []string{h.Address, next.Address}
	id := proposal.Digest{1}
	told := func(p wire.Phase) wire.Told { return wire.Told{Study: id, Name: "s", Phase: p} }
	h.Watches = func(_ int, _ proposal.Digest, see func(wire.Told) error) error {
		if err := see(told(wire.PhaseProposed)); err != nil {
			return err
		}
		h.Set(func() { h.Fails = wire.NotLeader(nil) })
		return status.Error(codes.Unavailable, "stops")
	}
	next.Fails = wire.NotLeader(nil)
	next.Watches = func(_ int, _ proposal.Digest, see func(wire.Told) error) error {
		return errors.Join(see(told(wire.PhaseRunning)), see(told(wire.PhaseCompleted)))
	}
	var seen []wire.Phase
	losses := 0
	err := c.Watch(ctx, id, func(t wire.Told) error {
		seen = append(seen, t.Phase)
		return nil
	}, func(time.Time) {
		losses++
		next.Set(func() { next.Fails = nil })
	})
	if err != nil || losses != 1 || len(seen) != 3 || seen[2] != wire.PhaseCompleted {
		t.Errorf("%v, %d losses, %v", err, losses, seen)
	}
	// The end of what a coordinator says is not the end of a study.
	next.Watches = func(n int, _ proposal.Digest, see func(wire.Told) error) error {
		if n < 4 {
			return see(told(wire.PhaseRunning))
		}
		return see(told(wire.PhaseEnded))
	}
	next.Watched, losses, seen = 0, 0, nil
	if err := c.Watch(ctx, id, func(t wire.Told) error { seen = append(seen, t.Phase); return nil }, func(time.Time) { losses++ }); err != nil || losses == 0 || seen[len(seen)-1] != wire.PhaseEnded {
		t.Errorf("%v, %d losses, %v", err, losses, seen)
	}
	// Another study is not this one; an unknown one and an error of who sees end it.
	next.Watches = func(_ int, _ proposal.Digest, see func(wire.Told) error) error {
		return see(wire.Told{Study: proposal.Digest{2}, Phase: wire.PhaseCompleted})
	}
	wantErr[*AnswerError](t, c.Watch(ctx, id, func(wire.Told) error { t.Error("seen"); return nil }, func(time.Time) {}))
	next.Watches = nil
	wantErr[*UnknownStudyError](t, c.Watch(ctx, id, func(wire.Told) error { return nil }, func(time.Time) {}))
	next.Watches = func(_ int, _ proposal.Digest, see func(wire.Told) error) error { return see(told(wire.PhaseRunning)) }
	full := errors.New("disk full")
	if err := c.Watch(ctx, id, func(wire.Told) error { return full }, func(time.Time) {}); err != full {
		t.Error(err)
	}
	stopped, stop := context.WithCancel(ctx)
	if err := c.Watch(stopped, id, func(wire.Told) error { stop(); return nil }, func(time.Time) {}); err != context.Canceled {
		t.Error(err)
	}
}

// finished returns a result that verifies, of another's study.
func finished(t *testing.T) ([]byte, *result.Verified, result.Blob) {
	t.Helper()
	file := read(t, filepath.Join("..", "result", "testdata", "result.json"))
	v, err := result.Verify(file)
	if err != nil {
		t.Fatal(err)
	}
	var r result.Result
	if err := json.Unmarshal(file, &r); err != nil {
		t.Fatal(err)
	}
	return file, v, r.Proposal
}

// TestResult: no file is made from a result that does not verify, belongs to another study or is
// signed by a key that was not shown before.
func TestResult(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	file, v, body := finished(t)
	c := join(t, h)
	_, err := c.Result(ctx, v.Digest, nil)
	wantErr[*NoResultError](t, err)
	h.File = file
	got, err := c.Result(ctx, v.Digest, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(got.File); err != nil || !bytes.Equal(text, file) || got.Result.Digest != v.Digest || got.Kept || got.Pinned {
		t.Fatalf("%+v, %v", got, err)
	}
	_, err = c.Result(ctx, proposal.Digest{1}, nil)
	if bad := wantErr[*result.VerifyError](t, err); bad.What != "digest" {
		t.Error(bad)
	}
	h.Set(func() { h.File = bytes.Replace(file, []byte(`"name": "`), []byte(`"name": "x`), 1) })
	_, err = c.Result(ctx, v.Digest, nil)
	wantErr[*result.VerifyError](t, err)
	h.Set(func() { h.File = file })

	// Another key was pinned: only who trusts this one reads what it signed.
	d, err := c.Draft(ctx, spec(t, ""), nil)
	if err == nil {
		err = c.Propose(ctx, d)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Result(ctx, v.Digest, nil)
	changed := wantErr[*KeyChangedError](t, err)
	if got, err := c.Result(ctx, v.Digest, []string{changed.Is}); err != nil || got.Pinned {
		t.Errorf("%+v, %v", got, err)
	}
	if from, err := c.Known(v); err != nil || from != "" {
		t.Errorf("known from %q, %v", from, err)
	}
	// Of a study that was signed here, the key in it counts.
	if err := c.keep(v.Digest, body, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Result(ctx, v.Digest, nil); err != nil || !got.Kept {
		t.Errorf("%+v, %v", got, err)
	}
	if from, err := c.Known(v); err != nil || from != "the proposal that you signed" {
		t.Errorf("known from %q, %v", from, err)
	}
	if err := os.WriteFile(c.path(v.Digest), []byte("version = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = c.Result(ctx, v.Digest, nil)
	wantErr[*KeptError](t, err)
}

// TestAnswersAreQuoted: no text of a coordinator's reaches an error bare.
func TestAnswersAreQuoted(t *testing.T) {
	const evil = "x\x1b[2J\u202eok"
	for _, err := range []error{
		&ExcludedError{"ada", evil}, &QuotaError{evil}, &RefusedError{evil, false}, &KeyChangedError{evil, "a", "b"},
		&LostError{"a:1", status.Error(codes.Unavailable, evil)}, &UnknownStudyError{Ref: evil},
	} {
		if text := err.Error(); strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%T: %q", err, text)
		}
	}
}
