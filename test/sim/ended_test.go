//go:build failpoint

package sim

import (
	"path/filepath"
	"testing"
	"time"

	"covey/internal/failpoint"
	"covey/internal/ledger"
	"covey/internal/proposal"
)

// TestMissedEndIsTold: R18, AG-26. A site dies before it writes that the last of a dozen studies is
// over, and the leader after it. The next leader tells the site that one end, and nothing of the
// studies that are over at both.
func TestMissedEndIsTold(t *testing.T) {
	const studies = 12
	var missed *process
	do(t, Run{
		Options: Options{Seed: 3, Dir: t.TempDir(), Coordinators: 3, Sites: 4}, Studies: studies, Quiet: true,
		Spec: func(_ int, s *proposal.Spec) { s.Rounds, s.Radius, s.OnDropout = 1, "3", proposal.DropoutContinue },
		before: func(f *Federation, _ *faults, k int) {
			if k > 0 {
				return
			}
			// A study is over at the coordinator before each site has written so: the last one is
			// told by counting those of this site.
			ended := map[[32]byte]bool{}
			missed = f.agents[1]
			missed.arm(&trap{point: "ledger.finish", phase: failpoint.Before, match: func(e failpoint.Event) bool {
				ended[e.Study] = true
				return len(ended) == studies
			}, do: func(p *process) error { p.kill(); return errKilled }})
		},
		after: func(f *Federation, k int, last proposal.Digest) {
			if k != studies-1 {
				return
			}
			time.Sleep(time.Second)
			leader := f.leader()
			leader.kill()
			missed.gone()
			if open := approved(t, missed); len(open) != 1 || open[0] != last {
				t.Errorf("the site died at the wrong moment: %d of its studies are open", len(open))
			}
			received := 0
			missed.arm(&trap{point: failpoint.Receive, phase: failpoint.After, match: func(failpoint.Event) bool { received++; return false }})
			if err := missed.start(); err != nil {
				t.Error(err)
			}
			time.Sleep(30 * time.Second)
			missed.kill()
			missed.gone()
			if open := approved(t, missed); len(open) != 0 {
				t.Errorf("%d studies are open at the site after the next link", len(open))
			}
			if received > 2 { // the result and the end
				t.Errorf("%d messages about %d studies of which one end was missed", received, studies)
			}
			leader.gone()
			for _, p := range []*process{leader, missed} {
				if err := p.start(); err != nil {
					t.Error(err)
				}
			}
		},
	})
}

// approved are the studies that are not over in the ledger of an agent that does not run.
func approved(t *testing.T, p *process) (out []proposal.Digest) {
	l, err := ledger.Open(filepath.Join(p.Dir, "ledger"))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer l.Close()
	for _, e := range l.Studies() {
		if e.State == ledger.Approved {
			out = append(out, e.Study)
		}
	}
	return out
}
