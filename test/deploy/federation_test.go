//go:build deploy && linux

package deploy

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// federation is coordinators and agents as processes on this machine, run with the commands
// that docs/operations.md names. Each can be of another build.
type federation struct {
	t     *testing.T
	dir   string
	nodes []*process
	sites []*process
}

// process is a coordinator or an agent with its folder.
type process struct {
	f         *federation
	name, dir string
	bin       string // folder of its build's binaries
	address   string // a coordinator's for sites
	peer      string
	cmd       *exec.Cmd
	done      chan error
}

// newFederation makes and starts everything from the binaries in bin.
func newFederation(t *testing.T, bin string, coordinators, sites int) *federation {
	t.Helper()
	dir, err := os.MkdirTemp("", "covey") // short: unix sockets have a bound
	if err != nil {
		t.Fatal(err)
	}
	f := &federation{t: t, dir: dir}
	t.Cleanup(func() {
		for _, p := range append(f.sites, f.nodes...) {
			p.kill()
		}
		for _, p := range append(f.sites, f.nodes...) {
			if t.Failed() {
				t.Logf("%s:\n%s", p.name, tail(p.dir+".log", 12))
			}
		}
		os.RemoveAll(dir)
	})
	for i := range coordinators {
		name := strconv.Itoa(i + 1)
		f.nodes = append(f.nodes, &process{f: f, name: name, dir: filepath.Join(dir, name), bin: bin, address: free(t), peer: free(t)})
	}
	var addresses []string
	for i, p := range f.nodes {
		addresses = append(addresses, strconv.Quote(p.address))
		if i == 0 {
			p.must("coordinator", append([]string{"init", p.dir}, p.flags()...)...)
		} else {
			f.enter(p)
		}
		p.start()
		f.entered(i + 1)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range sites {
		name := fmt.Sprintf("site-%d", i+1)
		p := &process{f: f, name: name, dir: filepath.Join(dir, name), bin: bin}
		f.sites = append(f.sites, p)
		file := p.dir + ".join"
		f.nodes[0].must("coordinator", "site", "invite", name, "--out", file, "--data", f.nodes[0].dir)
		p.must("agent", "join", file, "-o", p.dir)
		config := fmt.Sprintf("site = %q\ncoordinator = [%s]\n[[population]]\nname = \"people\"\ncap_rho = 1e6\n[[dataset]]\nname = \"rows\"\npath = \"../%s.csv\"\npopulation = \"people\"\nworkers = 1\n"+
			"[policy]\napprove = \"within-limits\"\nmax_epsilon = 10.0\nmax_delta = 1e-3\n", name, strings.Join(addresses, ", "), name)
		if err := os.WriteFile(filepath.Join(p.dir, "agent.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		writeRows(t, p.dir+".csv", rng)
		p.start()
	}
	f.connected(sites)
	return f
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func writeRows(t *testing.T, path string, rng *rand.Rand) {
	t.Helper()
	lines := [][]string{{"a", "b", "c"}}
	for range 500 {
		strong := rng.NormFloat64()
		var line []string
		for j := range 3 {
			line = append(line, strconv.FormatFloat(strong*float64(j+1)+rng.NormFloat64()/2, 'g', 8, 64))
		}
		lines = append(lines, line)
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *process) flags() []string {
	return []string{"--listen", p.address, "--address", p.address, "--peer-listen", p.peer, "--peer-address", p.peer}
}

// enter makes a coordinator's folder with a join file of the first that runs.
func (f *federation) enter(p *process) {
	f.t.Helper()
	file := p.dir + ".join"
	f.until("a join file for coordinator "+p.name, func() error {
		os.Remove(file)
		other := f.running()
		_, err := other.command("coordinator", "raft", "add", p.name, "--out", file, "--data", other.dir)
		return err
	})
	p.must("coordinator", append([]string{"init", p.dir, "--join", file}, p.flags()...)...)
}

func (f *federation) running() *process {
	for _, p := range f.nodes {
		if p.cmd != nil {
			return p
		}
	}
	f.t.Fatal("no coordinator runs")
	return nil
}

// entered waits until n coordinators are in and one leads.
func (f *federation) entered(n int) (leader string) {
	f.t.Helper()
	f.until(fmt.Sprintf("%d coordinators and a leader", n), func() error {
		p, err := f.peers()
		if err == nil && (len(p.Peers) != n || p.Leader == "") {
			err = fmt.Errorf("%+v", p)
		}
		leader = p.Leader
		return err
	})
	return leader
}

func (f *federation) peers() (p peers, err error) {
	one := f.running()
	text, err := one.command("coordinator", "raft", "peers", "--json", "--data", one.dir)
	if err == nil {
		err = json.Unmarshal([]byte(text), &p)
	}
	return p, err
}

// connected waits until n sites are connected with their rows.
func (f *federation) connected(n int) {
	f.t.Helper()
	f.until(fmt.Sprintf("%d sites", n), func() error {
		out, err := f.operator("site", "list")
		if got := strings.Count(out, "rows (500)"); err == nil && got != n {
			err = errors.New(out)
		}
		return err
	})
}

// command runs one of the build's commands to its end.
func (p *process) command(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	var out, prose bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &prose
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, prose.String())
	}
	return out.String(), nil
}

func (p *process) must(name string, args ...string) string {
	p.f.t.Helper()
	out, err := p.command(name, args...)
	if err != nil {
		p.f.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// operator runs a command at the first coordinator that runs.
func (f *federation) operator(args ...string) (string, error) {
	p := f.running()
	return p.command("coordinator", append(args, "--data", p.dir)...)
}

func (f *federation) until(what string, try func() error) {
	f.t.Helper()
	var err error
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	f.t.Fatalf("waiting for %s: %v", what, err)
}

// start runs the process; its log goes on in one file.
func (p *process) start() {
	p.f.t.Helper()
	log, err := os.OpenFile(p.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.f.t.Fatal(err)
	}
	defer log.Close()
	args := []string{filepath.Join(p.bin, "coordinator"), "serve", "--data", p.dir}
	if p.address == "" {
		args = []string{filepath.Join(p.bin, "agent"), "-C", p.dir, "run"}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		p.f.t.Fatal(err)
	}
	p.cmd, p.done = cmd, make(chan error, 1)
	go func() { p.done <- cmd.Wait() }()
}

// stop is what systemd and Kubernetes do first; the process must end well.
func (p *process) stop() {
	p.f.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.done:
		if err != nil {
			p.f.t.Errorf("%s ended with %v", p.name, err)
		}
	case <-time.After(time.Minute):
		p.f.t.Errorf("%s does not stop", p.name)
		p.cmd.Process.Kill()
		<-p.done
	}
	p.cmd = nil
}

// kill is the loss of a machine.
func (p *process) kill() {
	if p.cmd != nil {
		p.cmd.Process.Kill()
		<-p.done
		p.cmd = nil
	}
}

// upgrade restarts the process with another build.
func (p *process) upgrade(bin string) {
	p.f.t.Helper()
	p.stop()
	p.bin = bin
	p.start()
}

func (p *process) freeze() { p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) thaw()   { p.cmd.Process.Signal(syscall.SIGCONT) }

// propose creates a study that the sites' policies approve.
func (f *federation) propose(name string, rounds int) {
	f.t.Helper()
	text := fmt.Sprintf("name = %q\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\nrounds = %d\nradius = 3\n", name, rounds)
	for _, c := range []string{"a", "b", "c"} {
		text += fmt.Sprintf("[[columns]]\nname = %q\nscale = 4.0\n", c)
	}
	path := filepath.Join(f.dir, name+".toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.until("study "+name+" to be proposed", func() error {
		_, err := f.operator("study", "create", path)
		return err
	})
}

func (f *federation) study(name string) (v studyView, err error) {
	text, err := f.operator("study", "show", name)
	if err == nil {
		err = json.Unmarshal([]byte(text), &v)
	}
	return v, err
}

// underWay holds a study half-way: it has released something, and a frozen site keeps it
// where it is until it is let go on.
func (f *federation) underWay(name string, frozen *process) {
	f.t.Helper()
	released := func() (v studyView) {
		f.until("study "+name+" to be under way", func() (err error) {
			if v, err = f.study(name); err == nil && v.Released < 2 {
				err = fmt.Errorf("%+v", v)
			}
			return err
		})
		return v
	}
	released()
	frozen.freeze()
	if v := released(); v.Status == "completed" {
		f.t.Fatalf("study %s was over at once: %+v", name, v)
	}
}

// completed waits for a study's end and gives its result file.
func (f *federation) completed(name string) (result string) {
	f.t.Helper()
	f.until("study "+name+" to end", func() error {
		v, err := f.study(name)
		if err == nil && v.Status != "completed" {
			err = fmt.Errorf("%+v", v)
		}
		return err
	})
	text, err := f.operator("study", "result", name, "--json")
	if err != nil {
		f.t.Fatal(err)
	}
	result = filepath.Join(f.dir, name+".json")
	if err := os.WriteFile(result, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.nodes[0].must("coordinator", "verify", result)
	return result
}
