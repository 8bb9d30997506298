//go:build failpoint

package sim

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/enroll"
	"covey/internal/failpoint"
	"covey/internal/node"
	"covey/internal/round"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/test/history"
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
	options Options
	rng     *rand.Rand
	net     *Network
	nodes   []*process
	agents  []*process
	sites   map[string]*site // by agent's folder
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

type site struct {
	name string
	rows *answer.Rows
}

const (
	columns = 4
	scale   = 4 // of each column, in every study
	sitePop = "people"
	dataset = "rows"
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
func New(o Options) (_ *Federation, err error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	f := &Federation{
		options: o, rng: rng, net: NewNetwork(rand.New(rand.NewPCG(o.Seed, 1))), sites: map[string]*site{},
		owners: map[string]*process{}, logs: map[string]*tail{},
	}
	truth := history.Truth{Quorum: o.Coordinators/2 + 1, Sites: map[string]history.Site{}}
	for i := range o.Coordinators {
		p := f.process(fmt.Sprintf("coordinator-%d", i+1), fmt.Sprintf("10.0.0.%d", i+1))
		f.nodes = append(f.nodes, p)
		truth.Coordinators = append(truth.Coordinators, p.dir)
	}
	for i := range o.Sites {
		p := f.process(fmt.Sprintf("site-%d", i+1), fmt.Sprintf("10.0.1.%d", i+1))
		s, err := f.writeRows(p.dir+".csv", p.name)
		if err != nil {
			return nil, err
		}
		f.sites[p.dir] = s
		f.agents = append(f.agents, p)
		truth.Sites[p.dir] = history.Site{Name: p.name, Sum: s.sum}
	}
	f.checker = history.New(truth)
	feds.Store(o.Dir, f)
	defer func() {
		if err != nil {
			f.Stop()
		}
	}()
	if err := f.startNodes(); err != nil {
		return nil, err
	}
	for _, p := range f.agents {
		if err := f.join(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		if err := p.start(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return f, nil
}

func (f *Federation) process(name, host string) *process {
	p := &process{f: f, name: name, host: host, dir: filepath.Join(f.options.Dir, name)}
	t := &tail{f: f, owner: p.dir}
	f.logs[name] = t
	p.log = slog.New(slog.NewTextHandler(t, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f.owners[p.dir] = p
	return p
}

// writeRows makes a site's data: a strong direction, and numbers that differ by site.
func (f *Federation) writeRows(path, name string) (*site, error) {
	n := 20 + f.rng.IntN(30)
	out := [][]string{{"a", "b", "c", "d"}}
	values := make([]float64, 0, n*columns)
	for range n {
		strong := f.rng.NormFloat64()
		var line []string
		for j := range columns {
			text := strconv.FormatFloat(strong*float64(j+1)+f.rng.NormFloat64()/2, 'g', 8, 64)
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, err
			}
			line, values = append(line, text), append(values, v/scale)
		}
		out = append(out, line)
	}
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(out); err != nil {
		return nil, err
	}
	rows, err := clip.NewMatrix(columns, values)
	if err != nil {
		return nil, err
	}
	return &site{name, answer.New(rows)}, os.WriteFile(path, []byte(text.String()), 0o600)
}

// sum is the site's exact contribution to a query.
func (s *site) sum(p *study.Plan, self int, a study.Ask) ([]int64, error) {
	return s.rows.Answer(p, self, a, 1)
}

func (f *Federation) startNodes() error {
	for i, p := range f.nodes {
		config := node.Config{Listen: p.host + ":7443", Addresses: []string{p.host + ":7443"}, Name: strconv.Itoa(i + 1)}
		if f.options.Coordinators > 1 {
			config.PeerListen, config.PeerAddress = p.host+":7444", p.host+":7444"
		}
		var err error
		if i == 0 {
			err = node.Init(p.dir, config, time.Now())
		} else {
			var file []byte
			if file, err = retry(func() ([]byte, error) { return f.leading().AddNode(strconv.Itoa(i+1), time.Hour) }); err != nil {
				return err
			}
			config.Name = ""
			dial := func(ctx context.Context, address string) (net.Conn, error) { return f.net.Dial(ctx, p.host, address) }
			err = node.Join(context.Background(), p.dir, file, config, dial, time.Now())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := p.start(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		_, err = retry(func() (bool, error) {
			l := f.leading()
			peers, err := l.Peers()
			if err == nil && len(peers) != i+1 {
				err = errNotYet
			}
			return true, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

var errNotYet = errors.New("sim: not yet")

// retry tries for five minutes of the bubble's time.
func retry[T any](try func() (T, error)) (T, error) { return retryFor(5*time.Minute, try) }

func retryFor[T any](limit time.Duration, try func() (T, error)) (out T, err error) {
	for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		if out, err = try(); err == nil || time.Now().After(end) {
			return out, err
		}
	}
}

// leading returns the node that leads, waiting for one.
func (f *Federation) leading() *node.Node {
	for {
		if p := f.leader(); p != nil {
			p.mu.Lock()
			n := p.node
			p.mu.Unlock()
			if n != nil {
				return n
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// leader returns the process that leads, nil for none.
func (f *Federation) leader() *process {
	for _, p := range f.nodes {
		p.mu.Lock()
		n, dead := p.node, p.dead
		p.mu.Unlock()
		if n != nil && !dead && n.Leading() {
			return p
		}
	}
	return nil
}

// join makes an agent's folder.
func (f *Federation) join(p *process) error {
	_, err := retry(func() (bool, error) {
		invited, err := f.leading().Invite(p.name, f.addresses(), time.Hour)
		if err != nil {
			return false, err
		}
		text, err := invited.Marshal()
		if err != nil {
			return false, err
		}
		return true, enroll.Join(context.Background(), text, p.dir, time.Now(), p.dialer()...)
	})
	if err != nil {
		return err
	}
	var sites []string
	for _, other := range f.agents {
		sites = append(sites, other.name)
	}
	peers, err := siteconfig.PeersIn(f.options.Dir, sites...)
	if err != nil {
		return err
	}
	text, err := toml.Marshal(siteconfig.Config{
		Site: p.name, Coordinator: f.addresses(),
		Populations: []siteconfig.Population{{Name: sitePop, CapRho: 1e6}},
		Datasets:    []siteconfig.Dataset{{Name: dataset, Path: filepath.Join("..", p.name+".csv"), Population: sitePop, Workers: 1}},
		Policy: siteconfig.Policy{
			Approve: siteconfig.ApproveWithinLimits, MaxEpsilon: 100, MaxDelta: 1e-3,
			OnDropout: []string{study.DropoutWait, study.DropoutContinue},
			Noise:     []string{study.NoiseCentral, study.NoiseDistributed}, Peers: peers,
		},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, siteconfig.File), text, 0o600)
}

func (f *Federation) addresses() []string {
	var out []string
	for _, p := range f.nodes {
		out = append(out, p.host+":7443")
	}
	return out
}

// Create proposes a study, through whoever leads.
func (f *Federation) Create(spec study.Spec, limit time.Duration) (study.Digest, error) {
	return retryFor(limit, func() (study.Digest, error) {
		leader := f.leading()
		// A reply that was lost: the study may be there.
		if d, err := leader.Find(spec.Name); err == nil {
			return d, nil
		}
		plan, err := leader.Create(spec)
		if err != nil {
			return study.Digest{}, err
		}
		return plan.Digest, nil
	})
}

// Wait waits until a study is over, for at most limit of the bubble's time.
func (f *Federation) Wait(d study.Digest, limit time.Duration) (round.Status, study.Code, bool) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		p := f.leader()
		if p == nil {
			continue
		}
		p.mu.Lock()
		n := p.node
		p.mu.Unlock()
		if n == nil {
			continue
		}
		if v := n.View(d); v.Status == round.StatusCompleted || v.Status == round.StatusEnded {
			return v.Status, v.Code, true
		}
	}
	return "", "", false
}

// Stop ends every process and the network.
func (f *Federation) Stop() {
	for _, p := range append(f.agents[:len(f.agents):len(f.agents)], f.nodes...) {
		p.kill()
	}
	f.net.Close()
	for _, p := range append(f.agents[:len(f.agents):len(f.agents)], f.nodes...) {
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
