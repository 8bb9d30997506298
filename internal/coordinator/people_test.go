package coordinator

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/people"
	"covey/internal/proposal"
)

// TestPeopleAreReplicated: who may log in is in the log alone: the same at every coordinator, after
// a snapshot and after a restart, whatever its clock; and a revocation, too.
func TestPeopleAreReplicated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		put := func(name string, role people.Role, studies ...proposal.Digest) people.Entry {
			e := people.Entry{Person: people.Person{Name: name, Role: role, Studies: studies, Expires: time.Now().Add(time.Hour).UTC()}, Hash: people.Hash(name + "'s")}
			if err := f.c.PutPerson(e); err != nil {
				t.Fatal(err)
			}
			return e
		}
		put("ana", people.Operator)
		put("vi", people.Viewer, f.plan.Digest)
		put("gone", people.Viewer)
		if err := f.c.RevokePerson("gone"); err != nil {
			t.Fatal(err)
		}
		entries := len(f.log.all())
		for _, name := range []string{"gone", "nobody", ""} {
			if _, ok := errors.AsType[*people.Error](f.c.RevokePerson(name)); !ok || len(f.log.all()) != entries {
				t.Errorf("revoking %q: %d entries more", name, len(f.log.all())-entries)
			}
		}
		// An entry that is no person's changes nothing.
		bad := people.Entry{Person: people.Person{Name: "bad", Role: "root"}, Hash: people.Hash("x")}
		if _, ok := errors.AsType[*people.Error](f.c.PutPerson(bad)); !ok {
			t.Error("a person without a role")
		}
		want := f.c.People()
		if len(want) != 2 || want[0].Name != "ana" || want[1].Name != "vi" || !want[1].Sees(f.plan.Digest) || want[1].Sees(proposal.Digest{}) {
			t.Fatalf("%+v", want)
		}
		time.Sleep(48 * time.Hour) // in the bubble: who ended remains until it is revoked

		other := NewMachine()
		for _, line := range f.log.all() {
			other.Apply(line)
		}
		here, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		there, err := encoded(other)
		if err != nil || !bytes.Equal(here, there) {
			t.Errorf("another coordinator has another state (%v)", err)
		}
		read := NewMachine()
		if err := restored(read, here); err != nil {
			t.Fatal(err)
		}
		l := read.lock()
		defer read.unlock()
		if len(l.people) != 2 || !l.people[0].Same(want[0]) || !l.people[1].Same(want[1]) || !l.people[1].Expires.Equal(want[1].Expires) {
			t.Errorf("after a snapshot: %+v", l.people)
		}
		if e, known := l.people.Holder("vi's"); !known || e.Name != "vi" {
			t.Error("after a snapshot a token is nobody's")
		}
	})
}

// TestBadPeopleAreNotRestored: a snapshot with a person that no entry makes is refused, and the
// state is as it was.
func TestBadPeopleAreNotRestored(t *testing.T) {
	m := NewMachine()
	if restored(m, framed(`{"people":[{"name":"ana","role":"root","expires":"2026-01-01T00:00:00Z","hash":"`+people.Hash("t")+`"}]}`, nil)) == nil {
		t.Error("a role that there is not")
	}
	if restored(m, framed(`{"people":[{"name":"ana","role":"viewer","expires":"2026-01-01T00:00:00Z","hash":""}]}`, nil)) == nil {
		t.Error("a person without a token")
	}
	whole(t, m)
}
