//go:build unix

// Command project measures what projecting a data set costs beside reading it: it makes one of
// normal rows, then alternates between reading it as a study does ("agent check" reads so, hash and
// all) and projecting it, and prints each pair's ratio. Peak memory is the process's.
package main

import (
	"bufio"
	"crypto/ed25519"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"covey/experiments/bench/table"
	"covey/internal/dataset"
	_ "covey/internal/dataset/npy"
	_ "covey/internal/dataset/parquet"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/score"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

var (
	rows    = flag.Int("rows", 1_000_000, "rows")
	columns = flag.Int("columns", 100, "columns")
	k       = flag.Int("components", 5, "components")
	times   = flag.Int("times", 5, "pairs of runs")
	in      = flag.String("in", "npy", "csv, npy or parquet")
	out     = flag.String("out", "csv", "csv, npy or parquet")
	dir     = flag.String("dir", "", "folder for the files; a temporary one if empty")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	folder, err := os.MkdirTemp(*dir, "project")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	r, p, err := released()
	if err != nil {
		return err
	}
	m, err := score.New(r, p)
	if err != nil {
		return err
	}
	s := dataset.Source{Path: filepath.Join(folder, "rows."+*in)}
	if err := table.Write(s.Path, *rows, *columns, gaussian()); err != nil {
		return err
	}
	q := siteconfig.Dataset{}.Request(p.Proposal.Spec)
	q.Missing = dataset.MissingDropFaulty
	for range *times {
		begun, cpu := time.Now(), processor()
		if _, err := dataset.Validate(s, q, dataset.ReadOptions{}); err != nil {
			return err
		}
		read, readCPU := time.Since(begun), processor()-cpu
		f, err := os.Create(filepath.Join(folder, "scores"))
		if err != nil {
			return err
		}
		begun, cpu = time.Now(), processor()
		to := &buffered{bufio.NewWriterSize(f, 1<<20), f}
		if _, err := score.Project(m, s, q, to, score.Options{Format: score.Format(*out), Quantiles: []float64{0.99}}); err != nil {
			return err
		}
		if err := to.Flush(); err != nil {
			return err
		}
		both, bothCPU := time.Since(begun), processor()-cpu
		if err := f.Close(); err != nil {
			return err
		}
		var use syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
			return err
		}
		fmt.Printf("BenchmarkProject/in=%s/out=%s/rows=%d 1 %d ns/op %.3f project/read %.3f cpu-project/read %.1f peak-MB\n",
			*in, *out, *rows, both.Nanoseconds(), both.Seconds()/read.Seconds(), bothCPU.Seconds()/readCPU.Seconds(), float64(use.Maxrss)*1024/1e6)
	}
	return nil
}

// processor is the time that this process took of all processors.
func processor() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// buffered is a file with a buffer before it.
type buffered struct {
	*bufio.Writer
	f *os.File
}

func (b *buffered) Seek(offset int64, whence int) (int64, error) {
	if err := b.Flush(); err != nil {
		return 0, err
	}
	return b.f.Seek(offset, whence)
}

// released is one of a study with public constants and private centers.
func released() (*result.Result, *study.Plan, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	spec := proposal.Spec{Name: "s", Dataset: "rows", Components: proposal.Components(*k), Epsilon: 1, Delta: 1e-8, Rounds: 8}
	for j := range *columns {
		spec.Columns = append(spec.Columns, proposal.Column{Name: fmt.Sprintf("c%d", j), Offset: 1, Scale: 2})
	}
	var roster []proposal.Member
	for i := range 3 {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			return nil, nil, err
		}
		roster = append(roster, proposal.Member{Name: fmt.Sprintf("site%d", i), Identity: proposal.Key(public), Units: 100_000})
	}
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, nil, err
	}
	body, err := proposal.Propose(spec, roster, public, [32]byte{1})
	if err != nil {
		return nil, nil, err
	}
	p, err := study.NewPlan(body)
	if err != nil {
		return nil, nil, err
	}
	r := &result.Result{Digest: p.Digest, D: p.D, K: *k, TotalVariance: float64(p.D)}
	for j, c := range p.Proposal.Spec.Columns {
		r.Columns, r.Offset, r.Scale, r.Mean = append(r.Columns, c.Name), append(r.Offset, c.Offset), append(r.Scale, c.Scale), append(r.Mean, 0.1*float64(j))
	}
	for l := range *k { // columns of a cosine transform, which are orthonormal
		v := make([]float64, p.D)
		for j := range v {
			v[j] = math.Sqrt(2/float64(p.D)) * math.Cos(math.Pi*(float64(j)+0.5)*float64(l+1)/float64(p.D))
		}
		r.Components = append(r.Components, v)
		r.ExplainedVariance = append(r.ExplainedVariance, 1+rng.Float64())
	}
	return r, p, nil
}

// gaussian returns seeded rows, of numbers with five decimals.
func gaussian() func(row []float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	return func(row []float64) {
		for j := range row {
			row[j] = math.Round(1e5*rng.NormFloat64()) / 1e5
		}
	}
}
