//go:build failpoint && linux

package processes

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"covey/internal/failpoint"
	"covey/internal/round"
	"covey/test/history"
)

var (
	kills      = flag.Int("kills", 16, "processes to kill, most of them the leader")
	partitions = flag.Int("partitions", 6, "partitions to make")
	seed       = flag.Uint64("seed", 1, "of the choice of faults")
)

func inOrder(all []failpoint.Event) []failpoint.Event {
	slices.SortStableFunc(all, func(a, b failpoint.Event) int { return a.Time.Compare(b.Time) })
	return all
}

// studying proposes studies one after the other until stop is closed, and waits for
// each one's end; every one must complete.
func (f *fleet) studying(stop <-chan struct{}, rounds int) *sync.WaitGroup {
	var work sync.WaitGroup
	work.Go(func() {
		for k := 0; ; k++ {
			select {
			case <-stop:
				f.T.Logf("%d studies", k)
				return
			default:
			}
			name := fmt.Sprintf("study-%d", k)
			mode := "continue"
			if k%3 == 2 {
				mode = "wait"
			}
			f.propose(name, mode, rounds)
			for ended := false; !ended; {
				select {
				case <-stop: // mended: now it has to end
					v, over := f.over(name, patience)
					if !over || v.Status != "completed" {
						f.T.Errorf("%s was lost: over %v, %+v", name, over, v)
					}
					ended = true
				default:
					v, over := f.over(name, 2*time.Second)
					if over && v.Status != "completed" {
						f.T.Errorf("%s was lost: %+v", name, v)
					}
					ended = over
				}
			}
		}
	})
	return &work
}

// check hands the history to the checker, logs included.
func (f *fleet) check(lost []time.Time) {
	f.T.Helper()
	checker := history.New(f.truth)
	var resumed []time.Duration
	events := f.events()
	for _, e := range events {
		checker.Add(e)
	}
	for _, p := range f.All() {
		f.lines(p.Dir+".log", func(line []byte) { checker.Line(p.Dir, line) })
	}
	report, violations := checker.Close()
	for _, v := range violations {
		f.T.Errorf("%+v", v)
	}
	for _, m := range f.Failed() {
		f.T.Error(m)
	}
	// From a leader's loss to the next released query.
	for _, at := range lost {
		for _, e := range events {
			if e.Time.After(at) && released(e) {
				resumed = append(resumed, e.Time.Sub(at))
				break
			}
		}
	}
	f.T.Logf("history: %d events, %+v", len(events), report)
	if len(resumed) > 0 {
		slices.Sort(resumed)
		f.T.Logf("from the loss of a leader to the next released query: median %v, worst %v, of %d",
			resumed[len(resumed)/2].Round(time.Millisecond), resumed[len(resumed)-1].Round(time.Millisecond), len(resumed))
	}
}

// progress waits until something was released since a moment, for at most 20 s.
func (f *fleet) progress(since time.Time) {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for _, p := range f.Nodes {
			if lastReleased(p.Dir + ".history").After(since) {
				return
			}
		}
	}
}

// lastReleased looks for the latest stored release in the last megabyte of a history.
func lastReleased(path string) (at time.Time) {
	file, err := os.Open(path)
	if err != nil {
		return at
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > 1<<20 {
		file.Seek(-1<<20, 2)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e failpoint.Event
		if json.Unmarshal(lines.Bytes(), &e) == nil && released(e) {
			at = e.Time
		}
	}
	return at
}

func released(e failpoint.Event) bool {
	if e.Point != failpoint.Log || e.Phase != failpoint.After {
		return false
	}
	var line struct{ Round *round.Entry }
	return json.Unmarshal(e.Data, &line) == nil && line.Round != nil && line.Round.Kind == round.EntryReleased
}

// TestKills: three coordinators and eight agents; processes are killed with SIGKILL at random, the
// leader more often than not, or stopped with SIGSTOP for a while. No study is lost, and the
// history holds.
func TestKills(t *testing.T) {
	f := newFleet(t, 3, 8, fleetOptions{})
	rng := rand.New(rand.NewPCG(*seed, 0))
	stop := make(chan struct{})
	work := f.studying(stop, 12)
	var restarts sync.WaitGroup
	var lost []time.Time
	pauses := 0
	for done := 0; done < *kills; {
		time.Sleep(300*time.Millisecond + time.Duration(rng.ExpFloat64()*float64(time.Second)))
		p, leads := f.Sites[rng.IntN(len(f.Sites))], false
		if rng.IntN(4) < 3 {
			if p = f.Leader(); p == nil {
				continue
			}
			leads = true
		} else if rng.IntN(3) == 0 {
			p = f.Nodes[rng.IntN(len(f.Nodes))]
		}
		if !p.Running() {
			continue
		}
		if rng.IntN(4) == 0 { // a machine that hangs, and then goes on as if nothing had been
			pauses++
			at := time.Now()
			restarts.Go(func() { pause(p, time.Second+time.Duration(rand.ExpFloat64()*float64(2*time.Second))) })
			f.progress(at)
			continue
		}
		at := time.Now()
		if leads {
			lost = append(lost, at)
		}
		f.kill(p)
		done++
		restarts.Go(func() {
			time.Sleep(200*time.Millisecond + time.Duration(rand.ExpFloat64()*float64(500*time.Millisecond)))
			p.Start()
		})
		// Mostly one at a time, so that the figure describes one loss; now and then while the one
		// before is not over.
		if rng.IntN(4) > 0 {
			f.progress(at)
		}
	}
	restarts.Wait()
	close(stop)
	work.Wait()
	f.stop()
	t.Logf("%d kills, %d of them of the leader, and %d pauses", *kills, len(lost), pauses)
	f.check(lost)
}
