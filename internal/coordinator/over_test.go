package coordinator

import (
	"bytes"
	"reflect"
	"testing"
	"testing/synctest"

	"covey/internal/round"
)

// TestOverIsForgotten: of a study that is over a leader keeps no setup, sum or share, and neither
// the log's state nor a snapshot keeps its announcements; a site that connects later is told the
// end nevertheless.
func TestOverIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		m := f.c.machine.lock()
		s, state := m.sessions[f.plan.Digest], m.studies[f.plan.Digest]
		if state != nil || m.words[f.plan.Digest] != nil {
			t.Error("the leader keeps the state or the words")
		}
		if !reflect.ValueOf(*s.Session).IsZero() {
			t.Errorf("the leader keeps %+v", s.Session)
		}
		f.c.machine.unlock()
		d := f.state().Durable
		// the result shows the confirmations
		if d.Nonces != nil || len(d.Confirmations) != 5 || d.Certificate != nil || len(bytes.Join(d.Announcements, nil)) > 0 {
			t.Errorf("the state keeps %d announcements, %d confirmations and a certificate of %d", len(d.Announcements), len(d.Confirmations), len(d.Certificate))
		}
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		again := NewMachine()
		if err := restored(again, raw); err != nil {
			t.Fatal(err)
		}
		if raw2, err := encoded(again); err != nil || !bytes.Equal(raw, raw2) {
			t.Errorf("a restored state's snapshot is another: %v", err)
		}
		told := func() (n int) {
			f.pump(nil)
			for _, m := range f.sent {
				if m.site == 4 && m.m.GetEnded() != nil {
					n++
				}
			}
			return n
		}
		if n := told(); n != 1 {
			t.Errorf("a site was told %d times that the study is over", n)
		}
		f.drop(4)
		f.connect(4)
		if n := told(); n != 2 {
			t.Errorf("after a second link a site was told %d times that the study is over", n)
		}
		for _, site := range f.view().Sites {
			if !site.Signed {
				t.Errorf("%s did not sign, it says", site.Name)
			}
		}
	})
}
