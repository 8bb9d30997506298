package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// target is an error, 1 - captured, that studies of a law may have.
type target struct {
	law    string
	n, k   int
	method string
	most   float64
	median bool // of the median, else of the mean
}

// points are at ε = 1, δ = 10^-6, d = 64, with central noise and no explained variance.
var points = []target{
	{"flatq", 5000, 5, proposal.MethodCovariance, 0.088, false},
	{"pow1", 5000, 5, proposal.MethodCovariance, 0.0110, false},
	{"ar0.95", 5000, 5, proposal.MethodCovariance, 0.0036, false},
	{"flatq", 20_000, 5, proposal.MethodCovariance, 0.0142, false},
	{"pow1", 20_000, 5, proposal.MethodCovariance, 0.0010, false},
	{"t3-flatq", 10_000, 5, proposal.MethodCovariance, 0.037, false},
	{"flatq", 20_000, 1, proposal.MethodPower, 0.0095, false},
	{"flatq", 20_000, 1, proposal.MethodAuto, 0.0120, false},
	{"t3-flatq", 10_000, 1, proposal.MethodPower, 0.020, false},
	{"flatq", 4800, 1, proposal.MethodPower, 0.05, true},
	{"flatq", 5200, 1, proposal.MethodAuto, 0.05, true},
}

// targets prints each of the points with the error measured there and its standard error. One that
// is above its target is a miss. Over 40 seeds, the standard error is up to 5% of an error.
func targets(f *flag.FlagSet) func(io.Writer) (int, error) {
	seeds := f.Int("seeds", 400, "studies a line; data and noise are seeded")
	only := f.String("only", "", "only lines of this method")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "studies side by side")
	return func(to io.Writer) (missed int, err error) {
		runtime.GOMAXPROCS(*procs)
		w := columns(to, "data\td\tn\tk\tmethod\terror\t± se\tmedian\t5% worst\tat most\t")
		for _, p := range points {
			if *only != "" && p.method != *only {
				continue
			}
			source, _, err := run.LawNamed(p.law, 64)
			if err != nil {
				return missed, err
			}
			spec := run.Spec(64, 1)
			spec.Components, spec.Method = proposal.Components(p.k), p.method
			out, err := captured(source, p.n, *seeds, spec)
			if err != nil {
				return missed, err
			}
			loss := make(run.Sample, len(out[0]))
			for i, c := range out[0] {
				loss[i] = 1 - c
			}
			got, of := loss.Mean(), ""
			if p.median {
				got, of = loss.Quantile(0.5), ", median"
			}
			mark := ""
			if got > p.most {
				missed++
				mark = " short"
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%.5f\t%.5f\t%.5f\t%.5f\t%g%s%s\t\n", p.law, 64, p.n, p.k, p.method, loss.Mean(), standardError(loss), loss.Quantile(0.5), loss.Quantile(0.95), p.most, of, mark)
		}
		return missed, w.Flush()
	}
}

// standardError returns the standard error of the mean.
func standardError(s run.Sample) float64 {
	mean, sum := s.Mean(), 0.0
	for _, v := range s {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(s)-1) / float64(len(s)))
}
