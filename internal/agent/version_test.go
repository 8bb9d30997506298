package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/frame"
	covey "covey/proto/covey/v1"
)

// TestCoordinatorVersion: an agent joins and links with a coordinator of any software that
// speaks its protocol, and with no other: both calls end with an error that names both
// versions and who must upgrade.
func TestCoordinatorVersion(t *testing.T) {
	for name, c := range map[string]struct {
		version []string
		upgrade string
	}{
		"other software": {frame.Version{Protocol: frame.Protocol, Oldest: frame.Protocol, Software: "covey-coordinator/0.1"}.Pairs(), ""},
		"newer":          {frame.Version{Protocol: frame.Protocol + 1, Oldest: frame.Protocol + 1, Software: "covey-coordinator/9"}.Pairs(), "agent"},
		"no version":     {nil, "coordinator"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			config, _ := s.joined(t)
			file := s.invite(t, nil)
			s.version = c.version
			err := Join(bounded(t), file, filepath.Join(t.TempDir(), "beta"), time.Now())
			a, made := New(Options{Config: config})
			if made != nil {
				t.Fatal(made)
			}
			ctx, cancel := context.WithCancel(bounded(t))
			ran := make(chan error, 1)
			go func() { ran <- a.Run(ctx) }()
			defer func() { cancel(); <-ran }()
			l := <-s.links
			if c.upgrade == "" {
				if err != nil || l.receive(t).GetHello() == nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wrong, ok := errors.AsType[*VersionError](err)
			if !ok || wrong.Upgrade() != c.upgrade || !strings.Contains(err.Error(), Software) {
				t.Errorf("Join: %v", err)
			}
			l.send(t, &covey.CoordinatorMessage{}) // one that names no version sends its header only then
			for {
				status, failed := a.Status()
				if failed != nil {
					t.Fatal(failed)
				}
				if status.LinkError != "" {
					if status.LinkError != err.Error() {
						t.Errorf("status says %q, and Join said %q", status.LinkError, err)
					}
					return
				}
				select {
				case l := <-s.links:
					l.send(t, &covey.CoordinatorMessage{})
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					t.Fatal("the link stays")
				}
			}
		})
	}
}

// TestUnknownCall: a coordinator that names no version and does not know a call is one to
// upgrade; one that is not there is not.
func TestUnknownCall(t *testing.T) {
	old := func(err error) error {
		return versionedCall(t.Context(), "/covey.v1.Federation/New", nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return err })
	}
	if e, ok := errors.AsType[*VersionError](old(status.Error(codes.Unimplemented, "unknown method New"))); !ok || e.Upgrade() != "coordinator" {
		t.Error("an unknown call is not told from other failures")
	}
	gone := status.Error(codes.Unavailable, "connection refused")
	if err := old(gone); err != gone {
		t.Error(err)
	}
}
