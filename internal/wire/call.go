package wire

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	covey "covey/proto/covey/v1"
)

// JoinRequest spends a one-time token for a certificate.
type JoinRequest struct {
	Token    []byte
	Name     string // of the site or the analyst
	CSR      []byte // PKCS #10, DER
	Identity []byte // Ed25519 public key
	Proof    []byte // signature by Identity over name, token hash and CSR
}

// Standing is a coordinator's answer to a site that asks how it stands.
type Standing struct {
	Authorities []pki.Voucher // in force; certificates are renewed under the first
	Clock       time.Time
	Software    string
}

// Stream is one end of an open link: frames out and in.
type Stream struct {
	Send    func(data []byte, last bool) error
	Receive func() (data []byte, last bool, err error)
}

// Server answers agents; what is an error goes to them as a status. Certificates are PEM.
type Server interface {
	Join(ctx context.Context, r JoinRequest) (certificate, authority []byte, err error)
	Renew(ctx context.Context, csr []byte) (certificate []byte, err error)
	// Standing is told the SHA-256 of the CA certificate that the site's own is of.
	Standing(ctx context.Context, authority []byte) (Standing, error)
	Link(ctx context.Context, s Stream) error
	// Result returns what writes the result file of a completed study, to a client that may read
	// it.
	Result(ctx context.Context, study []byte) (write func(io.Writer) error, err error)
}

// Register puts the services on a gRPC server.
func Register(s *grpc.Server, to Server) {
	covey.RegisterEnrollmentServer(s, &enrollment{to: to})
	covey.RegisterFederationServer(s, &federation{to: to})
}

type enrollment struct {
	covey.UnimplementedEnrollmentServer
	to Server
}

func (s *enrollment) Join(ctx context.Context, r *covey.JoinRequest) (*covey.JoinResponse, error) {
	certificate, authority, err := s.to.Join(ctx, JoinRequest{r.GetToken(), r.GetName(), r.GetCsr(), r.GetIdentity(), r.GetProof()})
	return &covey.JoinResponse{Certificate: certificate, Authority: authority}, err
}

type federation struct {
	covey.UnimplementedFederationServer
	to Server
}

func (s *federation) Renew(ctx context.Context, r *covey.RenewRequest) (*covey.RenewResponse, error) {
	certificate, err := s.to.Renew(ctx, r.GetCsr())
	return &covey.RenewResponse{Certificate: certificate}, err
}

func (s *federation) Standing(ctx context.Context, r *covey.StandingRequest) (*covey.StandingResponse, error) {
	now, err := s.to.Standing(ctx, r.GetAuthority())
	out := &covey.StandingResponse{UnixNanoseconds: now.Clock.UnixNano(), Software: now.Software}
	for _, a := range now.Authorities {
		out.Authorities = append(out.Authorities, &covey.Authority{Certificate: a.Certificate, Endorsement: a.Endorsement})
	}
	return out, err
}

func (s *federation) Result(r *covey.ResultRequest, to grpc.ServerStreamingServer[covey.ResultResponse]) error {
	write, err := s.to.Result(to.Context(), r.GetStudy())
	if err != nil {
		return err
	}
	// A caller that takes nothing would keep its place as long as it likes.
	took, sent := make(chan struct{}), make(chan error, 1)
	frames := &Frames{Send: func(data []byte, last bool) error {
		select {
		case took <- struct{}{}:
		case <-to.Context().Done():
			return to.Context().Err()
		}
		return to.Send(&covey.ResultResponse{Frame: &covey.Frame{Data: data, Last: last}})
	}}
	go func() {
		err := write(frames)
		if err == nil {
			err = frames.Close()
		}
		sent <- err
	}()
	for stalled := time.NewTimer(resultStalled); ; stalled.Reset(resultStalled) {
		select {
		case <-took:
		case err := <-sent:
			return err
		case <-stalled.C: // the stream's end, which follows, ends the write
			return status.Error(codes.Aborted, "the result was not taken for 30 s")
		}
	}
}

// resultStalled is how long a caller may take none of a result's frames.
const resultStalled = 30 * time.Second

func (s *federation) Link(of grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	return s.to.Link(of.Context(), Stream{
		func(data []byte, last bool) error {
			return of.Send(&covey.LinkResponse{Frame: &covey.Frame{Data: data, Last: last}})
		},
		func() ([]byte, bool, error) {
			m, err := of.Recv()
			return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
		},
	})
}

// OpenLink opens an agent's link. It waits for the handshake, or its failure.
func OpenLink(ctx context.Context, conn grpc.ClientConnInterface) (Stream, error) {
	to, err := covey.NewFederationClient(conn).Link(ctx)
	return Stream{
		func(data []byte, last bool) error {
			return to.Send(&covey.LinkRequest{Frame: &covey.Frame{Data: data, Last: last}})
		},
		func() ([]byte, bool, error) {
			m, err := to.Recv()
			return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
		},
	}, err
}

// CallJoin spends a token for a certificate.
func CallJoin(ctx context.Context, conn grpc.ClientConnInterface, r JoinRequest) (certificate, authority []byte, err error) {
	out, err := covey.NewEnrollmentClient(conn).Join(ctx, &covey.JoinRequest{
		Token: r.Token, Name: r.Name, Csr: r.CSR, Identity: r.Identity, Proof: r.Proof})
	return out.GetCertificate(), out.GetAuthority(), err
}

// CallRenew asks for a certificate that follows the present one.
func CallRenew(ctx context.Context, conn grpc.ClientConnInterface, csr []byte) ([]byte, error) {
	out, err := covey.NewFederationClient(conn).Renew(ctx, &covey.RenewRequest{Csr: csr})
	return out.GetCertificate(), err
}

// CallStanding says which CA this site's certificate is of, by SHA-256, and asks which are in
// force.
func CallStanding(ctx context.Context, conn grpc.ClientConnInterface, authority []byte) (Standing, error) {
	r, err := covey.NewFederationClient(conn).Standing(ctx, &covey.StandingRequest{Authority: authority})
	if err != nil {
		return Standing{}, err
	}
	out := Standing{Clock: time.Unix(0, r.GetUnixNanoseconds()), Software: r.GetSoftware()}
	for _, a := range r.GetAuthorities() {
		out.Authorities = append(out.Authorities, pki.Voucher{Certificate: a.GetCertificate(), Endorsement: a.GetEndorsement()})
	}
	return out, nil
}

// CallResult asks for the result file of a study, by its whole digest, and writes it as it comes:
// ErrTooLong above MaxResult. The file is not verified.
func CallResult(ctx context.Context, conn grpc.ClientConnInterface, study []byte, to io.Writer) error {
	ctx, cancel := context.WithCancel(ctx) // ends the stream, wherever reading it ends
	defer cancel()
	of, err := covey.NewFederationClient(conn).Result(ctx, &covey.ResultRequest{Study: study})
	if err != nil {
		return err
	}
	for size := 0; ; {
		m, err := of.Recv()
		if errors.Is(err, io.EOF) && size > 0 {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if size += len(m.GetFrame().GetData()); size > MaxResult {
			return ErrTooLong
		}
		if _, err := to.Write(m.GetFrame().GetData()); err != nil {
			return err
		}
		if m.GetFrame().GetLast() {
			return nil
		}
	}
}

// NotLeader is the status of a coordinator that does not lead: it tells an agent to look elsewhere,
// and where, if this node knows.
func NotLeader(addresses []string) error {
	s := status.New(codes.FailedPrecondition, "this coordinator is not the leader")
	if detailed, err := s.WithDetails(&covey.NotLeader{Addresses: addresses}); err == nil {
		s = detailed
	}
	return s.Err()
}

// LeaderOf reports whether an error is NotLeader's, and returns the addresses in it as they came.
func LeaderOf(err error) (addresses []string, ok bool) {
	s, ok := status.FromError(err)
	if !ok || s.Code() != codes.FailedPrecondition {
		return nil, false
	}
	for _, d := range s.Details() {
		if m, ok := d.(*covey.NotLeader); ok {
			return m.GetAddresses(), true
		}
	}
	return nil, false
}
