package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/enroll"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/port"
)

// TestCoordinatorVersion: an agent joins and links with a coordinator of any software that
// speaks its protocol, and with no other: both calls end with an error that names both
// versions and who must upgrade.
func TestCoordinatorVersion(t *testing.T) {
	for name, c := range map[string]struct {
		version []string
		upgrade string
	}{
		"other software": {wire.Version{Protocol: wire.Protocol, Oldest: wire.Protocol, Software: "covey-coordinator/0.1"}.Pairs(), ""},
		"newer":          {wire.Version{Protocol: wire.Protocol + 1, Oldest: wire.Protocol + 1, Software: "covey-coordinator/9"}.Pairs(), "agent"},
		"no version":     {nil, "coordinator"},
	} {
		t.Run(name, func(t *testing.T) {
			s := port.New(t)
			config, _ := joined(t, s)
			file := s.Invite(t, nil)
			s.Version = c.version
			err := enroll.Join(port.Bounded(t), file, filepath.Join(t.TempDir(), "beta"), time.Now())
			a, made := New(Options{Config: config})
			if made != nil {
				t.Fatal(made)
			}
			ctx, cancel := context.WithCancel(port.Bounded(t))
			ran := make(chan error, 1)
			go func() { ran <- a.Run(ctx) }()
			defer func() { cancel(); <-ran }()
			l := <-s.Links
			if c.upgrade == "" {
				if err != nil || l.Receive(t).GetHello() == nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			wrong, ok := errors.AsType[*enroll.VersionError](err)
			if !ok || wrong.Upgrade() != c.upgrade || !strings.Contains(err.Error(), enroll.Software) {
				t.Errorf("Join: %v", err)
			}
			// one that names no version sends its header only then
			l.Send(t, &covey.CoordinatorMessage{})
			for {
				status, failed := a.Views.Status()
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
				case l := <-s.Links:
					l.Send(t, &covey.CoordinatorMessage{})
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					t.Fatal("the link stays")
				}
			}
		})
	}
}
