package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// PutSlot and PutSlots store slots' secrets by themselves, which only a confirmation does.
func (j *Journal) PutSlot(slot int, secret []byte) error {
	return j.PutSlots(map[int][]byte{slot: secret})
}

func (j *Journal) PutSlots(secrets map[int][]byte) error {
	for slot := range secrets {
		if err := checkIndex("slot", slot); err != nil {
			return err
		}
	}
	return j.write(of("slots", j.study), func(r *record) error { return r.putSlots(secrets) })
}

// confirmed is what a setup of two slots stores.
func confirmed() Confirmed {
	return Confirmed{Slots: map[int][]byte{0: []byte("zero"), 1: []byte("one")}, Public: []byte("public"),
		Deposits: []byte("deposits"), Statement: []byte("statement"), Confirmation: []byte("confirmation")}
}

// TestEndedSecretsAreErased: a process that dies between storing its confirmation, or the end of
// the setup, and erasing the setup's secrets leaves both; the next one erases them before it can be
// asked anything. Secrets of a setup that goes on stay.
func TestEndedSecretsAreErased(t *testing.T) {
	for end, put := range map[string]func(*Journal) error{
		"":             func(*Journal) error { return nil },
		"confirmation": func(j *Journal) error { return j.PutConfirmation(confirmed()) },
		"closed":       func(j *Journal) error { _, err := j.Close([]byte("seeds and a box")); return err },
	} {
		dir := t.TempDir()
		l := mustOpen(t, dir)
		must(t, l.Approve(approval(1, 2)))
		j := l.Journal(study(1))
		if _, err := j.PutAnnouncement([]byte("seeds, a key and secrets"), []byte("announcement")); err != nil {
			t.Fatal(err)
		}
		must(t, put(j))
		must(t, l.Close())
		l = mustOpen(t, dir)
		j = l.Journal(study(1))
		erased := end != ""
		if _, ok, err := j.Setup(SetupSecrets); errors.Is(err, ErrErased) != erased || ok == erased {
			t.Errorf("%q: the secrets are there: %v, %v", end, ok, err)
		}
		if _, ok, err := j.Setup(SetupAnnouncement); !ok {
			t.Errorf("%q: the announcement is gone: %v", end, err)
		}
		must(t, l.Close())
	}
}

// TestAnnouncementIsOneStep: secrets and the announcement made of them are both on disk or neither,
// wherever the power is cut; the first stored are all that is ever there.
func TestAnnouncementIsOneStep(t *testing.T) {
	l, s := openShadow(t)
	var cuts []string
	s.before = func() { cuts = append(cuts, crash(t, l.dir)) }
	s.after = s.before
	j := l.Journal(study(1))
	got, err := j.PutAnnouncement([]byte("secrets"), []byte("announced"))
	if err != nil || string(got) != "announced" || len(cuts) == 0 {
		t.Fatalf("%q, %v, %d cuts", got, err, len(cuts))
	}
	cuts = append(cuts, crash(t, l.dir))
	for i, dir := range cuts {
		j := mustOpen(t, dir).Journal(study(1))
		_, secrets, err := j.Setup(SetupSecrets)
		must(t, err)
		_, announced, err := j.Setup(SetupAnnouncement)
		must(t, err)
		if last := i == len(cuts)-1; secrets != announced || announced != last {
			t.Errorf("cut %d of %d: secrets %v, announcement %v", i, len(cuts), secrets, announced)
		}
	}
	if got, err := j.PutAnnouncement([]byte("other"), []byte("another")); string(got) != "announced" || err != nil {
		t.Errorf("the second announcement won: %q, %v", got, err)
	}
	if got, _, err := j.Setup(SetupSecrets); string(got) != "secrets" || err != nil {
		t.Errorf("the second secrets won: %q, %v", got, err)
	}
}

// onRecord lists what is on record of a setup's confirmation.
func onRecord(t *testing.T, j *Journal) string {
	t.Helper()
	out := ""
	for _, kind := range []string{SetupPublic, SetupDeposits, SetupStatement, SetupConfirmation} {
		v, _, err := j.Setup(kind)
		must(t, err)
		out += string(v) + ";"
	}
	for slot := range 2 {
		v, err := j.Slot(slot)
		if err != nil && err != ErrAbsent {
			t.Fatal(err)
		}
		out += string(v) + ";"
	}
	return out
}

// TestConfirmationIsOneStep: wherever the power is cut, a confirmation is on disk with every slot,
// the public record, the deposits and their statement, or nothing of it is. The first stored is all
// that is ever there, each slot has a key of its own, and a conflict leaves nothing.
func TestConfirmationIsOneStep(t *testing.T) {
	const all = "public;deposits;statement;confirmation;zero;one;"
	l, s := openShadow(t)
	var cuts []string
	s.before = func() { cuts = append(cuts, crash(t, l.dir)) }
	s.after = s.before
	j := l.Journal(study(1))
	must(t, j.PutConfirmation(confirmed()))
	s.before, s.after = nil, nil
	if len(cuts) < 2 {
		t.Fatalf("%d cuts", len(cuts))
	}
	for i, dir := range append(cuts, crash(t, l.dir)) {
		want := ";;;;;;"
		if i == len(cuts) {
			want = all
		}
		if got := onRecord(t, mustOpen(t, dir).Journal(study(1))); got != want {
			t.Errorf("cut %d of %d: %q", i, len(cuts), got)
		}
	}
	other := confirmed()
	other.Confirmation, other.Slots = []byte("another"), map[int][]byte{0: []byte("null"), 1: []byte("eins")}
	must(t, j.PutConfirmation(other)) // the first wins
	if got := onRecord(t, j); got != all {
		t.Errorf("a second one left %q", got)
	}
	places := map[uint64]bool{}
	must(t, j.view(func(r *record) error {
		for slot := range 2 {
			it, err := decodeItem(r.get(slotBucket, index(slot)))
			must(t, err)
			places[it.place] = true
		}
		return nil
	}))
	if len(places) != 2 {
		t.Error("two slots under one wrap key: one could not be erased by itself")
	}
	l, _ = openShadow(t)
	j = l.Journal(study(1))
	must(t, j.PutSlots(confirmed().Slots))
	if _, ok := errors.AsType[*ConflictError](j.PutConfirmation(other)); !ok {
		t.Error("the slots took other secrets with the confirmation")
	}
	if got := onRecord(t, j); got != ";;;;zero;one;" {
		t.Errorf("a refused one left %q", got)
	}
	must(t, j.Final(0, 0, []byte("z")))
	if err := j.PutConfirmation(confirmed()); err != ErrErased {
		t.Errorf("a slot that is final took a secret: %v", err)
	}
}

// TestClosedIsNeverConfirmed: a setup is confirmed or closed, whichever is on record first, also in
// another process; and a closed one keeps what it was closed with.
func TestClosedIsNeverConfirmed(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	if on, err := j.Close([]byte("bad box")); string(on) != "bad box" || err != nil {
		t.Fatalf("%q, %v", on, err)
	}
	for name, l := range map[string]*Ledger{"same": l, "next": mustOpen(t, crash(t, l.dir))} {
		j := l.Journal(study(1))
		if c, ok := errors.AsType[*ConflictError](j.PutConfirmation(confirmed())); !ok {
			t.Errorf("%s process: a closed setup was confirmed: %v", name, c)
		}
		if on, err := j.Close([]byte("another")); string(on) != "bad box" || err != nil {
			t.Errorf("%s process: closed again: %q, %v", name, on, err)
		}
	}
	l, _ = openShadow(t)
	must(t, l.Journal(study(1)).PutConfirmation(confirmed()))
	for name, l := range map[string]*Ledger{"same": l, "next": mustOpen(t, crash(t, l.dir))} {
		on, err := l.Journal(study(1)).Close([]byte("too late"))
		if _, ok := errors.AsType[*ConflictError](err); !ok || on != nil {
			t.Errorf("%s process: a confirmed setup was closed: %q, %v", name, on, err)
		}
	}
}

// TestSetupIsSealedOnDisk: nothing of a setup is in the files in the clear.
func TestSetupIsSealedOnDisk(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	secret := []byte("SECRET-SECRET-SECRET")
	_, err := j.PutAnnouncement(secret, []byte("a"))
	must(t, err)
	c := confirmed()
	c.Slots[0] = secret
	must(t, j.PutConfirmation(c))
	for _, name := range []string{dbName, keysName} {
		b, err := os.ReadFile(filepath.Join(l.dir, name))
		must(t, err)
		if bytes.Contains(b, secret) {
			t.Errorf("%s holds a secret in the clear", name)
		}
	}
}

// TestSyncsOfASetup: a setup costs a site eight fsyncs. Keys are made for the announcement and for
// the slots alone. All else of a setup goes under the announcement's key, stays when the setup's
// secrets are erased, and goes with the study. Rules L13, L15.
func TestSyncsOfASetup(t *testing.T) {
	l, total := counted(t, nil)
	j := l.Journal(study(1))
	before := total()
	_, err := j.PutAnnouncement([]byte("secrets"), []byte("announcement"))
	must(t, err)
	for _, kind := range []string{"announcements", "boxes"} {
		_, err := j.PutSetup(kind, []byte(kind))
		must(t, err)
	}
	must(t, j.PutConfirmation(confirmed()))
	must(t, j.Erase())
	_, err = j.PutSetup("confirmed", []byte("confirmed"))
	must(t, err)
	if n := total() - before; n != 8 {
		t.Errorf("%d fsyncs", n)
	}
	later := []string{"announcements", "boxes", "confirmed", SetupAnnouncement, SetupPublic, SetupDeposits, SetupStatement, SetupConfirmation}
	for _, kind := range later {
		if v, _, err := j.Setup(kind); string(v) != kind || err != nil {
			t.Errorf("%s once the secrets are erased: %q, %v", kind, v, err)
		}
	}
	must(t, l.Finish(study(1), "done"))
	for _, kind := range later {
		if _, _, err := j.Setup(kind); err != ErrErased {
			t.Errorf("%s once the study is finished: %v", kind, err)
		}
	}
}
