package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"covey/experiments/bench/plain"
	"covey/internal/round"
	"covey/internal/study"
	"covey/test/fed"
)

// childVariable holds a task in JSON, for this program as a coordinator in a process of its own.
const childVariable = "COVEY_BENCH_COORDINATOR"

// TestMain is also the coordinator of BenchmarkMemory.
func TestMain(m *testing.M) {
	raw, child := os.LookupEnv(childVariable)
	if !child {
		os.Exit(m.Run())
	}
	var t task
	err := json.Unmarshal([]byte(raw), &t)
	if err == nil {
		err = t.coordinate()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the coordinator's process:", err)
		os.Exit(1)
	}
}

// task is a study of power steps over any rows.
type task struct {
	Dir                           string // the coordinator's
	Sites, D, K, Slots, Corrupted int
}

// outcome is what the coordinator's process prints at its end.
type outcome struct {
	Peak, Idle int64 // VmHWM in bytes, at the end and when all sites were there
	Wall, CPU  time.Duration
	Queries    int
}

// agentMemory is what the agents' process collects garbage harder for: a thousand that answer at
// one time hold a few copies each of what a query and its result are.
const agentMemory = 11 << 30

// BenchmarkMemory measures the coordinator's peak memory (VmHWM) over a study of two queries, setup
// and results included. It is a process of its own; all agents are in this one. A query's uploads
// are N·d·k numbers of 6 bytes. With 1,000 sites one in fifty is corrupt, so that a secret has 45
// holders in place of 180, and an upload has many numbers in few columns: agents that each hold a
// proposal of 100,000 columns are soon more than one machine's memory has.
func BenchmarkMemory(b *testing.B) {
	tasks := []task{{Sites: 64, D: 100_000, K: 1, Slots: 4}, {Sites: 1000, D: 1000, K: 100, Slots: 3, Corrupted: 20}}
	if testing.Short() {
		tasks = []task{{Sites: 3, D: 300, K: 1, Slots: 3}}
	}
	for _, t := range tasks {
		b.Run(fmt.Sprintf("N=%d/d=%d/k=%d", t.Sites, t.D, t.K), func(b *testing.B) {
			for b.Loop() {
				dir := b.TempDir()
				t.Dir = filepath.Join(dir, "coordinator")
				o, err := t.run(dir)
				if err != nil {
					b.Fatal(err)
				}
				agents, err := peak()
				if err != nil {
					b.Fatal(err)
				}
				uploads, queries := float64(t.Sites)*float64(t.D*t.K)*6, float64(o.Queries)
				b.ReportMetric(float64(o.Peak)/1e6, "peak-MB")
				b.ReportMetric(float64(o.Idle)/1e6, "idle-MB")
				b.ReportMetric(float64(o.Peak)/uploads, "peak/uploads")
				b.ReportMetric(o.CPU.Seconds()/queries, "cpu-s/query")
				b.ReportMetric(o.Wall.Seconds()/queries, "wall-s/query")
				b.ReportMetric(float64(agents)/1e6/float64(t.Sites), "MB/agent")
			}
		})
	}
}

// run runs the study with the coordinator in a child process and the agents here.
func (t task) run(dir string) (o outcome, err error) {
	path := filepath.Join(dir, "rows.csv")
	if err := plain.WriteRows(path, 4, t.D); err != nil {
		return o, err
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return o, err
	}
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // kills the child if anything here fails
	child := exec.CommandContext(ctx, self)
	child.Env = append(os.Environ(), childVariable+"="+string(raw))
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return o, err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return o, err
	}
	if err := child.Start(); err != nil {
		return o, err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(agentMemory))
	said := json.NewDecoder(bufio.NewReader(stdout))
	agents := fed.NewSites(t.Sites)
	defer agents.Stop()
	for i := range t.Sites {
		var join []byte
		if err := said.Decode(&join); err != nil {
			return o, fmt.Errorf("the coordinator's process: %w", err)
		}
		if err := agents.Start(dir, fed.SiteName(i), join, path); err != nil {
			return o, err
		}
	}
	if _, err := io.WriteString(stdin, "go\n"); err != nil {
		return o, err
	}
	if err := said.Decode(&o); err != nil {
		return o, fmt.Errorf("the coordinator's process: %w", err)
	}
	agents.Stop()
	stdin.Close()
	child.Wait() // its outcome was read; it ends with its input
	return o, nil
}

// coordinate is the child. It prints a join file for each site, waits for a line, runs the study
// and prints what it took.
func (t task) coordinate() error {
	c, err := fed.Coordinate(t.Dir)
	if err != nil {
		return err
	}
	defer c.Stop()
	out := json.NewEncoder(os.Stdout)
	const powerSteps = 2
	spec := shape{t.Sites, 0, t.D, t.K, powerSteps}.spec(100 * time.Millisecond)
	// all agents are on this machine; none is given up
	spec.Deadlines.Round = study.Duration(2 * time.Hour)
	spec.Radius, spec.ExplainedVariance, spec.Output = "1", study.VarianceNone, study.OutputLast
	spec.SpareSlots, spec.Corrupt = max(1, t.Slots-powerSteps), t.Corrupted
	for i := range t.Sites {
		join, err := c.Invite(fed.SiteName(i), "")
		if err != nil {
			return err
		}
		if err := out.Encode(join); err != nil {
			return err
		}
		spec.Sites = append(spec.Sites, fed.SiteName(i))
	}
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	go func() { // nothing comes after it but the end, of the parent too
		io.Copy(io.Discard, in)
		os.Exit(1)
	}()
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
	for { // views are large; a few a second do not count
		v := c.View(plan.Digest)
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

// peak returns this process's VmHWM in bytes.
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
