// Command timing measures what the sampler's time shows of what it drew, what is left of that
// after the tick on which a release leaves, and what the time of a site's sums shows of its values
// (docs/experiments.md, "The sampler's time").
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"

	"covey/internal/noise"
)

func main() {
	releases := flag.Int("releases", 20_000, "releases of one value a σ; of d values, as many as draw 25 times that, and at least 1,000")
	flag.Parse()
	if err := run(os.Stdout, *releases); err != nil {
		fmt.Fprintln(os.Stderr, "timing:", err)
		os.Exit(1)
	}
}

// laws are the σ measured: a histogram's, the least of a vector query's grid, and wider ones, on
// whose proposals the sampler takes more words.
var laws = []struct {
	name  string
	sigma float64
}{{"45", 45.0049}, {"2^16", 1 << 16}, {"2^20", 1 << 20}, {"2^34", 1 << 34}}

func run(w io.Writer, releases int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "σ\tvalues\treleases\tmedian µs\t99% µs\trank correlation with Σ|draw|: once\t95%\tleast of five\t95%\tns per σ\ttick ms\tlater\tcorrelation of ticks\t")
	var ones []seen
	for _, law := range laws {
		for _, values := range []int{1, 64, 1024} {
			n := releases
			if values > 1 {
				n = max(1000, releases*25/values)
			}
			s, err := measure(law.sigma, values, min(n, releases))
			if err != nil {
				return err
			}
			once, half := rank(s.magnitude, s.once)
			least, _ := rank(s.magnitude, s.least)
			sigma, err := noise.SigmaAtLeast(law.sigma)
			if err != nil {
				return err
			}
			// that of a query (study.Plan.Tick) whose study sets no deadlines.tick, in ns
			tick, late := float64(time.Millisecond+sigma.DrawTime(values)), 0
			ticks := make([]float64, len(s.once))
			for i, x := range s.once {
				ticks[i] = math.Ceil(x / tick)
				if x > tick {
					late++
				}
			}
			after := "none: always 1"
			if late > 0 {
				r, _ := rank(s.magnitude, ticks)
				after = interval(r, half)
			}
			fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%.1f\t%.3f\t%s\t%.3f\t%s\t%.0f\t%.3g\t%d\t%s\t\n", law.name, values, len(s.once),
				quantile(s.once, 0.5)/1e3, quantile(s.once, 0.99)/1e3, once, interval(once, half), least, interval(least, half), s.slope(), tick/1e6, late, after)
			if values == 1 {
				s.name = law.name
				ones = append(ones, s)
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range ones {
		fmt.Fprintf(w, "\nσ = %s, one value: least time by magnitude\n", s.name)
		s.histogram(w)
	}
	return sums(w, min(releases, 400))
}

// interval returns Fisher's 95% interval of a correlation.
func interval(r, half float64) string {
	return fmt.Sprintf("%.3f..%.3f", math.Tanh(math.Atanh(r)-half), math.Tanh(math.Atanh(r)+half))
}

// seen are releases: the time in ns that the noise of each took, Σ|draw|/σ of its values, and the
// least of five times that the same draws took, which is nearer to what they take by themselves
// than anything that an observer of one release has.
type seen struct {
	name                   string
	once, least, magnitude []float64
}

const repeats = 5

// measure draws the noise of releases as the coordinator does: a generator of its own each, a
// sampler, then the values.
func measure(sigma float64, values, releases int) (seen, error) {
	s, err := noise.SigmaAtLeast(sigma)
	if err != nil {
		return seen{}, err
	}
	draws := make([]int64, values)
	var out seen
	for i := range releases + 100 {
		key := noise.Key([]uint64{uint64(i), uint64(values), uint64(s)}, 64, [32]byte{}, [32]byte{})
		once, least := 0.0, math.Inf(1)
		for k := range repeats {
			began := time.Now()
			if err := s.Draw(noise.NewKeyed(key), draws); err != nil {
				return seen{}, err
			}
			took := float64(time.Since(began).Nanoseconds())
			if k == 0 {
				once = took
			}
			least = min(least, took)
		}
		if i < 100 {
			continue // caches and the processor's clock
		}
		magnitude := 0.0
		for _, v := range draws {
			magnitude += math.Abs(float64(v)) / s.Float()
		}
		out.once, out.least, out.magnitude = append(out.once, once), append(out.least, least), append(out.magnitude, magnitude)
	}
	return out, nil
}

func quantile(v []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[int(p*float64(len(sorted)-1))]
}

// slope returns that of the least squares line of the least times on magnitude.
func (s *seen) slope() float64 {
	most := quantile(s.least, 0.999)
	var x, y []float64
	for i, took := range s.least {
		if took <= most { // the rest is what else the machine did
			x, y = append(x, s.magnitude[i]), append(y, took)
		}
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}

// histogram tells the least times of releases of one value by its magnitude.
func (s *seen) histogram(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "|draw|/σ\treleases\t10% ns\tmedian ns\t90% ns\t")
	edges := []float64{0, 0.5, 1, 1.5, 2, 2.5, 3, math.Inf(1)}
	for i := range len(edges) - 1 {
		var in []float64
		for j, m := range s.magnitude {
			if m >= edges[i] && m < edges[i+1] {
				in = append(in, s.least[j])
			}
		}
		if len(in) == 0 {
			continue
		}
		fmt.Fprintf(t, "%.1f..%.1f\t%d\t%.0f\t%.0f\t%.0f\t\n", edges[i], edges[i+1], len(in), quantile(in, 0.1), quantile(in, 0.5), quantile(in, 0.9))
	}
	t.Flush()
}

// rank is Spearman's correlation, which the machine's rare long pauses hardly move, and half of its
// 95% interval under Fisher's transform (1.06/(n-3) is its variance there).
func rank(a, b []float64) (r, half float64) {
	return stat.Correlation(ranks(a), ranks(b), nil), 1.96 * math.Sqrt(1.06/float64(len(a)-3))
}

// ranks returns ranks, of ties their mean.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case v[a] < v[b]:
			return -1
		case v[a] > v[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}
