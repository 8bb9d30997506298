package coordinator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/admission"
	"covey/internal/pki"
	"covey/internal/proposal"
)

// TestReads: a completed study is read by the sites of its roster, under the key that they had
// then, and by nobody else.
func TestReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		id, name := f.plan.Digest, f.plan.Proposal.Roster[0].Name
		reads := func(name string, of proposal.Digest) bool {
			h, _ := f.c.machine.holder(pki.RoleSite, name)
			return server{f.c}.reads(admission.Client{Role: pki.RoleSite, Name: name, Identity: h.Identity}, of) == nil
		}
		if reads(name, id) {
			t.Error("a study that is not over is read")
		}
		f.finish()
		m := f.c.machine.lock()
		site := m.who.Sites[name]
		site.Name, site.Identity = name, f.plan.Proposal.Roster[0].Identity
		m.who.Sites[name] = site
		other := site
		other.Name = "stranger"
		m.who.Sites["stranger"] = other
		f.c.machine.unlock()
		if !reads(name, id) {
			t.Error("a site of the roster does not read the result")
		}
		if reads("stranger", id) {
			t.Error("a site that is not in the roster reads the result")
		}
		if reads(name, proposal.Digest{1}) {
			t.Error("an unknown study is read")
		}
		m = f.c.machine.lock()
		site.Identity = make(proposal.Key, 32)
		m.who.Sites[name] = site
		f.c.machine.unlock()
		if reads(name, id) {
			t.Error("another party under the name of a site of the roster reads the result")
		}
	})
}

// TestHungUpClientWaitsForNoResult: a client that hangs up while another's result is put together
// leaves the queue.
func TestHungUpClientWaitsForNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		f.finish()
		from := f.plan.Proposal.Roster[0]
		base := admission.WithClient(t.Context(), admission.Client{Role: pki.RoleSite, Name: from.Name, Identity: from.Identity})
		ctx, hangUp := context.WithCancel(base)
		f.c.reading <- struct{}{} // another's
		answered := make(chan error, 1)
		ask := func(ctx context.Context) {
			_, err := server{f.c}.Result(ctx, f.plan.Digest[:])
			answered <- err
		}
		go ask(ctx)
		synctest.Wait()
		if len(answered) != 0 {
			t.Fatalf("answered beside another: %v", <-answered)
		}
		hangUp()
		if err := <-answered; status.Code(err) != codes.Canceled {
			t.Errorf("hung up: %v", err)
		}
		ctx, ended := context.WithCancel(base)
		go ask(ctx)
		synctest.Wait()
		<-f.c.reading
		if err := <-answered; err != nil {
			t.Errorf("after the other: %v", err)
		}
		ended()
		go ask(base)
		if err := <-answered; err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

// TestOneResultAClient: a client gets one result at a time, since its file is in memory until the
// call ends; another client's comes meanwhile.
func TestOneResultAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		f.finish()
		answered := make(chan error, 3)
		ask := func(i int) context.CancelFunc {
			from := f.plan.Proposal.Roster[i]
			ctx, end := context.WithCancel(admission.WithClient(t.Context(), admission.Client{Role: pki.RoleSite, Name: from.Name, Identity: from.Identity}))
			go func() {
				_, err := server{f.c}.Result(ctx, f.plan.Digest[:])
				answered <- err
			}()
			time.Sleep(time.Minute)
			return end
		}
		first := ask(0)
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		defer ask(0)()
		if len(answered) > 0 {
			t.Errorf("a second result, while the first is sent: %v", <-answered)
		}
		defer ask(1)()
		if err := <-answered; err != nil {
			t.Errorf("another client's: %v", err)
		}
		first()
		if err := <-answered; err != nil {
			t.Errorf("the second, once the first call is over: %v", err)
		}
	})
}
