package coordinator

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// This file alone knows the generated messages: it turns them into events and
// round's messages into them. Whatever a peer sends is bounds-checked here or
// where it is used; a message that makes no sense ends the link.

// register puts the services on a gRPC server.
func (c *Coordinator) register(s *grpc.Server) {
	covey.RegisterEnrollmentServer(s, &enrollmentServer{c: c})
	covey.RegisterFederationServer(s, &federationServer{c: c})
}

type enrollmentServer struct {
	covey.UnimplementedEnrollmentServer
	c *Coordinator
}

func (s *enrollmentServer) Join(ctx context.Context, r *covey.JoinRequest) (*covey.JoinResponse, error) {
	certificate, err := s.c.join(ctx, r.GetToken(), r.GetSite(), r.GetCsr(), r.GetIdentity(), r.GetProof())
	if err != nil {
		if refused, ok := errors.AsType[*JoinError](err); ok {
			return nil, status.Error(codes.PermissionDenied, refused.Reason)
		}
		if errors.Is(err, ErrNotLeader) {
			return nil, s.c.notLeader()
		}
		s.c.log.Error("join failed", "site", r.GetSite(), "error", err)
		return nil, status.Error(codes.Internal, "the coordinator could not record the join")
	}
	return &covey.JoinResponse{Certificate: certificate, Authority: s.c.authority.CertificatePEM()}, nil
}

type federationServer struct {
	covey.UnimplementedFederationServer
	c *Coordinator
}

// peerSite returns the site of a verified client certificate, if it may connect.
func (s *federationServer) peerSite(ctx context.Context) (string, error) {
	leaf := leafOf(ctx)
	if leaf == nil {
		return "", status.Error(codes.Unauthenticated, "a site certificate is needed")
	}
	name, err := s.c.admit(leaf)
	if err != nil {
		return "", err
	}
	return name, pause(ctx, nil, s.c.paceOf(name).spend(time.Now(), costHello))
}

func (c *Coordinator) admit(leaf *x509.Certificate) (string, error) {
	name, err := pki.SiteName(leaf)
	if err != nil {
		return "", status.Error(codes.Unauthenticated, "the certificate names no site")
	}
	site, ok := c.machine.Site(name)
	if !ok && !c.Leading() {
		return "", c.notLeader() // it has not heard of every join yet
	}
	if !ok || site.Revoked {
		return "", status.Error(codes.PermissionDenied, "the site is revoked or has not joined")
	}
	// Certificates are good for months: one from before a revocation names the site that joined
	// since under the same name.
	if key, ok := leaf.PublicKey.(ed25519.PublicKey); !ok || !key.Equal(ed25519.PublicKey(site.TLS)) {
		if !c.Leading() {
			return "", c.notLeader() // it may not have heard of the latest join
		}
		return "", status.Error(codes.PermissionDenied, "the certificate is not of the key that this site joined with: it was revoked, or joined again elsewhere")
	}
	return name, nil
}

func (s *federationServer) Renew(ctx context.Context, r *covey.RenewRequest) (*covey.RenewResponse, error) {
	name, err := s.peerSite(ctx)
	if err != nil {
		return nil, err
	}
	certificate, err := s.c.authority.RenewSite(name, r.GetCsr(), s.c.now())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "the certificate request is not in order")
	}
	s.c.renewed(name, certificate)
	return &covey.RenewResponse{Certificate: certificate}, nil
}

func (s *federationServer) Standing(ctx context.Context, r *covey.StandingRequest) (*covey.StandingResponse, error) {
	name, err := s.peerSite(ctx)
	if err != nil {
		return nil, err
	}
	out := &covey.StandingResponse{UnixNanoseconds: s.c.now().UnixNano(), Software: Software}
	for _, a := range s.c.standing(name, r.GetAuthority()) {
		out.Authorities = append(out.Authorities, &covey.Authority{Certificate: a.Certificate, Endorsement: a.Endorsement})
	}
	return out, nil
}

func (s *federationServer) Link(stream grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	name, err := s.peerSite(stream.Context())
	if err != nil {
		return err
	}
	if !s.c.Leading() {
		return s.c.notLeader()
	}
	l := newLink(name)
	l.leaf = leafOf(stream.Context())
	if who, ok := callerOf(stream.Context()); ok {
		l.meter = who.Meter
	}
	s.c.begun(l)
	written := make(chan error, 2) // the second is for the deferred wait
	stop := make(chan struct{})
	defer func() {
		close(stop)
		select {
		case <-written:
		case <-time.After(stalledAfter / 10): // a peer that takes nothing: the stream's end ends the write
		}
	}()
	go func() {
		written <- l.write(stop, s.c.late, func(data []byte, last bool) error {
			return stream.Send(&covey.LinkResponse{Frame: &covey.Frame{Data: data, Last: last}})
		})
	}()
	received := make(chan error, 1)
	go func() { received <- s.receive(stream, l) }()
	defer s.c.dropped(l)
	select {
	case err = <-received:
	case err = <-written:
		written <- err
	case <-l.done:
		err = l.why
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
	s := status.New(codes.FailedPrecondition, "this coordinator does not lead just now")
	if detailed, err := s.WithDetails(&covey.NotLeader{Addresses: c.leaderAddresses()}); err == nil {
		s = detailed
	}
	return s.Err()
}

func (s *federationServer) receive(stream grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse], l *link) error {
	in := &intake{places: s.c.large, link: l}
	defer in.release()
	pace := s.c.paceOf(l.site)
	for {
		s.c.expect(l)
		raw, err := frame.Receive(func() ([]byte, bool, error) {
			m, err := stream.Recv()
			if err != nil {
				return nil, false, err
			}
			f := m.GetFrame()
			return f.GetData(), f.GetLast(), in.frame(stream.Context(), f.GetLast())
		}, l.limit)
		if err != nil {
			return err
		}
		if err := checkShape(raw); err != nil {
			return err
		}
		var m covey.SiteMessage
		if err := proto.Unmarshal(raw, &m); err != nil {
			return errors.New("link: not a site message")
		}
		if err := s.c.receive(l, &m); err != nil {
			return err
		}
		in.release()
		cost := costMessage
		if l.changed {
			l.accepted(len(raw))
		} else {
			cost += costIdle + float64(len(raw))/idleBytes
		}
		if _, ok := m.GetBody().(*covey.SiteMessage_Hello); ok {
			cost = costHello
		}
		if err := l.wait(stream.Context(), pace.spend(time.Now(), cost)); err != nil {
			return err
		}
	}
}

// receive handles one message of a site.
func (c *Coordinator) receive(l *link, m *covey.SiteMessage) error {
	l.changed = false
	if b, ok := m.GetBody().(*covey.SiteMessage_Hello); ok {
		units := map[string]int{}
		for _, d := range b.Hello.GetDatasets() {
			if err := checkDataset(d.GetName()); err != nil {
				return err
			}
			if d.GetUnits() <= study.MaxUnits {
				units[d.GetName()] = int(d.GetUnits())
			}
		}
		known, err := newKnown(b.Hello.GetOpen(), b.Hello.GetAllOpen(), b.Hello.GetOver())
		if err != nil {
			return err
		}
		l.software, l.known = b.Hello.GetSoftware(), known
		c.linked(l, units)
		return nil
	}
	digest, ok := digestOf(m)
	if !ok {
		return errors.New("link: a message without a study")
	}
	return c.fromSite(digest, l, func(s *session, site int) round.Event {
		switch b := m.GetBody().(type) {
		case *covey.SiteMessage_Decision:
			return s.decided(site, verdict(b.Decision.GetVerdict()), code(b.Decision.GetCode()), b.Decision.GetSignature())
		case *covey.SiteMessage_Announcement:
			return s.announced(site, b.Announcement.GetAttempt(), b.Announcement.GetSigned())
		case *covey.SiteMessage_Nonce:
			return s.revealed(site, b.Nonce.GetAttempt(), b.Nonce.GetNonce())
		case *covey.SiteMessage_Boxes:
			return s.dealt(site, b.Boxes.GetAttempt(), b.Boxes.GetBoxes())
		case *covey.SiteMessage_Confirmation:
			return s.confirmed(site, b.Confirmation.GetAttempt(), b.Confirmation.GetSignature())
		case *covey.SiteMessage_Upload:
			return s.uploaded(site, int(b.Upload.GetQuery()), int(b.Upload.GetSlot()), b.Upload.GetMasked())
		case *covey.SiteMessage_ReleaseSignature:
			r := b.ReleaseSignature
			return s.signed(site, int(r.GetQuery()), int(r.GetSlot()), r.GetSignature())
		case *covey.SiteMessage_Shares:
			return s.shared(site, int(b.Shares.GetQuery()), int(b.Shares.GetSlot()), b.Shares.GetShares())
		case *covey.SiteMessage_Refusal:
			r := b.Refusal
			refused := round.Refused{
				Site: site, Query: int(r.GetQuery()), Slot: int(r.GetSlot()),
				Code: code(r.GetCode()), Culprit: int(r.GetCulprit()) - 1, Shared: r.GetShared(), Lacks: int(r.GetLacks()),
			}
			if refused.Proven = s.convicts(refused, r.GetAnnouncement()); !refused.Proven && len(r.GetAnnouncement()) > 0 {
				refused.Culprit = -1 // shown, and no proof: nobody is named
			}
			return s.refused(refused, r.GetContext(), ints(r.GetSurvivors()), r.GetSignature(),
				round.Released{Encoded: r.GetFinal().GetReleased(), Signature: r.GetFinal().GetSignature()})
		}
		return nil
	})
}

func digestOf(m *covey.SiteMessage) (study.Digest, bool) {
	var raw []byte
	switch b := m.GetBody().(type) {
	case *covey.SiteMessage_Decision:
		raw = b.Decision.GetStudy()
	case *covey.SiteMessage_Announcement:
		raw = b.Announcement.GetStudy()
	case *covey.SiteMessage_Nonce:
		raw = b.Nonce.GetStudy()
	case *covey.SiteMessage_Boxes:
		raw = b.Boxes.GetStudy()
	case *covey.SiteMessage_Confirmation:
		raw = b.Confirmation.GetStudy()
	case *covey.SiteMessage_Upload:
		raw = b.Upload.GetStudy()
	case *covey.SiteMessage_ReleaseSignature:
		raw = b.ReleaseSignature.GetStudy()
	case *covey.SiteMessage_Shares:
		raw = b.Shares.GetStudy()
	case *covey.SiteMessage_Refusal:
		raw = b.Refusal.GetStudy()
	}
	if len(raw) != len(study.Digest{}) {
		return study.Digest{}, false
	}
	return study.Digest(raw), true
}

// encode returns the bytes of a message to a site.
func encode(digest study.Digest, m round.Message) ([]byte, error) {
	id := digest[:]
	out := &covey.CoordinatorMessage{}
	switch m := m.(type) {
	case round.AskDecision:
		out.Body = &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: m.Body}}
	case round.AskAnnouncement:
		out.Body = &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: id, Attempt: m.Attempt}}
	case round.AskNonce:
		out.Body = &covey.CoordinatorMessage_Reveal{Reveal: &covey.Reveal{Study: id, Attempt: m.Attempt, Announcements: m.Announcements}}
	case round.AskBoxes:
		out.Body = &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{Study: id, Attempt: m.Attempt, Announcements: m.Announcements, Nonces: m.Nonces}}
	case round.TellConfirmed:
		out.Body = &covey.CoordinatorMessage_Confirmed{Confirmed: &covey.Confirmed{Study: id, Attempt: m.Attempt, Signatures: m.Signatures}}
	case round.AskUpload:
		a := m.Ask
		out.Body = &covey.CoordinatorMessage_Query{Query: &covey.Query{
			Study: id, Attempt: a.Attempt, Query: uint32(a.Query), Slot: uint32(a.Slot), History: a.History[:],
			X: a.X, Center: a.Center, Found: a.Found,
			Radius: a.Radius, Grid: a.Grid, Sigma: uint64(a.Sigma),
		}}
	case round.AskSignature:
		out.Body = &covey.CoordinatorMessage_Release{Release: &covey.Release{
			Study: id, Query: uint32(m.Query), Slot: uint32(m.Slot), Survivors: uints(m.Survivors)}}
	case round.AskShares:
		out.Body = &covey.CoordinatorMessage_Open{Open: &covey.Open{
			Study: id, Query: uint32(m.Query), Slot: uint32(m.Slot), Survivors: uints(m.Survivors), Certificate: m.Certificate}}
	case round.TellFinal:
		out.Body = &covey.CoordinatorMessage_Final{Final: &covey.Final{
			Study: id, Query: uint32(m.Query), Slot: uint32(m.Slot), Released: m.Released.Encoded, Signature: m.Released.Signature}}
	case round.TellEnded:
		out.Body = &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{Study: id, Code: wireCode(m.Code)}}
	}
	return proto.Marshal(out)
}

// encodeConfirm is encode with the bodies that are for one site alone.
func encodeConfirm(digest study.Digest, m round.AskConfirmation, bodies [][]byte) ([]byte, error) {
	return proto.Marshal(&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirm{
		Confirm: &covey.Confirm{Study: digest[:], Attempt: m.Attempt, Boxes: m.Boxes, Bodies: bodies}}})
}

// code maps by name: CODE_BAD_SHARE is "bad_share". An unknown number is internal.
func code(c covey.Code) study.Code {
	name, ok := covey.Code_name[int32(c)]
	if !ok || c == covey.Code_CODE_UNSPECIFIED {
		return study.CodeInternal
	}
	return study.Code(strings.ToLower(strings.TrimPrefix(name, "CODE_")))
}

func wireCode(c study.Code) covey.Code {
	return covey.Code(covey.Code_value["CODE_"+strings.ToUpper(string(c))])
}

func verdict(v covey.Verdict) round.Verdict {
	switch v {
	case covey.Verdict_VERDICT_APPROVED:
		return round.VerdictApproved
	case covey.Verdict_VERDICT_REJECTED:
		return round.VerdictRejected
	default:
		return round.VerdictPending
	}
}

func ints(v []uint32) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

func uints(v []int) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = uint32(x)
	}
	return out
}
