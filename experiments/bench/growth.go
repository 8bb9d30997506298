package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"covey/experiments/bench/federation"
	"covey/experiments/bench/plain"
	"covey/experiments/run"
	"covey/internal/clip"
	"covey/internal/local"
)

// axis is one quantity that grows while the others stay.
type axis struct {
	title  string
	values []int
	base   shape
	set    func(*shape, int)
}

// axes grow in steps of two or four. The sites of a whole study share this machine's processors with each other, so
// that their number stays small; the protocol's own cost goes on to more (groups).
var axes = []axis{
	{"n, rows of each of 5 sites (d = 64, T = 6)", []int{2000, 8000, 32_000, 128_000}, shape{5, 0, 64, 1, 6}, func(s *shape, v int) { s.rows = v }},
	{"d (5 sites x 4,000 rows, T = 6)", []int{16, 64, 256, 1024}, shape{5, 4000, 0, 1, 6}, func(s *shape, v int) { s.d = v }},
	{"k (5 sites x 20,000 rows, d = 64, T = 6)", []int{1, 2, 4, 8, 16}, shape{5, 20_000, 64, 0, 6}, func(s *shape, v int) { s.k = v }},
	{"N (1,000 rows each, d = 64, T = 2)", []int{3, 6, 12, 24}, shape{0, 1000, 64, 1, 2}, func(s *shape, v int) { s.sites = v }},
	{"T (5 sites x 4,000 rows, d = 64)", []int{2, 4, 8, 16, 32}, shape{5, 4000, 64, 1, 0}, func(s *shape, v int) { s.rounds = v }},
}

// groups are the N of the protocol's own cost, and groupDim its d.
var groups = []int{4, 8, 16, 32, 64}

const groupDim = 1000

func growthCommand(f *flag.FlagSet) func() (*report, error) {
	repeat := f.Int("repeat", 5, "interleaved repeats a point, whose median counts")
	dir := f.String("dir", filepath.Join("docs", "figures"), "where growth.svg and growth.csv go")
	scale := f.Float64("scale", 1, "all numbers of rows are multiplied by this")
	only := f.String("only", "", "only panels whose title begins with this: n, d, k, N or T")
	most := f.Int("points", 0, "only the first points of each panel; 0: all")
	return func() (*report, error) {
		t := table{
			Title: "Growth: CPU time over each quantity, as a power of it",
			Head:  []string{"panel", "curve", "slope", "slope of the last step", "from, ms", "to, ms"},
		}
		figure := run.Figure{X: "n, d, k, N or T: see the title", Y: "CPU, ms"}
		for _, a := range axes {
			if !strings.HasPrefix(a.title, *only) {
				continue
			}
			panel, err := a.measure(*repeat, *scale, *most)
			if err != nil {
				return nil, err
			}
			figure.Panels = append(figure.Panels, panel)
			for _, c := range panel.Curves {
				var x, y []float64
				for _, p := range c.Points {
					x, y = append(x, p.X), append(y, p.Median)
				}
				last := len(x) - 1
				if last < 1 {
					continue
				}
				t.row(panel.Title, c.Name, slope(x, y), slope(x[last-1:], y[last-1:]), y[0], y[last])
			}
		}
		t.note("Fitted through the medians' logarithms. *study, masked* and *unmasked* are all processes' CPU of a whole study from rows in memory to the last release, the masked one with a tick of 1 ms; *one answer* is one site's exact sum of one power step on one thread; the agent's and the coordinator's round are of d = %d with a tenth of the sites missing, the agent's setup is a slot's part. Medians of %d.", groupDim, *repeat)
		t.note("![growth](figures/growth.svg)")
		var csv bytes.Buffer
		if err := figure.WriteCSV(&csv); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(*dir, "growth.csv"), csv.Bytes(), 0o644); err != nil {
			return nil, err
		}
		return &report{Tables: []table{t}}, figure.WriteSVG(filepath.Join(*dir, "growth.svg"))
	}
}

// measure gives the panel of one axis.
func (a axis) measure(repeat int, scale float64, most int) (run.Panel, error) {
	p := run.Panel{Title: a.title}
	put := func(name string, x int, t times) {
		at := slices.IndexFunc(p.Curves, func(c run.Curve) bool { return c.Name == name })
		if at < 0 {
			at = len(p.Curves)
			p.Curves = append(p.Curves, run.Curve{Name: name})
		}
		var s run.Sample
		for _, d := range t {
			s = append(s, ms(d))
		}
		p.Curves[at].Points = append(p.Curves[at].Points, s.Point(float64(x)))
	}
	sites := strings.HasPrefix(a.title, "N ")
	for _, x := range first(a.values, most) {
		s := a.base
		a.set(&s, x)
		s.rows = max(20, int(float64(s.rows)*scale))
		if err := a.point(s, x, repeat, put); err != nil {
			return p, err
		}
		if !sites && !strings.HasPrefix(a.title, "T ") {
			t, err := answers(s, repeat)
			if err != nil {
				return p, err
			}
			put("one answer", x, t)
		}
	}
	if !sites {
		return p, nil
	}
	for _, n := range first(groups, most) {
		if err := protocol(n, repeat, put); err != nil {
			return p, err
		}
	}
	return p, nil
}

func first(v []int, most int) []int {
	if most > 0 {
		return v[:min(most, len(v))]
	}
	return v
}

// point runs the studies of one shape.
func (a axis) point(s shape, x, repeat int, put func(string, int, times)) error {
	c, err := newContest(s, "")
	if err != nil {
		return err
	}
	defer c.end()
	if err := c.add("masked", time.Millisecond, false); err != nil {
		return err
	}
	plain, err := c.compete(repeat, false)
	if err != nil {
		return err
	}
	put("study, masked", x, cpus(c.masked[0].runs))
	put("study, unmasked", x, cpus(plain))
	return nil
}

// answers times one site's power step on one thread.
func answers(s shape, repeat int) (times, error) {
	m, err := clip.NewMatrix(s.d, federation.Values(s.rows, s.d))
	if err != nil {
		return nil, err
	}
	rows := local.New(m)
	spec := s.spec(time.Millisecond)
	spec.Radius = "1" // the first query is then a power step
	plan, err := plain.NewPlan(spec, []int{s.rows, s.rows})
	if err != nil {
		return nil, err
	}
	ask, err := plan.NewAsk(plan.Start(), 0, 0)
	if err != nil {
		return nil, err
	}
	var t times
	for range repeat {
		took, err := onCPU(func() error { _, err := rows.Answer(plan, 0, ask, 1); return err })
		if err != nil {
			return nil, err
		}
		t = append(t, took)
	}
	return t, nil
}

// protocol measures rounds and a slot's setup of n sites without rows.
func protocol(n, repeat int, put func(string, int, times)) error {
	const slots = 4
	progress("growth: N = %d, the protocol alone", n)
	g, err := newGroup(n, 1, 0.1)
	if err != nil {
		return err
	}
	if err := g.holdShares(); err != nil {
		return err
	}
	r, err := g.aggregate(groupDim, max(1, n/10), 48)
	if err != nil {
		return err
	}
	many, err := newGroup(n, slots, 0.1)
	if err != nil {
		return err
	}
	var agent, coordinator, setup times
	for range repeat {
		var a agentTimes
		var k coordinatorTimes
		if err := r.run(&a, &k); err != nil {
			return err
		}
		agent = append(agent, a.agree[0]+a.mask[0]+a.sign[0]+a.shares[0])
		coordinator = append(coordinator, k.sum[0]+k.signatures[0]+k.opening[0])
		s, err := many.setUp(n - 1)
		if err != nil {
			return err
		}
		setup = append(setup, s.agent()/slots)
	}
	put("agent's round", n, agent)
	put("coordinator's round", n, coordinator)
	put("agent's setup, a slot", n, setup)
	return nil
}
