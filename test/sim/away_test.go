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

// TestAwayForQueries: R21, AG-40. A site dies in the second query and comes back queries later: it
// is told every release that it lacks, and answers again.
func TestAwayForQueries(t *testing.T) {
	const rounds = 8
	do(t, Run{
		Options: Options{Seed: 6, Dir: t.TempDir(), Coordinators: 3, Sites: 4}, Studies: 1, Quiet: true,
		Spec: func(_ int, s *proposal.Spec) {
			s.Rounds, s.Radius, s.OnDropout, s.Deadlines.Round = rounds, "3", proposal.DropoutContinue, proposal.Duration(10*time.Second)
		},
		before: func(f *Federation, _ *faults, _ int) {
			away := f.agents[1]
			away.arm(&trap{point: "ledger.upload", phase: failpoint.Before, match: func(e failpoint.Event) bool { return e.Query == 1 },
				do: func(p *process) error { p.kill(); return errKilled }})
			go func() {
				for !away.isDead() {
					time.Sleep(time.Second)
				}
				away.gone()
				time.Sleep(35 * time.Second) // three deadlines
				if err := away.start(); err != nil {
					t.Error(err)
				}
			}()
		},
		after: func(f *Federation, _ int, id proposal.Digest) {
			away := f.agents[1]
			time.Sleep(time.Minute)
			away.kill()
			away.gone()
			l, err := ledger.Open(filepath.Join(away.Dir, "ledger"))
			if err != nil {
				t.Fatal(err)
			}
			uploads := 0
			for query := range rounds {
				if _, ok := l.Journal(id).FinalResult(query); !ok {
					t.Errorf("the site holds no result of query %d", query)
				}
				if _, ok, _ := l.Journal(id).UploadedIn(query); ok {
					uploads++
				}
			}
			if uploads == rounds || uploads < 3 {
				t.Errorf("the site answered %d of %d queries", uploads, rounds)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if err := away.start(); err != nil {
				t.Error(err)
			}
		},
	})
}
