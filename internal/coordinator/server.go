package coordinator

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/admission"
	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/session"
	"covey/internal/stream"
	"covey/internal/wire"
)

// server answers agents: it turns their messages into events. What a message holds is checked where
// it is used; one that makes no sense ends the link.
type server struct{ c *Coordinator }

// Join spends a token.
func (s server) Join(ctx context.Context, r wire.JoinRequest) (certificate, authority []byte, err error) {
	certificate, err = s.c.join(ctx, r.Token, r.Name, r.CSR, r.Identity, r.Proof)
	if err != nil {
		if refused, ok := errors.AsType[*membership.JoinError](err); ok {
			return nil, nil, status.Error(codes.PermissionDenied, refused.Reason)
		}
		if errors.Is(err, ErrNotLeader) {
			return nil, nil, s.c.notLeader()
		}
		s.c.log.Error("join failed", "name", r.Name, "error", err)
		return nil, nil, status.Error(codes.Internal, "the coordinator could not record the join")
	}
	return certificate, s.c.authority.CertificatePEM(), nil
}

// caller returns who calls, as the door found it (admission.Door): a call that did not come
// through it is refused.
func (s server) caller(ctx context.Context) (admission.Client, error) {
	who, ok := admission.ClientOf(ctx)
	if !ok {
		return who, status.Error(codes.Unauthenticated, "a certificate is needed")
	}
	return who, admission.Pause(ctx, nil, s.c.paceOf(who.Name).Spend(time.Now(), costHello))
}

// admit returns whose a verified certificate is, if that site or analyst may call now.
func (c *Coordinator) admit(leaf *x509.Certificate) (admission.Client, error) {
	role, name, err := pki.RoleOf(leaf)
	if err != nil {
		return admission.Client{}, status.Error(codes.Unauthenticated, "the certificate names neither a site nor an analyst")
	}
	h, ok := c.machine.holder(role, name)
	if !ok && !c.Leading() {
		return admission.Client{}, c.notLeader() // it has not heard of every join yet
	}
	if !ok || h.Revoked {
		return admission.Client{}, status.Errorf(codes.PermissionDenied, "the %s is revoked or has not joined", role)
	}
	// Certificates are good for months: one from before a revocation names the holder that joined
	// since under the same name.
	if key, ok := leaf.PublicKey.(ed25519.PublicKey); !ok || !key.Equal(ed25519.PublicKey(h.TLS)) {
		if !c.Leading() {
			return admission.Client{}, c.notLeader() // it may not have heard of the latest join
		}
		return admission.Client{}, status.Errorf(codes.PermissionDenied, "the certificate is not for the key that this %s joined with: it was revoked, or joined again elsewhere", role)
	}
	// TLS has looked as the connection began, which may be months ago.
	if now := c.now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return admission.Client{}, admission.ErrExpired
	}
	return admission.Client{Role: role, Name: name, Identity: h.Identity}, nil
}

// Renew replaces a client's certificate before it ends.
func (s server) Renew(ctx context.Context, csr []byte) ([]byte, error) {
	who, err := s.caller(ctx)
	if err != nil {
		return nil, err
	}
	certificate, err := s.c.authority.Renew(who.Role, who.Name, csr, s.c.now())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "the certificate request is not valid")
	}
	s.c.renewed(who.Name, certificate)
	return certificate, nil
}

// Standing tells a client which CAs are in force.
func (s server) Standing(ctx context.Context, authority []byte) (wire.Standing, error) {
	who, err := s.caller(ctx)
	if err != nil {
		return wire.Standing{}, err
	}
	if on, ok := admission.CallerOf(ctx); ok && who.Role == pki.RoleAnalyst {
		s.c.called(who.Name, pki.KeyExchangeOf(on.State))
	}
	return wire.Standing{Authorities: s.c.standing(who.Name, authority), Clock: s.c.now(), Software: Software}, nil
}

// Link serves one stream of a site to its end.
func (s server) Link(ctx context.Context, open wire.Stream) error {
	from, err := s.caller(ctx)
	if err != nil {
		return err
	}
	if !s.c.Leading() {
		return s.c.notLeader()
	}
	l := newLink(from.Name)
	l.leaf = admission.LeafOf(ctx)
	if who, ok := admission.CallerOf(ctx); ok {
		l.meter, l.exchange = who.Meter, pki.KeyExchangeOf(who.State)
	}
	s.c.begun(l)
	var failed error // once written is closed
	written, stop := make(chan struct{}), make(chan struct{})
	defer func() {
		close(stop)
		select {
		case <-written:
		case <-time.After(stream.StalledAfter / 10): // a peer that takes nothing: the stream's end ends the write
		}
	}()
	go func() {
		failed = l.Write(stop, s.c.late, open.Send)
		close(written)
	}()
	received := make(chan error, 1)
	go func() { received <- s.receive(ctx, open, l) }()
	defer s.c.dropped(l)
	select {
	case err = <-received:
	case <-written:
		err = failed
	case <-l.Done():
		err = l.Why()
	case <-admission.Expiry(ctx, s.c.now):
		return admission.ErrExpired
	case <-s.c.stopping:
		return status.Error(codes.Unavailable, "the coordinator stops")
	}
	if errors.Is(err, errNotLeader) {
		return s.c.notLeader()
	}
	if err != nil {
		return status.Error(codes.Aborted, err.Error())
	}
	return nil
}

// notLeader tells an agent to look elsewhere, and where if this node knows.
func (c *Coordinator) notLeader() error {
	return wire.NotLeader(c.leaderAddresses())
}

func (s server) receive(ctx context.Context, open wire.Stream, l *link) error {
	in := stream.NewIntake(s.c.large, l.Stream)
	defer in.Release()
	pace := s.c.paceOf(l.site)
	for {
		s.c.expect(l)
		raw, err := wire.Receive(func() ([]byte, bool, error) {
			data, last, err := open.Receive()
			if err == nil {
				err = in.Frame(ctx, last)
			}
			return data, last, err
		}, l.limit)
		if err != nil {
			return err
		}
		m, err := wire.DecodeSite(raw)
		if err != nil {
			return err
		}
		if err := s.c.receive(l, m); err != nil {
			return err
		}
		in.Release()
		cost := costMessage
		if l.changed {
			l.accepted(len(raw))
		} else {
			cost += costIdle + float64(len(raw))/idleBytes
		}
		if _, ok := m.(wire.Hello); ok {
			cost = costHello
		}
		if err := l.wait(ctx, pace.Spend(time.Now(), cost)); err != nil {
			return err
		}
	}
}

// receive handles one message of a site.
func (c *Coordinator) receive(l *link, m wire.Message) error {
	l.changed = false
	if m, ok := m.(wire.Hello); ok {
		units := map[string]int{}
		for _, d := range m.Datasets {
			if err := wire.CheckDataset(d.Name); err != nil {
				return err
			}
			if d.Units <= proposal.MaxUnits {
				units[d.Name] = int(d.Units)
			}
		}
		l.software, l.known = m.Software, newKnown(m)
		c.linked(l, units, m.Chain)
		return nil
	}
	digest := m.About().Study
	var later session.Job
	err := c.fromSite(digest, l, func(s *memory, site int) (e round.Event) {
		switch m := m.(type) {
		case wire.Decision:
			return s.decided(site, m.Verdict, m.Code, m.Signature)
		case wire.Attestation:
			return s.attested(site, m.Signature, c.log)
		case wire.Upload:
			l.broken = false // a site uploads under a chain alone that extends its own
		case wire.Refusal:
			l.refuses(digest, m.Code, c.log.With("study", digest, "site", l.site, "query", m.Query, "code", m.Code))
		}
		e, later = s.Hear(site, m)
		return e
	})
	if err != nil || later == nil {
		return err
	}
	done := later()
	return c.fromSite(digest, l, func(*memory, int) round.Event { return done() })
}
