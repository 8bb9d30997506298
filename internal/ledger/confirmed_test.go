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

// confirmed is what an attempt of two slots stores.
func confirmed() Confirmed {
	return Confirmed{Slots: map[int][]byte{0: []byte("zero"), 1: []byte("one")}, Public: []byte("public"),
		Deposits: []byte("deposits"), Statement: []byte("statement"), Confirmation: []byte("confirmation")}
}

// TestEndedSecretsAreErased: a process that dies between storing its confirmation, or the end of
// the attempt, and erasing the attempt's secrets leaves both; the next one erases them before it
// can be asked anything. Secrets of an attempt that goes on stay.
func TestEndedSecretsAreErased(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 2)))
	j := l.Journal(study(1))
	for attempt := range uint32(3) {
		if _, err := j.PutAnnouncement(attempt, []byte("seeds, a key and secrets"), []byte("announcement")); err != nil {
			t.Fatal(err)
		}
	}
	must(t, j.PutConfirmation(1, confirmed()))
	if _, err := j.Close(2, []byte("seeds and a box")); err != nil {
		t.Fatal(err)
	}
	must(t, l.Close())
	l = mustOpen(t, dir)
	defer l.Close()
	j = l.Journal(study(1))
	for attempt, erased := range []bool{false, true, true} {
		if _, ok, err := j.Setup(uint32(attempt), SetupSecrets); errors.Is(err, ErrErased) != erased || ok == erased {
			t.Errorf("attempt %d: the secrets are there: %v, %v", attempt, ok, err)
		}
		if _, ok, err := j.Setup(uint32(attempt), SetupAnnouncement); !ok {
			t.Errorf("attempt %d: the announcement is gone: %v", attempt, err)
		}
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
	got, err := j.PutAnnouncement(3, []byte("secrets"), []byte("announced"))
	if err != nil || string(got) != "announced" || len(cuts) == 0 {
		t.Fatalf("%q, %v, %d cuts", got, err, len(cuts))
	}
	cuts = append(cuts, crash(t, l.dir))
	for i, dir := range cuts {
		j := mustOpen(t, dir).Journal(study(1))
		_, secrets, err := j.Setup(3, SetupSecrets)
		must(t, err)
		_, announced, err := j.Setup(3, SetupAnnouncement)
		must(t, err)
		if last := i == len(cuts)-1; secrets != announced || announced != last {
			t.Errorf("cut %d of %d: secrets %v, announcement %v", i, len(cuts), secrets, announced)
		}
	}
	if got, err := j.PutAnnouncement(3, []byte("other"), []byte("another")); string(got) != "announced" || err != nil {
		t.Errorf("the second announcement won: %q, %v", got, err)
	}
	if got, _, err := j.Setup(3, SetupSecrets); string(got) != "secrets" || err != nil {
		t.Errorf("the second secrets won: %q, %v", got, err)
	}
}

// onRecord lists what is on record of an attempt's confirmation.
func onRecord(t *testing.T, j *Journal, attempt uint32) string {
	t.Helper()
	out := ""
	for _, kind := range []string{SetupPublic, SetupDeposits, SetupStatement, SetupConfirmation} {
		v, _, err := j.Setup(attempt, kind)
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
	must(t, j.PutConfirmation(0, confirmed()))
	s.before, s.after = nil, nil
	if len(cuts) < 2 {
		t.Fatalf("%d cuts", len(cuts))
	}
	for i, dir := range append(cuts, crash(t, l.dir)) {
		want := ";;;;;;"
		if i == len(cuts) {
			want = all
		}
		if got := onRecord(t, mustOpen(t, dir).Journal(study(1)), 0); got != want {
			t.Errorf("cut %d of %d: %q", i, len(cuts), got)
		}
	}
	other := confirmed()
	other.Confirmation, other.Slots = []byte("another"), map[int][]byte{0: []byte("null"), 1: []byte("eins")}
	must(t, j.PutConfirmation(0, other)) // the first wins
	if _, ok := errors.AsType[*ConflictError](j.PutConfirmation(1, other)); !ok {
		t.Error("the slots took other secrets with another attempt")
	}
	if got := onRecord(t, j, 0); got != all {
		t.Errorf("a second one left %q", got)
	}
	if got := onRecord(t, j, 1); got != ";;;;zero;one;" {
		t.Errorf("a refused one left %q", got)
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
	must(t, j.Final(0, 0, []byte("z")))
	if err := j.PutConfirmation(2, confirmed()); err != ErrErased {
		t.Errorf("a slot that is final took a secret: %v", err)
	}
}

// TestClosedIsNeverConfirmed: an attempt is confirmed or closed, whichever is on record first, also
// in another process; and a closed one keeps what it was closed with.
func TestClosedIsNeverConfirmed(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	if on, err := j.Close(0, []byte("bad box")); string(on) != "bad box" || err != nil {
		t.Fatalf("%q, %v", on, err)
	}
	must(t, j.PutConfirmation(1, confirmed()))
	for name, l := range map[string]*Ledger{"same": l, "next": mustOpen(t, crash(t, l.dir))} {
		j := l.Journal(study(1))
		if c, ok := errors.AsType[*ConflictError](j.PutConfirmation(0, confirmed())); !ok {
			t.Errorf("%s process: a closed attempt was confirmed: %v", name, c)
		}
		if on, err := j.Close(0, []byte("another")); string(on) != "bad box" || err != nil {
			t.Errorf("%s process: closed again: %q, %v", name, on, err)
		}
		on, err := j.Close(1, []byte("too late"))
		if _, ok := errors.AsType[*ConflictError](err); !ok || on != nil {
			t.Errorf("%s process: a confirmed attempt was closed: %q, %v", name, on, err)
		}
	}
}

// TestAttemptIsSealedOnDisk: nothing of a setup is in the files in the clear.
func TestAttemptIsSealedOnDisk(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	secret := []byte("SECRET-SECRET-SECRET")
	_, err := j.PutAnnouncement(0, secret, []byte("a"))
	must(t, err)
	c := confirmed()
	c.Slots[0] = secret
	must(t, j.PutConfirmation(0, c))
	_, err = j.Close(1, secret)
	must(t, err)
	for _, name := range []string{dbName, keysName} {
		b, err := os.ReadFile(filepath.Join(l.dir, name))
		must(t, err)
		if bytes.Contains(b, secret) {
			t.Errorf("%s holds a secret in the clear", name)
		}
	}
}
