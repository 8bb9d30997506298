package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"

	"covey/experiments/run"
	"covey/internal/noise"
	"covey/internal/picture"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// sparse is the sparse histogram of CRAN's dppca 0.1.0, by Algorithm 5 of its page "Algorithms",
// after Karwa and Vadhan 2018: occupied bins alone get Laplace noise of scale 2/ε and are kept from
// 2·ln(2/δ)/ε + 1 units on. That is (ε, δ)-differentially private when one unit is replaced.
func sparse(truth []float64, epsilon, delta float64, random *rand.Rand) []float64 {
	out := make([]float64, len(truth))
	for i, c := range truth {
		if c == 0 {
			continue
		}
		c += laplace(random) * 2 / epsilon
		if c >= 2*math.Log(2/delta)/epsilon+1 {
			out[i] = c
		}
	}
	return out
}

// additive is dppca's other histogram, Algorithm 4 of the same page: Gaussian noise of the
// classical calibration, and no count below 0.
func additive(truth []float64, epsilon, delta float64, random *rand.Rand) []float64 {
	return positive(noisy(truth, math.Sqrt2*math.Sqrt(2*math.Log(1.25/delta))/epsilon, random))
}

func laplace(random *rand.Rand) float64 { return random.ExpFloat64() - random.ExpFloat64() }

func noisy(truth []float64, sigma float64, random *rand.Rand) []float64 {
	out := make([]float64, len(truth))
	for i, c := range truth {
		out[i] = c + sigma*random.NormFloat64()
	}
	return out
}

func positive(counts []float64) []float64 {
	for i, c := range counts {
		counts[i] = max(0, c)
	}
	return counts
}

// plane is a law of two scores.
type plane struct {
	name string
	draw func(*rand.Rand) (x, y float64)
}

// ring puts the middle of one of n clusters on a circle, at random.
func ring(r *rand.Rand, n int) (float64, float64) {
	a := 2 * math.Pi * float64(r.IntN(n)) / float64(n)
	return math.Cos(a), math.Sin(a)
}

// planes are the laws that both methods are compared on. Nothing was chosen on those from "moon"
// on, and nothing on these seeds of any.
var planes = []plane{
	{"normal", func(r *rand.Rand) (float64, float64) { return r.NormFloat64(), r.NormFloat64() }},
	{"t3", func(r *rand.Rand) (float64, float64) {
		chi := 0.0
		for range 3 {
			g := r.NormFloat64()
			chi += g * g
		}
		return r.NormFloat64() / math.Sqrt(chi/3), r.NormFloat64() / math.Sqrt(chi/3)
	}},
	{"uniform", func(r *rand.Rand) (float64, float64) { return r.Float64(), r.Float64() }},
	{"moon", func(r *rand.Rand) (float64, float64) {
		x := r.NormFloat64()
		return x, 0.7*x*x + 0.4*r.NormFloat64()
	}},
	{"ring", func(r *rand.Rand) (float64, float64) {
		x, y := ring(r, 1_000_000)
		return x + 0.12*r.NormFloat64(), y + 0.12*r.NormFloat64()
	}},
	{"five clusters", func(r *rand.Rand) (float64, float64) {
		x, y := ring(r, 5)
		return x + 0.15*r.NormFloat64(), y + 0.15*r.NormFloat64()
	}},
	{"contaminated", func(r *rand.Rand) (float64, float64) {
		s := 0.7
		if r.Float64() < 0.1 {
			s = 3
		}
		return s * r.NormFloat64(), s * r.NormFloat64()
	}},
	{"exponential", func(r *rand.Rand) (float64, float64) { return r.ExpFloat64(), r.ExpFloat64() }},
	{"rare cluster", func(r *rand.Rand) (float64, float64) {
		if r.Float64() < 0.03 {
			return 4 + 0.3*r.NormFloat64(), 3 + 0.3*r.NormFloat64()
		}
		return r.NormFloat64(), r.NormFloat64()
	}},
	{"point in a cloud", func(r *rand.Rand) (float64, float64) {
		if r.Float64() < 0.3 {
			return 0.2, 0.3
		}
		return r.NormFloat64(), r.NormFloat64()
	}},
	{"three points", func(r *rand.Rand) (float64, float64) { return ring(r, 3) }},
	{"lattice", func(r *rand.Rand) (float64, float64) {
		return math.Round(1.2 * r.NormFloat64()), math.Round(1.2 * r.NormFloat64())
	}},
}

// edges are those of a picture's bins in standard deviations.
func edges() (out []float64) {
	for i := range study.PictureBins + 1 {
		out = append(out, 2*study.PictureReach*float64(i)/study.PictureBins-study.PictureReach)
	}
	return out
}

// counted returns the histogram of n rows, each score less its mean and over its standard
// deviation.
func (p plane) counted(n int, random *rand.Rand) []float64 {
	scores := [2][]float64{make([]float64, n), make([]float64, n)}
	for i := range n {
		scores[0][i], scores[1][i] = p.draw(random)
	}
	bins := make([]int, n)
	for _, s := range scores {
		mean, square := 0.0, 0.0
		for _, v := range s {
			mean += v / float64(n)
			square += v * v / float64(n)
		}
		for i, v := range s {
			at := (v-mean)/math.Sqrt(square-mean*mean) + study.PictureReach
			bins[i] = bins[i]*study.PictureBins + min(study.PictureBins-1, max(0, int(at*study.PictureBins/(2*study.PictureReach))))
		}
	}
	out := make([]float64, study.PictureBins*study.PictureBins)
	for _, b := range bins {
		out[b]++
	}
	return out
}

// firstSeed is above every seed that anything in internal/picture was chosen on.
const firstSeed = 9_000_000

// histograms puts pictures of this project side by side with those of CRAN's dppca: total variation
// to the true histogram of 16 by 16 bins, of the same rows on the same grid, for the same privacy.
// A line on which the mean of pictures here is more than two standard errors of the difference
// above that of dppca's sparse histogram is a miss.
//
// The same privacy is that of one part of a study: the same ρ, of which pure ε costs ε²/2 (Bun and
// Steinke 2016). "Alone" is what a sparse histogram might have if nothing else were released: the ε
// of the picture's curve at all of δ. As part of a study it would cost 14 times as much of ρ.
func histograms(f *flag.FlagSet) func(io.Writer) (int, error) {
	seeds := f.Int("seeds", 20, "data and noise of a line")
	epsilon := f.Float64("epsilon", 1, "of the whole study")
	delta := f.Float64("delta", 1e-6, "")
	share := f.Float64("share", 0.05, "of ρ for the picture")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "lines' seeds side by side")
	return func(to io.Writer) (missed int, err error) {
		runtime.GOMAXPROCS(*procs)
		rho, err := noise.GDP.Rho(*epsilon, *delta)
		if err != nil {
			return 0, err
		}
		rho *= *share
		alone, err := noise.GDP.Epsilon(rho, *delta)
		if err != nil {
			return 0, err
		}
		sigma := noise.SigmaFor(rho, math.Sqrt2)
		fmt.Fprintf(to, "here: ± %.2f units a bin, of five sites' own noise ± %.2f\n", sigma, sigma*math.Sqrt(1.25))
		fmt.Fprintf(to, "sparse, alone: ε = %.4f, δ = %g, Laplace noise of ± %.2f, from %.0f units on\n", alone, *delta, 2*math.Sqrt2/alone, 2*math.Log(2 / *delta)/alone+1)
		same := math.Sqrt(2 * rho)
		fmt.Fprintf(to, "sparse: ε = %.4f, δ = %g, ± %.2f, from %.0f units on\n\n", same, *delta, 2*math.Sqrt2/same, 2*math.Log(2 / *delta)/same+1)
		w := columns(to, "rows\tunits\there\t± sd\tfive sites\tsparse\t± sd\tsparse, alone\tadditive, alone\tbins as noised\t")
		line := func(name string, n int, truth func(random *rand.Rand) ([]float64, error)) error {
			out, err := run.Repeat(*seeds, func(seed uint64) ([]float64, error) {
				random := rand.New(rand.NewPCG(firstSeed+seed, uint64(n)))
				counts, err := truth(random)
				if err != nil {
					return nil, err
				}
				here := func(sigma float64) (float64, []float64, error) {
					p := result.Picture{Pair: [2]int{1, 2}, X: edges(), Y: edges(), Counts: [][]float64{noisy(counts, sigma, random)}, Sigma: sigma}
					d, err := picture.New(p)
					if err != nil {
						return 0, nil, err
					}
					return run.Variation(d.Shown[0], counts), p.Counts[0], nil
				}
				central, bare, err := here(sigma)
				if err != nil {
					return nil, err
				}
				distributed, _, err := here(sigma * math.Sqrt(1.25))
				if err != nil {
					return nil, err
				}
				return []float64{
					central, distributed,
					run.Variation(sparse(counts, same, *delta, random), counts), run.Variation(sparse(counts, alone, *delta, random), counts),
					run.Variation(additive(counts, alone, *delta, random), counts), run.Variation(positive(bare), counts),
				}, nil
			})
			if err != nil {
				return err
			}
			behind := make(run.Sample, *seeds)
			for i := range behind {
				behind[i] = out[0][i] - out[2][i]
			}
			mark := ""
			if behind.Mean() > 2*standardError(behind) {
				missed++
				mark = " behind"
			}
			fmt.Fprintf(w, "%s\t%d\t%.4f%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t\n", name, n, out[0].Mean(), mark, deviation(out[0]), out[1].Mean(), out[2].Mean(), deviation(out[2]), out[3].Mean(), out[4].Mean(), out[5].Mean())
			return nil
		}
		for _, n := range []int{2000, 20_000, 200_000} {
			for _, p := range planes {
				if err := line(p.name, n, func(random *rand.Rand) ([]float64, error) { return p.counted(n, random), nil }); err != nil {
					return missed, err
				}
			}
		}
		m, err := run.Diamonds("diamonds", true)
		if err != nil {
			return missed, err
		}
		spec := run.Spec(m.D, *epsilon)
		spec.Components, spec.ExplainedVariance, spec.Picture = 2, proposal.VariancePrivate, true
		r, err := run.Study{Spec: spec, Fixed: true}.On(m, firstSeed)
		if err != nil {
			return missed, err
		}
		truth := m.Counted(r, r.Pictures[0])
		if err := line(m.Name, m.N, func(*rand.Rand) ([]float64, error) { return truth, nil }); err != nil {
			return missed, err
		}
		return missed, w.Flush()
	}
}

// deviation is the standard deviation of one of a sample.
func deviation(s run.Sample) float64 { return standardError(s) * math.Sqrt(float64(len(s))) }
