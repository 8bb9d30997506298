package enroll

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"covey/internal/wire"
)

// Software names this build's agent to its coordinator.
var Software = wire.This("covey-agent").Software

// VersionError is a coordinator that this program shares no protocol with: it names both
// versions and who must upgrade.
type VersionError = wire.VersionError

// checkVersion returns a *VersionError if a coordinator that said this shares no version.
func checkVersion(ours wire.Version, said metadata.MD) error {
	return wire.Agree(ours, wire.VersionOf(said, "a coordinator"))
}

// sayVersion says this program's version with a call.
func sayVersion(ctx context.Context, ours wire.Version) context.Context {
	return metadata.AppendToOutgoingContext(ctx, ours.Pairs()...)
}

// versionedCall is a unary call whose both ends say their version. A coordinator that was
// not reached has said nothing, and its error stands; one that does not know the call was.
func versionedCall(ours wire.Version) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		var said metadata.MD
		err := invoke(sayVersion(ctx, ours), method, request, reply, conn, append(options, grpc.Header(&said))...)
		if err == nil || wire.Says(said) || status.Code(err) == codes.Unimplemented {
			if wrong := checkVersion(ours, said); wrong != nil {
				return wrong
			}
		}
		return err
	}
}

// versionedLink is a stream whose both ends say their version.
func versionedLink(ours wire.Version) grpc.StreamClientInterceptor {
	return func(ctx context.Context, about *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		s, err := open(sayVersion(ctx, ours), about, conn, method, options...)
		if err != nil {
			return nil, err
		}
		return &versionedStream{ClientStream: s, ours: ours}, nil
	}
}

// versionedStream looks at the coordinator's version when the first message, or the end,
// is received. One goroutine receives.
type versionedStream struct {
	grpc.ClientStream
	ours    wire.Version
	checked bool
}

// RecvMsg returns a *VersionError instead of the first message of a coordinator that this
// program shares no protocol with, and instead of that coordinator's refusal.
func (s *versionedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if s.checked {
		return err
	}
	s.checked = true
	said, failed := s.Header()
	if failed != nil || err != nil && !wire.Says(said) {
		return err
	}
	if wrong := checkVersion(s.ours, said); wrong != nil {
		return wrong
	}
	return err
}
