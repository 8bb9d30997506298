package enroll

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	"covey/internal/siteconfig"
	covey "covey/proto/covey/v1"
)

// NotLeaderError is a coordinator that does not lead just now.
type NotLeaderError struct {
	Addresses []string // of the one that does, if known
}

func (e *NotLeaderError) Error() string {
	if len(e.Addresses) == 0 {
		return "this coordinator does not lead just now"
	}
	return fmt.Sprintf("this coordinator does not lead just now and names %q", e.Addresses)
}

// ExplainLeader returns a *NotLeaderError for a status that says so. Addresses that
// make no sense are dropped.
func ExplainLeader(err error) error {
	s, ok := status.FromError(err)
	if !ok || s.Code() != codes.FailedPrecondition {
		return err
	}
	for _, d := range s.Details() {
		if m, ok := d.(*covey.NotLeader); ok {
			e := &NotLeaderError{}
			for _, a := range m.GetAddresses() {
				if siteconfig.CheckAddress(a) == nil && len(e.Addresses) < maxHints {
					e.Addresses = append(e.Addresses, a)
				}
			}
			return e
		}
	}
	return err
}

// maxHints bounds the addresses that a coordinator can name to an agent.
const maxHints = 16

// CallRenew asks for a certificate that follows the present one.
func CallRenew(ctx context.Context, conn grpc.ClientConnInterface, csr []byte) ([]byte, error) {
	r, err := covey.NewFederationClient(conn).Renew(ctx, &covey.RenewRequest{Csr: csr})
	return r.GetCertificate(), err
}

// Standing is a coordinator's answer to a site that asks how it stands.
type Standing struct {
	Authorities []pki.Voucher // in force; certificates are renewed under the first
	Clock       time.Time
	Software    string
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

// callJoin spends a token for a certificate.
func callJoin(ctx context.Context, conn grpc.ClientConnInterface, token []byte, site string, csr, identity, proof []byte) (certificate, authority []byte, err error) {
	r, err := covey.NewEnrollmentClient(conn).Join(ctx, &covey.JoinRequest{Token: token, Site: site, Csr: csr, Identity: identity, Proof: proof})
	return r.GetCertificate(), r.GetAuthority(), ExplainLeader(err)
}
