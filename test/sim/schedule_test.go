//go:build failpoint

package sim

import (
	"testing"
	"time"

	"covey/internal/failpoint"
	"covey/internal/proposal"
)

const ms = time.Millisecond

// schedules are faults that once broke something, or that look like what did; a line
// of a failing run's faults.txt can be put here as it is.
var schedules = map[string][]Fault{
	// The coordinator kept listening, and the next start found its address in use.
	"a coordinator is killed at its first vote while it starts": {
		{After: 100 * ms, Kind: KillNode, A: 1, For: 50 * ms},
		{Kind: TrapFollower, A: 1, For: 50 * ms, Point: failpoint.Vote, Phase: failpoint.Before},
		{After: 200 * ms, Kind: KillNode, A: 2, For: 50 * ms},
		{Kind: TrapFollower, A: 2, For: 50 * ms, Point: failpoint.Vote, Phase: failpoint.After},
		{After: 300 * ms, Kind: KillLeader, For: 100 * ms},
	},
	// A follower that comes back refuses entries, which ended the reader of raft's
	// pipeline; the sender hung, and with it the leader's end.
	"leaders cut off and killed one after the other": {
		{After: 100 * ms, Kind: IsolateLeader, For: 300 * ms},
		{After: 900 * ms, Kind: KillLeader, For: 200 * ms},
		{After: 600 * ms, Kind: IsolateLeader, For: 100 * ms},
		{After: 900 * ms, Kind: KillLeader, For: 200 * ms},
		{After: 600 * ms, Kind: TrapLeader, For: 100 * ms, Point: failpoint.Log, Phase: failpoint.After, Left: 1},
		{After: 600 * ms, Kind: IsolateLeader, For: 300 * ms},
		{After: 900 * ms, Kind: KillLeader, For: 200 * ms},
	},
	// Every agent dies once at its answer, and once at what it heard.
	"agents killed as they answer": {
		{After: 20 * ms, Kind: TrapAgent, A: 0, For: 100 * ms, Point: failpoint.Send, Phase: failpoint.Before, Left: 1},
		{Kind: TrapAgent, A: 1, For: 100 * ms, Point: failpoint.Send, Phase: failpoint.Before, Left: 2},
		{Kind: TrapAgent, A: 2, For: 100 * ms, Point: "ledger.upload", Phase: failpoint.After},
		{Kind: TrapAgent, A: 3, For: 100 * ms, Point: "ledger.shares", Phase: failpoint.After},
		{After: 700 * ms, Kind: TrapAgent, A: 0, For: 100 * ms, Point: failpoint.Receive, Phase: failpoint.After, Left: 1},
		{Kind: TrapAgent, A: 1, For: 100 * ms, Point: "ledger.sign", Phase: failpoint.After},
		{Kind: KillLeader, For: 300 * ms},
		{Kind: Cut, Left: 3, Late: true},
	},
}

// schedule is how many studies a schedule meets at least.
const schedule = 8

// TestSchedules: the studies complete under each.
func TestSchedules(t *testing.T) {
	for name, faults := range schedules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := do(t, Run{Options: Options{Seed: 77, Coordinators: 3, Sites: 4}, Studies: schedule, Faults: faults,
				Spec: func(int, *proposal.Spec) {}}) // the plain studies that it was found with
			if out.Completed != out.Studies || out.Studies < schedule {
				t.Errorf("%d of %d studies completed: %v", out.Completed, out.Studies, out.Ended)
			}
			if len(out.Trace) != len(faults) {
				t.Errorf("%d of %d faults were made", len(out.Trace), len(faults))
			}
		})
	}
}
