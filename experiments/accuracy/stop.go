package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"covey/experiments/run"
	"covey/internal/noise"
	"covey/internal/proposal"
)

// stops are the laws that stop measures one component of.
var stops = []struct {
	law  string
	d, n int
}{
	{"slow0.05", 16, 3000}, {"slow0.05", 16, 10_000}, {"slow0.05", 32, 10_000}, {"slow0.1", 32, 10_000}, {"slow0.1", 32, 20_000}, {"exp0.9", 32, 10_000},
	{"flatq", 32, 5000}, {"flat4", 32, 5000}, {"slow0.1", 64, 10_000},
	{"slow0.05", 16, 800}, {"slow0.02", 32, 2400}, {"slow0.05", 32, 2400}, {"slow0.1", 32, 2400}, {"slow0.3", 32, 2400}, {"gap2", 32, 1500}, {"gap2", 32, 2400}, {"flatq", 64, 5000},
}

// planned is how many rounds a study has; the first of the others that are measured.
const planned = 24

// reserves are parts of the steps' budget that are kept for after the planned rounds: further ones
// share a part evenly, more of them or fewer.
var reserves = []struct {
	part        float64
	more, fewer int
}{
	{0.15, 12, 1},
	{0.745, 24, 6}, // all rounds before cost what they do in 48
}

// goesOn are rules over the first rounds: those after which there are more.
var goesOn = []struct {
	name string
	rule func(w *walk) bool
}{
	{"angle over 3 of noise", func(w *walk) bool { return w.moved() > 3 }},
	{"angle over 5 of noise", func(w *walk) bool { return w.moved() > 5 }},
	{"xᵀz grew by 1 sd", func(w *walk) bool { return w.grown() > 1 }},
	{"xᵀz grew by 2 sd", func(w *walk) bool { return w.grown() > 2 }},
	{"noise-to-signal below 0.3", func(w *walk) bool { return w.noise() < 0.3 }},
}

// endings are the errors of one study's data and start for each of names.
func endings(lambda []float64, n int, sigma float64, seed uint64) (loss []float64, names []string) {
	add := func(name string, w *walk) {
		l := 1.0
		for j, x := range w.output() {
			l -= lambda[j] * x * x / lambda[0]
		}
		loss, names = append(loss, l), append(names, name)
	}
	steps := 0.96 // what private radii leave
	if n < 4000 {
		steps = 0.9
	}
	w := newWalk(lambda, n, sigma, seed)
	for _, t := range []int{planned, 36, 48} {
		a := w.fork()
		a.rising(t, steps)
		add(fmt.Sprint(t, " rounds"), a)
	}
	for _, r := range reserves {
		trunk := w.fork()
		trunk.rising(planned, steps*(1-r.part))
		fewer, more := trunk.fork(), trunk.fork()
		fewer.even(r.fewer, steps*r.part)
		more.even(r.more, steps*r.part)
		label := fmt.Sprintf("%g kept: ", r.part)
		add(fmt.Sprint(label, r.fewer, " more"), fewer)
		add(fmt.Sprint(label, r.more, " more"), more)
		both := loss[len(loss)-2:]
		loss, names = append(loss, slices.Min(both)), append(names, label+"the better")
		for _, g := range goesOn {
			if g.rule(trunk) {
				add(label+g.name, more)
			} else {
				add(label+g.name, fewer)
			}
		}
	}
	return loss, names
}

// wholeSigma is σ/Δ of one query with the whole budget of ε = 1, δ = 10^-6.
func wholeSigma() (float64, error) {
	rho, err := noise.GDP.Rho(1, 1e-6)
	return noise.SigmaFor(rho, 1), err
}

// stop measures whether rounds that go on while the direction moves are better than as many as were
// planned, for the same budget: walks, as no study has such rounds. Then come studies of fixed
// rounds.
func stop(f *flag.FlagSet) func(io.Writer) (int, error) {
	times := f.Int("times", 100, "runs a law; data and noise are seeded")
	studies := f.Int("studies", 40, "then studies a law, through the real query path")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "runs side by side")
	return func(to io.Writer) (int, error) {
		runtime.GOMAXPROCS(*procs)
		sigma, err := wholeSigma()
		if err != nil {
			return 0, err
		}
		var walks, real tallies
		for _, p := range stops {
			lambda, err := run.Spectrum(p.law, p.d)
			if err != nil {
				return 0, err
			}
			out, err := run.Repeat(*times, func(seed uint64) ([]float64, error) {
				loss, _ := endings(lambda, p.n, sigma, seed)
				return loss, nil
			})
			if err != nil {
				return 0, err
			}
			iota := sigma * math.Pow(float64(p.d), 1.5) / float64(p.n)
			walks.of(iota).add(out)
			source, err := run.Gaussian(p.law, p.d)
			if err != nil {
				return 0, err
			}
			if out, err = captured(source, p.n, *studies, fixed(p.d, planned), fixed(p.d, 48), run.Spec(p.d, 1)); err != nil {
				return 0, err
			}
			for _, s := range out {
				for i := range s {
					s[i] = 1 - s[i]
				}
			}
			real.of(iota).add(out)
		}
		_, names := endings([]float64{1, 0.5}, 10, sigma, 0)
		walks.print(to, "walks", names)
		real.print(to, "studies", []string{"power, 24 rounds", "power, 48 rounds", "auto"})
		return 0, nil
	}
}

// fixed is a study by power iteration.
func fixed(d, rounds int) proposal.Spec {
	s := run.Spec(d, 1)
	s.Rounds = rounds
	return s
}

// tallies count laws with ι to 0.1, to 0.3, where auto takes the covariance, and above.
type tallies [3]tally

func (t *tallies) of(iota float64) *tally {
	switch {
	case iota <= 0.1:
		return &t[0]
	case iota <= 0.3:
		return &t[1]
	default:
		return &t[2]
	}
}

func (t *tallies) print(to io.Writer, what string, names []string) {
	for i, of := range []string{"ι to 0.1", "ι to 0.3", "ι above 0.3"} {
		t[i].print(to, what+", "+of, names)
	}
}

// tally sums up several laws' runs, relative to those of the planned rounds.
type tally struct {
	laws, runs    int
	median, worst []float64 // sums of logarithms
	unlucky       []int     // over 3 medians of the planned rounds
	own           []int     // over 3 medians of their own
}

func (t *tally) add(out []run.Sample) {
	if t.laws == 0 {
		t.median, t.worst, t.unlucky = make([]float64, len(out)), make([]float64, len(out)), make([]int, len(out))
		t.own = make([]int, len(out))
	}
	t.laws++
	t.runs += len(out[0])
	for i, s := range out {
		t.median[i] += math.Log(s.Quantile(0.5) / out[0].Quantile(0.5))
		t.worst[i] += math.Log(s.Quantile(0.95) / out[0].Quantile(0.95))
		for _, l := range s {
			if l > 3*out[0].Quantile(0.5) {
				t.unlucky[i]++
			}
			if l > 3*s.Quantile(0.5) {
				t.own[i]++
			}
		}
	}
}

// print has the change of the median and of the worst 5%, as geometric means over laws.
func (t *tally) print(to io.Writer, head string, names []string) {
	w := columns(to, head+"\tmedian\t5% worst\tover 3 medians of line 1\tof their own\t")
	for i, name := range names {
		of := func(sum float64) float64 { return math.Exp(sum/float64(t.laws)) - 1 }
		fmt.Fprintf(w, "%s\t%+.0f%%\t%+.0f%%\t%d of %d\t%d\t\n", name, 100*of(t.median[i]), 100*of(t.worst[i]), t.unlucky[i], t.runs, t.own[i])
	}
	w.Flush()
}
