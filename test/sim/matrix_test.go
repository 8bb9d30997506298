//go:build failpoint

package sim

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/test/site"
)

// cell is one place, one process and one fault.
type cell struct {
	role  string // leader, follower or agent
	step  string // an entry's kind, or a ledger's point
	fault string // kill, partition or pause
	phase failpoint.Phase
}

func (c cell) String() string { return fmt.Sprintf("%s/%s/%s/%s", c.role, c.step, c.fault, c.phase) }

// entrySteps are the writes of a study to a coordinator's log.
var entrySteps = []round.EntryKind{
	round.EntryProposed, round.EntryDecided, round.EntryPrepared, round.EntrySurvivors, round.EntryOpening, round.EntryReleased,
}

// ledgerSteps are the writes of a study to an agent's ledger.
var ledgerSteps = []string{
	"approve", "setup.announcement", "setup.announcements", "setup.boxes", "setup.confirmation", "setup.confirmed",
	"charge", "upload", "sign", "shares", "final", "erase", "finish",
}

func cells() []cell {
	var out []cell
	for _, fault := range []string{"kill", "partition", "pause"} {
		for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
			for _, kind := range entrySteps {
				out = append(out, cell{"leader", string(kind), fault, phase}, cell{"follower", string(kind), fault, phase})
			}
			for _, step := range ledgerSteps {
				out = append(out, cell{"agent", step, fault, phase})
			}
		}
	}
	return out
}

// faultTime is how long a fault lasts: past an election and a query's deadline.
const faultTime = 4 * time.Second

// arm sets the cell's trap on the process that has the role now.
func (c cell) arm(f *Federation, w *faults) *trap {
	p := f.agents[0]
	t := &trap{point: failpoint.LedgerPrefix + c.step, phase: c.phase}
	if c.role != "agent" {
		f.Leader() // wait for one
		for _, q := range f.nodes {
			if (q == f.leader()) == (c.role == "leader") {
				p = q
			}
		}
		t.point = failpoint.Log
		t.match = func(e failpoint.Event) bool {
			var line struct{ Round *round.Entry }
			return json.Unmarshal(e.Data, &line) == nil && line.Round != nil && string(line.Round.Kind) == c.step
		}
	}
	t.do = func(p *process) error {
		switch c.fault {
		case "kill":
			w.kill(p, Fault{For: faultTime})
			return errKilled
		case "partition":
			for _, q := range f.all() {
				f.net.Block(p.Host, q.Host)
				f.net.Block(q.Host, p.Host)
			}
		case "pause":
			f.net.Freeze(p.Host)
		}
		w.work.Go(func() {
			time.Sleep(faultTime)
			f.net.Heal()
		})
		if c.fault == "pause" && c.role != "agent" {
			time.Sleep(faultTime) // the process stands still here (an agent holds locks here)
		}
		return nil
	}
	p.arm(t)
	return t
}

// TestCrashMatrix: every write of a query and of what leads to it, at the leader, a follower and an
// agent, with the process killed, cut off or paused just before and just after the write is
// durable. Each study must complete, without a violation, and each cell be reached.
func TestCrashMatrix(t *testing.T) {
	all := cells()
	for first := 0; first < len(all); first += perRun {
		some := all[first:min(first+perRun, len(all))]
		t.Run(some[0].String(), func(t *testing.T) {
			t.Parallel()
			traps := make([]*trap, len(some))
			hit := make([]bool, len(some))
			out := do(t, Run{
				Options: Options{Seed: uint64(first), Coordinators: 3, Sites: 4}, Studies: len(some), Quiet: true,
				Spec: func(_ int, s *proposal.Spec) {
					s.OnDropout, s.Rounds, s.Radius = proposal.DropoutContinue, 2, "3"
					s.Deadlines.Round = proposal.Duration(2 * time.Second)
				},
				before: func(f *Federation, w *faults, k int) {
					w.work.Wait() // the fault before
					f.steady()
					traps[k] = some[k].arm(f, w)
				},
				after: func(f *Federation, k int, _ proposal.Digest) {
					// What comes after the study's end, at an agent.
					for end := time.Now().Add(time.Minute); time.Now().Before(end) && !traps[k].hit.Load(); {
						time.Sleep(100 * time.Millisecond)
					}
					hit[k] = traps[k].hit.Load()
				},
			})
			for k, c := range some {
				if !hit[k] {
					t.Errorf("%v was not reached", c)
				}
			}
			if out.Completed != len(some) {
				t.Errorf("%d of %d studies completed, ended %v", out.Completed, len(some), out.Ended)
			}
		})
	}
	t.Logf("%d cells", len(all))
}

// steady waits until every process runs and a leader has all sites' links.
func (f *Federation) steady() {
	spec := proposal.Spec{Dataset: site.Dataset}
	for {
		all := true
		for _, p := range f.all() {
			all = all && !p.isDead()
		}
		if all {
			if _, err := f.Leader().Coordinator.Roster(spec); err == nil {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
}
