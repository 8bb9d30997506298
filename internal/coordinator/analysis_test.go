package coordinator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/admission"
	"covey/internal/analysis"
	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// asker is an analyst in a bubble, past the door.
type asker struct {
	f    *federation
	name string
	key  ed25519.PrivateKey
}

func (f *federation) asker(name string) *asker {
	seed := sha256.Sum256([]byte(name))
	a := &asker{f, name, ed25519.NewKeyFromSeed(seed[:])}
	f.apply(entry{Invite: &membership.InviteEntry{Token: name, Invite: membership.Invite{Analyst: name, Expires: time.Now().Add(time.Hour)}}})
	f.apply(entry{Join: &membership.JoinEntry{Token: name, Name: name, Key: a.party().Identity, Now: time.Now()}})
	return a
}

func (a *asker) party() proposal.Party {
	return proposal.Party{Name: a.name, Identity: proposal.Key(a.key.Public().(ed25519.PublicKey))}
}

func (a *asker) ctx() context.Context {
	return admission.WithClient(a.f.t.Context(), admission.Client{Role: pki.RoleAnalyst, Name: a.name, Identity: a.party().Identity})
}

func (a *asker) port() analysts { return analysts{server{a.f.c}} }

// offered returns the counts that the analyst is told.
func (a *asker) offered() (units []int) {
	a.f.t.Helper()
	offer, err := a.port().Offer(a.ctx(), "rows", nil, nil)
	if err != nil {
		a.f.t.Fatal(err)
	}
	for _, m := range offer.Sites {
		units = append(units, m.Units)
	}
	return units
}

// writes is what an analyst's program does.
func (a *asker) writes(nonce byte, readers ...string) wire.Proposal {
	f := a.f
	f.t.Helper()
	offer, err := a.port().Offer(a.ctx(), "rows", nil, readers)
	if err != nil {
		f.t.Fatal(err)
	}
	spec := f.plan.Proposal.Spec
	spec.Name, spec.Readers = "asked", readers
	spec.Expires = proposal.Expiry(time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339))
	by := a.party()
	body, err := proposal.ProposeAs(&by, spec, offer.Sites, offer.Readers, ed25519.PublicKey(offer.Coordinator), [32]byte{1, nonce})
	if err != nil {
		f.t.Fatal(err)
	}
	return wire.Proposal{Body: body, Signature: proposal.SignProposal(a.key, proposal.DigestOf(body))}
}

// proposes hands a proposal in, and makes the study the federation's.
func (a *asker) proposes(readers ...string) proposal.Digest {
	f := a.f
	f.t.Helper()
	signed := a.writes(2, readers...)
	digest := proposal.DigestOf(signed.Body)
	for range 2 { // an answer that is lost is asked for again
		if got, err := a.port().Propose(a.ctx(), signed); err != nil || got != digest {
			f.t.Fatal(err)
		}
	}
	var err error
	if f.plan, err = study.NewPlan(signed.Body); err != nil {
		f.t.Fatal(err)
	}
	return digest
}

func (a *asker) told(of proposal.Digest) (t wire.Told, err error) {
	err = a.port().Watch(a.ctx(), of, true, func(now wire.Told) error { t = now; return nil })
	return t, err
}

func (a *asker) shown(of proposal.Digest) wire.Told {
	a.f.t.Helper()
	t, err := a.told(of)
	if err != nil {
		a.f.t.Fatal(err)
	}
	return t
}

// alone ends the federation's first study, so that the sites answer about the next.
func (f *federation) alone() {
	f.t.Helper()
	if err := f.c.Abort(f.plan.Digest); err != nil {
		f.t.Fatal(err)
	}
	for _, s := range f.sites {
		s.secrets = nil
	}
}

// TestAnalystsStudy: from the offer to the result; what is told of it comes in whole minutes and
// steps of ten seconds; the proposer and the reader read it, and another analyst knows of nothing.
func TestAnalystsStudy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		f.alone()
		ada, bob, eve := f.asker("ada"), f.asker("bob"), f.asker("eve")
		time.Sleep(5 * time.Second)
		of := ada.proposes("bob")
		if s := ada.shown(of); s.Phase != wire.PhaseProposed || !s.Own || s.Proposer != "ada" || s.Proposed != s.Proposed.Truncate(10*time.Second) || len(s.Answers) != 3 {
			t.Errorf("%+v", s)
		}
		var seen []wire.Told
		over := make(chan error, 1)
		go func() {
			over <- bob.port().Watch(bob.ctx(), of, false, func(t wire.Told) error { seen = append(seen, t); return nil })
		}()
		f.pump(func() bool { return f.state().Status != round.StatusProposed })
		for range 4 { // all have approved, and nothing shows
			if s := ada.shown(of); s.Phase != wire.PhaseProposed || slices.ContainsFunc(s.Answers, func(a wire.Answer) bool { return a.Verdict != study.VerdictPending || !a.Awaited }) {
				t.Errorf("at %v: %+v", time.Now(), s)
			}
			time.Sleep(10 * time.Second)
		}
		read := func(a *asker) ([]byte, error) {
			ctx, end := context.WithCancel(a.ctx()) // as a call ends, for the client's next one
			defer end()
			write, err := server{f.c}.Result(ctx, of[:])
			if err != nil {
				return nil, err
			}
			var file bytes.Buffer
			err = write(&file)
			return file.Bytes(), err
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		if _, err := read(ada); status.Code(err) != codes.NotFound {
			t.Errorf("a result is read before its study shows as completed: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		s := ada.shown(of)
		if s.Phase != wire.PhaseCompleted || s.Code != study.CodeCompleted || s.Done != s.Queries || s.Ended.IsZero() || s.Ended != s.Ended.Truncate(10*time.Second) || s.Answers[2].Verdict != study.VerdictApproved {
			t.Errorf("%+v", s)
		}
		if err := <-over; err != nil || len(seen) < 2 || seen[len(seen)-1].Phase != wire.PhaseCompleted || seen[0].Own {
			t.Errorf("%v: %+v", err, seen)
		}
		for _, a := range []*asker{ada, bob} {
			file, err := read(a)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := result.Verify(file); err != nil || v.Proposer == nil || v.Proposer.Name != "ada" || len(v.Readers) != 1 {
				t.Errorf("%+v, %v", v, err)
			}
			if line := "msg=\"a result was given out\" analyst=" + a.name; !bytes.Contains(f.logs.Bytes(), []byte(line)) {
				t.Errorf("the log does not have %q", line)
			}
		}
		// Who hangs up before the last byte has nearly all of it.
		ctx, end := context.WithCancel(ada.ctx())
		write, err := server{f.c}.Result(ctx, of[:])
		if err == nil {
			err = write(&hangsUp{left: 3000})
		}
		end()
		if part := regexp.MustCompile(`"a result was given out in part" analyst=ada study=\w+ bytes=3000 error="hung up"`); err == nil || !part.Match(f.logs.Bytes()) {
			t.Errorf("%v: the log does not have that a part was given out", err)
		}
		if _, err := read(eve); status.Code(err) != codes.NotFound || status.Convert(err).Message() != wire.NoStudy {
			t.Errorf("another analyst reads it: %v", err)
		}
		if all, err := eve.port().List(eve.ctx()); err != nil || len(all) != 0 {
			t.Errorf("another analyst lists %+v, %v", all, err)
		}
		// Whoever joins under the name later is another.
		if err := f.c.Revoke(pki.RoleAnalyst, "ada"); err != nil {
			t.Fatal(err)
		}
		late := f.asker("bert")
		late.name = "ada"
		if _, err := read(late); status.Code(err) != codes.NotFound {
			t.Errorf("another key under the name reads it: %v", err)
		}
	})
}

// hangsUp takes so many bytes, and no more.
type hangsUp struct{ left int }

func (h *hangsUp) Write(p []byte) (int, error) {
	n := min(len(p), h.left)
	if h.left -= n; n < len(p) {
		return n, errors.New("hung up")
	}
	return n, nil
}

// TestTellsNoReason: codes of data and budgets, and who said them first, do not reach an analyst;
// faults of the schema do.
func TestTellsNoReason(t *testing.T) {
	for code, fault := range map[study.Code]study.Code{
		study.CodeData: "", study.CodeBudget: "", study.CodeRejected: "", study.CodeNotApproved: "", study.CodePlanMismatch: "", study.CodeStore: "", study.CodeLeft: "", study.CodeWithdrawn: "",
		study.CodeColumns: study.CodeColumns, study.CodeUnit: study.CodeUnit, study.CodeFormat: study.CodeFormat,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFederation(t, 3, nil)
			defer func() { f.c.Close() }()
			f.alone()
			ada := f.asker("ada")
			f.sites[1].corrupt = func(m *covey.SiteMessage) {
				if d := m.GetDecision(); d != nil {
					d.Verdict, d.Code = covey.Verdict_VERDICT_REJECTED, covey.Code(covey.Code_value["CODE_"+string(bytes.ToUpper([]byte(code)))])
					d.Signature = study.SignDecision(f.sites[1].identity, proposal.Digest(d.GetStudy()), study.VerdictRejected, code)
				}
			}
			time.Sleep(17 * time.Second)
			of := ada.proposes()
			f.pump(nil)
			if s := ada.shown(of); f.state().Status != round.StatusEnded || s.Phase != wire.PhaseProposed || s.Code != "" || !s.Ended.IsZero() {
				t.Errorf("%s: at once it shows as %+v", code, s)
			}
			again := func() error {
				_, err := ada.port().Propose(ada.ctx(), ada.writes(3))
				return err
			}
			if err := again(); status.Code(err) != codes.ResourceExhausted {
				t.Errorf("%s: that it is over shows at once by the place that it had: %v", code, err)
			}
			time.Sleep(time.Minute)
			if err := again(); err != nil {
				t.Errorf("%s: its place after it shows as over: %v", code, err)
			}
			s := ada.shown(of)
			want := study.CodeRejected
			if fault != "" {
				want = fault
			}
			if s.Phase != wire.PhaseEnded || s.Code != want || s.Answers[1].Verdict != study.VerdictRejected || s.Answers[1].Fault != fault || s.Ended != s.Ended.Truncate(time.Minute) {
				t.Errorf("%s shows as %+v", code, s)
			}
		})
	}
}

// TestOneCountADay: analysts are told one number a site, data set and day, whoever asks and however
// the table grows, and so they are by the next leader and after a snapshot; another on the next
// day.
func TestOneCountADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		ada, bob := f.asker("ada"), f.asker("bob")
		first := []int{1000, 1001, 1002}
		is := func(what string, a *asker, want []int) {
			t.Helper()
			if got := a.offered(); !slices.Equal(got, want) {
				t.Errorf("%s: %v; want %v", what, got, want)
			}
		}
		is("first", ada, first)
		grow := func(by int) {
			for i, s := range f.sites {
				f.c.linked(s.link, map[string]int{"rows": 1000 + i + by}, chain.Head{})
			}
		}
		grow(5)
		is("a table that grew", ada, first)
		is("another analyst", bob, first)
		lines := len(f.log.all())
		is("again", bob, first)
		if n := len(f.log.all()); n != lines {
			t.Errorf("%d lines for what was told", n-lines)
		}
		f.crash(-1)
		grow(6)
		is("after a failover", bob, first)
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine()
		if err := restored(m, raw); err != nil {
			t.Fatal(err)
		}
		f.restart(m, nil)
		grow(7)
		is("after a snapshot", ada, first)
		time.Sleep(24 * time.Hour)
		grow(8)
		is("on the next day", ada, []int{1008, 1009, 1010})
		grow(9)
		is("later that day", bob, []int{1008, 1009, 1010})
		// A leader whose clock is a day behind tells what was told last.
		now := f.c.core.now
		f.c.core.now = func() time.Time { return now().Add(-24 * time.Hour) }
		is("by a clock that is behind", bob, []int{1008, 1009, 1010})
		line, err := json.Marshal(entry{At: f.c.now(), Tell: &tellEntry{"rows", map[string]int{"site-0": 7}}})
		if err != nil {
			t.Fatal(err)
		}
		f.log.machine.Apply(line)
		is("by a line of another leader", bob, []int{1008, 1009, 1010})
		// What a clock told that ran ahead does not stand until then.
		f.c.core.now = func() time.Time { return now().Add(400 * 24 * time.Hour) }
		is("by a clock that is ahead", bob, []int{1009, 1010, 1011})
		f.c.core.now = now
		grow(10)
		is("by a clock that was set right", bob, []int{1010, 1011, 1012})
		grow(11)
		is("and later that day", ada, []int{1010, 1011, 1012})
	})
}

// TestNobodyAwayIsLeftOut: of all sites, an offer leaves out those that are connected without the
// data set, and is refused while one is away, as the operator's study is. Who is named has to offer
// it.
func TestNobodyAwayIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 4, nil)
		defer func() { f.c.Close() }()
		ada := f.asker("ada")
		asks := func(names ...string) error {
			_, err := ada.port().Offer(ada.ctx(), "rows", names, nil)
			return err
		}
		f.drop(3)
		f.sites[3].link = newLink("site-3")
		f.c.linked(f.sites[3].link, map[string]int{"others": 9}, chain.Head{})
		if got := ada.offered(); len(got) != 3 {
			t.Errorf("%d sites with a data set that three have", len(got))
		}
		if err := asks("site-0", "site-3"); status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), `"site-3" offers no such data set`) {
			t.Error(err)
		}
		f.drop(3)
		_, operator := f.c.Roster(proposal.Spec{Dataset: "rows"})
		if err := asks(); status.Code(err) != codes.NotFound || operator == nil || status.Convert(err).Message() != operator.Error() ||
			!strings.Contains(err.Error(), `"site-3" is not connected`) {
			t.Errorf("%v; the operator: %v", err, operator)
		}
		if err := asks("site-0", "site-1", "site-2"); err != nil {
			t.Error(err)
		}
	})
}

// TestRevokedWatchEnds: a watch ends when its analyst is revoked, and when this coordinator leads
// no more.
func TestRevokedWatchEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*Coordinator) error
		want codes.Code
	}{
		"revoked": {func(c *Coordinator) error { return c.Revoke(pki.RoleAnalyst, "ada") }, codes.PermissionDenied},
		"led":     {func(c *Coordinator) error { c.Follow(); return nil }, codes.FailedPrecondition},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFederation(t, 3, nil)
			defer f.c.Close()
			f.alone()
			ada := f.asker("ada")
			of, over := ada.proposes(), make(chan error, 1)
			go func() {
				over <- ada.port().Watch(ada.ctx(), of, false, func(wire.Told) error { return nil })
			}()
			synctest.Wait()
			if err := c.end(f.c); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // no time passes: the next look, which would end it, is a tick away
			select {
			case err := <-over:
				if status.Code(err) != c.want {
					t.Errorf("%s: the watch ends with %v; want %v", name, err, c.want)
				}
			default:
				t.Errorf("%s: the watch goes on", name)
			}
		})
	}
}

// TestExpiredCertificate: a connection outlives its certificate, and its calls do not. The streams
// end with it, and until then it is renewed (PKI-13, PKI-15).
func TestExpiredCertificate(t *testing.T) {
	o := newOffice(t)
	site, analyst := o.join(pki.RoleSite, "clinic"), o.join(pki.RoleAnalyst, "ada")
	of, err := o.proposes(analyst, o.draws(analyst, "expired"))
	if err != nil {
		t.Fatal(err)
	}
	calls := func(want codes.Code) {
		t.Helper()
		o.unpaced()
		for _, p := range []*person{site, analyst} {
			csr, err := p.CSR(p.name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := wire.CallRenew(t.Context(), p.conn, csr); status.Code(err) != want {
				t.Errorf("%s renews: %v; want %v", p.name, err, want)
			}
			if _, err := wire.CallStanding(t.Context(), p.conn, nil); status.Code(err) != want {
				t.Errorf("%s asks: %v; want %v", p.name, err, want)
			}
		}
	}
	ends := site.leaf.NotAfter // the analyst's, too
	o.clock.Store(ends.UnixNano())
	calls(codes.OK)
	bounded, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := wire.CallWatch(bounded, analyst.conn, of, false, func(wire.Told) error { return nil }); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a watch ends with %v", err)
	}
	link, err := wire.OpenLink(bounded, site.conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := link.Receive(); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a link ends with %v", err)
	}
	o.clock.Store(ends.Add(time.Second).UnixNano())
	calls(codes.Unauthenticated)
	o.clock.Store(site.leaf.NotBefore.Add(-time.Second).UnixNano())
	calls(codes.Unauthenticated)
}

// TestGoneSitesAreTold: who proposed a study is told within a tick that a site cannot come back to
// it: it was revoked, or joined with another key; and of a study that shows as over, nothing more.
func TestGoneSitesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		f.alone()
		ada := f.asker("ada")
		of := ada.proposes()
		gone := func() (sites []string) {
			time.Sleep(analysis.Tick)
			for _, a := range ada.shown(of).Answers {
				if a.Gone {
					sites = append(sites, a.Site)
				}
			}
			return sites
		}
		if got := gone(); got != nil {
			t.Errorf("before: %v", got)
		}
		if err := f.c.Revoke(pki.RoleSite, "site-1"); err != nil {
			t.Fatal(err)
		}
		if got := gone(); !slices.Equal(got, []string{"site-1"}) {
			t.Errorf("revoked: %v", got)
		}
		m := f.c.machine.lock()
		m.who.Sites["site-1"] = membership.Holder{Name: "site-1", Identity: make(proposal.Key, 32), Joined: time.Now()}
		f.c.machine.unlock()
		if got := gone(); !slices.Equal(got, []string{"site-1"}) {
			t.Errorf("joined with another key: %v", got)
		}
		if err := ada.port().Withdraw(ada.ctx(), of); err != nil {
			t.Fatal(err)
		}
		if got := gone(); got != nil {
			t.Errorf("of a study that is over: %v", got)
		}
	})
}
