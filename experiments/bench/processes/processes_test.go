//go:build linux

// Package processes measures a whole study of real processes, as its operator sees it, next to the
// same study of an earlier build.
package processes

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"covey/experiments/bench/table"
	"covey/internal/siteconfig"
	"covey/test/fed"
)

var before = flag.String("before", "7d9e52ab", "the commit of the earlier build; empty for none")

// shape is a study's size.
type shape struct{ sites, rows, columns, components int }

// BenchmarkProcesses measures a study by covariance of ten components with a private center, of
// 60,000 rows of 800 columns at four sites. Coordinator and agents are processes that share this
// machine and its loopback. wall-s lasts from the command that proposes it, which the agents'
// configurations approve, to the end of `study watch`; first-wall-s is that of the study before, in
// which each agent reads its file. peak-MB is the most that any agent held (VmHWM) over both, and
// bound-MB what it may hold: 1.6 times its rows as float64, and 64 MB.
//
// The earlier build is made in a worktree of its own, and its processes form a federation of their
// own. The builds run one after the other, so that -count takes them in turns.
func BenchmarkProcesses(b *testing.B) {
	s, commits := shape{4, 60_000, 800, 10}, []string{""}
	if testing.Short() {
		s = shape{3, 600, 12, 2}
	} else if *before != "" {
		commits = []string{*before, ""}
	}
	for _, commit := range commits {
		build := "build=now"
		if commit != "" {
			build = "build=before"
		}
		b.Run(build, func(b *testing.B) {
			bin := builds(b, commit)
			b.ResetTimer()
			var first, wall time.Duration
			var most int64
			for b.Loop() {
				f, w, m := s.study(b, bin)
				first, wall, most = first+f, wall+w, max(most, m)
			}
			b.ReportMetric(wall.Seconds()/float64(b.N), "wall-s")
			b.ReportMetric(first.Seconds()/float64(b.N), "first-wall-s")
			b.ReportMetric(float64(most)/1e6, "peak-MB")
			b.ReportMetric(1.6*8*float64(s.rows/s.sites*s.columns)/1e6+64, "bound-MB")
		})
	}
}

// made has the folder of each commit's commands, for as long as the process lives.
var made = map[string]string{}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range made {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// builds builds the commands of a commit, or of this tree, once.
func builds(b *testing.B, commit string) string {
	b.Helper()
	if dir, ok := made[commit]; ok {
		return dir
	}
	must := func(dir, name string, args ...string) string {
		c := exec.Command(name, args...)
		c.Dir = dir
		text, err := c.CombinedOutput()
		if err != nil {
			b.Fatalf("%s %v: %v\n%s", name, args, err, text)
		}
		return string(text)
	}
	bin, err := os.MkdirTemp("", "covey-processes-")
	if err != nil {
		b.Fatal(err)
	}
	made[commit] = bin
	root, err := filepath.Abs("../../..")
	if err != nil {
		b.Fatal(err)
	}
	tree := root
	if commit != "" {
		tree = filepath.Join(bin, "tree")
		must(root, "git", "worktree", "add", "--detach", tree, commit)
		defer must(root, "git", "worktree", "remove", "--force", tree)
	}
	must(tree, "go", "build", "-o", bin+"/", "./cmd/coordinator", "./cmd/agent")
	return bin
}

const text = `epsilon = 1.0
delta = 1e-6
method = "covariance"
components = %d
center = "private"
explained_variance = "private"
`

// study forms a federation of the build in bin, runs two studies, and ends it.
func (s shape) study(b *testing.B, bin string) (first, wall time.Duration, most int64) {
	b.Helper()
	b.StopTimer()
	defer b.StartTimer()
	f := fed.NewFleet(b, bin, 1, s.sites)
	for i, p := range f.Sites {
		if err := table.Write(p.Dir+".npy", s.rows/s.sites, s.columns, s.pixels(uint64(i))); err != nil {
			b.Fatal(err)
		}
	}
	f.Form(func(i int, c *siteconfig.Config) {
		c.Datasets[0].Path, c.Datasets[0].Workers = "../"+f.Sites[i].Name+".npy", 0
	})
	for i, took := range []*time.Duration{&first, &wall} {
		name := "study" + strconv.Itoa(i)
		begun := time.Now()
		f.Propose(name, fmt.Sprintf(text, s.components), s.columns, "offset = 128.0\nscale = 128.0\n")
		watch := exec.Command(filepath.Join(bin, "coordinator"), "study", "watch", name, "--data", f.Nodes[0].Dir)
		said, err := watch.CombinedOutput()
		*took = time.Since(begun)
		if err != nil {
			b.Fatalf("%v: %s", err, said)
		}
		if v, err := f.View(name); err != nil || v.Status != "completed" {
			b.Fatalf("%+v, %v: %s", v, err, said)
		}
	}
	for _, p := range f.Sites {
		_, peak, err := fed.Memory(strconv.Itoa(p.Pid()))
		if err != nil {
			b.Fatal(err)
		}
		most = max(most, peak)
	}
	for _, p := range f.All() {
		p.Kill()
	}
	return first, wall, most
}

// pixels returns a site's rows, integers from 0 to 255: a few strong components and noise.
func (s shape) pixels(seed uint64) func(row []float64) {
	rng := rand.New(rand.NewPCG(seed, 0x706978656c73))
	strong, waves := make([]float64, s.components), make([]float64, 0, s.components*s.columns)
	for j := range s.columns {
		for l := range strong {
			waves = append(waves, math.Cos(math.Pi*float64(l+1)*(float64(j)+0.5)/float64(s.columns)))
		}
	}
	return func(row []float64) {
		for l := range strong {
			strong[l] = 60 * rng.NormFloat64() / float64(1+l)
		}
		for j := range row {
			v := 128 + 8*rng.NormFloat64()
			for l, x := range strong {
				v += x * waves[j*len(strong)+l]
			}
			row[j] = math.Round(min(255, max(0, v)))
		}
	}
}
