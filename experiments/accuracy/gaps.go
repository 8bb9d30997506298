package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// gapLoss is how far behind complete rows filled ones may be, of cells that are empty at random.
const gapLoss = 0.003

// learned stands for central noise and constants that the study learns.
const learned = "learned"

// gaps measures what empty cells cost: the variance captured by studies of complete rows, and of
// the same rows with a share of the cells empty, filled, taken as zeros and with their rows
// dropped. A mean of filled rows, empty at random, that is more than gapLoss behind complete ones
// is a miss.
func gaps(f *flag.FlagSet) func(io.Writer) (int, error) {
	seeds := f.Int("seeds", 24, "studies a line; data and noise are seeded")
	share := f.Float64("share", 0.2, "of the cells that are empty")
	n := f.Int("n", 20_000, "units")
	d := f.Int("d", 32, "columns")
	only := f.String("only", "", "only lines that contain this")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "studies side by side")
	return func(to io.Writer) (missed int, err error) {
		runtime.GOMAXPROCS(*procs)
		w := columns(to, "data\tmethod\tnoise\tempty\tcomplete\tfill\tzero\tdrop-row\tfill behind\t± se\t")
		for _, how := range []string{run.GapsRandom, run.GapsUneven, run.GapsSites, run.GapsFirst, run.GapsLast, run.GapsOther, run.GapsUpper} {
			for _, law := range []string{"pow1", "lowrank", "pairs"} {
				if (law == "pairs") != (how == run.GapsFirst || how == run.GapsLast) {
					continue
				}
				for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower} {
					for _, as := range []string{proposal.NoiseCentral, proposal.NoiseDistributed, learned} {
						if as != proposal.NoiseCentral && how != run.GapsRandom {
							continue
						}
						if line := strings.Join([]string{law, method, as, how}, " "); !strings.Contains(line, *only) {
							continue
						}
						source, err := run.Pairs(*d), error(nil)
						if law != "pairs" {
							if source, err = run.Gaussian(law, *d); err != nil {
								return missed, err
							}
							source = run.Rotated(source)
						}
						spec := run.Spec(*d, 1)
						spec.Components, spec.Method, spec.Center, spec.Noise = 3, method, proposal.CenterPrivate, as
						if as == learned {
							source, spec.Noise, spec.Standardize = run.Unit(source), proposal.NoiseCentral, proposal.StandardizePrivate
							for j := range spec.Columns {
								spec.Columns[j].Scale = 0
							}
						}
						out, err := run.Repeat(*seeds, func(seed uint64) ([]float64, error) { return gapped(source, spec, how, *share, *n, seed) })
						if err != nil {
							return missed, err
						}
						behind := make(run.Sample, *seeds)
						for i := range behind {
							behind[i] = out[0][i] - out[1][i]
						}
						mark := ""
						if how == run.GapsRandom && behind.Mean() > gapLoss {
							missed++
							mark = " short"
						}
						fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.4f\t%.4f\t%.4f\t%.4f\t%+.4f%s\t%.4f\t\n", law, method, as, how, out[0].Mean(), out[1].Mean(), out[2].Mean(), out[3].Mean(), behind.Mean(), mark, standardError(behind))
					}
				}
			}
		}
		return missed, w.Flush()
	}
}

// gapped is what four studies of one data set capture: of complete rows, and of rows with empty
// cells by each of the ways to treat them.
func gapped(source run.Source, spec proposal.Spec, how string, share float64, n int, seed uint64) ([]float64, error) {
	m, err := source.Draw(n, seed)
	if err != nil {
		return nil, err
	}
	empty, err := m.Emptied(how, share, seed)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, c := range []struct {
		data    *run.Data
		missing string
	}{{m, proposal.MissingError}, {empty, proposal.MissingFill}, {empty, proposal.MissingZero}, {empty.Dropped(), proposal.MissingDropRow}} {
		if spec.Missing = c.missing; c.missing == proposal.MissingDropRow && spec.Standardize != "" {
			out = append(out, math.NaN()) // too few rows are left to learn from: the study ends
			continue
		}
		spec.CentralDetail = spec.Noise == proposal.NoiseCentral && (spec.KeepsGaps() || spec.Standardize != "")
		r, err := run.Study{Spec: spec, Fixed: true}.On(c.data, seed)
		if err != nil {
			return nil, err
		}
		out = append(out, m.Captured(r.Components))
	}
	return out, nil
}
