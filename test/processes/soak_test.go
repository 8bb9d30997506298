//go:build failpoint && linux

package processes

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"covey/test/network"
)

var soak = flag.Duration("soak", 45*time.Second, "how long studies run back to back in TestSoak")

// spared is how many of the last coordinators and of the last sites are never killed, so that there
// are lines as long as the run; they are paused and cut off as the others are.
func (f *fleet) spared(p *proc) bool {
	return p == f.Nodes[len(f.Nodes)-1] || p == f.Sites[len(f.Sites)-1] || p == f.Sites[len(f.Sites)-2]
}

// TestSoak: studies back to back, with faults, on the commands as they are shipped (no failpoints):
// what a process holds in goroutines, files and memory, and its folder on disk, must be as flat as
// limits says. Each study ends mended; then every process is read, so that equal points of its life
// are compared.
func TestSoak(t *testing.T) {
	f := newFleet(t, 3, 8, fleetOptions{namespaces: os.Getuid() == 0, shipped: true, metrics: true})
	f.Patience = 5 * time.Minute // on a machine that does much else
	rng := rand.New(rand.NewPCG(*seed, 2))
	w := newWatch(f)
	defer w.stop()
	faults := map[string]int{}
	studies := 0
	for start := time.Now(); time.Since(start) < *soak || studies < 3; studies++ {
		name, mode := fmt.Sprintf("study-%d", studies), "continue"
		if studies%3 == 2 {
			mode = "wait"
		}
		f.propose(name, mode, 6)
		var mended sync.WaitGroup
		for range rng.IntN(3) { // at one time, now and then
			wait, kind := time.Duration(rng.ExpFloat64()*float64(time.Second)), rng.IntN(7)
			s := f.Sites[rng.IntN(len(f.Sites))]
			mended.Go(func() {
				time.Sleep(wait)
				what := f.fault(kind, s)
				w.mu.Lock()
				faults[what]++
				w.mu.Unlock()
			})
		}
		v, over := f.over(name, f.Patience)
		mended.Wait()
		if !over || v.Status != "completed" {
			t.Fatalf("%s was lost: over %v, %+v", name, over, v)
		}
		f.allThere()
		w.point(studies)
	}
	w.stop()
	for _, m := range f.Failed() {
		t.Error(m)
	}
	t.Logf("figure: %d studies in %v, all completed; faults: %v", studies, w.since().Round(time.Second), faults)
	w.judge(studies)
}

// fault does one thing to the leader or to a site, for at most some seconds, and mends it.
func (f *fleet) fault(kind int, site *proc) string {
	p, who := site, "a site"
	if kind < 4 {
		if p, who = f.Leader(), "the leader"; p == nil {
			return "none, for want of a leader"
		}
	}
	if !f.seize(p) {
		return "none, for another one"
	}
	defer f.free(p)
	rest := func() {
		time.Sleep(300*time.Millisecond + time.Duration(rand.ExpFloat64()*float64(500*time.Millisecond)))
	}
	switch what := []string{"kill", "stop", "pause", "cut", "kill", "pause", "cut"}[kind]; {
	case what == "kill" && !f.spared(p):
		f.kill(p)
		rest()
		p.Start()
		return "kill -9 of " + who
	case what == "stop" && !f.spared(p):
		// one that has just begun does not hear it yet, and dies of it
		p.Stop(syscall.SIGTERM, time.Minute)
		rest()
		p.Start()
		return "restart of " + who
	case what == "pause" || p.Netns == "":
		pause(p, time.Second+time.Duration(rand.ExpFloat64()*float64(time.Second)))
		return "SIGSTOP of " + who
	default:
		for _, q := range f.All() {
			if q != p {
				deaf(p, q)
			}
		}
		time.Sleep(2*time.Second + time.Duration(rand.ExpFloat64()*float64(time.Second)))
		if err := network.Run("ip netns exec " + p.Netns + " iptables -w -F"); err != nil {
			f.T.Error(err)
		}
		return "partition of " + who
	}
}

// seize reports whether nothing else is done to p just now.
func (f *fleet) seize(p *proc) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seized[p] {
		return false
	}
	f.seized[p] = true
	return true
}

func (f *fleet) free(p *proc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seized[p] = false
}

// allThere waits until there is a leader and every site has its link.
func (f *fleet) allThere() {
	f.T.Helper()
	f.Until("all sites at the leader", func() error {
		p := f.Leader()
		if p == nil {
			return fmt.Errorf("no leader")
		}
		for _, q := range f.All() {
			m, err := metrics(q)
			if err != nil {
				return err
			}
			if linked, is := m["covey_agent_linked"]; is && linked != 1 {
				return fmt.Errorf("%s has no link", q.Name)
			}
		}
		return nil
	})
}
