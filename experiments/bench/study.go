package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"

	"covey/experiments/bench/federation"
	"covey/experiments/bench/plain"
	"covey/internal/coordinator"
	"covey/internal/study"
)

// shape is a study's size.
type shape struct{ sites, rows, d, k, rounds int }

func (s shape) spec(tick time.Duration) study.Spec {
	return study.Spec{
		Name: "bench", Dataset: federation.Dataset, Epsilon: 1, Delta: 1e-6, Components: s.k, Rounds: s.rounds, Columns: federation.Columns(s.d),
		Deadlines: study.Deadlines{Round: study.Duration(5 * time.Minute), Tick: study.Duration(tick)},
	}
}

// spent is one run of one contestant, from its rows being in memory to its last release.
type spent struct {
	wall, cpu time.Duration
	trace     federation.Trace // of a masked one
	plain     plain.Trace
}

// masked runs a study of a federation.
func masked(f *federation.Federation, spec study.Spec) (spent, error) {
	var s spent
	var start time.Time
	var used time.Duration
	thresholds, err := study.NewThresholds(len(f.Roster), 0, 0)
	if err != nil {
		return s, err
	}
	s.trace.Quorum = thresholds.Quorum
	_, err = f.Study(context.Background(), spec, func() { start, used = time.Now(), cpu() }, func(at time.Time, v coordinator.View) { s.trace.See(at, v) })
	s.wall, s.cpu = time.Since(start), cpu()-used
	return s, err
}

// unmasked runs the same without masks.
func unmasked(f *plain.Federation, s shape, spec study.Spec) (spent, error) {
	units := make([]int, s.sites)
	for i := range units {
		units[i] = s.rows
	}
	plan, err := plain.NewPlan(spec, units)
	if err != nil {
		return spent{}, err
	}
	settle()
	var out spent
	start, used := time.Now(), cpu()
	_, out.plain, err = f.Study(plan)
	out.wall, out.cpu = time.Since(start), cpu()-used
	return out, err
}

// contest is the masked federations and the unmasked one of a shape, all with the same rows.
type contest struct {
	shape
	dir      string
	unmasked *plain.Federation
	masked   []contestant
	close    []func() error
}

type contestant struct {
	name string
	f    *federation.Federation
	tick time.Duration
	runs []spent
}

// inMemory is where files are not written to a disk.
const inMemory = "/dev/shm"

func newContest(s shape, dir string) (c *contest, err error) {
	c = &contest{shape: s}
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	var drop func() error
	if c.dir, drop, err = scratch(dir); err != nil {
		return c, err
	}
	c.close = append(c.close, drop)
	if err := federation.WriteRows(c.path(), s.rows, s.d); err != nil {
		return c, err
	}
	c.unmasked, err = plain.Start(c.dir, s.sites, s.d, federation.Values(s.rows, s.d))
	if err == nil {
		c.close = append(c.close, func() error { c.unmasked.Stop(); return nil })
	}
	return c, err
}

func (c *contest) path() string { return filepath.Join(c.dir, "rows.csv") }

// add starts a masked federation, with its folders in memory if that is asked for and there is such a place.
func (c *contest) add(name string, tick time.Duration, memory bool) error {
	dir, err := os.MkdirTemp(c.dir, "masked")
	if memory {
		var drop func() error
		if dir, drop, err = scratch(inMemory); err == nil {
			c.close = append(c.close, drop)
		}
	}
	if err != nil {
		return err
	}
	f, err := federation.Start(dir, c.sites, c.path(), nil)
	if err != nil {
		return err
	}
	c.close = append(c.close, f.Stop)
	c.masked = append(c.masked, contestant{name: name, f: f, tick: tick})
	return nil
}

// end stops everything, the last started first.
func (c *contest) end() error {
	var first error
	for i := len(c.close) - 1; i >= 0; i-- {
		if err := c.close[i](); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// compete runs everybody repeat times in turn and gives the unmasked runs. Another turn before that is not counted, if
// it is asked for: in it each agent converts its file once and for all, and the disk is still busy with that.
func (c *contest) compete(repeat int, warm bool) ([]spent, error) {
	var plain []spent
	first := 0
	if warm {
		first = -1
	}
	for r := first; r < repeat; r++ {
		progress("study: %d sites x %d rows x d = %d, k = %d, T = %d: %d of %d", c.sites, c.rows, c.d, c.k, c.rounds, r+1, repeat)
		s, err := unmasked(c.unmasked, c.shape, c.spec(100*time.Millisecond))
		if err != nil {
			return nil, err
		}
		if r >= 0 {
			plain = append(plain, s)
		}
		for i := range c.masked {
			m := &c.masked[i]
			s, err := masked(m.f, c.spec(m.tick))
			if err != nil {
				return nil, err
			}
			if r >= 0 {
				m.runs = append(m.runs, s)
			}
		}
	}
	return plain, nil
}

func walls(runs []spent) (t times) {
	for _, s := range runs {
		t = append(t, s.wall)
	}
	return t
}

func cpus(runs []spent) (t times) {
	for _, s := range runs {
		t = append(t, s.cpu)
	}
	return t
}

func studyCommand(f *flag.FlagSet) func() (*report, error) {
	s := shape{k: 1}
	f.IntVar(&s.sites, "sites", 10, "sites")
	f.IntVar(&s.rows, "rows", 100_000, "rows of each site")
	f.IntVar(&s.d, "d", 256, "columns")
	f.IntVar(&s.rounds, "rounds", 12, "T")
	repeat := f.Int("repeat", 5, "interleaved repeats, whose median counts")
	tick := f.Duration("tick", 0, "deadlines.tick of the masked study; 0 is the plan's own")
	ablate := f.Bool("ablate", true, "also with folders in memory: what fsyncs cost")
	dir := f.String("dir", "", "where the folders of the run are made; the system's temporary folder if not given")
	profile := f.String("cpuprofile", "", "write a CPU profile of all contestants here")
	return func() (*report, error) {
		c, err := newContest(s, *dir)
		if err != nil {
			return nil, err
		}
		defer c.end()
		err = c.add("masked", *tick, false)
		if *ablate && err == nil && quickest() != "" {
			err = c.add("masked, folders in memory", *tick, true)
		}
		if err != nil {
			return nil, err
		}
		if *profile != "" {
			out, err := os.Create(*profile)
			if err != nil {
				return nil, err
			}
			defer out.Close()
			if err := pprof.StartCPUProfile(out); err != nil {
				return nil, err
			}
			defer pprof.StopCPUProfile()
		}
		plain, err := c.compete(*repeat, *repeat > 1)
		if err != nil {
			return nil, err
		}
		return c.report(plain, *repeat)
	}
}

func (c *contest) report(plain []spent, repeat int) (*report, error) {
	plan, err := studyPlan(c.shape)
	if err != nil {
		return nil, err
	}
	total := table{
		Title: fmt.Sprintf("A study of %d sites x %d rows x d = %d, T = %d (%d queries, %d slots), beside the same without masks", c.sites, c.rows, c.d, c.rounds, len(plan.Queries), plan.Slots),
		Head:  []string{"study", "wall / unmasked", "CPU / unmasked", "wall, s", "CPU, s", "a query, ms"},
	}
	wall, used := walls(plain), cpus(plain)
	line := func(name string, w, u times) {
		total.row(name, w.seconds()/wall.seconds(), u.seconds()/used.seconds(), w.seconds(), u.seconds(), w.ms()/float64(len(plan.Queries)))
	}
	for _, m := range c.masked {
		line(m.name, walls(m.runs), cpus(m.runs))
	}
	line("unmasked", wall, used)
	total.note("Both start when every site has its rows, which is not counted: the agents' are mapped from the cache that each converted the file to before, the unmasked clients' are in memory. Both end with the last release. The masked study is everything that `coordinator` and `agent` do: setup, masks, signatures, fsynced ledgers, the replicated log of one coordinator, results held back to the tick. "+
		"The unmasked one (experiments/bench/plain) has the same queries, rows, local sums, TLS and gRPC frames, and no more. All sites and the server share this machine's processors in both. Medians of %d interleaved repeats after one that is not counted.", repeat)
	return &report{Tables: []table{total, c.phases(plain)}}, nil
}

// studyPlan plans a shape as its federation would.
func studyPlan(s shape) (*study.Plan, error) {
	units := make([]int, s.sites)
	for i := range units {
		units[i] = s.rows
	}
	return plain.NewPlan(s.spec(100*time.Millisecond), units)
}

const setup = "setup, once"

// phases says where the time of each contestant went.
func (c *contest) phases(plain []spent) table {
	t := table{Title: "Where the time goes, ms of the whole study", Head: []string{"part"}}
	found := map[string]map[int]times{} // by part, then contestant
	put := func(part string, column int, d time.Duration) {
		if found[part] == nil {
			found[part] = map[int]times{}
		}
		found[part][column] = append(found[part][column], d)
	}
	for i, m := range c.masked {
		t.Head = append(t.Head, m.name)
		for _, s := range m.runs {
			put(setup, i, s.trace.Setup)
			for _, part := range federation.Parts {
				put(part, i, s.trace.Parts[part])
			}
		}
	}
	t.Head = append(t.Head, "unmasked")
	for _, s := range plain {
		put(federation.Answers, len(c.masked), s.plain.Answers)
		put(federation.Opening, len(c.masked), s.plain.Server)
	}
	for _, part := range append([]string{setup}, federation.Parts...) {
		row := []any{part}
		for i := range len(c.masked) + 1 {
			if d, ok := found[part][i]; ok {
				row = append(row, d.ms())
			} else {
				row = append(row, nil)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.note("As the operator's view of the study changes. Where every site is waited for, as here, the survivors' commit and most signatures go on beside the answers and cost what is left of them.")
	return t
}
