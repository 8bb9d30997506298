// Command audit tries to tell two neighboring data sets apart by everything that studies on them
// release, thousands of times, and prints the ε that this shows to be needed next to the one that
// is claimed (docs/experiments.md, "The audit").
//
// A run is a whole study without a network: local sums, masks, noise, opening and outputs are those
// of agents and coordinators (internal/aggregate).
//
// A quarter of the runs chooses a statistic and a threshold: the likelihood ratio; the same under
// the noise's observed covariance, which finds noise that is missing or used twice; or the sums as
// numbers. The others count both errors, which bound ε from below (muBound). A printed bound is
// above a true claim with probability -miss, if the trade-off is a Gaussian's, as that of composed
// discrete Gaussians of σ ≥ 2 is to within 1/(24σ²). Four scenes are held against the claim alone:
// the exponential mechanism's, and those where the adversary sees less than everything or the pair
// is not the worst.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"covey/internal/clip"
)

func main() {
	runs := flag.Int("runs", 12000, "studies at epsilon 8, half on each data set; at epsilon 1 thirty times as many")
	seed := flag.Uint64("seed", 1, "of keys and plans, and so of all noise")
	miss := flag.Float64("miss", 0.003, "probability with which a bound may be too high: 0.05 for some one of 17")
	only := flag.String("only", "", "part of the names of the scenes to audit")
	flag.Parse()
	err := clip.SetPath(os.Getenv("COVEY_CLIP"))
	if err == nil {
		err = table(*runs, *seed, *miss, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
}

func table(runs int, seed uint64, miss float64, only string) error {
	fmt.Println("| study | noise | ε claimed | ρ | ε exact of ρ | ε at least | ratio | μ at least | of √(2ρ) | statistic | runs | s |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|")
	broken := 0
	for _, s := range scenes {
		if !strings.Contains(s.name, only) {
			continue
		}
		n := runs
		if s.epsilon <= 1 {
			n *= 30
		}
		began := time.Now()
		f, err := audit(s, n, seed, miss)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		noise := "central"
		if s.distributed() {
			noise = "distributed"
		}
		fmt.Printf("| %s | %s | %.4g | %.4f | %.3f | %.3f | %.3f | %.4f | %.3f | %s | %d | %.0f |\n", s.name, noise,
			f.claim, f.rho, f.exact, f.epsilon, f.ratio(), f.mu, f.mu/muOf(f.rho), f.statistic, f.runs, time.Since(began).Seconds())
		if !f.holds() {
			broken++
		}
	}
	if broken > 0 {
		return fmt.Errorf("%d claims do not hold", broken)
	}
	return nil
}
