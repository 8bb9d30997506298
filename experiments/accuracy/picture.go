package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"

	"covey/experiments/run"
	"covey/internal/picture"
	"covey/internal/proposal"
)

// pictureAim is the total variation that a picture may be off by, on average.
const pictureAim = 0.10

// pictures measures how far what is drawn of a picture is from the picture without noise, in total
// variation over its bins: on normal rows, clusters and heavy tails, with central noise and
// distributed noise, of studies whose sums wait for every site and of such that do not. A mean
// above pictureAim is a miss.
func pictures(f *flag.FlagSet) func(io.Writer) (int, error) {
	seeds := f.Int("seeds", 20, "studies a line; data and noise are seeded")
	n := f.Int("n", 20_000, "units")
	d := f.Int("d", 16, "columns")
	k := f.Int("k", 2, "components")
	epsilon := f.Float64("epsilon", 1, "")
	share := f.Float64("share", 0.05, "picture_share")
	only := f.String("only", "", "only lines that contain this")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "studies side by side")
	return func(to io.Writer) (missed int, err error) {
		runtime.GOMAXPROCS(*procs)
		normal, err := run.Gaussian("lowrank", *d)
		if err != nil {
			return 0, err
		}
		power, err := run.Gaussian("pow1", *d)
		if err != nil {
			return 0, err
		}
		heavy, err := run.Student("lowrank", *d, 3)
		if err != nil {
			return 0, err
		}
		sharp := run.Clusters(*d, 20, 0.02)
		sharp.Name = "20 sharp clusters"
		w := columns(to, "rows\tnoise\ton dropout\t± a bin\tas released\tdrawn\tworst\t")
		for _, source := range []run.Source{run.Rotated(normal), run.Rotated(power), run.Clusters(*d, 5, 0.15), sharp, heavy} {
			for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
				for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
					if noise == proposal.NoiseCentral && dropout == proposal.DropoutContinue || !strings.Contains(source.Name+" "+noise+" "+dropout, *only) {
						continue
					}
					spec := run.Spec(*d, *epsilon)
					spec.Components, spec.Center, spec.ExplainedVariance, spec.Noise, spec.OnDropout = proposal.Components(*k), proposal.CenterPrivate, proposal.VariancePrivate, noise, dropout
					spec.Picture, spec.PictureShare = true, *share
					out, err := run.Repeat(*seeds, func(seed uint64) ([]float64, error) { return pictured(source, spec, *n, seed) })
					if err != nil {
						return missed, err
					}
					mark := ""
					if out[2].Mean() > pictureAim {
						missed++
						mark = " short"
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%.1f\t%.4f\t%.4f%s\t%.4f\t\n", source.Name, noise, dropout, out[0].Mean(), out[1].Mean(), out[2].Mean(), mark, out[2].Quantile(1))
				}
			}
		}
		return missed, w.Flush()
	}
}

// pictured is the noise of a bin of one study's picture, and how far the picture is from the true
// one: with negative counts as 0, and as it is drawn.
func pictured(source run.Source, spec proposal.Spec, n int, seed uint64) ([]float64, error) {
	m, err := source.Draw(n, seed)
	if err != nil {
		return nil, err
	}
	r, err := run.Study{Spec: spec, Fixed: true}.On(m, seed)
	if err != nil {
		return nil, err
	}
	p := r.Pictures[0]
	truth := m.Counted(r, p)
	released := make([]float64, len(truth))
	for i, c := range p.Counts[0] {
		released[i] = max(0, c)
	}
	drawn, err := picture.New(p)
	if err != nil {
		return nil, err
	}
	return []float64{p.Sigma, run.Variation(released, truth), run.Variation(drawn.Shown[0], truth)}, nil
}
