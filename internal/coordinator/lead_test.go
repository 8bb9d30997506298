package coordinator

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/round"
	covey "covey/proto/covey/v1"
)

// TestTermsAreApart: O7. A deadline of an earlier term of the same leader does
// nothing in the later one.
func TestTermsAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil) // deadline: 2 s
		defer f.c.Close()
		f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
		f.pump(func() bool { return f.view().Phase == "upload" && len(f.view().Waiting) == 1 })
		time.Sleep(time.Second)
		f.c.Follow()
		if f.c.Leading() {
			t.Fatal("leads after it stopped")
		}
		if err := f.c.Lead(f.log); err != nil {
			t.Fatal(err)
		}
		for i := range f.sites {
			f.connect(i)
		}
		f.pump(nil)
		time.Sleep(1500 * time.Millisecond) // past the first deadline, before the second
		f.pump(nil)
		if v := f.view(); v.Phase != "upload" || v.Query != 0 {
			t.Errorf("phase %q of query %d: the first term's deadline was heard", v.Phase, v.Query)
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Errorf("%s (%s)", v.Status, v.Code)
		}
	})
}

// TestOtherSigningKeyIsSaid: one who takes the lead with another signing key than a study's says
// so, since sites only see a chain that is not the study's.
func TestOtherSigningKeyIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		count := func() int {
			return strings.Count(f.logs.String(), "this coordinator's signing.key is not that of the study")
		}
		f.crash(-1)
		if count() != 0 {
			t.Errorf("said of the same key:\n%s", f.logs.String())
		}
		f.auth = newAuthority(t)
		f.crash(-1)
		if count() != 1 {
			t.Errorf("said %d times:\n%s", count(), f.logs.String())
		}
	})
}

// TestStoppedLeaderProposesNothing: what is under way when the lead is lost comes to
// nothing, and operators are told.
func TestStoppedLeaderProposesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		f.pump(func() bool { return f.view().Phase == "open" })
		before := len(f.log.all())
		f.c.Follow()
		f.pump(nil)
		time.Sleep(time.Minute)
		if after := len(f.log.all()); after != before {
			t.Errorf("%d entries were proposed after the lead was lost", after-before)
		}
		if err := f.c.Abort(f.plan.Digest); !errors.Is(err, ErrNotLeader) {
			t.Errorf("abort: %v", err)
		}
		if err := f.c.Watch(t.Context(), f.plan.Digest, func(outline.View) error { return nil }); !errors.Is(err, ErrNotLeader) {
			t.Errorf("watch: %v", err)
		}
	})
}

// elsewhere is a replica that another node leads.
type elsewhere struct{ Log }

func (elsewhere) Barrier(context.Context) error { return nil }
func (elsewhere) LeaderCh() <-chan bool         { return nil }
func (elsewhere) LeaderID() string              { return "two" }

// kept is a replica whose lead is being given away when it begins, so that the barrier is refused,
// and is kept in the end, or lost.
type kept struct {
	Log
	changes chan bool
	refuses int32
	asked   atomic.Int32
}

func (k *kept) Barrier(context.Context) error {
	if k.asked.Add(1) <= k.refuses {
		return ErrNotLeader
	}
	return nil
}
func (k *kept) LeaderCh() <-chan bool { return k.changes }
func (k *kept) LeaderID() string      { return "" }

// TestKeptLeadBegins: a lead that could not begin and is kept is begun again, though the replica
// says nothing more; one that is lost is not.
func TestKeptLeadBegins(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFederation(t, 3, nil)
			defer f.c.Close()
			f.c.Follow()
			k := &kept{Log: f.log, changes: make(chan bool, 1), refuses: 3}
			ctx, stop := context.WithCancel(t.Context())
			defer synctest.Wait()
			defer stop()
			go f.c.Serve(ctx, k)
			k.changes <- true
			synctest.Wait()
			if f.c.Leading() || k.asked.Load() != 1 {
				t.Fatalf("leads %v after %d barriers", f.c.Leading(), k.asked.Load())
			}
			if lost {
				k.changes <- false
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if want := map[bool]int32{false: 4, true: 1}[lost]; f.c.Leading() == lost || k.asked.Load() != want {
				t.Errorf("lost %v: leads %v after %d barriers, want %d", lost, f.c.Leading(), k.asked.Load(), want)
			}
		})
	}
}

// TestFollowerSendsAgentsAway: O8. With the leader's addresses if they are known.
func TestFollowerSendsAgentsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		addresses := []string{"two.example:7443"}
		if err := f.c.PutNode(membership.Node{ID: "two", Addresses: addresses}); err != nil {
			t.Fatal(err)
		}
		link := f.sites[0].link
		f.c.Follow()
		f.c.machine.lock().replica = elsewhere{}
		f.c.machine.unlock()
		if !errors.Is(link.Why(), errNotLeader) {
			t.Errorf("an open link ended with %v", link.Why())
		}
		late := newLink("site-0")
		f.c.linked(late, nil, chain.Head{})
		if !errors.Is(late.Why(), errNotLeader) {
			t.Error("a link was taken by a coordinator that does not lead")
		}
		s := status.Convert(f.c.notLeader())
		if s.Code() != codes.FailedPrecondition || len(s.Details()) != 1 {
			t.Fatalf("%v", s)
		}
		if m, ok := s.Details()[0].(*covey.NotLeader); !ok || !slices.Equal(m.GetAddresses(), addresses) {
			t.Errorf("%v", s.Details())
		}
		token, _ := pki.NewToken()
		if _, err := f.c.join(t.Context(), token.Bytes(), "x", nil, make([]byte, ed25519.PublicKeySize), nil); err == nil {
			t.Error("joined at a follower")
		}
	})
}

// TestNodeTokenIsSpentOnce: PEER-2, PEER-3. For one name, until its end, and for no site.
func TestNodeTokenIsSpentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		refused := func(what string, token []byte, id string) {
			t.Helper()
			if _, err := f.c.AdmitNode(token, id); err == nil {
				t.Errorf("%s was given the keys", what)
			} else if _, ok := errors.AsType[*membership.JoinError](err); !ok {
				t.Errorf("%s: %v", what, err)
			}
		}
		invite := func() []byte {
			j, err := f.c.InviteNode("two", []string{"h:1"}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			return j.Token.Bytes()
		}
		token := invite()
		refused("another name", token, "three")
		refused("a site's name of none", token, "")
		refused("no token", nil, "two")
		before := len(f.log.all())
		e, err := f.c.AdmitNode(token, "two")
		if err != nil {
			t.Fatal(err)
		}
		if len(f.log.all()) != before+1 {
			t.Error("the keys left without an entry")
		}
		raw, err := e.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pki.ParseEstate(raw); err != nil {
			t.Error(err)
		}
		refused("a second time", token, "two")
		late := invite()
		time.Sleep(2 * time.Hour)
		refused("after its end", late, "two")
		// Neither kind of file stands for the other.
		j, err := f.c.Invite("new-site", []string{"h:1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		refused("a site's file", j.Token.Bytes(), "new-site")
		m := NewMachine()
		m.Apply([]byte(`{"invite":{"token":"t","node":"two","expires":"2100-01-01T00:00:00Z"}}`))
		for _, name := range []string{"", "two"} {
			err, ok := m.Apply(fmt.Appendf(nil, `{"join":{"token":"t","site":%q,"identity":%q,"now":"2000-01-01T00:00:00Z"}}`, name, strings.Repeat("0", 64))).(error)
			if !ok || !strings.Contains(err.Error(), "is for a coordinator") {
				t.Errorf("a coordinator's file for site %q: %v", name, err)
			}
		}
	})
}

// TestNodesSurviveSnapshots: with what agents are told of them.
func TestNodesSurviveSnapshots(t *testing.T) {
	m := NewMachine()
	m.Apply([]byte(`{"node":{"id":"two","addresses":["two:1"]}}`))
	m.Apply([]byte(`{"node":{"id":"one","addresses":["one:1","one:2"]}}`))
	m.Apply([]byte(`{"node":{"id":"gone","addresses":["gone:1"]}}`))
	m.Apply([]byte(`{"forget":{"node":"gone"}}`))
	raw, err := encoded(m)
	if err != nil {
		t.Fatal(err)
	}
	back := NewMachine()
	if err := restored(back, raw); err != nil {
		t.Fatal(err)
	}
	c := New(Options{Machine: back})
	if got := c.Addresses("two"); !slices.Equal(got, []string{"two:1", "one:1", "one:2"}) {
		t.Errorf("%v", got)
	}
}
