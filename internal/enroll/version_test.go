package enroll

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/wire"
)

// TestUnknownCall: a coordinator that names no version and does not know a call is one to
// upgrade; one that is not there is not.
func TestUnknownCall(t *testing.T) {
	old := func(err error) error {
		return versionedCall(wire.This("covey-agent"))(t.Context(), "/covey.v1.Federation/New", nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return err })
	}
	if e, ok := errors.AsType[*VersionError](old(status.Error(codes.Unimplemented, "unknown method New"))); !ok || e.Upgrade() != "coordinator" {
		t.Error("an unknown call is not told from other failures")
	}
	gone := status.Error(codes.Unavailable, "connection refused")
	if err := old(gone); err != gone {
		t.Error(err)
	}
}
