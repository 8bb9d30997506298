//go:build linux

// Package canary runs whole studies with processes of the two commands, knows every secret of theirs, and looks for each in
// everything that they write, say, show, or have in memory afterwards.
package canary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

const (
	coordinators = 3
	sites        = 4
	patience     = time.Minute
	commandTime  = 20 * time.Second
)

// proc is one process and its folder; started again, it is the same one.
type proc struct {
	f     *fleet
	name  string
	dir   string
	args  []string
	watch string // address of its page or metrics
	cmd   *exec.Cmd
	done  chan error
}

// fleet is a whole federation of processes.
type fleet struct {
	t         *testing.T
	dir       string // all that the processes may write is below
	bin       string
	nodes     []*proc
	sites     []*proc
	collector string            // of traces
	said      map[string][]byte // everything that was shown, by where
	traces    func() []byte
}

// newFleet builds the commands, with an overlay of sources if one is given.
func newFleet(t *testing.T, overlay string) *fleet {
	t.Helper()
	dir, err := os.MkdirTemp("", "canary") // short: unix sockets have a bound
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, dir: filepath.Join(dir, "run"), bin: filepath.Join(dir, "bin"), said: map[string][]byte{}}
	t.Cleanup(func() {
		f.stop()
		os.RemoveAll(dir)
	})
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-o", f.bin + "/"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	build := exec.Command("go", append(args, "covey/cmd/coordinator", "covey/cmd/agent")...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f.collector = f.collect()
	for i := range coordinators {
		p := &proc{f: f, name: fmt.Sprintf("coordinator-%d", i+1), watch: f.free()}
		p.dir = filepath.Join(f.dir, p.name)
		p.args = []string{"coordinator", "serve", "--data", p.dir, "--verbose", "--dashboard", p.watch}
		f.nodes = append(f.nodes, p)
	}
	for i := range sites {
		p := &proc{f: f, name: fmt.Sprintf("site-%d", i+1), watch: f.free()}
		p.dir = filepath.Join(f.dir, p.name)
		p.args = []string{"agent", "-C", p.dir, "run", "--metrics", p.watch}
		f.sites = append(f.sites, p)
	}
	return f
}

// free gives an address on loopback that nobody listens on just now.
func (f *fleet) free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (f *fleet) all() []*proc { return append(f.nodes[:len(f.nodes):len(f.nodes)], f.sites...) }

// form makes every folder with the commands, as their operators would, and starts all.
func (f *fleet) form(config func(i int) string) {
	var addresses []string
	for i, p := range f.nodes {
		at, peers := f.free(), f.free()
		addresses = append(addresses, at)
		flags := []string{"--listen", at, "--address", at, "--peer-listen", peers, "--peer-address", peers}
		if i == 0 {
			f.must("coordinator", append([]string{"init", p.dir}, flags...)...)
		} else {
			file := filepath.Join(f.dir, p.name+".join")
			f.until("a coordinator's join file", func() error {
				os.Remove(file)
				_, err := f.run("coordinator", "raft", "add", strconv.Itoa(i+1), "--out", file, "--data", f.nodes[0].dir)
				return err
			})
			f.must("coordinator", append([]string{"init", p.dir, "--join", file}, flags...)...)
		}
		p.start()
		f.until(p.name+" to enter", func() error {
			var peers struct {
				Leader string
				Peers  []struct{ ID string }
			}
			text, err := f.run("coordinator", "raft", "peers", "--json", "--data", f.nodes[0].dir)
			if err == nil {
				err = json.Unmarshal(text, &peers)
			}
			if err == nil && (len(peers.Peers) != i+1 || peers.Leader == "") {
				err = errors.New("not yet")
			}
			return err
		})
	}
	for i, p := range f.sites {
		file := filepath.Join(f.dir, p.name+".join")
		f.must("coordinator", "site", "invite", p.name, "--out", file, "--data", f.nodes[0].dir)
		f.must("agent", "join", file, "-o", p.dir)
		text := fmt.Sprintf("site = %q\ncoordinator = [\"%s\"]\n%s", p.name, strings.Join(addresses, `", "`), config(i))
		if err := os.WriteFile(filepath.Join(p.dir, "agent.toml"), []byte(text), 0o600); err != nil {
			f.t.Fatal(err)
		}
		p.start()
	}
}

func (f *fleet) run(name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(f.bin, name), args...)
	var out, prose bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &prose
	err := cmd.Run()
	where := "command " + name + " " + strings.Join(args, " ")
	f.said[where] = append(append(f.said[where], out.Bytes()...), prose.Bytes()...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", where, err, prose.String())
	}
	return out.Bytes(), nil
}

func (f *fleet) must(name string, args ...string) []byte {
	f.t.Helper()
	out, err := f.run(name, args...)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

func (f *fleet) until(what string, try func() error) {
	f.t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	f.t.Fatalf("waiting for %s: %v", what, err)
}

// start runs the process; its log goes on in the same file.
func (p *proc) start() {
	p.f.t.Helper()
	log, err := os.OpenFile(p.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.f.t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command(filepath.Join(p.f.bin, p.args[0]), p.args[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+p.f.collector, "OTEL_BSP_SCHEDULE_DELAY=100")
	if err := p.cmd.Start(); err != nil {
		p.f.t.Fatal(err)
	}
	p.done = make(chan error, 1)
	go func(cmd *exec.Cmd, done chan error) { done <- cmd.Wait() }(p.cmd, p.done)
}

// kill is kill -9, and waits until the process is gone.
func (p *proc) kill() {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Signal(syscall.SIGCONT)
	p.cmd.Process.Kill()
	<-p.done
	p.cmd = nil
}

// frozen does something while the process stands still.
func (p *proc) frozen(do func()) {
	p.f.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		p.f.t.Fatal(err)
	}
	defer p.cmd.Process.Signal(syscall.SIGCONT)
	p.f.until(p.name+" to stand still", func() error { // the signal is not waited for by kill(2)
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err == nil && !strings.Contains(string(stat), ") T ") {
			err = errors.New("it runs")
		}
		return err
	})
	do()
}

func (f *fleet) stop() {
	for _, p := range f.all() {
		p.kill()
	}
}

// leader gives the coordinator that the others name.
func (f *fleet) leader() (out *proc) {
	f.until("a leader", func() error {
		for _, p := range f.nodes {
			if p.cmd == nil {
				continue
			}
			var peers struct{ Leader string }
			text, err := f.run("coordinator", "raft", "peers", "--json", "--data", p.dir)
			if err == nil && json.Unmarshal(text, &peers) == nil && peers.Leader != "" {
				i, _ := strconv.Atoi(peers.Leader)
				if out = f.nodes[i-1]; out.cmd != nil {
					return nil
				}
			}
		}
		return errors.New("none")
	})
	return out
}

// anyNode runs a command of the operator at one coordinator after the other.
func (f *fleet) anyNode(args ...string) (out []byte, err error) {
	err = errors.New("no coordinator runs")
	for _, p := range f.nodes {
		if p.cmd != nil {
			if out, err = f.run("coordinator", append(args, "--data", p.dir)...); err == nil {
				return out, nil
			}
		}
	}
	return nil, err
}

type view struct {
	Status, Code, Phase string
	Query, Queries      int
}

func (f *fleet) view(name string) (v view, err error) {
	text, err := f.anyNode("study", "show", name)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}
