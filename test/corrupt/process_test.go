package corrupt

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/agent"
	"covey/internal/coordinator"
	"covey/internal/enroll"
	"covey/internal/round"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/test/fed"
)

// order is what a test tells the coordinator's process, one JSON object a line, and told its
// answer.
type order struct {
	Invite string      `json:"invite,omitempty"`
	Study  *study.Spec `json:"study,omitempty"` // run to its end
	Ready  []string    `json:"ready,omitempty"` // wait until these sites are connected
}

type told struct {
	Error   string          `json:"error,omitempty"`
	Join    string          `json:"join,omitempty"`
	Status  round.Status    `json:"status,omitempty"`
	Code    study.Code      `json:"code,omitempty"`
	Rounds  []time.Duration `json:"rounds,omitempty"` // from one release to the next
	Address string          `json:"address,omitempty"`
}

// coordinate is the coordinator's process: the folder's, alone, until its standard input ends.
func coordinate(dir string) error {
	c, err := fed.Coordinate(dir)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(told{Address: c.Listening().String()}); err != nil {
		return err
	}
	in := json.NewDecoder(os.Stdin)
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			return c.Stop()
		}
		t, err := obey(c, o)
		if err != nil {
			t.Error = err.Error()
		}
		if err := out.Encode(t); err != nil {
			return err
		}
	}
}

func obey(c *fed.Coordinator, o order) (told, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	switch {
	case o.Invite != "":
		text, err := c.Invite(o.Invite, "")
		return told{Join: string(text)}, err
	case o.Study != nil:
		return run(ctx, c, *o.Study)
	}
	return told{}, c.Connected(ctx, specOf("probe", o.Ready))
}

func run(ctx context.Context, c *fed.Coordinator, spec study.Spec) (out told, err error) {
	if err := c.Connected(ctx, spec); err != nil {
		return out, err
	}
	plan, err := c.Create(spec)
	if err != nil {
		return out, err
	}
	released, at := 0, time.Time{}
	err = c.Watch(ctx, plan.Digest, func(v coordinator.View) error {
		now := time.Now()
		if v.Released > released {
			if released > 0 { // the first also holds the setup
				for range v.Released - released {
					out.Rounds = append(out.Rounds, now.Sub(at)/time.Duration(v.Released-released))
				}
			}
			released, at = v.Released, now
		}
		out.Status, out.Code = v.Status, v.Code
		return nil
	})
	return out, err
}

const dataset = fed.Dataset

func specOf(name string, sites []string) study.Spec {
	s := study.Spec{
		Center: study.CenterPublic,
		Name:   name, Dataset: dataset, Epsilon: 1, Delta: 1e-6, Sites: sites, OnDropout: study.DropoutContinue,
		Deadlines: study.Deadlines{Round: study.Duration(20 * time.Second)},
	}
	for j := range 16 {
		s.Columns = append(s.Columns, study.Column{Name: fmt.Sprintf("c%d", j), Scale: 4})
	}
	return s
}

// fleet is a coordinator in its own process and honest agents in this one.
type fleet struct {
	t       testing.TB
	dir     string
	address string
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	mu      sync.Mutex
	sites   []string
	studies int
}

func newFleet(t testing.TB, sites int) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir()}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.command = exec.Command(exe, filepath.Join(f.dir, "coordinator"))
	f.command.Env = append(os.Environ(), roleVariable+"="+roleCoordinator)
	f.command.Stderr = os.Stderr
	out, err := f.command.StdoutPipe()
	if err == nil {
		f.in, err = f.command.StdinPipe()
	}
	if err == nil {
		err = f.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	f.out = json.NewDecoder(bufio.NewReader(out))
	var first told
	if err := f.out.Decode(&first); err != nil {
		t.Fatal(err)
	}
	f.address = first.Address
	ctx, stop := context.WithCancel(context.Background())
	var agents sync.WaitGroup
	t.Cleanup(func() {
		stop()
		agents.Wait()
		f.in.Close()
		f.command.Wait()
	})
	for i := range sites {
		name := fmt.Sprintf("site-%d", i)
		a := f.agent(name, i)
		agents.Go(func() {
			if err := a.Run(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		f.sites = append(f.sites, name)
	}
	f.order(order{Ready: f.sites})
	return f
}

// order has the coordinator's process do something.
func (f *fleet) order(o order) told {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := json.NewEncoder(f.in).Encode(o); err != nil {
		f.t.Fatal(err)
	}
	var t told
	if err := f.out.Decode(&t); err != nil {
		f.t.Fatalf("the coordinator's process ended: %v", err)
	}
	if t.Error != "" {
		f.t.Fatalf("%+v: %s", o, t.Error)
	}
	return t
}

// join makes a site's folder.
func (f *fleet) join(name string) string {
	f.t.Helper()
	home := filepath.Join(f.dir, name)
	if err := enroll.Join(f.t.Context(), []byte(f.order(order{Invite: name}).Join), home, time.Now()); err != nil {
		f.t.Fatal(err)
	}
	return home
}

func (f *fleet) agent(name string, seed int) *agent.Agent {
	f.t.Helper()
	home := f.join(name)
	a, err := agentOf(home, name, seed, f.address, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// twins is the folder of second agents.
const twins = "twin"

// agentOf makes an agent in a folder that has joined.
func agentOf(home, name string, seed int, address string, change func(*agent.Options)) (*agent.Agent, error) {
	rows := filepath.Join(filepath.Dir(home), name+".csv")
	if err := os.WriteFile(rows, []byte(rowsOf(seed)), 0o600); err != nil {
		return nil, err
	}
	root := filepath.Dir(home)
	if filepath.Base(root) == twins {
		root = filepath.Dir(root)
	}
	// The largest federation of these tests; who is not there is no harm in a list.
	peers, err := siteconfig.PeersIn(root, "site-0", "site-1", "site-2", "site-3", "site-4")
	if err != nil {
		return nil, err
	}
	text, err := toml.Marshal(siteconfig.Config{
		Site: name, Coordinator: []string{address},
		Populations: []siteconfig.Population{{Name: name, CapRho: 1e9}},
		Datasets:    []siteconfig.Dataset{{Name: dataset, Path: rows, Population: name, Workers: 1}},
		Policy: siteconfig.Policy{
			Approve: siteconfig.ApproveWithinLimits, MaxEpsilon: 100, MaxDelta: 1e-3,
			OnDropout: []string{study.DropoutWait, study.DropoutContinue},
			Noise:     []string{study.NoiseCentral, study.NoiseDistributed}, Peers: peers,
		},
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(home, siteconfig.File), text, 0o600); err != nil {
		return nil, err
	}
	config, err := siteconfig.Read(home)
	if err != nil {
		return nil, err
	}
	o := agent.Options{Config: config}
	if change != nil {
		change(&o)
	}
	return agent.New(o)
}

// rowsOf are a site's rows, of 16 columns: a first one so strong that a start nearly across it
// comes to it in eight rounds, and numbers that differ by site.
func rowsOf(seed int) string {
	var b strings.Builder
	for j := range 16 {
		fmt.Fprintf(&b, "%sc%d", []string{"", ","}[min(j, 1)], j)
	}
	b.WriteByte('\n')
	for i := range 2000 {
		for j := range 16 {
			v := float64((i*31+j*17+seed*7)%23-11) / 80
			if j == 0 {
				v = float64((i*13+seed)%41-20) / 5
			}
			fmt.Fprintf(&b, "%s%g", []string{"", ","}[min(j, 1)], v)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// study runs one to its result and gives its rounds' times.
func (f *fleet) study() []time.Duration {
	f.t.Helper()
	f.studies++
	spec := specOf(fmt.Sprintf("study-%d", f.studies), f.sites)
	t := f.order(order{Study: &spec})
	if t.Status != round.StatusCompleted {
		f.t.Fatalf("the study ended: %s %s", t.Status, t.Code)
	}
	return t.Rounds
}

// memory returns the coordinator's resident set in MiB: now, and the most since forget.
func (f *fleet) memory() (now, most float64) {
	f.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.command.Process.Pid))
	if err != nil {
		f.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		at := &now
		switch {
		case strings.HasPrefix(line, "VmHWM:"):
			at = &most
		case !strings.HasPrefix(line, "VmRSS:"):
			continue
		}
		kb, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
		if err != nil {
			f.t.Fatal(err)
		}
		*at = kb / 1024
	}
	return now, most
}

// forget begins a new maximum of memory.
func (f *fleet) forget() {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", f.command.Process.Pid), []byte("5"), 0); err != nil {
		f.t.Log(err)
	}
}
