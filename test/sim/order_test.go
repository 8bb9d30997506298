//go:build failpoint

package sim

import (
	"slices"
	"testing"
	"time"

	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// TestO4NewLeaderGoesOn: a leader is lost when U is committed, and one when its
// certificate is; the next leader opens that U in that slot, from the same uploads (rule
// same-bytes of the history), although by then another site answers, too.
func TestO4NewLeaderGoesOn(t *testing.T) {
	for _, kind := range []round.EntryKind{round.EntrySurvivors, round.EntryOpening} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			var sprung *trap
			var first, second study.Release
			do(t, Run{
				Options: Options{Seed: 4, Coordinators: 3, Sites: 4}, Studies: 1, Quiet: true,
				Spec: func(_ int, s *proposal.Spec) {
					s.OnDropout, s.Rounds, s.Radius = proposal.DropoutContinue, 3, "3"
					s.Deadlines.Round = proposal.Duration(3 * time.Second)
				},
				before: func(f *Federation, w *faults, _ int) {
					f.steady()
					leader := f.leader()
					// The last site is away for query 1's uploads, and back for the next leader.
					away := entryTrap(round.EntryReleased, 0, failpoint.After, func(p *process) error {
						for _, q := range f.nodes {
							f.net.Block(f.agents[3].Host, q.Host)
							f.net.Block(q.Host, f.agents[3].Host)
						}
						sprung = entryTrap(kind, 1, failpoint.After, func(p *process) error {
							w.work.Go(func() {
								// Not in the write itself: the entry goes to the others first.
								time.Sleep(20 * time.Millisecond)
								w.kill(p, Fault{For: 10 * time.Second})
								f.net.Heal()
							})
							return nil
						})
						p.arm(sprung)
						return nil
					})
					leader.arm(away)
				},
				after: func(f *Federation, _ int, d proposal.Digest) {
					result, err := f.Leader().Coordinator.Result(d)
					if err != nil {
						t.Error(err)
						return
					}
					first, second = result.Releases[0], result.Releases[1]
				},
			})
			if sprung == nil || !sprung.hit.Load() {
				t.Fatal("the leader was not lost")
			}
			if len(first.Survivors) != 4 || !slices.Equal(second.Survivors, []int{0, 1, 2}) || second.Slot != 1 {
				t.Errorf("query 1 was released of %v in slot %d, want the committed U in its slot", second.Survivors, second.Slot)
			}
		})
	}
}

// TestO6LostQuorumStopsProgress: with two of three coordinators gone nothing is
// released and nobody is told anything; with one of them back the study goes on.
func TestO6LostQuorumStopsProgress(t *testing.T) {
	var during, before int
	out := do(t, Run{
		Options: Options{Seed: 6, Coordinators: 3, Sites: 3}, Studies: 1, Quiet: true,
		Spec: func(_ int, s *proposal.Spec) { s.Rounds, s.Radius = 3, "3" },
		before: func(f *Federation, w *faults, _ int) {
			f.steady()
			leader := f.leader()
			leader.arm(entryTrap(round.EntryReleased, 0, failpoint.After, func(p *process) error {
				w.work.Go(func() {
					for _, q := range f.nodes {
						if q != p {
							w.kill(q, Fault{For: time.Minute})
						}
					}
					time.Sleep(time.Second)
					before = f.releases()
					time.Sleep(50 * time.Second)
					during = f.releases() - before
				})
				return nil
			}))
		},
	})
	if during != 0 || before == 0 {
		t.Errorf("%d releases were stored before the quorum was lost and %d while it was", before, during)
	}
	if out.Completed != 1 {
		t.Errorf("ended %v", out.Ended)
	}
}
