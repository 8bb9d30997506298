package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"covey/experiments/bench/federation"
	"covey/internal/round"
	"covey/internal/study"
)

// coordinatorRole is the hidden command that is a coordinator in a process of its own.
const coordinatorRole = "coordinator-process"

// outcome is what that process says at its end.
type outcome struct {
	Peak, Idle int64 // VmHWM in bytes, at the end and when all sites were there
	Wall, CPU  time.Duration
	Queries    int
	Agents     int64 // VmHWM of the agents' process
}

// agentMemory is what the agents' process collects garbage harder for: a thousand that answer at one time hold a few
// copies each of what a query and its result are.
const agentMemory = 11 << 30

func memoryCommand(f *flag.FlagSet) func() (*report, error) {
	sites := f.Int("sites", 64, "sites, with their agents in one process")
	d := f.Int("d", 100_000, "columns")
	k := f.Int("k", 1, "components: an upload has d·k numbers")
	rows := f.Int("rows", 4, "rows of each site")
	slots := f.Int("slots", 20, "slots of the setup; the study itself has two queries")
	corrupt := f.Float64("corrupt", 0.1, "share of corrupt sites above 64 sites; below it is a third")
	return func() (*report, error) {
		dir, drop, err := scratch("")
		if err != nil {
			return nil, err
		}
		defer drop()
		path := filepath.Join(dir, "rows.csv")
		if err := federation.WriteRows(path, *rows, *d); err != nil {
			return nil, err
		}
		o, err := coordinatorPeak(dir, path, []int{*sites, *d, *k, *slots, corruptSites(*sites, *corrupt)})
		if err != nil {
			return nil, err
		}
		t := table{
			Title: fmt.Sprintf("The coordinator's memory: a process of its own, %d sites, d = %d, k = %d, %d slots", *sites, *d, *k, *slots),
			Head:  []string{"N", "d·k", "peak / 1 GiB", "peak / all uploads of a query", "peak, MB", "before the study, MB", "a query's uploads, MB", "CPU a query, s", "wall a query, s"},
		}
		uploads := float64(*sites) * float64(*d**k) * 6
		t.row(*sites, *d**k, float64(o.Peak)/(1<<30), float64(o.Peak)/uploads, float64(o.Peak)/1e6, float64(o.Idle)/1e6, uploads/1e6,
			o.CPU.Seconds()/float64(o.Queries), o.Wall.Seconds()/float64(o.Queries))
		t.note("VmHWM of the coordinator's process: all that it ever held, the study's setup and results included. %d queries of d·k numbers in 6 bytes each; the agents are in another process, which held %.0f MB at most (%.1f an agent), and share the machine. One run.",
			o.Queries, float64(o.Agents)/1e6, float64(o.Agents)/1e6/float64(*sites))
		return &report{Tables: []table{t}}, nil
	}
}

// corruptSites is η where the graph is sparse, and 0 for the default.
func corruptSites(n int, share float64) int {
	if n > study.MaxComplete {
		return int(share * float64(n))
	}
	return 0
}

// coordinatorPeak runs a study with the coordinator in a child process and the agents here. numbers are of sites,
// columns, components, slots and corrupt sites.
func coordinatorPeak(dir, path string, numbers []int) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // kills the child if anything here fails
	args := []string{coordinatorRole, filepath.Join(dir, "coordinator")}
	for _, v := range numbers {
		args = append(args, strconv.Itoa(v))
	}
	n := numbers[0]
	child := exec.CommandContext(ctx, self, args...)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return outcome{}, err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	if err := child.Start(); err != nil {
		return outcome{}, err
	}
	debug.SetMemoryLimit(agentMemory)
	said := json.NewDecoder(bufio.NewReader(stdout))
	agents := federation.NewSites(n)
	defer agents.Stop()
	for i := range n {
		var join []byte
		if err := said.Decode(&join); err != nil {
			return outcome{}, fmt.Errorf("the coordinator's process: %w", err)
		}
		if err := agents.Start(dir, federation.SiteName(i), join, path); err != nil {
			return outcome{}, err
		}
		if (i+1)%100 == 0 {
			progress("memory: %d of %d sites joined", i+1, n)
		}
	}
	if _, err := io.WriteString(stdin, "go\n"); err != nil {
		return outcome{}, err
	}
	progress("memory: %d sites joined; the study begins", n)
	var o outcome
	if err := said.Decode(&o); err != nil {
		return outcome{}, fmt.Errorf("the coordinator's process: %w", err)
	}
	if o.Agents, err = peak(); err != nil {
		return outcome{}, err
	}
	agents.Stop()
	stdin.Close()
	child.Wait() // its word was heard; it ends with its input
	return o, nil
}

const powerSteps = 2

// coordinate is the child: it prints n join files, waits for a line, runs a study of two power steps and prints
// what it took.
func coordinate(args []string) error {
	if len(args) != 6 {
		return fmt.Errorf("%s is for this program itself", coordinatorRole)
	}
	var numbers [5]int
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.Atoi(args[1+i]); err != nil {
			return err
		}
	}
	n, d, k, slots, corrupt := numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
	c, err := federation.Coordinate(args[0])
	if err != nil {
		return err
	}
	defer c.Stop()
	f := &federation.Federation{Coordinator: c, Sites: federation.NewSites(0)}
	out := json.NewEncoder(os.Stdout)
	for i := range n {
		join, err := c.Invite(federation.SiteName(i), "")
		if err != nil {
			return err
		}
		if err := out.Encode(join); err != nil {
			return err
		}
		f.Roster = append(f.Roster, federation.SiteName(i))
	}
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	go func() { // nothing more comes but the end, of the parent too
		io.Copy(io.Discard, in)
		os.Exit(1)
	}()
	spec := shape{n, 0, d, k, powerSteps}.spec(100 * time.Millisecond)
	spec.Deadlines.Round = study.Duration(2 * time.Hour) // all agents are on this machine; none is given up
	spec.Radius, spec.ExplainedVariance, spec.SpareSlots, spec.Output, spec.Corrupt = "1", study.VarianceNone, max(1, slots-powerSteps), study.OutputLast, corrupt
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := c.Connected(ctx, spec); err != nil {
		return err
	}
	var o outcome
	if o.Idle, err = peak(); err != nil {
		return err
	}
	plan, err := c.Create(spec)
	if err != nil {
		return err
	}
	o.Queries = len(plan.Queries)
	var start time.Time
	var used time.Duration
	at := ""
	for { // views are large; a few a second do not count
		v := c.View(plan.Digest)
		if now := fmt.Sprintf("%s, query %d", v.Status, v.Query); now != at {
			most, err := peak()
			if err != nil {
				return err
			}
			at = now
			progress("memory: the coordinator: %s: peak %.0f MB so far", at, float64(most)/1e6)
		}
		if start.IsZero() && v.Status == round.StatusRunning {
			start, used = time.Now(), cpu()
		}
		if v.Status == round.StatusCompleted {
			break
		}
		if v.Status == round.StatusEnded {
			return fmt.Errorf("the study ended: %s %s", v.Code, v.Culprit)
		}
		time.Sleep(100 * time.Millisecond)
	}
	o.Wall, o.CPU = time.Since(start), cpu()-used
	if o.Peak, err = peak(); err != nil {
		return err
	}
	return out.Encode(o)
}

// peak is this process's VmHWM in bytes.
func peak() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kB << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmHWM")
}
