package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"covey/experiments/bench/plain"
	"covey/experiments/bench/table"
	"covey/internal/answer"
	"covey/internal/clip"
	_ "covey/internal/dataset/npy"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/test/fed"
	"covey/test/site"
)

// shape is a study's size.
type shape struct{ sites, rows, d, k, rounds int }

func (s shape) spec(tick time.Duration) proposal.Spec {
	return proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "bench", Dataset: site.Dataset, Epsilon: 1, Delta: 1e-6, Components: proposal.Components(s.k), Rounds: s.rounds, Columns: plain.Columns(s.d),
		Deadlines: proposal.Deadlines{Round: proposal.Duration(5 * time.Minute), Tick: proposal.Duration(tick)},
	}
}

// plan returns the shape's study as its coordinator would plan it.
func (s shape) plan(spec proposal.Spec) (*study.Plan, error) {
	units := make([]int, s.sites)
	for i := range units {
		units[i] = s.rows
	}
	return plain.NewPlan(spec, units)
}

// spent is what one study took, from its rows being in memory to its last release, and of a masked
// one to the result that its sites signed.
type spent struct {
	wall, cpu time.Duration
	trace     trace // of a masked one
}

var profiles = flag.String("profiles", "", "a folder for CPU profiles, one of each study that BenchmarkStudy or BenchmarkGrowth measures")

// profiled makes a CPU profile of what follows, until done is called, if there is a folder for it.
func profiled(name string) (done func() error) {
	if *profiles == "" {
		return func() error { return nil }
	}
	file, err := os.CreateTemp(*profiles, name+"-*.pprof")
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		return func() error { return err }
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}
}

// masked runs a study of a federation.
func masked(f *fed.Federation, spec proposal.Spec) (s spent, err error) {
	thresholds, err := proposal.NewThresholds(len(f.Sites), 0, 0)
	if err != nil {
		return s, err
	}
	s.trace.quorum = thresholds.Quorum
	var start time.Time
	var used time.Duration
	done := func() error { return nil }
	err = f.Study(context.Background(), spec, func() {
		done = profiled("masked")
		start, used = time.Now(), cpu()
	}, func(at time.Time, v outline.View) { s.trace.see(at, v) })
	s.wall, s.cpu = time.Since(start), cpu()-used
	return s, errors.Join(err, done())
}

// pair is a masked federation and an unmasked one of the same shape and rows.
type pair struct {
	shape
	tick     time.Duration
	masked   *fed.Federation
	unmasked *plain.Federation
}

// newPair starts both, with their folders in dir, until the end of the benchmark.
func newPair(b *testing.B, s shape, dir string, tick time.Duration) *pair {
	b.Helper()
	path := filepath.Join(dir, "rows.npy")
	if err := table.Write(path, s.rows, s.d, plain.Rows(s.d)); err != nil {
		b.Fatal(err)
	}
	p := &pair{shape: s, tick: tick}
	var err error
	if p.unmasked, err = plain.Start(dir, s.sites, s.d, plain.Values(s.rows, s.d)); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.unmasked.Stop)
	p.masked = fed.Start(b, dir, sites(s.sites, path)).Federation
	return p
}

// turn runs a study without masks and then the same with them.
func (p *pair) turn(b *testing.B) (without, with spent) {
	b.Helper()
	spec := p.spec(p.tick)
	plan, err := p.plan(spec)
	if err != nil {
		b.Fatal(err)
	}
	if err := settle(time.Minute); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	done := profiled("unmasked")
	start, used := time.Now(), cpu()
	if _, err := p.unmasked.Study(plan); err != nil {
		b.Fatal(err)
	}
	without.wall, without.cpu = time.Since(start), cpu()-used
	if err := done(); err != nil {
		b.Fatal(err)
	}
	if with, err = masked(p.masked, spec); err != nil {
		b.Fatal(err)
	}
	return without, with
}

// sites are n of them with the rows of path, which an agent sums with all processors. A file is
// converted by the first study alone: what another conversion writes would reach the disk while the
// study that follows it is measured.
func sites(n int, path string) fed.Options {
	return fed.Options{Sites: fed.Names(n), File: path, Config: func(_ *fed.Part, c *siteconfig.Config) {
		c.Datasets[0].Workers, c.Datasets[0].Cache = 0, siteconfig.CacheKeep
	}}
}

// BenchmarkStudy measures a whole study next to the same one without masks, in turns. Both start
// when every site has its rows. The unmasked one ends with the last release, the masked one with
// the result that its sites signed. The masked study is everything that
// coordinator and agents do, the unmasked one (package plain) has the same queries, rows, local
// sums, TLS and gRPC frames and nothing else. All sites and the server share this machine's
// processors. With dir=memory the federation's folders are on no disk, which shows what fsyncs
// cost.
func BenchmarkStudy(b *testing.B) {
	s := shape{sites: 10, rows: 100_000, d: 256, k: 1, rounds: 12}
	if testing.Short() {
		s = shape{sites: 3, rows: 300, d: 8, k: 1, rounds: 2}
	}
	for _, dir := range []string{"disk", "memory"} {
		b.Run("dir="+dir, func(b *testing.B) {
			folder := b.TempDir
			if dir == "memory" {
				folder = func() string { return fed.InMemory(b) }
			}
			p := newPair(b, s, folder(), 0)
			p.turn(b) // in it each agent converts its file, once and for all
			var without, with spent
			parts := map[string]time.Duration{}
			for b.Loop() {
				u, m := p.turn(b)
				without.wall, without.cpu = without.wall+u.wall, without.cpu+u.cpu
				with.wall, with.cpu = with.wall+m.wall, with.cpu+m.cpu
				parts["setup"] += m.trace.setup
				parts["result"] += m.trace.result
				for _, phase := range phases {
					parts[phase] += m.trace.spent[phase]
				}
			}
			b.ReportMetric(ms(with.wall)/float64(b.N), "wall-ms")
			b.ReportMetric(ms(with.cpu)/float64(b.N), "cpu-ms")
			b.ReportMetric(float64(with.wall)/float64(without.wall), "wall/unmasked")
			b.ReportMetric(float64(with.cpu)/float64(without.cpu), "cpu/unmasked")
			for name, took := range parts {
				b.ReportMetric(ms(took)/float64(b.N), name+"-ms")
			}
		})
	}
}

// BenchmarkGrowth measures studies of which one size grows while the others stay: the processor
// time of all parties with and without masks and, for n, d and k, of one site's answer to a power
// step on one thread. power is the exponent with which the masked study's grew since the last
// value.
func BenchmarkGrowth(b *testing.B) {
	for _, axis := range []struct {
		name   string
		values []int
		shape  func(v int) shape
	}{
		{"n", []int{2000, 8000, 32_000, 128_000}, func(v int) shape { return shape{5, v, 64, 1, 6} }},
		{"d", []int{16, 64, 256, 1024}, func(v int) shape { return shape{5, 4000, v, 1, 6} }},
		{"k", []int{1, 2, 4, 8, 16}, func(v int) shape { return shape{5, 20_000, 64, v, 6} }},
		{"N", []int{3, 6, 12, 24}, func(v int) shape { return shape{v, 1000, 64, 1, 2} }},
		{"T", []int{2, 4, 8, 16, 32}, func(v int) shape { return shape{5, 4000, 64, 1, v} }},
	} {
		if testing.Short() {
			axis.values = axis.values[:1]
		}
		lastValue, last := 0, 0.0
		for _, v := range axis.values {
			b.Run(fmt.Sprintf("%s=%d", axis.name, v), func(b *testing.B) {
				s := axis.shape(v)
				if testing.Short() {
					s.rows = 40
				}
				p := newPair(b, s, b.TempDir(), time.Millisecond)
				var without, with, answer time.Duration
				for b.Loop() {
					u, m := p.turn(b)
					without, with = without+u.cpu, with+m.cpu
					answer += s.answer(b)
				}
				n := float64(b.N)
				b.ReportMetric(ms(without)/n, "unmasked-cpu-ms")
				b.ReportMetric(ms(with)/n, "masked-cpu-ms")
				if axis.name != "N" && axis.name != "T" {
					b.ReportMetric(ms(answer)/n, "answer-cpu-ms")
				}
				if last > 0 && v > lastValue {
					b.ReportMetric(math.Log(ms(with)/n/last)/math.Log(float64(v)/float64(lastValue)), "power")
				}
				lastValue, last = v, ms(with)/n
			})
		}
	}
}

// answer returns the processor time of one site's power step on one thread.
func (s shape) answer(b *testing.B) time.Duration {
	b.Helper()
	m, err := clip.NewMatrix(s.d, plain.Values(s.rows, s.d))
	if err != nil {
		b.Fatal(err)
	}
	rows := answer.New(m)
	spec := s.spec(time.Millisecond)
	spec.Radius = "1" // the first query is then a power step
	plan, err := s.plan(spec)
	if err != nil {
		b.Fatal(err)
	}
	ask, err := plan.NewAsk(plan.Start(), 0)
	if err != nil {
		b.Fatal(err)
	}
	took, err := onCPU(func() error { _, err := rows.Answer(plan, 0, ask, 1); return err })
	if err != nil {
		b.Fatal(err)
	}
	return took
}
