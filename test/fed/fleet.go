//go:build linux

package fed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"covey/internal/siteconfig"
	"covey/test/must"
	"covey/test/network"
	"covey/test/site"
)

// Fleet is coordinators and agents as processes of the two commands on this machine, formed and
// asked with the commands that their operators would use. Each can be of another build.
type Fleet struct {
	T            testing.TB
	Dir          string // all that the processes write is below
	Nodes, Sites []*Process
	Patience     time.Duration                     // for what has to come by itself
	Heard        func(command string, said []byte) // if not nil, is given what each command printed

	mu     sync.Mutex
	failed []string
}

// Build builds both commands, with further flags of go build, and gives their folder.
func Build(t testing.TB, flags ...string) (bin string) {
	t.Helper()
	bin = t.TempDir()
	args := append([]string{"build", "-o", bin + "/"}, flags...)
	if out, err := exec.Command("go", append(args, "covey/cmd/coordinator", "covey/cmd/agent")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// NewFleet returns the processes of a fleet, of the build in bin, before any has a folder or runs.
// They end with the test; if it fails, their folders stay and the ends of their logs are shown.
func NewFleet(t testing.TB, bin string, coordinators, sites int) *Fleet {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "covey"))(t) // short: unix sockets have a bound
	f := &Fleet{T: t, Dir: dir, Patience: time.Minute}
	t.Cleanup(func() {
		for _, p := range f.All() {
			p.Kill()
		}
		if !t.Failed() {
			os.RemoveAll(dir)
			return
		}
		for _, p := range f.All() {
			t.Logf("%s:\n%s", p.Name, Tail(p.Dir+".log", 12))
		}
	})
	free := must.Get(network.Free(3*coordinators + sites))(t)
	for i := range coordinators {
		id := strconv.Itoa(i + 1)
		p := &Process{f: f, Name: "coordinator-" + id, ID: id, Bin: bin, Host: loopback, Watch: free[3*i], Address: free[3*i+1], Peer: free[3*i+2]}
		p.Dir = filepath.Join(dir, p.Name)
		f.Nodes = append(f.Nodes, p)
	}
	for i := range sites {
		p := &Process{f: f, Name: fmt.Sprintf("site-%d", i+1), Bin: bin, Host: loopback, Watch: free[3*coordinators+i]}
		p.Dir = filepath.Join(dir, p.Name)
		f.Sites = append(f.Sites, p)
	}
	return f
}

const loopback = "127.0.0.1"

// All are coordinators, then sites.
func (f *Fleet) All() []*Process { return slices.Concat(f.Nodes, f.Sites) }

// Failed are the processes that ended by themselves, and how.
func (f *Fleet) Failed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.failed)
}

// Form makes every folder and starts all. The rows of a site are in Dir.csv beside its folder;
// change, if not nil, changes its configuration, by which it approves what is asked of it.
func (f *Fleet) Form(change func(i int, c *siteconfig.Config)) {
	f.T.Helper()
	var addresses []string
	for i, p := range f.Nodes {
		addresses = append(addresses, p.Address)
		f.Enter(p)
		p.Start()
		f.Entered(i + 1)
	}
	peers := map[string]string{}
	for _, p := range f.Sites {
		f.Must(f.Nodes[0].Operate("site", "invite", p.Name, "--out", p.Dir+".join"))
		peers[p.Name] = f.Must(p.Run("agent", "join", p.Dir+".join", "-o", p.Dir))
	}
	for i, p := range f.Sites {
		c := site.Config(p.Name, "../"+p.Name+".csv")
		c.Coordinator, c.Policy.Peers = addresses, peers
		if change != nil {
			change(i, &c)
		}
		must.Do(f.T, site.Write(p.Dir, c))
		p.Start()
	}
}

// Enter makes a coordinator's folder, with a join file of one that runs if any does.
func (f *Fleet) Enter(p *Process) {
	f.T.Helper()
	args := []string{"init", p.Dir, "--listen", p.Address, "--address", p.Address, "--peer-listen", p.Peer, "--peer-address", p.Peer}
	if slices.ContainsFunc(f.Nodes, (*Process).Running) {
		file := p.Dir + ".join"
		f.Until("a join file for coordinator "+p.ID, func() error {
			os.Remove(file)
			_, err := f.First().Operate("raft", "add", p.ID, "--out", file)
			return err
		})
		args = append(args, "--join", file)
	}
	f.Must(p.Run("coordinator", args...))
}

// Entered waits until n coordinators are in and one leads, and gives its ID.
func (f *Fleet) Entered(n int) (leader string) {
	f.T.Helper()
	f.Until(fmt.Sprintf("%d coordinators and a leader", n), func() error {
		p, err := f.First().Peers()
		if err == nil && (len(p.Peers) != n || p.Leader == "") {
			err = fmt.Errorf("%+v", p)
		}
		leader = p.Leader
		return err
	})
	return leader
}

// First is the first coordinator that runs.
func (f *Fleet) First() *Process {
	f.T.Helper()
	at := slices.IndexFunc(f.Nodes, (*Process).Running)
	if at < 0 {
		f.T.Fatal("no coordinator runs")
	}
	return f.Nodes[at]
}

// Leader returns the coordinator that most of them name, nil for none.
func (f *Fleet) Leader() *Process {
	votes := map[string]int{}
	for _, p := range f.Nodes {
		if !p.Running() {
			continue
		}
		r, err := p.Peers()
		if err != nil || r.Leader == "" {
			continue
		}
		if votes[r.Leader]++; votes[r.Leader] > len(f.Nodes)/2 {
			for _, q := range f.Nodes {
				if q.ID == r.Leader {
					return q
				}
			}
		}
	}
	return nil
}

// Operate runs an operator's command at one coordinator after the other, until one does it.
func (f *Fleet) Operate(args ...string) (out string, err error) {
	err = errors.New("no coordinator runs")
	for _, p := range f.Nodes {
		if p.Running() {
			if out, err = p.Operate(args...); err == nil {
				return out, nil
			}
		}
	}
	return "", err
}

// View returns the first coordinator's view of a study that gives one.
func (f *Fleet) View(study string) (v View, err error) {
	err = errors.New("no coordinator runs")
	for _, p := range f.Nodes {
		if p.Running() {
			if v, err = p.View(study); err == nil {
				return v, nil
			}
		}
	}
	return v, err
}

// When waits until something is so of a study.
func (f *Fleet) When(study, what string, so func(View) bool) (v View) {
	f.T.Helper()
	f.Until("study "+study+" to be "+what, func() (err error) {
		if v, err = f.View(study); err == nil && !so(v) {
			err = fmt.Errorf("%+v", v)
		}
		return err
	})
	return v
}

// Must is for what a command gave.
func (f *Fleet) Must(out string, err error) string {
	f.T.Helper()
	must.Do(f.T, err)
	return strings.TrimSpace(out)
}

// Until tries until there is no error.
func (f *Fleet) Until(what string, try func() error) {
	f.T.Helper()
	var err error
	for end := time.Now().Add(f.Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	f.T.Fatalf("waiting for %s: %v", what, err)
}

// Propose creates a study, once, through whichever coordinator answers. text is what follows its
// name and data set, column what follows the name of each of its columns c0, c1, ….
func (f *Fleet) Propose(name, text string, columns int, column string) {
	f.T.Helper()
	text = fmt.Sprintf("name = %q\ndataset = \"rows\"\n%s", name, text)
	for _, c := range site.Names(columns) {
		text += fmt.Sprintf("[[columns]]\nname = %q\n%s", c, column)
	}
	path := filepath.Join(f.Dir, name+".toml")
	must.Do(f.T, os.WriteFile(path, []byte(text), 0o600))
	f.Until("study "+name+" to be proposed", func() error {
		if _, err := f.View(name); err == nil {
			return nil // a reply was lost
		}
		_, err := f.Operate("study", "create", path)
		return err
	})
}

// Rows writes the process's n rows, which have one strong component, and returns the numbers as
// they read.
func (p *Process) Rows(rng *rand.Rand, n, columns int) (values []float64) {
	p.f.T.Helper()
	text, values := site.CSV(site.Names(columns), n, site.Strong(rng))
	must.Do(p.f.T, writeFile(p.Dir+".csv", text))
	return values
}

// Tail returns a file's last lines.
func Tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
