package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"gonum.org/v1/gonum/mat"

	"covey/experiments/run"
	"covey/internal/proposal"
	"covey/internal/standardize"
	"covey/internal/study"
)

// learning is a point at which constants are learned: how far behind known ones studies may be on
// average; 0 where that is measured only.
type learning struct {
	law, kind string
	d, n, k   int
	most      float64
}

// learnings are at ε = 1, δ = 10^-6, by covariance, without explained variance.
var learnings = []learning{
	{"pow1", "normal", 64, 20_000, 5, 0.001},
	{"lowrank", "normal", 64, 20_000, 5, 0.001},
	{"flatq", "normal", 64, 20_000, 5, 0.005},
	{"pow1", "normal", 200, 50_000, 5, 0.001},
	{"pow1", "normal", 16, 5000, 3, 0.003},
	{"lowrank", "normal", 16, 5000, 3, 0.003},
	{"flatq", "normal", 16, 5000, 3, 0.003},
	{"pow1", "normal", 64, 5000, 5, 0.008},
	{"lowrank", "normal", 64, 5000, 5, 0.008},
	{"flatq", "normal", 64, 5000, 5, 0.035},
	{"pow1", "mixed", 64, 5000, 5, 0.01},
	{"pow1", "far", 64, 5000, 5, 0},
	{"pow1", "binary", 64, 5000, 5, 0},
	{"pow1", "lognormal", 64, 5000, 5, 0},
	{"pow1", "zeros", 64, 5000, 5, 0},
	{"pow1", "sparse", 64, 5000, 5, 0},
	{"pow1", "constant", 64, 5000, 5, 0},
	{"pow1", "coded", 64, 5000, 5, 0},
	{"pow1", "mixed", 64, 20_000, 5, 0},
	{"pow1", "far", 64, 20_000, 5, 0},
	{"pow1", "zeros", 64, 20_000, 5, 0},
	{"pow1", "sparse", 64, 20_000, 5, 0},
	{"pow1", "constant", 64, 20_000, 5, 0},
	{"pow1", "coded", 64, 20_000, 5, 0},
	{"pow1", "normal", 64, 2000, 5, 0},
}

// learn prints, for each point, what studies capture of the rows' own correlation matrix with known
// constants, with known constants and the same last step, the correlation by the noised diagonal,
// and with constants that they learn. Behind is the second less the third.
func learn(f *flag.FlagSet) func(io.Writer) (int, error) {
	seeds := f.Int("seeds", 24, "studies a line; data and noise are seeded")
	first := f.Int("first", 1000, "the first seed; constants were tuned on seeds below 100 of other data")
	only := f.String("only", "", `lines whose "kind law d n" contains this`)
	distributed := f.Bool("distributed", false, "distributed noise")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "studies side by side")
	return func(to io.Writer) (missed int, err error) {
		runtime.GOMAXPROCS(*procs)
		w := columns(to, "columns\tlaw\td\tn\tk\tscore\tshare\tknown\tknown+\tlearned\tbehind\t± se\t95%\tleft out\tat most\t")
		for _, p := range learnings {
			if !strings.Contains(fmt.Sprint(p.kind, " ", p.law, " ", p.d, " ", p.n), *only) {
				continue
			}
			learned, known, err := run.Columns(p.law, p.kind, p.d, standardize.RowLimit)
			if err != nil {
				return missed, err
			}
			var plan *study.Plan
			out, err := run.Repeat(*seeds, func(seed uint64) ([]float64, error) {
				seed += uint64(*first)
				own, err := captureLearned(learned, p, seed, *distributed, &plan)
				if err != nil {
					return nil, err
				}
				others, err := captureKnown(known, p, seed, *distributed)
				return append(own, others...), err
			})
			if err != nil {
				return missed, err
			}
			behind := make(run.Sample, *seeds)
			for i := range behind {
				behind[i] = out[3][i] - out[0][i]
			}
			mark := ""
			if p.most > 0 {
				mark = fmt.Sprint(p.most)
				if behind.Mean() > p.most {
					missed++
					mark += " short"
				}
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%.1f\t%.1f%%\t%.4f\t%.4f\t%.4f\t%+.4f\t%.4f\t%+.4f\t%.1f\t%s\t\n", p.kind, p.law, p.d, p.n, p.k, plan.Learning.Score, 100*plan.Shares().Standardize,
				out[2].Mean(), out[3].Mean(), out[0].Mean(), behind.Mean(), standardError(behind), behind.Quantile(0.95), out[1].Mean(), mark)
		}
		return missed, w.Flush()
	}
}

func spec(p learning, distributed bool) proposal.Spec {
	s := run.Spec(p.d, 1)
	s.Components, s.Method, s.Noise = proposal.Components(p.k), proposal.MethodCovariance, proposal.NoiseCentral
	if distributed {
		s.Noise = proposal.NoiseDistributed
	}
	return s
}

// captureLearned returns what a study that learns constants captures, and how many columns it left
// out.
func captureLearned(source run.Source, p learning, seed uint64, distributed bool, plan **study.Plan) ([]float64, error) {
	m, err := source.Draw(p.n, seed)
	if err != nil {
		return nil, err
	}
	s := spec(p, distributed)
	s.Standardize, s.Center, s.CentralDetail = proposal.StandardizePrivate, "", !distributed
	for j := range s.Columns {
		s.Columns[j].Scale = 0
	}
	of, r, err := run.Study{Spec: s, Fixed: true}.Planned(m, seed)
	if err != nil {
		return nil, err
	}
	*plan = of
	return []float64{m.Captured(r.Components), float64(len(r.LeftOut))}, nil
}

// captureKnown returns what a study with known constants captures as it is, and after the last step
// of those that learn them.
func captureKnown(source run.Source, p learning, seed uint64, distributed bool) ([]float64, error) {
	m, err := source.Draw(p.n, seed)
	if err != nil {
		return nil, err
	}
	r, err := run.Study{Spec: spec(p, distributed), Fixed: true}.On(m, seed)
	if err != nil {
		return nil, err
	}
	values, vectors, tau, err := study.Spectrum(r.Releases, p.d)
	if err != nil {
		return nil, err
	}
	v := mat.NewDense(p.d, p.d, nil)
	for i, x := range vectors {
		v.SetCol(i, x)
	}
	var scaled, full mat.Dense
	scaled.Mul(v, mat.NewDiagDense(p.d, values))
	full.Mul(&scaled, v.T())
	entries := make([]float64, p.d)
	for j := range entries {
		entries[j] = full.At(j, j)
	}
	diagonal := standardize.Diagonal(entries, tau, make([]standardize.Column, p.d))
	correlation := mat.NewSymDense(p.d, nil)
	for i := range p.d {
		for j := range i + 1 {
			correlation.SetSym(i, j, full.At(i, j)/math.Sqrt(diagonal[i]*diagonal[j]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(correlation, true) {
		return nil, fmt.Errorf("the eigenvalues do not converge")
	}
	var w mat.Dense
	e.VectorsTo(&w)
	best := make([][]float64, p.k)
	for i := range best {
		best[i] = mat.Col(nil, p.d-1-i, &w)
	}
	return []float64{m.Captured(r.Components), m.Captured(best)}, nil
}
