//go:build failpoint

// Package sim runs a whole federation, several coordinators and agents with their
// real code, keys, TLS, gRPC, raft and files, inside one testing/synctest bubble, over
// a network that loses, delays, cuts and partitions, with processes that are killed at
// the worst moment. One to five coordinators and three to eight sites have rows of their own, so
// that a sum over a wrong set, or one counted twice, shows. A fault comes every 0.45 s on average;
// after 20 s they stop, and the study must end. What happened is checked by test/history. It is of
// tests alone.
package sim

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"covey/internal/agent"
	"covey/internal/failpoint"
	"covey/internal/node"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/test/fed"
	"covey/test/history"
	"covey/test/network"
	"covey/test/site"
)

// Options of a federation.
type Options struct {
	Seed         uint64
	Dir          string // its files; empty
	Coordinators int
	Sites        int
}

// Federation is one run: coordinators, agents, their network and what happened.
type Federation struct {
	*fed.Federation
	options Options
	net     *network.Faulty
	nodes   []*process
	agents  []*process
	checker *history.Checker
	stored  atomic.Int64 // released entries

	mu      sync.Mutex
	owners  map[string]*process // by data folder
	faults  []string            // violations that the run itself saw
	trace   []string            // what was done to it
	logs    map[string]*tail
	kills   int
	leaders int // of kills, those of a leader
}

const (
	columns = 4
	scale   = 4 // of each column, in every study
)

// feds are the federations whose places are watched, by folder.
var feds sync.Map

func init() {
	failpoint.Set(func(e failpoint.Event) error {
		var err error
		feds.Range(func(dir, f any) bool {
			if !strings.HasPrefix(e.Owner, dir.(string)) {
				return true
			}
			if p := f.(*Federation).owner(e.Owner); p != nil {
				err = p.hit(e)
			}
			return false
		})
		return err
	})
}

func (f *Federation) owner(dir string) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.owners[dir]; p != nil {
		return p
	}
	return f.owners[filepath.Dir(dir)] // an agent's ledger
}

func (f *Federation) record(e failpoint.Event) {
	if e.Point == failpoint.Log && e.Phase == failpoint.After && bytes.Contains(e.Data, []byte(`"released"`)) {
		f.stored.Add(1)
	}
	f.checker.Add(e)
}

// releases returns how often a released entry was stored by any coordinator.
func (f *Federation) releases() int { return int(f.stored.Load()) }

// fault notes a violation that the run itself sees.
func (f *Federation) fault(rule, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, rule+": "+fmt.Sprintf(format, args...))
}

// did notes what was done to the federation.
func (f *Federation) did(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trace = append(f.trace, time.Now().UTC().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// New makes every folder and starts every process, over a quiet network. It must run in
// a synctest bubble.
func New(o Options) (*Federation, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	f := &Federation{
		options: o, net: network.NewFaulty(rand.New(rand.NewPCG(o.Seed, 1))),
		owners: map[string]*process{}, logs: map[string]*tail{},
	}
	var texts []string
	f.Federation = fed.New(o.Dir, fed.Options{
		Coordinators: o.Coordinators, Sites: fed.Names(o.Sites), Network: f.net, Patience: 5 * time.Minute, Every: 100 * time.Millisecond,
		Rows: func(i int) string { return texts[i] },
		Node: func(p *fed.Part, n *node.Options) {
			n.Logger, n.Now = f.owner(p.Dir).log, f.owner(p.Dir).now
			n.Election, n.PeerTimeout, n.SnapshotThreshold = 200*time.Millisecond, 2*time.Second, 24
		},
		Agent: func(p *fed.Part, a *agent.Options) { a.Logger, a.Now = f.owner(p.Dir).log, f.owner(p.Dir).now },
		Start: func(p *fed.Part) error { return f.owner(p.Dir).start() },
	})
	truth := history.Truth{Quorum: o.Coordinators/2 + 1, Sites: map[string]history.Site{}}
	for _, p := range f.Nodes {
		f.nodes = append(f.nodes, f.process(p))
		truth.Coordinators = append(truth.Coordinators, p.Dir)
	}
	for _, p := range f.Sites {
		f.agents = append(f.agents, f.process(p))
		text, values := site.CSV(site.Names(columns), 20+rng.IntN(30), site.Strong(rng))
		texts = append(texts, text)
		rows, err := site.Exact(values, columns, scale)
		if err != nil {
			return nil, err
		}
		truth.Sites[p.Dir] = history.Site{Name: p.Name, Sum: rows.Answer}
	}
	f.checker = history.New(truth)
	feds.Store(o.Dir, f)
	if err := f.Form(); err != nil {
		f.Stop()
		return nil, err
	}
	return f, nil
}

func (f *Federation) process(part *fed.Part) *process {
	t := &tail{f: f, owner: part.Dir}
	p := &process{f: f, Part: part, log: slog.New(slog.NewTextHandler(t, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	f.logs[p.Name], f.owners[p.Dir] = t, p
	return p
}

// all are coordinators, then agents.
func (f *Federation) all() []*process { return slices.Concat(f.nodes, f.agents) }

// leader returns the process that leads, nil for none.
func (f *Federation) leader() *process {
	if p := f.Leading(); p != nil {
		return f.owner(p.Dir)
	}
	return nil
}

// Wait waits until a study is over, for at most limit of the bubble's time.
func (f *Federation) Wait(d proposal.Digest, limit time.Duration) (round.Status, study.Code, bool) {
	v, err := f.Until(d, limit, fed.Over)
	if err != nil {
		return "", "", false
	}
	return v.Status, v.Code, true
}

// Stop ends every process and the network.
func (f *Federation) Stop() {
	for _, p := range f.all() {
		p.kill()
	}
	f.net.Close()
	for _, p := range f.all() {
		p.gone()
	}
	f.net.Wait()
	feds.Delete(f.options.Dir)
}

// tail gives a process's log to the checker and keeps the end of it.
type tail struct {
	f     *Federation
	owner string
	mu    sync.Mutex
	lines []string
}

const tailLines = 2000

// kept returns the lines. A connection's goroutine of raft may log after its process has ended.
func (t *tail) kept() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}

func (t *tail) Write(line []byte) (int, error) {
	t.f.checker.Line(t.owner, line)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) >= 2*tailLines {
		t.lines = append(t.lines[:0], t.lines[tailLines:]...)
	}
	t.lines = append(t.lines, string(line))
	return len(line), nil
}
