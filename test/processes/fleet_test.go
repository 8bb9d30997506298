//go:build failpoint && linux

// Package processes runs coordinators and agents as what they are, processes of the
// two commands, kills them with SIGKILL and cuts their network with iptables, and gives
// what they wrote down on the way to the history checker.
package processes

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"covey/internal/failpoint"
	"covey/test/fed"
	"covey/test/history"
	"covey/test/must"
	"covey/test/site"
)

type proc = fed.Process

// fleet is a whole federation of processes, and what is true of it.
type fleet struct {
	*fed.Fleet
	truth history.Truth

	mu     sync.Mutex
	killed []failpoint.Event // what the processes could not say themselves
	seized map[*proc]bool    // a fault is being done to it
}

const (
	columns  = 4
	scale    = 4               // of each column, in every study
	patience = 2 * time.Minute // for one study, with everything mended
)

// fleetOptions choose what processes are made.
type fleetOptions struct {
	namespaces bool // each process in a network namespace of its own
	shipped    bool // built without failpoints: no history
	metrics    bool // each process serves /metrics
}

func newFleet(t *testing.T, coordinators, sites int, o fleetOptions) *fleet {
	t.Helper()
	flags := []string{"-tags", "failpoint"}
	if o.shipped {
		flags = nil
	}
	f := &fleet{Fleet: fed.NewFleet(t, fed.Build(t, flags...), coordinators, sites), seized: map[*proc]bool{}}
	f.truth = history.Truth{Quorum: coordinators/2 + 1, Sites: map[string]history.Site{}}
	if o.namespaces {
		f.network()
	}
	for _, p := range f.All() {
		p.Env = []string{failpoint.HistoryVariable + "=" + p.Dir + ".history"}
	}
	for _, p := range f.Nodes {
		if o.metrics {
			p.Flags = []string{"--dashboard", p.Watch, "--dashboard-plain"}
		}
		f.truth.Coordinators = append(f.truth.Coordinators, p.Dir)
	}
	rng := rand.New(rand.NewPCG(1, uint64(sites)))
	for _, p := range f.Sites {
		if o.metrics {
			p.Flags = []string{"--metrics", p.Watch}
		}
		values := p.Rows(rng, 200, columns)
		rows := must.Get(site.Exact(values, columns, scale))(t)
		f.truth.Sites[p.Dir] = history.Site{Name: p.Name, Sum: rows.Answer}
	}
	f.Form(nil)
	if o.metrics {
		f.Must(f.Nodes[0].Operate("page", "invite", "prometheus", "--role", "metrics", "--out", tokenFile(f.Nodes[0])))
	}
	return f
}

// kill is kill -9, and waits until the process is gone.
func (f *fleet) kill(p *proc) {
	if p.Kill() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.killed = append(f.killed, failpoint.Event{Point: history.Killed, Owner: p.Dir, Time: time.Now(), Query: -1, Slot: -1})
	}
}

// pause stops the process where it stands, and lets it go on later.
func pause(p *proc, d time.Duration) {
	if p.Freeze() != nil {
		return
	}
	time.Sleep(d)
	p.Thaw() // of one that was killed meanwhile: nothing
}

func (f *fleet) stop() {
	for _, p := range slices.Concat(f.Sites, f.Nodes) {
		f.kill(p)
	}
}

const studyFile = `epsilon = 1.0
delta = 1e-6
rounds = %d
radius = 3
center = "public"
on_dropout = %q
spare_slots = 40
[deadlines]
round = "5s"
tick = "20ms"
`

func (f *fleet) propose(name, onDropout string, rounds int) {
	f.T.Helper()
	f.Propose(name, fmt.Sprintf(studyFile, rounds, onDropout), columns, fmt.Sprintf("offset = 0.0\nscale = %d.0\n", scale))
}

// over waits for a study's end.
func (f *fleet) over(name string, limit time.Duration) (v fed.View, over bool) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		now, err := f.View(name)
		if err != nil {
			continue
		}
		if v = now; v.Status == "completed" || v.Status == "ended" {
			return v, true
		}
	}
	return v, false
}

// events reads everything that the processes wrote down, in order of time.
func (f *fleet) events() []failpoint.Event {
	f.T.Helper()
	all, kills := f.killed, map[string]int{}
	for _, e := range f.killed {
		kills[e.Owner]++
	}
	for _, p := range f.All() {
		f.lines(p.Dir+".history", func(line []byte) {
			var e failpoint.Event
			switch err := json.Unmarshal(line, &e); {
			case err == nil:
				all = append(all, e)
			case len(line) > 0:
				// the kill came in the middle of it
				if kills[p.Dir]--; kills[p.Dir] < 0 {
					f.T.Fatalf("%s: %v", p.Name, err)
				}
			}
		})
	}
	return inOrder(all)
}

// lines reads a file line by line.
func (f *fleet) lines(path string, see func(line []byte)) {
	f.T.Helper()
	file := must.Get(os.Open(path))(f.T)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		see(lines.Bytes())
	}
	must.Do(f.T, lines.Err())
}
