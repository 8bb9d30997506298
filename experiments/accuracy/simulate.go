package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"covey/experiments/run"
)

// sameReject is the probability with which a line of simulated rejects two samples of one law: that
// of a permutation test, which holds for any law.
const sameReject = 0.001

// simulated holds what study simulate says of the demo's files against demos: processes, masks,
// ledgers and all. Both captured shares are measured against the pooled diamonds. Of each line the
// two samples are one law's, or the test rejects, with probability sameReject if they are.
func simulated(f *flag.FlagSet) func(io.Writer) (int, error) {
	demos := f.Int("demos", 20, "real demos a line")
	times := f.Int("times", 200, "simulated studies a line")
	return func(to io.Writer) (missed int, err error) {
		coordinator, dir, err := buildCoordinator()
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		w := columns(to, "demo\tdemos\tcaptured\tleast\tsimulated\tcaptured\tleast\tKolmogorov-Smirnov\tp\t")
		for i, c := range [][]string{
			nil,
			{"--noise", "distributed"},
			{"--method", "covariance", "--components", "2", "--center", "private"},
			{"--unit", "parcel", "--epsilon", "0.2"},
		} {
			kept := filepath.Join(dir, fmt.Sprint("kept", i))
			var real, tried run.Sample
			for n := range *demos {
				args := append([]string{"demo", "--json"}, c...)
				if n == 0 { // its files are every demo's
					args = append(args, "--keep", kept)
				}
				var r struct{ Captured float64 }
				if err := commandJSON(coordinator, &r, args...); err != nil {
					return missed, err
				}
				real = append(real, r.Captured)
			}
			files, err := filepath.Glob(filepath.Join(kept, "*.csv"))
			if err != nil {
				return missed, err
			}
			var r struct{ Studies []struct{ Captured float64 } }
			args := append([]string{"study", "simulate", filepath.Join(kept, "study.toml"), "--values", "--json", "--times", fmt.Sprint(*times)}, files...)
			if err := commandJSON(coordinator, &r, args...); err != nil {
				return missed, err
			}
			for _, s := range r.Studies {
				tried = append(tried, s.Captured)
			}
			distance, p := permuted(real, tried)
			mark := ""
			if p < sameReject {
				missed++
				mark = " differs"
			}
			fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4f\t%d\t%.4f\t%.4f\t%.3f\t%.3f%s\t\n", words(c), len(real), real.Mean(), real.Quantile(0), len(tried), tried.Mean(), tried.Quantile(0), distance, p, mark)
		}
		return missed, w.Flush()
	}
}

func words(args []string) string {
	if len(args) == 0 {
		return "as it is"
	}
	out := ""
	for _, a := range args {
		out += a + " "
	}
	return out[:len(out)-1]
}

// buildCoordinator builds the coordinator in a new folder.
func buildCoordinator() (path, dir string, err error) {
	root, err := run.Root()
	if err != nil {
		return "", "", err
	}
	if dir, err = os.MkdirTemp("", "covey"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "coordinator")
	build := exec.Command("go", "build", "-o", path, "./cmd/coordinator")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		os.RemoveAll(dir)
		return "", "", fmt.Errorf("building the coordinator: %w", err)
	}
	return path, dir, nil
}

// commandJSON runs a command that prints JSON. A demo that captures little prints its report and
// fails, which is no error here.
func commandJSON(path string, into any, args ...string) error {
	text, err := exec.Command(path, args...).Output()
	if bad, ok := errors.AsType[*exec.ExitError](err); ok && len(text) == 0 {
		return fmt.Errorf("%v: %w\n%s", args, err, bad.Stderr)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%v: %w", args, err)
	}
	return nil
}

// permuted returns the largest distance of two samples' distribution functions, and the share of
// ways to divide all of them into two such samples, tried at random, that have it at least as
// large: if both come from one law, that is below x with probability x at most. The ways are
// seeded.
func permuted(a, b run.Sample) (distance, p float64) {
	const ways = 20_000
	distance = apart(a, b)
	all := slices.Concat(a, b)
	rng, larger := rand.New(rand.NewPCG(1, 2)), 1
	for range ways {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if apart(all[:len(a)], all[len(a):]) >= distance-1e-12 {
			larger++
		}
	}
	return distance, float64(larger) / (ways + 1)
}

// apart is Kolmogorov and Smirnov's distance.
func apart(a, b run.Sample) float64 {
	x, y := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	i, j, most := 0, 0, 0.0
	for i < len(x) && j < len(y) {
		v := min(x[i], y[j])
		for i < len(x) && x[i] == v {
			i++
		}
		for j < len(y) && y[j] == v {
			j++
		}
		d := float64(i)/float64(len(x)) - float64(j)/float64(len(y))
		most = max(most, d, -d)
	}
	return most
}
