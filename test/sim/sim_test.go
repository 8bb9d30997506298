//go:build failpoint

package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/study"
)

var (
	studies = flag.Int("studies", 50, "studies to simulate with random faults")
	seed    = flag.Uint64("seed", 1, "of the first federation; the others follow it")
)

// perRun is how many studies one federation runs.
const perRun = 5

// do runs one simulation in a bubble of its own and fails on any violation, with its
// trace kept.
func do(t *testing.T, r Run) *Outcome {
	t.Helper()
	if r.Dir == "" {
		r.Dir = t.TempDir()
	}
	var out *Outcome
	synctest.Test(t, func(t *testing.T) {
		var err error
		if out, err = r.Do(); err != nil {
			t.Fatal(err)
		}
	})
	if len(out.Violations) > 0 {
		keep(t, r, out)
		for _, v := range out.Violations {
			t.Error(v)
		}
	}
	return out
}

// keep leaves what happened as the test's artifacts.
func keep(t *testing.T, r Run, out *Outcome) {
	t.Helper()
	dir := filepath.Join(t.ArtifactDir(), fmt.Sprintf("seed-%d", r.Seed))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name string, lines []string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("faults.txt", out.Trace)
	write("violations.txt", out.Violations)
	for name, lines := range out.Logs {
		write(name+".log", lines)
	}
	t.Logf("seed %d: trace and logs are in %s (go test -artifacts keeps them)", r.Seed, dir)
}

// TestQuiet: without faults every study completes.
func TestQuiet(t *testing.T) {
	out := do(t, Run{Options: Options{Seed: 1, Coordinators: 3, Sites: 4}, Studies: 2, Quiet: true, Spec: func(int, *proposal.Spec) {}})
	if out.Completed != 2 {
		t.Errorf("%d of 2 studies completed: %v", out.Completed, out.Ended)
	}
}

// kinds are studies that ask for more than one component by power steps.
var kinds = []func(*proposal.Spec){
	func(s *proposal.Spec) { s.Components, s.ExplainedVariance = 2, proposal.VariancePrivate },
	func(s *proposal.Spec) { s.Components, s.Subspace = 2, proposal.SubspaceDeflation },
	func(s *proposal.Spec) { s.Center = proposal.CenterPrivate },
	func(s *proposal.Spec) { s.Center = proposal.CenterPairs },
	func(s *proposal.Spec) { s.Method = proposal.MethodCovariance },
	func(s *proposal.Spec) {
		s.Method, s.Radius, s.Epsilon = proposal.MethodAuto, proposal.RadiusPrivate, 0.02
	},
}

// TestKinds: every kind of study completes without faults, with central noise and with
// distributed, and every sum and release of it is what the history says.
func TestKinds(t *testing.T) {
	for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
		t.Run(noise, func(t *testing.T) {
			out := do(t, Run{Options: Options{Seed: 2, Coordinators: 3, Sites: 4}, Studies: len(kinds), Quiet: true, Spec: func(k int, s *proposal.Spec) {
				s.Noise = noise
				kinds[k](s)
			}})
			if out.Completed != len(kinds) {
				t.Errorf("%d of %d studies completed: %v", out.Completed, len(kinds), out.Ended)
			}
		})
	}
}

// TestSparse: with more than 64 sites the graph is drawn; one site is lost while sums are added up,
// and comes back, a leader is lost too. Every sum is opened again from the wire.
func TestSparse(t *testing.T) {
	out := do(t, Run{
		Options: Options{Seed: 5, Coordinators: 3, Sites: 66}, Studies: 1,
		Faults: []Fault{
			{Kind: TrapAgent, A: 7, Point: "ledger.upload", Phase: failpoint.After, For: 30 * time.Second},
			{Kind: TrapLeader, Point: failpoint.Log, Phase: failpoint.After, Left: 70, For: time.Second},
		},
		Spec: func(_ int, s *proposal.Spec) {
			s.Rounds, s.Radius, s.Corrupt, s.Dropout, s.SpareSlots = 2, "4", 3, 0.05, 2
			s.OnDropout = proposal.DropoutContinue
		},
	})
	if out.Completed != 1 || out.Kills < 2 {
		t.Errorf("%d of 1 studies completed (%v), %d of 2 processes killed", out.Completed, out.Ended, out.Kills)
	}
}

// siteCount returns 3 to 8 sites, mostly few: setup's work grows with the cube.
func siteCount(seed uint64) int {
	return []int{3, 4, 5, 3, 4, 6, 3, 4, 5, 7, 3, 4, 5, 3, 8, 4}[seed%16]
}

// coordinatorCount returns mostly 3, and now and then one that is alone, or 5.
func coordinatorCount(seed uint64) int {
	switch seed % 10 {
	case 4:
		return 1
	case 9:
		return 5
	}
	return 3
}

// TestStudies: random faults; nothing is ever released twice, charged late, shared
// twice or lost. -studies and -seed choose how many and which.
func TestStudies(t *testing.T) {
	type total struct {
		sync.Mutex
		studies, completed, kills, leaders int
		ended                              map[study.Code]int
	}
	sum := total{ended: map[study.Code]int{}}
	began := time.Now()
	t.Run("runs", func(t *testing.T) {
		for i := range (*studies + perRun - 1) / perRun {
			s := *seed + uint64(i)
			t.Run(fmt.Sprint(s), func(t *testing.T) {
				t.Parallel()
				out := do(t, Run{Options: Options{Seed: s, Coordinators: coordinatorCount(s), Sites: siteCount(s)}, Studies: perRun})
				sum.Lock()
				defer sum.Unlock()
				sum.studies += perRun
				sum.completed += out.Completed
				sum.kills += out.Kills
				sum.leaders += out.Leaders
				for code, n := range out.Ended {
					sum.ended[code] += n
				}
			})
		}
	})
	t.Logf("%d studies: %d completed, ended %v; %d processes killed, %d leaders lost; %v", sum.studies, sum.completed, sum.ended, sum.kills, sum.leaders, time.Since(began).Round(time.Second))
	if sum.completed < sum.studies/2 {
		t.Errorf("only %d of %d studies completed: the faults prove little", sum.completed, sum.studies)
	}
}
