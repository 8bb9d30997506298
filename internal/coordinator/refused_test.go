package coordinator

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"covey/internal/analysis"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// calls is one call of every method of the port, by name, with what is in order as far as it can
// be.
func calls(o *office, by *person, conn grpc.ClientConnInterface) map[string]func(context.Context) error {
	of := o.plan.Digest
	return map[string]func(context.Context) error{
		"/covey.v1.Enrollment/Join": func(ctx context.Context) error {
			_, _, err := wire.CallJoin(ctx, conn, wire.JoinRequest{Token: make([]byte, 32), Name: "new", Identity: by.public()})
			return err
		},
		"/covey.v1.Federation/Link": func(ctx context.Context) error {
			link, err := covey.NewFederationClient(conn).Link(ctx)
			if err == nil {
				_, err = link.Recv()
			}
			return err
		},
		"/covey.v1.Federation/Renew": func(ctx context.Context) error {
			csr, err := by.CSR(by.name)
			if err == nil {
				_, err = wire.CallRenew(ctx, conn, csr)
			}
			return err
		},
		"/covey.v1.Federation/Standing": func(ctx context.Context) error { _, err := wire.CallStanding(ctx, conn, nil); return err },
		"/covey.v1.Federation/Result":   func(ctx context.Context) error { return wire.CallResult(ctx, conn, of[:], io.Discard) },
		"/covey.v1.Analysis/Offer": func(ctx context.Context) error {
			_, err := wire.CallOffer(ctx, conn, "rows", nil, nil)
			return err
		},
		"/covey.v1.Analysis/Propose": func(ctx context.Context) error { return wire.CallPropose(ctx, conn, wire.Proposal{Body: []byte("x")}) },
		"/covey.v1.Analysis/List":    func(ctx context.Context) error { _, err := wire.CallList(ctx, conn); return err },
		"/covey.v1.Analysis/Watch": func(ctx context.Context) error {
			return wire.CallWatch(ctx, conn, of, true, func(wire.Told) error { return nil })
		},
		"/covey.v1.Analysis/Withdraw": func(ctx context.Context) error { return wire.CallWithdraw(ctx, conn, of) },
		"/grpc.health.v1.Health/Check": func(ctx context.Context) error {
			_, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
			return err
		},
		"/grpc.health.v1.Health/List": func(ctx context.Context) error {
			_, err := healthv1.NewHealthClient(conn).List(ctx, &healthv1.HealthListRequest{})
			return err
		},
		"/grpc.health.v1.Health/Watch": func(ctx context.Context) error {
			s, err := healthv1.NewHealthClient(conn).Watch(ctx, &healthv1.HealthCheckRequest{})
			if err == nil {
				_, err = s.Recv()
			}
			return err
		},
	}
}

// TestEveryMethodForEveryRole: all methods that the server has are refused to all callers but those
// of the roles that they are for, whoever forgets a line of wire's table.
func TestEveryMethodForEveryRole(t *testing.T) {
	o := newOffice(t)
	ada, clinic := o.join(pki.RoleAnalyst, "ada"), o.join(pki.RoleSite, "clinic")
	gone := o.join(pki.RoleAnalyst, "gone")
	if err := o.c.Revoke(pki.RoleAnalyst, "gone"); err != nil {
		t.Fatal(err)
	}
	thief := o.keys("ada")
	callers := []struct {
		name string
		by   *person
		conn *grpc.ClientConn
		role pki.Role
		is   codes.Code // what refuses it where a role is needed
	}{
		{"nobody", o.keys("x"), o.dial(nil), "", codes.Unauthenticated},
		{"a site", clinic, clinic.conn, pki.RoleSite, codes.PermissionDenied},
		{"an analyst", ada, ada.conn, pki.RoleAnalyst, codes.PermissionDenied},
		{"a revoked analyst", gone, gone.conn, "", codes.PermissionDenied},
		{"an analyst with another's key", thief, o.issued(pki.RoleAnalyst, "ada", thief), "", codes.PermissionDenied},
		{"an analyst under a site's name", thief, o.issued(pki.RoleAnalyst, "clinic", thief), "", codes.PermissionDenied},
		{"a site under an analyst's name", thief, o.issued(pki.RoleSite, "ada", thief), "", codes.PermissionDenied},
	}
	walked := 0
	for service, about := range o.server.GetServiceInfo() {
		for _, m := range about.Methods {
			method := "/" + service + "/" + m.Name
			roles, open := wire.RolesOf(method)
			for _, c := range callers {
				call := calls(o, c.by, c.conn)[method]
				if call == nil {
					t.Fatalf("%s: a method that this test does not call", method)
				}
				walked++
				allowed := open || strings.HasPrefix(method, "/grpc.health.")
				for _, r := range roles {
					allowed = allowed || r == c.role
				}
				// A refusal comes, however slow the machine is. What is let in may stay
				// open, and its end is no refusal.
				patience := time.Minute
				if allowed {
					patience = 300 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				err := call(ctx)
				cancel()
				refusal := status.Code(err) == c.is && (strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "not for") || strings.Contains(err.Error(), "revoked"))
				if refusal == allowed {
					t.Errorf("%s of %s: allowed %v, and the answer is %v", method, c.name, allowed, err)
				}
			}
		}
	}
	if walked < 13*len(callers) {
		t.Errorf("%d calls were tried", walked)
	}
}

// TestRefusedAtThePort: what an analyst, a site and a stranger must not do, over the real port.
// Each row is refused for its reason, and nothing of it is written to the log.
func TestRefusedAtThePort(t *testing.T) {
	o := newOffice(t)
	ctx := t.Context()
	ada, bob, clinic := o.join(pki.RoleAnalyst, "ada"), o.join(pki.RoleAnalyst, "bob"), o.join(pki.RoleSite, "clinic")
	eve := o.join(pki.RoleAnalyst, "eve")
	if err := errors.Join(o.c.Revoke(pki.RoleAnalyst, "eve"), o.c.Revoke(pki.RoleSite, "site-2")); err != nil {
		t.Fatal(err)
	}
	stranger, nobody := o.dial(nil), o.keys("new")
	invited := func(role pki.Role, name string) pki.Join {
		j, err := o.c.InviteAs(role, name, []string{o.address}, time.Hour, false)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	spent := invited(pki.RoleAnalyst, "spent")
	if _, _, err := wire.CallJoin(ctx, stranger, nobody.request(t, spent, "spent")); err != nil {
		t.Fatal(err)
	}
	forAnalyst, forSite, gone := invited(pki.RoleAnalyst, "carol"), invited(pki.RoleSite, "ward"), invited(pki.RoleAnalyst, "dan")
	if _, err := o.c.Withdraw(pki.RoleAnalyst, "dan"); err != nil {
		t.Fatal(err)
	}
	join := func(conn grpc.ClientConnInterface, r wire.JoinRequest) error {
		_, _, err := wire.CallJoin(ctx, conn, r)
		return err
	}
	joins := func(j pki.Join, name string, change func(*wire.JoinRequest)) func() error {
		return func() error {
			r := o.keys(name).request(t, j, name)
			if change != nil {
				change(&r)
			}
			return join(stranger, r)
		}
	}
	// A study of ada's, which bob may read, and one of the operator's.
	first, err := o.proposes(ada, o.draws(ada, "first", "bob"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := o.plan.Digest
	proposed := func(p *person, change func(*draft)) func() error {
		d := o.draws(p, fmt.Sprint("study ", len(o.log.all())))
		change(&d)
		return func() error { _, err := o.proposes(p, d); return err }
	}
	rewritten := func(from, to string) func(*draft) {
		return func(d *draft) {
			d.rewrites = func(body []byte) []byte {
				out := bytes.Replace(body, []byte(from), []byte(to), 1)
				if bytes.Equal(out, body) {
					t.Fatalf("%q is not in a proposal", from)
				}
				return out
			}
		}
	}
	offer := func(p *person, dataset string, sites, readers []string) func() error {
		return func() error { _, err := wire.CallOffer(ctx, p.conn, dataset, sites, readers); return err }
	}
	watch := func(p *person, of proposal.Digest, once bool) func() error {
		return func() error {
			return wire.CallWatch(ctx, p.conn, of, once, func(wire.Told) error { return nil })
		}
	}
	withdraw := func(p *person, of proposal.Digest) func() error {
		return func() error { return wire.CallWithdraw(ctx, p.conn, of) }
	}
	result := func(p *person, of []byte) func() error {
		return func() error { return wire.CallResult(ctx, p.conn, of, io.Discard) }
	}
	type row struct {
		what string
		do   func() error
		code codes.Code
		says string
	}
	const noStudy = wire.NoStudy
	rows := []row{
		{"a stranger joins with a token of nothing", joins(forSite, "ward", func(r *wire.JoinRequest) { r.Token = make([]byte, 32) }), codes.PermissionDenied, "never given out"},
		{"a stranger joins with half a token", joins(forSite, "ward", func(r *wire.JoinRequest) { r.Token = r.Token[:16] }), codes.PermissionDenied, "the token is malformed"},
		{"a stranger joins with a token that was spent", joins(spent, "spent", nil), codes.PermissionDenied, "already used"},
		{"a stranger joins with a file that was taken back", joins(gone, "dan", nil), codes.PermissionDenied, "already used"},
		{"a stranger joins as a site with an analyst's file", joins(forAnalyst, "site-9", nil), codes.PermissionDenied, `for analyst "carol"`},
		{"a stranger joins as an analyst with a site's file", joins(forSite, "ada", nil), codes.PermissionDenied, `for site "ward"`},
		{"a stranger joins under a name that is none", joins(forSite, "ward", func(r *wire.JoinRequest) { r.Name = "../ward" }), codes.PermissionDenied, "name"},
		{"a stranger joins with half an identity key", joins(forSite, "ward", func(r *wire.JoinRequest) { r.Identity = r.Identity[:31] }), codes.PermissionDenied, "identity key"},
		{"a stranger joins with another's identity key", joins(forSite, "ward", func(r *wire.JoinRequest) { r.Identity = ada.public() }), codes.PermissionDenied, "proof"},
		{"a stranger joins with a proof for another name", joins(forAnalyst, "carol", func(r *wire.JoinRequest) { r.Proof[0] ^= 1 }), codes.PermissionDenied, "proof"},
		{"a stranger joins with a request for another name", func() error {
			p := o.keys("carol")
			r := p.request(t, forAnalyst, "carol")
			r.CSR, _ = p.CSR("ada")
			r.Proof = p.ProveIdentity("carol", forAnalyst.Token.Hash(), r.CSR)
			return join(stranger, r)
		}, codes.PermissionDenied, "certificate request"},
		{"a stranger asks for a certificate", func() error { csr, _ := nobody.CSR("new"); _, err := wire.CallRenew(ctx, stranger, csr); return err }, codes.Unauthenticated, "certificate"},
		{"a stranger asks for a result", func() error { return wire.CallResult(ctx, stranger, first[:], io.Discard) }, codes.Unauthenticated, "certificate"},
		{"a stranger asks for an offer", func() error { _, err := wire.CallOffer(ctx, stranger, "rows", nil, nil); return err }, codes.Unauthenticated, "certificate"},
		{"a stranger proposes", func() error { return wire.CallPropose(ctx, stranger, wire.Proposal{}) }, codes.Unauthenticated, "certificate"},
		{"a stranger lists", func() error { _, err := wire.CallList(ctx, stranger); return err }, codes.Unauthenticated, "certificate"},
		{"a stranger withdraws", func() error { return wire.CallWithdraw(ctx, stranger, first) }, codes.Unauthenticated, "certificate"},
		{"a stranger calls a method that there is not", func() error {
			return stranger.Invoke(ctx, "/covey.v1.Analysis/Everything", &covey.ListRequest{}, &covey.ListResponse{})
		}, codes.Unimplemented, "Everything"},

		{"a site asks for an offer", offer(clinic, "rows", nil, nil), codes.PermissionDenied, "not for sites"},
		{"a site proposes", func() error { return wire.CallPropose(ctx, clinic.conn, wire.Proposal{Body: []byte("x")}) }, codes.PermissionDenied, "not for sites"},
		{"a site lists studies", func() error { _, err := wire.CallList(ctx, clinic.conn); return err }, codes.PermissionDenied, "not for sites"},
		{"a site watches", watch(clinic, first, false), codes.PermissionDenied, "not for sites"},
		{"a site withdraws a study", withdraw(clinic, first), codes.PermissionDenied, "not for sites"},
		{"a site reads a study that it is not in", result(clinic, first[:]), codes.NotFound, "no result"},
		{"a site reads half a digest", result(clinic, first[:16]), codes.NotFound, "no result"},
		{"a site renews under another name", func() error { csr, _ := clinic.CSR("ada"); _, err := wire.CallRenew(ctx, clinic.conn, csr); return err }, codes.InvalidArgument, "certificate request is not valid"},
		{"a site joins as an analyst with its own file's rest", func() error { return join(clinic.conn, clinic.request(t, spent, "clinic")) }, codes.PermissionDenied, "already used"},

		{"an analyst opens a link", func() error { return calls(o, ada, ada.conn)["/covey.v1.Federation/Link"](ctx) }, codes.PermissionDenied, "not for analysts"},
		{"an analyst renews under another name", func() error { csr, _ := ada.CSR("bob"); _, err := wire.CallRenew(ctx, ada.conn, csr); return err }, codes.InvalidArgument, "certificate request is not valid"},
		{"a revoked analyst lists", func() error { _, err := wire.CallList(ctx, eve.conn); return err }, codes.PermissionDenied, "revoked"},
		{"a revoked analyst proposes", func() error { return wire.CallPropose(ctx, eve.conn, wire.Proposal{}) }, codes.PermissionDenied, "revoked"},
		{"a revoked analyst renews", func() error { csr, _ := eve.CSR("eve"); _, err := wire.CallRenew(ctx, eve.conn, csr); return err }, codes.PermissionDenied, "revoked"},
		{"an offer of a site that has not joined", offer(ada, "rows", []string{"nowhere"}, nil), codes.NotFound, "nowhere"},
		{"an offer of a revoked site", offer(ada, "rows", []string{"site-2"}, nil), codes.NotFound, "site-2"},
		{"an offer of a site without a link", offer(ada, "rows", []string{"clinic"}, nil), codes.NotFound, "clinic"},
		{"an offer of a data set that a site does not have", offer(ada, "secrets", []string{"site-0"}, nil), codes.NotFound, "site-0"},
		{"an offer for a reader who is none", offer(ada, "rows", []string{"site-0"}, []string{"zoe"}), codes.NotFound, "zoe"},
		{"an offer for a reader who is a site", offer(ada, "rows", []string{"site-0"}, []string{"clinic"}), codes.NotFound, "clinic"},
		{"an offer for a reader who is revoked", offer(ada, "rows", []string{"site-0"}, []string{"eve"}), codes.NotFound, "eve"},
		{"an offer for many readers", offer(ada, "rows", nil, make([]string, proposal.MaxReaders+1)), codes.InvalidArgument, "readers"},
		{"an offer of a data set with a long name", offer(ada, strings.Repeat("x", 201), nil, nil), codes.InvalidArgument, "200 bytes"},

		{"a proposal of nothing", func() error { return wire.CallPropose(ctx, ada.conn, wire.Proposal{Body: []byte("x = 1")}) }, codes.InvalidArgument, ""},
		{"a proposal of 3 MiB and a byte", func() error {
			return wire.CallPropose(ctx, ada.conn, wire.Proposal{Body: make([]byte, wire.MaxProposed+1)})
		}, codes.InvalidArgument, "not a proposal"},
		{"a proposal of 4 MiB", func() error {
			return wire.CallPropose(ctx, ada.conn, wire.Proposal{Body: make([]byte, 4<<20)})
		}, codes.ResourceExhausted, "at most"},
		{"a proposal without a signature", proposed(ada, func(d *draft) { d.signs = nil }), codes.InvalidArgument, "signature"},
		{"a proposal signed by another", proposed(ada, func(d *draft) { d.signs = bob.Identity() }), codes.InvalidArgument, "signature"},
		{"a proposal altered after it was signed", proposed(ada, func(d *draft) {
			d.altered = func(b []byte) []byte { return append(b, '\n') }
		}), codes.InvalidArgument, "signature"},
		{"a proposal of nobody", proposed(ada, func(d *draft) { d.by, d.signs = nil, nil }), codes.InvalidArgument, "proposer"},
		{"another's proposal, signed by the other", proposed(ada, func(d *draft) {
			by := bob.party()
			d.by, d.signs = &by, bob.Identity()
		}), codes.InvalidArgument, "not who sends it"},
		{"a proposal under another's name with one's own key", proposed(ada, func(d *draft) { d.by = &proposal.Party{Name: "bob", Identity: d.by.Identity} }), codes.InvalidArgument, "not who sends it"},
		{"a proposal with a key that is not registered", proposed(ada, func(d *draft) {
			d.by, d.signs = &proposal.Party{Name: "ada", Identity: nobody.party().Identity}, nobody.Identity()
		}), codes.InvalidArgument, "not who sends it"},
		{"a proposal with a site that has not joined", proposed(ada, func(d *draft) { d.roster[1].Name = "nowhere" }), codes.InvalidArgument, "nowhere"},
		{"a proposal with another key for a site", proposed(ada, func(d *draft) { d.roster[1].Identity = nobody.party().Identity }), codes.InvalidArgument, "site-1"},
		{"a proposal with a revoked site", proposed(ada, func(d *draft) {
			d.roster = append(d.roster, proposal.Member{Name: "site-2", Identity: proposal.Key(o.plan.Proposal.Roster[2].Identity), Units: 1002})
		}), codes.InvalidArgument, "site-2"},
		{"a proposal with one unit more than was told", proposed(ada, func(d *draft) { d.roster[0].Units++ }), codes.InvalidArgument, "units"},
		{"a proposal on a data set that was never told of", proposed(ada, func(d *draft) { d.spec.Dataset = "other" }), codes.InvalidArgument, "units"},
		{"a proposal for another coordinator", proposed(ada, func(d *draft) { d.key = nobody.public() }), codes.InvalidArgument, "coordinator"},
		{"a proposal with a reader who is none", proposed(ada, func(d *draft) {
			d.spec.Readers, d.readers = []string{"zoe"}, []proposal.Party{{Name: "zoe", Identity: nobody.party().Identity}}
		}), codes.InvalidArgument, "zoe"},
		{"a proposal with another key for a reader", proposed(ada, func(d *draft) {
			d.spec.Readers, d.readers = []string{"bob"}, []proposal.Party{{Name: "bob", Identity: nobody.party().Identity}}
		}), codes.InvalidArgument, "bob"},
		{"a proposal with a revoked reader", proposed(ada, func(d *draft) {
			d.spec.Readers, d.readers = []string{"eve"}, []proposal.Party{eve.party()}
		}), codes.InvalidArgument, "eve"},
		{"a proposal that never expires", proposed(ada, func(d *draft) { d.expires = 0 }), codes.InvalidArgument, "expires"},
		{"a proposal that has expired", proposed(ada, func(d *draft) { d.expires = -time.Hour }), codes.InvalidArgument, "expires"},
		{"a proposal that expires in a year", proposed(ada, func(d *draft) { d.expires = 365 * 24 * time.Hour }), codes.InvalidArgument, "expires"},
		{"a proposal of an older version", proposed(ada, rewritten("version = 3", "version = 2")), codes.InvalidArgument, "version"},
		{"a proposal with a key that is not known", proposed(ada, rewritten("[study]", "admin = true\n[study]")), codes.InvalidArgument, ""},
		{"a proposal with a nonce that was used", proposed(bob, func(d *draft) {
			body, _ := o.c.Body(first)
			p, _ := proposal.Parse(body)
			copy(d.nonce[:], p.Nonce)
		}), codes.InvalidArgument, "nonce"},
		{"a second proposal of a name on a data set", proposed(ada, func(d *draft) { d.spec.Name = "first" }), codes.ResourceExhausted, "is open"},

		{"an analyst watches another's study", watch(bob, theirs, true), codes.NotFound, noStudy},
		{"an analyst watches no study", watch(bob, proposal.Digest{1}, true), codes.NotFound, noStudy},
		{"an analyst follows another's study", watch(ada, theirs, false), codes.NotFound, noStudy},
		{"an analyst follows no study", watch(ada, proposal.Digest{1}, false), codes.NotFound, noStudy},
		{"an analyst watches half a digest", func() error {
			s, err := covey.NewAnalysisClient(ada.conn).Watch(ctx, &covey.WatchRequest{Study: first[:16]})
			if err == nil {
				_, err = s.Recv()
			}
			return err
		}, codes.NotFound, noStudy},
		{"an analyst withdraws the operator's study", withdraw(ada, theirs), codes.NotFound, noStudy},
		{"an analyst withdraws no study", withdraw(ada, proposal.Digest{1}), codes.NotFound, noStudy},
		{"a reader withdraws what it may read", withdraw(bob, first), codes.NotFound, noStudy},
		{"an analyst reads the operator's study", result(ada, theirs[:]), codes.NotFound, noStudy},
		{"an analyst reads no study", result(ada, make([]byte, 32)), codes.NotFound, noStudy},
		{"an analyst reads half a digest", result(ada, first[:16]), codes.NotFound, noStudy},
		{"an analyst reads its study before it has a result", result(ada, first[:]), codes.NotFound, "no result"},
		{"a reader reads it before it has a result", result(bob, first[:]), codes.NotFound, "no result"},
	}
	if len(rows) < 50 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		o.unpaced()
		before := len(o.log.all())
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute) // what is not refused may not end
		err := r.do()
		cancel()
		if status.Code(err) != r.code || !strings.Contains(fmt.Sprint(err), r.says) {
			t.Errorf("%s: %v; want %v %q", r.what, err, r.code, r.says)
		}
		if after := len(o.log.all()); after != before {
			t.Errorf("%s: %d lines were written", r.what, after-before)
		}
	}
	ctx = t.Context()
	t.Logf("figure: %d requests refused at the port", len(rows))

	// What is in order works.
	for _, p := range []*person{ada, bob, clinic} {
		csr, err := p.CSR(p.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wire.CallRenew(ctx, p.conn, csr); err != nil {
			t.Errorf("%s renews: %v", p.name, err)
		}
		if _, err := wire.CallStanding(ctx, p.conn, nil); err != nil {
			t.Errorf("%s asks how it stands: %v", p.name, err)
		}
	}
	for _, s := range o.c.Sites().Sites {
		if left := s.Expires.Sub(o.now()); s.Name == clinic.name && left.Round(time.Hour) != pki.ClientValidity {
			t.Errorf("%s is listed with a certificate that ends in %v", s.Name, left)
		}
	}
	for name, j := range map[string]pki.Join{"carol": forAnalyst, "ward": forSite} {
		if err := join(stranger, o.keys(name).request(t, j, name)); err != nil {
			t.Errorf("%s joins: %v", name, err)
		}
	}
	for p, own := range map[*person]bool{ada: true, bob: false} {
		all, err := wire.CallList(ctx, p.conn)
		if err != nil || len(all) != 1 || all[0].Study != first || all[0].Own != own || all[0].Proposer != "ada" {
			t.Errorf("%s lists %+v, %v", p.name, all, err)
		}
		if err := watch(p, first, true)(); err != nil {
			t.Errorf("%s watches: %v", p.name, err)
		}
	}
	if err := withdraw(ada, first)(); err != nil {
		t.Errorf("ada withdraws: %v", err)
	}
	if v := o.c.View(first); v.Code != study.CodeRetracted {
		t.Errorf("%+v", v)
	}
	if err := withdraw(ada, first)(); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("it is withdrawn twice: %v", err)
	}
}

// TestQuotas: five open proposals, twenty on a day of UTC, one open of a name on a data set; the
// log counts them by its entries' own times, and refuses what passed the look before.
func TestQuotas(t *testing.T) {
	o := newOffice(t)
	ada, bob := o.join(pki.RoleAnalyst, "ada"), o.join(pki.RoleAnalyst, "bob")
	var open []proposal.Digest
	proposes := func(p *person) error {
		o.unpaced()
		d, err := o.proposes(p, o.draws(p, fmt.Sprint("study ", rand.Text())))
		if err == nil && p == ada {
			open = append(open, d)
		}
		return err
	}
	take := func(n int) {
		t.Helper()
		for range n {
			if err := proposes(ada); err != nil {
				t.Fatal(err)
			}
		}
	}
	end := func() {
		for _, d := range open {
			if err := wire.CallWithdraw(t.Context(), ada.conn, d); err != nil {
				t.Fatal(err)
			}
		}
		open = nil
	}
	full := func(words string) {
		t.Helper()
		if err := proposes(ada); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), words) {
			t.Errorf("one more: %v; want %q", err, words)
		}
	}
	take(analysis.MaxOpen)
	full("are open")
	if err := proposes(bob); err != nil {
		t.Errorf("another's: %v", err)
	}
	// Two at a time, of which one alone has a place: the log decides.
	d := o.draws(ada, "race")
	w := d.written(t, o.now())
	if refused, ok := o.log.machine.Apply(lineOf(t, w, o.now())).(error); !ok || !strings.Contains(refused.Error(), "are open") {
		t.Errorf("the log takes one more: %v", refused)
	}
	for range analysis.MaxDay/analysis.MaxOpen - 1 {
		end()
		take(analysis.MaxOpen)
	}
	end()
	full("today")
	// Another leader, of the same log, counts the same.
	o.crash(-1)
	o.clocked()
	m := o.c.machine.lock()
	if err := m.mayPropose(parsed(t, w), o.now(), nil); err == nil || !strings.Contains(err.Error(), "today") {
		t.Errorf("after a failover: %v", err)
	}
	if err := m.mayPropose(parsed(t, w), o.now().Add(24*time.Hour), nil); err != nil {
		t.Errorf("on the next day: %v", err)
	}
	o.c.machine.unlock()
	raw, err := encoded(o.c.machine)
	if err != nil {
		t.Fatal(err)
	}
	again := NewMachine()
	if err := restored(again, raw); err != nil {
		t.Fatal(err)
	}
	if err := again.state.mayPropose(parsed(t, w), o.now(), nil); err == nil || !strings.Contains(err.Error(), "today") {
		t.Errorf("after a snapshot: %v", err)
	}
}

// TestOldProgramsAreListed: a site whose program shares no protocol with the coordinator is listed
// with the reason, here and for the page, and without it once it calls with another program.
func TestOldProgramsAreListed(t *testing.T) {
	o := newOffice(t)
	clinic := o.join(pki.RoleSite, "clinic")
	for _, protocol := range []int{wire.Protocol, wire.OldestProtocol - 1, wire.Protocol + 1, wire.Protocol} {
		o.speaks = wire.Version{Protocol: protocol, Oldest: protocol, Software: "covey-agent/0.9"}
		_, err := wire.CallStanding(t.Context(), o.dial(clinic.shown), nil)
		why := ""
		if protocol != wire.Protocol {
			why = status.Convert(err).Message()
		}
		if (status.Code(err) == codes.FailedPrecondition) != (why != "") || strings.Contains(why, "covey-agent/0.9") != (why != "") {
			t.Errorf("protocol %d: %v", protocol, err)
		}
		for _, s := range o.c.Sites().Sites {
			if s.Name == "clinic" && s.Refused != why || s.Name != "clinic" && s.Refused != "" {
				t.Errorf("protocol %d: %s is listed with %q", protocol, s.Name, s.Refused)
			}
		}
		for _, s := range o.c.Overview(0).Sites {
			if s.Name == "clinic" && s.Refused != why {
				t.Errorf("protocol %d: the page has %q", protocol, s.Refused)
			}
		}
		o.unpaced()
	}
}
