package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"covey/experiments/bench/plain"
	"covey/experiments/bench/table"
	"covey/internal/proposal"
	"covey/internal/round"
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
	Dir                           string // of everybody's folders
	Sites, D, K, Slots, Corrupted int
}

// outcome is what the coordinator's process answers at its end.
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
				t.Dir = b.TempDir()
				o, err := t.run()
				if err != nil {
					b.Fatal(err)
				}
				_, agents, err := fed.Memory("self")
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

// run runs the study, each site with 4 rows.
func (t task) run() (o outcome, err error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(agentMemory))
	child, end, err := t.apart(4)
	if err != nil {
		return o, err
	}
	defer end()
	err = child.Order(order{}, &o)
	return o, err
}

// apart forms a federation with the coordinator in a child process and the agents here, each site
// with so many rows, until end is called.
func (t task) apart(rows int) (child *fed.Child, end func(), err error) {
	path := filepath.Join(t.Dir, "rows.csv")
	if err := table.Write(path, rows, t.D, plain.Rows(t.D)); err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, nil, err
	}
	if child, err = fed.Spawn(childVariable + "=" + string(raw)); err != nil {
		return nil, nil, err
	}
	options := sites(t.Sites, path)
	options.Invite = func(site string) (join []byte, err error) {
		err = child.Order(order{Invite: site}, &join)
		return join, err
	}
	agents := fed.New(t.Dir, options)
	end = func() {
		agents.Stop()
		child.End()
	}
	if err := agents.Form(); err != nil {
		end()
		return nil, nil, err
	}
	return child, end, nil
}

// order is what the coordinator's process is told: to make a join file or, without a name, to run
// the study.
type order struct {
	Invite string
	// of BenchmarkApproved: the name of a study to be approved, then to set it up
	Approve, Dropout string
	SetUp            bool
}

// coordinate is the child.
func (t task) coordinate() error {
	c := fed.New(t.Dir, fed.Options{Patience: 10 * time.Minute, Every: 5 * time.Millisecond})
	defer c.Stop()
	if err := c.Form(); err != nil {
		return err
	}
	var a *approval
	return fed.Obey(func(o order) (_ any, err error) {
		switch {
		case o.Invite != "":
			return c.Invite(o.Invite)
		case o.Approve != "":
			a, err = t.approve(c, o)
			return nil, err
		case o.SetUp:
			return a.over(c)
		}
		return t.study(c)
	})
}

// study runs the study and returns what it took.
func (t task) study(c *fed.Federation) (o outcome, err error) {
	const powerSteps = 2
	spec := shape{t.Sites, 0, t.D, t.K, powerSteps}.spec(100 * time.Millisecond)
	// all agents are on this machine; none is given up
	spec.Deadlines.Round = proposal.Duration(2 * time.Hour)
	spec.Radius, spec.ExplainedVariance, spec.Output = "1", proposal.VarianceNone, proposal.OutputLast
	spec.SpareSlots, spec.Corrupt, spec.Sites = max(1, t.Slots-powerSteps), t.Corrupted, fed.Names(t.Sites)
	if err := c.Connected(spec); err != nil {
		return o, err
	}
	if _, o.Idle, err = fed.Memory("self"); err != nil {
		return o, err
	}
	d, err := c.Create(spec)
	if err != nil {
		return o, err
	}
	var start time.Time
	var used time.Duration
	for { // views are large; a few a second do not count
		v := c.Leader().Coordinator.View(d)
		if start.IsZero() && v.Status == round.StatusRunning {
			start, used = time.Now(), cpu()
		}
		if v.Status == round.StatusCompleted {
			o.Queries = v.Queries
			break
		}
		if v.Status == round.StatusEnded {
			return o, fmt.Errorf("the study ended: %s %s", v.Code, v.Culprit)
		}
		time.Sleep(100 * time.Millisecond)
	}
	o.Wall, o.CPU = time.Since(start), cpu()-used
	_, o.Peak, err = fed.Memory("self")
	return o, err
}
