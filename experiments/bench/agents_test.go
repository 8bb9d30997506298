//go:build linux

package bench

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"covey/experiments/bench/table"
	"covey/internal/siteconfig"
	"covey/test/fed"
)

var (
	peakRows    = flag.Int("peak-rows", 0, "rows of each of four sites in TestPeaks; 0 skips it")
	peakColumns = flag.Int("peak-columns", 800, "columns in TestPeaks")
	peakWide    = flag.Int("peak-wide", 10_000, "columns of TestPeaks' study of few rows")
	peakBuild   = flag.String("peak-build", "", "a folder with another build's coordinator and agent")
)

// The bound of docs/performance.md on an agent's peak: so many times its rows and the rest. A
// coordinator's is as much and so many times the result file.
const (
	peakFactor = 1.6
	peakRest   = 64 << 20
	peakFile   = 5
)

// TestPeaks measures the peak memory (VmHWM) of agents in processes of their own, each with its
// coordinator on this machine, over a whole study of every method whose result one of them fetches,
// and what they hold ten seconds after it. Mapped rows count. It fails where a peak is above 1.6
// times the rows and 64 MB, and, of a wide study of few rows, where its coordinator's is above five
// times the result file and 64 MB, or what agent verify takes of that file above its length and 64
// MB:
//
//	go -C experiments test ./bench -run TestPeaks -v -timeout 0 -peak-rows 60000
func TestPeaks(t *testing.T) {
	if *peakRows == 0 {
		t.Skip("-peak-rows is 0")
	}
	bin := *peakBuild
	if bin == "" {
		bin = t.TempDir()
		// of the other module
		if out, err := exec.Command("go", "-C", "../..", "build", "-o", bin+"/", "./cmd/coordinator", "./cmd/agent").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	dir := t.TempDir()
	const learn = "components = 10\nepsilon = 20.0\ndelta = 1e-6\n"
	for _, c := range []struct {
		name, text, format, cache, precision string
		gaps                                 bool
		rows, columns                        int // other than the flags'
	}{
		{name: "covariance", text: "method = \"covariance\"\n"},
		{name: "power", text: "method = \"power\"\n"},
		{name: "auto", text: "method = \"auto\"\n"},
		{name: "deflation", text: "method = \"power\"\nsubspace = \"deflation\"\n"},
		{name: "public-center", text: "method = \"power\"\ncenter = \"public\"\n"},
		{name: "standardized", text: "method = \"power\"\nstandardize = \"private\"\n"},
		{name: "fill", text: "method = \"power\"\nmissing = \"fill\"\n", gaps: true},
		{name: "csv", text: "method = \"power\"\n", format: "csv"},
		{name: "parquet", text: "method = \"power\"\n", format: "parquet"},
		{name: "float32", text: "method = \"power\"\n", precision: "float32"},
		{name: "no-cache", text: "method = \"power\"\n", cache: siteconfig.CacheMemory},
		{name: "no-cache-covariance", text: "method = \"covariance\"\n", cache: siteconfig.CacheMemory},
		{name: "no-cache-csv", text: "method = \"power\"\n", format: "csv", cache: siteconfig.CacheMemory},
		{name: "wide", text: "method = \"power\"\nrounds = 24\n", rows: 100, columns: *peakWide},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.format == "" {
				c.format = "npy"
			}
			if c.rows == 0 {
				c.rows, c.columns = *peakRows, *peakColumns
			}
			path := filepath.Join(dir, fmt.Sprintf("rows-%d-%v.%s", c.columns, c.gaps, c.format))
			if _, err := os.Stat(path); err != nil { // not another case's
				if err := table.Write(path, c.rows, c.columns, waves(c.gaps)); err != nil {
					t.Fatal(err)
				}
			}
			f := fed.NewFleet(t, bin, 1, 4)
			f.Patience = 20 * time.Minute
			f.Form(func(_ int, s *siteconfig.Config) {
				s.Datasets[0].Path, s.Datasets[0].Cache, s.Datasets[0].Precision = path, c.cache, c.precision
			})
			column := "offset = 0.0\nscale = 1.0\n"
			if strings.Contains(c.text, "standardize") {
				column = ""
			}
			f.Propose(c.name, learn+c.text, c.columns, column)
			f.When(c.name, "running", func(v fed.View) bool { return v.Status != "waiting" && v.Status != "proposed" && v.Phase != "approval" })
			start := time.Now()
			v := f.When(c.name, "over", func(v fed.View) bool { return v.Status == "completed" || v.Status == "ended" })
			wall := time.Since(start)
			if v.Status != "completed" {
				t.Fatalf("%+v", v)
			}
			result := filepath.Join(f.Dir, "result.json")
			f.Must(f.Sites[0].Run("agent", "-C", f.Sites[0].Dir, "study", "result", c.name, "--out", result))
			file, err := os.Stat(result)
			if err != nil {
				t.Fatal(err)
			}
			verified := peakOf(t, filepath.Join(bin, "agent"), "verify", result)
			time.Sleep(10 * time.Second) // until what is idle is given back
			rows, worst, left, used := int64(c.rows)*int64(c.columns)*8, int64(0), int64(0), 0.0
			if c.precision == "float32" {
				rows /= 2
			}
			for _, s := range f.Sites {
				now, most, err := fed.Memory(strconv.Itoa(s.Pid()))
				if err != nil {
					t.Fatal(err)
				}
				worst, left, used = max(worst, most), max(left, now), used+processorTime(t, s.Pid())
			}
			coordinators, most, err := fed.Memory(strconv.Itoa(f.Nodes[0].Pid()))
			if err != nil {
				t.Fatal(err)
			}
			// it reads all rows, and its budget is spent
			said, _ := exec.Command(filepath.Join(bin, "agent"), "-C", f.Sites[0].Dir, "check", "--study", filepath.Join(f.Dir, c.name+".toml")).Output()
			predicted := predictedPeak(t, string(said))
			bound := int64(peakFactor*float64(rows)) + peakRest
			t.Logf("figure: %s: rows %d MB, peak %d MB of %d, %.2f times the rows and 64 MB, predicted %d; %d MB after 10 s; %.1f s, %.1f s of processors a site, %d queries; coordinator %d MB, %d after 10 s, file %d MB, verify %d MB",
				c.name, rows/1e6, worst/1e6, bound/1e6, float64(worst-peakRest)/float64(rows), predicted/1e6, left/1e6, wall.Seconds(), used/4, v.Released, most/1e6, coordinators/1e6, file.Size()/1e6, verified/1e6)
			if worst > bound {
				t.Errorf("the peak is %d bytes, at most %d may be", worst, bound)
			}
			f.Patience = time.Minute // a busy machine's processes fall idle later
			f.Until("what is idle to be given back", func() error {
				for _, p := range f.All() {
					now, _, err := fed.Memory(strconv.Itoa(p.Pid()))
					if err == nil && now > peakRest+32<<20 {
						err = fmt.Errorf("%s holds %d bytes after the study", p.Name, now)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			if bound := peakRest + peakFile*file.Size(); c.name == "wide" && most > bound {
				t.Errorf("the coordinator's peak is %d bytes, at most %d may be", most, bound)
			}
			if bound := peakRest + file.Size(); c.name == "wide" && verified > bound {
				t.Errorf("agent verify takes %d bytes, at most %d may be", verified, bound)
			}
			for _, s := range f.All() {
				s.Kill()
			}
		})
	}
}

// peakOf returns the peak memory of a program that ends well. It looks while the program runs: what
// the system says after its end includes this process's own, from before the program was loaded.
func peakOf(t *testing.T, name string, args ...string) (most int64) {
	c := exec.Command(name, args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		if _, peak, err := fed.Memory(strconv.Itoa(c.Process.Pid)); err == nil {
			most = max(most, peak)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, said.Bytes())
			}
			return most
		case <-time.After(time.Millisecond):
		}
	}
}

// predictedPeak is what agent check said that a study takes.
func predictedPeak(t *testing.T, said string) int64 {
	found := regexp.MustCompile(`at most about (\d+) MB`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("no memory is predicted: %s", said)
	}
	mb, _ := strconv.ParseInt(found[1], 10, 64)
	return mb * 1e6
}

// processorTime is what a process has taken of the processors, in seconds.
func processorTime(t *testing.T, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // USER_HZ
}

// waves returns rows of d columns with a few strong components; with gaps, one cell in a hundred
// has no value.
func waves(gaps bool) func(row []float64) {
	rng := rand.New(rand.NewPCG(7, 8))
	return func(row []float64) {
		a, b := 3*rng.NormFloat64(), 2*rng.NormFloat64()
		for j := range row {
			v := 1 + a*math.Sin(float64(j)) + b*math.Cos(float64(2*j)) + rng.NormFloat64()
			row[j] = math.Round(v*1e8) / 1e8
			if gaps && rng.IntN(100) == 0 {
				row[j] = math.NaN()
			}
		}
	}
}
