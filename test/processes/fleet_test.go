//go:build failpoint && linux

// Package processes runs coordinators and agents as what they are, processes of the
// two commands, kills them with SIGKILL and cuts their network with iptables, and gives
// what they wrote down on the way to the history checker.
package processes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"covey/internal/clip"
	"covey/internal/failpoint"
	"covey/internal/history"
	"covey/internal/local"
	"covey/internal/study"
)

// proc is one process and its folder; started again, it is the same one.
type proc struct {
	f       *fleet
	name    string
	host    string // its address
	netns   string // "" for the machine's own
	dir     string
	args    []string
	starts  int
	cmd     *exec.Cmd
	done    chan struct{}
	killing bool
	seized  bool   // a fault is being done to it
	watched string // address of /metrics; "" for none
}

// fleet is a whole federation of processes.
type fleet struct {
	t     *testing.T
	dir   string
	bin   string
	nodes []*proc
	sites []*proc
	truth history.Truth
	wait  time.Duration // for what has to come by itself

	mu     sync.Mutex
	failed []string          // processes that ended by themselves
	killed []failpoint.Event // what the processes could not say themselves
}

const (
	columns     = 4
	scale       = 4               // of each column, in every study
	patience    = 2 * time.Minute // for one study, with everything mended
	commandTime = 20 * time.Second
)

// fleetOptions choose what processes are made.
type fleetOptions struct {
	namespaces bool // each process in a network namespace of its own
	shipped    bool // built without failpoints: no history
	metrics    bool // each process serves /metrics
}

func newFleet(t *testing.T, coordinators, sites int, namespaces bool) *fleet {
	t.Helper()
	return makeFleet(t, coordinators, sites, fleetOptions{namespaces: namespaces})
}

func makeFleet(t *testing.T, coordinators, sites int, o fleetOptions) *fleet {
	t.Helper()
	namespaces, tags := o.namespaces, "failpoint"
	if o.shipped {
		tags = ""
	}
	dir, err := os.MkdirTemp("", "fleet") // short: unix sockets have a bound
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, dir: dir, bin: filepath.Join(dir, "bin"), wait: time.Minute}
	t.Cleanup(func() {
		f.stop()
		if !t.Failed() {
			os.RemoveAll(dir)
		}
	})
	build := exec.Command("go", "build", "-tags", tags, "-o", f.bin+"/", "covey/cmd/coordinator", "covey/cmd/agent")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f.truth = history.Truth{Quorum: coordinators/2 + 1, Sites: map[string]history.Site{}}
	rng := rand.New(rand.NewPCG(1, uint64(sites)))
	for i := range coordinators {
		p := f.proc(fmt.Sprintf("coordinator-%d", i+1), i, namespaces)
		p.args = []string{filepath.Join(f.bin, "coordinator"), "serve", "--data", p.dir}
		if o.metrics {
			p.watched = p.port(i, 21445)
			p.args = append(p.args, "--dashboard", p.watched, "--dashboard-plain")
		}
		f.nodes = append(f.nodes, p)
		f.truth.Coordinators = append(f.truth.Coordinators, p.dir)
	}
	for i := range sites {
		p := f.proc(fmt.Sprintf("site-%d", i+1), coordinators+i, namespaces)
		p.args = []string{filepath.Join(f.bin, "agent"), "-C", p.dir, "run"}
		if o.metrics {
			p.watched = p.port(coordinators+i, 21445)
			p.args = append(p.args, "--metrics", p.watched)
		}
		f.sites = append(f.sites, p)
		rows := f.writeRows(rng, p.dir+".csv")
		f.truth.Sites[p.dir] = history.Site{Name: p.name, Sum: func(p *study.Plan, self int, a study.Ask) ([]int64, error) {
			return rows.Answer(p, self, a, 1)
		}}
	}
	if namespaces {
		f.network()
	}
	f.form()
	return f
}

func (f *fleet) proc(name string, i int, namespaces bool) *proc {
	p := &proc{f: f, name: name, host: "127.0.0.1", dir: filepath.Join(f.dir, name)}
	if namespaces {
		p.netns, p.host = fmt.Sprintf("%s-%d", bridge, i), fmt.Sprintf("%s.%d", subnet, i+10)
	}
	return p
}

// port is a coordinator's; on one machine each has its own.
func (p *proc) port(i, base int) string {
	if p.netns != "" {
		return fmt.Sprintf("%s:%d", p.host, base)
	}
	return fmt.Sprintf("%s:%d", p.host, base+10*i+os.Getpid()%1000*30%20000)
}

func (f *fleet) writeRows(rng *rand.Rand, path string) *local.Rows {
	f.t.Helper()
	lines := [][]string{{"a", "b", "c", "d"}}
	var values []float64
	for range 200 {
		strong := rng.NormFloat64()
		var line []string
		for j := range columns {
			text := strconv.FormatFloat(strong*float64(j+1)+rng.NormFloat64()/2, 'g', 8, 64)
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				f.t.Fatal(err)
			}
			line, values = append(line, text), append(values, v/scale)
		}
		lines = append(lines, line)
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(lines); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		f.t.Fatal(err)
	}
	rows, err := clip.NewMatrix(columns, values)
	if err != nil {
		f.t.Fatal(err)
	}
	return local.New(rows)
}

// form makes every folder with the commands, as their operators would, and starts all.
func (f *fleet) form() {
	var addresses []string
	for i, p := range f.nodes {
		sites, peers := p.port(i, 21443), p.port(i, 21444)
		addresses = append(addresses, sites)
		flags := []string{"--listen", sites, "--address", sites, "--peer-listen", peers, "--peer-address", peers}
		if i == 0 {
			f.must(p, "coordinator", append([]string{"init", p.dir}, flags...)...)
		} else {
			file := filepath.Join(f.dir, p.name+".join")
			f.until("a coordinator's join file", func() error {
				os.Remove(file)
				_, err := f.run(f.nodes[0], "coordinator", "raft", "add", strconv.Itoa(i+1), "--out", file, "--data", f.nodes[0].dir)
				return err
			})
			f.must(p, "coordinator", append([]string{"init", p.dir, "--join", file}, flags...)...)
		}
		p.start()
		f.until(p.name+" to enter", func() error {
			peers, err := f.peers(f.nodes[0])
			if err == nil && (len(peers.Peers) != i+1 || peers.Leader == "") {
				err = errors.New("not yet")
			}
			return err
		})
	}
	for _, p := range f.sites {
		file := filepath.Join(f.dir, p.name+".join")
		f.must(f.nodes[0], "coordinator", "site", "invite", p.name, "--out", file, "--data", f.nodes[0].dir)
		f.must(p, "agent", "join", file, "-o", p.dir)
		config := fmt.Sprintf("site = %q\ncoordinator = [\"%s\"]\n[[population]]\nname = \"people\"\ncap_rho = 1e6\n[[dataset]]\nname = \"rows\"\npath = \"../%s.csv\"\npopulation = \"people\"\nworkers = 1\n"+
			"[policy]\napprove = \"within-limits\"\nmax_epsilon = 10.0\nmax_delta = 1e-3\non_dropout = [\"wait\", \"continue\"]\n", p.name, strings.Join(addresses, `", "`), p.name)
		if err := os.WriteFile(filepath.Join(p.dir, "agent.toml"), []byte(config), 0o600); err != nil {
			f.t.Fatal(err)
		}
		p.start()
	}
}

type peersReply struct {
	Self, Leader string
	Peers        []struct{ ID string }
}

func (f *fleet) peers(p *proc) (out peersReply, err error) {
	text, err := f.run(p, "coordinator", "raft", "peers", "--json", "--data", p.dir)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// leader gives the coordinator that most of the others name, nil for none.
func (f *fleet) leader() *proc {
	votes := map[string]int{}
	for _, p := range f.nodes {
		if p.running() {
			if r, err := f.peers(p); err == nil && r.Leader != "" {
				if votes[r.Leader]++; votes[r.Leader] > len(f.nodes)/2 {
					i, _ := strconv.Atoi(r.Leader)
					return f.nodes[i-1]
				}
			}
		}
	}
	return nil
}

// command makes a command in a process's network.
func (p *proc) command(ctx context.Context, args ...string) *exec.Cmd {
	if p.netns != "" {
		args = append([]string{"ip", "netns", "exec", p.netns}, args...)
	}
	return exec.CommandContext(ctx, args[0], args[1:]...)
}

func (f *fleet) run(p *proc, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	cmd := p.command(ctx, append([]string{filepath.Join(f.bin, name)}, args...)...)
	var out, prose bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &prose
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, prose.String())
	}
	return out.Bytes(), nil
}

func (f *fleet) must(p *proc, name string, args ...string) {
	f.t.Helper()
	if _, err := f.run(p, name, args...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) until(what string, try func() error) {
	f.t.Helper()
	var err error
	for end := time.Now().Add(f.wait); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	f.t.Fatalf("waiting for %s: %v", what, err)
}

// start runs the process; its log and its history go on in the same files.
func (p *proc) start() {
	p.f.t.Helper()
	log, err := os.OpenFile(p.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.f.t.Fatal(err)
	}
	cmd := p.command(context.Background(), p.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), failpoint.HistoryVariable+"="+p.dir+".history")
	if err := cmd.Start(); err != nil {
		p.f.t.Fatal(err)
	}
	log.Close()
	done := make(chan struct{})
	p.f.mu.Lock()
	p.cmd, p.done, p.killing = cmd, done, false
	p.starts++
	p.f.mu.Unlock()
	go func() {
		err := cmd.Wait()
		p.f.mu.Lock()
		if !p.killing {
			p.f.failed = append(p.f.failed, fmt.Sprintf("%s ended by itself: %v", p.name, err))
		}
		p.f.mu.Unlock()
		close(done)
	}()
}

// interrupt asks the process to end, and waits until it has.
func (p *proc) interrupt() {
	p.f.mu.Lock()
	cmd, done := p.cmd, p.done
	p.killing = true
	p.f.mu.Unlock()
	cmd.Process.Signal(syscall.SIGTERM)
	<-done
}

func (p *proc) running() bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.cmd != nil && !p.killing
}

// kill is kill -9, and waits until the process is gone.
func (p *proc) kill() {
	p.f.mu.Lock()
	cmd, done := p.cmd, p.done
	p.killing = true
	p.f.mu.Unlock()
	if cmd == nil {
		return
	}
	cmd.Process.Signal(syscall.SIGKILL)
	<-done
	p.f.mu.Lock()
	p.f.killed = append(p.f.killed, failpoint.Event{Point: history.Killed, Owner: p.dir, Time: time.Now(), Query: -1, Slot: -1})
	p.f.mu.Unlock()
}

// pause stops the process where it stands, and lets it go on later.
func (p *proc) pause(d time.Duration) {
	p.f.mu.Lock()
	cmd := p.cmd
	p.f.mu.Unlock()
	if cmd == nil || cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return
	}
	time.Sleep(d)
	cmd.Process.Signal(syscall.SIGCONT) // of one that was killed meanwhile: nothing
}

func (f *fleet) stop() {
	for _, p := range append(f.sites[:len(f.sites):len(f.sites)], f.nodes...) {
		p.kill()
	}
}

// anyNode runs a command of the operator at one coordinator after the other.
func (f *fleet) anyNode(args ...string) (out []byte, err error) {
	err = errors.New("no coordinator runs")
	for _, p := range f.nodes {
		if p.running() {
			if out, err = f.run(p, "coordinator", append(args, "--data", p.dir)...); err == nil {
				return out, nil
			}
		}
	}
	return nil, err
}

const studyFile = `name = %q
dataset = "rows"
epsilon = 1.0
delta = 1e-6
rounds = %d
radius = 3
on_dropout = %q
spare_slots = 40
[deadlines]
round = "5s"
tick = "20ms"
`

// propose creates a study, once, through whichever coordinator answers.
func (f *fleet) propose(name, onDropout string, rounds int) {
	f.t.Helper()
	text := fmt.Sprintf(studyFile, name, rounds, onDropout)
	for _, c := range []string{"a", "b", "c", "d"} {
		text += fmt.Sprintf("[[columns]]\nname = %q\nscale = 4.0\n", c)
	}
	path := filepath.Join(f.dir, name+".toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.until("study "+name+" to be proposed", func() error {
		if _, err := f.view(name); err == nil {
			return nil // a reply was lost
		}
		_, err := f.anyNode("study", "create", path)
		return err
	})
}

type view struct {
	Status, Code, Phase string
	Query, Queries      int
	Waiting             []string `json:"waiting_for"`
}

func (f *fleet) view(name string) (v view, err error) {
	text, err := f.anyNode("study", "show", name)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}

// over waits for a study's end.
func (f *fleet) over(name string, limit time.Duration) (v view, over bool) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		now, err := f.view(name)
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
	f.t.Helper()
	all := f.killed
	for _, p := range append(f.nodes[:len(f.nodes):len(f.nodes)], f.sites...) {
		file, err := os.Open(p.dir + ".history")
		if err != nil {
			f.t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var e failpoint.Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				f.t.Fatalf("%s: %v", p.name, err)
			}
			all = append(all, e)
		}
		if err := lines.Err(); err != nil {
			f.t.Fatal(err)
		}
		file.Close()
	}
	return inOrder(all)
}
