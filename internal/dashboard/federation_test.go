package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/agent"
	"covey/internal/coordinator"
	"covey/internal/enroll"
	"covey/internal/node"
	"covey/internal/round"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

// federation is real coordinators and agents over loopback TCP in this process.
type federation struct {
	t     *testing.T
	dir   string
	nodes []*runningNode
	sites map[string]*runningSite
	logs  logBuffer
	ports []string // of the nodes' sites' ports
}

type runningNode struct {
	*node.Node
	stop func()
}

type runningSite struct{ stop func() }

type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// canary is in every row of every site, and in a column that no study names.
const canary = "73100573100" // long enough to be in no digest by chance

var siteNames = []string{"amber-clinic", "bay", "cove", "delta", "east-hospital"}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// newFederation starts coordinators, each with a dashboard, and the sites.
func newFederation(t *testing.T, coordinators int) *federation {
	f := &federation{t: t, dir: t.TempDir(), sites: map[string]*runningSite{}}
	t.Cleanup(func() {
		for _, s := range f.sites {
			s.stop()
		}
		for _, n := range f.nodes {
			n.stop()
		}
	})
	for i := range coordinators {
		f.addNode(i, coordinators > 1)
	}
	f.until("all coordinators", func() bool {
		peers, err := f.leader().Peers()
		return err == nil && len(peers) == coordinators
	})
	for i, name := range siteNames {
		f.join(i, name)
		f.start(name)
	}
	f.until("all sites", func() bool {
		n := 0
		for _, s := range f.leader().Overview(0).Sites {
			if s.Connected {
				n++
			}
		}
		return n == len(siteNames)
	})
	return f
}

func (f *federation) addNode(i int, peers bool) {
	dir := filepath.Join(f.dir, fmt.Sprint("coordinator-", i+1))
	address := freeAddress(f.t)
	c := node.Config{Listen: address, Addresses: []string{address}}
	if peers {
		c.PeerListen = freeAddress(f.t)
		c.PeerAddress = c.PeerListen
	}
	f.ports = append(f.ports, address)
	if i == 0 {
		f.must(node.Init(dir, c, time.Now()))
	} else {
		var file []byte
		f.until("a leader", func() (ok bool) {
			var err error
			file, err = f.leader().AddNode(fmt.Sprint(i+1), time.Hour)
			return err == nil
		})
		dial := func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
		f.must(node.Join(f.t.Context(), dir, file, c, dial, time.Now()))
	}
	log := slog.New(slog.NewTextHandler(&f.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	n, err := node.Open(dir, node.Options{Logger: log, Election: 2 * time.Second, Dashboard: &node.Dashboard{Listen: "127.0.0.1:0", Hosts: []string{"covey.example"}}})
	f.must(err)
	f.nodes = append(f.nodes, &runningNode{n, f.run(n.Run)})
}

// run runs until what it gives is called, which waits.
func (f *federation) run(work func(context.Context) error) func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			f.t.Errorf("a part failed: %v", err)
		}
	})
}

func (f *federation) join(i int, name string) {
	var text []byte
	f.until("an invitation", func() bool {
		join, err := f.leader().Invite(name, f.ports, time.Hour)
		if err == nil {
			text, err = join.Marshal()
		}
		return err == nil
	})
	home := filepath.Join(f.dir, name)
	f.until("a join", func() bool { return enroll.Join(f.t.Context(), text, home, time.Now()) == nil })
	random := rand.New(rand.NewPCG(uint64(i), 1))
	var rows strings.Builder
	rows.WriteString("age,height,weight,pressure,note\n")
	for range 1500 + 300*i {
		common := random.NormFloat64()
		fmt.Fprintf(&rows, "%.3f%s,%.3f%s,%.3f%s,%.3f%s,%s\n", 50+15*(0.7*common+0.5*random.NormFloat64()), canary, 170+10*(0.8*common+0.4*random.NormFloat64()), canary,
			75+15*(0.9*common+0.3*random.NormFloat64()), canary, 120+12*(-0.5*common+0.8*random.NormFloat64()), canary, "row"+canary)
	}
	f.must(os.WriteFile(filepath.Join(f.dir, name+".csv"), []byte(rows.String()), 0o600))
	peers, err := siteconfig.PeersIn(f.dir, siteNames...)
	f.must(err)
	config := siteconfig.Config{
		Site: name, Coordinator: f.ports,
		Populations: []siteconfig.Population{{Name: "patients", Budget: &siteconfig.Budget{Epsilon: 100, Delta: 1e-6}}},
		Datasets:    []siteconfig.Dataset{{Name: "vitals", Path: "../" + name + ".csv", Population: "patients"}},
		Policy: siteconfig.Policy{Approve: siteconfig.ApproveWithinLimits, MaxEpsilon: 3, MaxDelta: 1e-6, OnDropout: []string{study.DropoutContinue, study.DropoutWait},
			Noise: []string{study.NoiseCentral, study.NoiseDistributed}, Peers: peers},
	}
	written, err := toml.Marshal(config)
	f.must(err)
	f.must(os.WriteFile(filepath.Join(home, siteconfig.File), written, 0o600))
}

func (f *federation) start(name string) {
	config, err := siteconfig.Read(filepath.Join(f.dir, name))
	f.must(err)
	a, err := agent.New(agent.Options{Config: config, Logger: slog.New(slog.DiscardHandler)})
	f.must(err)
	f.sites[name] = &runningSite{f.run(a.Run)}
}

// spec is a study that moves on once a tick.
func spec(name string, tick time.Duration) study.Spec {
	text := fmt.Sprintf(`
name = %q
dataset = "vitals"
epsilon = 2.0
delta = 1e-6
components = 2
center = "public"
rounds = 8
on_dropout = "continue"
deadlines = { round = "3s", tick = %q }
columns = [
  { name = "age", offset = 50.0, scale = 15.0 },
  { name = "height", offset = 170.0, scale = 10.0 },
  { name = "weight", offset = 75.0, scale = 15.0 },
  { name = "pressure", offset = 120.0, scale = 12.0 },
]
`, name, tick)
	s, err := study.ParseSpec([]byte(text))
	if err != nil {
		panic(err)
	}
	return s
}

// create proposes a study that each site's policy approves.
func (f *federation) create(s study.Spec) study.Digest {
	var digest study.Digest
	f.until("the proposal", func() bool {
		plan, err := f.leader().Create(s)
		if _, bad := errors.AsType[*study.FieldError](err); bad {
			f.t.Fatal(err)
		}
		if err != nil {
			f.t.Logf("not proposed yet: %v", err)
		}
		if err == nil {
			digest = plan.Digest
		}
		return err == nil
	})
	return digest
}

func (f *federation) finish(digest study.Digest) coordinator.View {
	var v coordinator.View
	f.until("the end of the study", func() bool {
		v = f.leader().View(digest)
		return v.Status == round.StatusCompleted || v.Status == round.StatusEnded
	})
	return v
}

func (f *federation) leader() *runningNode {
	for _, n := range f.nodes {
		if n.Leading() {
			return n
		}
	}
	return f.nodes[0]
}

// follower returns one that does not lead.
func (f *federation) follower() *runningNode {
	for _, n := range f.nodes {
		if !n.Leading() {
			return n
		}
	}
	f.t.Fatal("no coordinator follows")
	return nil
}

func (n *runningNode) url() string {
	address, _ := n.Watching()
	return "http://" + address.String()
}

func (f *federation) token(n *runningNode) string {
	for i := range f.nodes {
		if f.nodes[i] == n {
			text, err := os.ReadFile(filepath.Join(f.dir, fmt.Sprint("coordinator-", i+1), node.TokenFile))
			f.must(err)
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

func (f *federation) until(what string, done func() bool) {
	f.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond) // real sockets have no other clock
	}
	f.t.Fatalf("waited in vain for %s\n%s", what, f.logs.String())
}

func (f *federation) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}
