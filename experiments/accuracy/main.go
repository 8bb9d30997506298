// Command accuracy measures how much variance the components of private studies capture. Every
// study goes through the real query path in one process (package run); the walks of stop are no
// studies.
//
//	accuracy utility    Gaussian rows against the listed values of reference.csv
//	accuracy targets    the errors that studies of listed laws may have
//	accuracy practical  the practical profile: components, means, subspaces, variance
//	accuracy noise      distributed noise against central, at 5, 10 and 20 sites, and a dropout
//	accuracy center     a released center against offsets that are the means
//	accuracy explained  explained variance where units are few for the noise
//	accuracy components  components = "auto": how often it finds the number of spikes
//	accuracy worth      coverage of what a result says of its own worth
//	accuracy table      method = "auto" and what it chooses from, and coverage, on all laws
//	accuracy predict    what validate predicts, against what studies capture
//	accuracy simulate   what study simulate says of the demo's files, against demos
//	accuracy plan       what study plan answers, against studies of fresh rows
//	accuracy stop       rounds that go on while the direction moves, against fixed ones
//	accuracy fool       bounds and alarms on tables that are made to fool them
//	accuracy gaps       cells without a value: filled, taken as zeros, their rows dropped
//	accuracy mixed      tables of numbers and categories against factor analysis of mixed data
//	accuracy standardize  constants that studies learn, against known ones
//	accuracy picture    pictures of scores, as drawn, against those without noise
//	accuracy dppca      pictures, side by side with the sparse histograms of CRAN's dppca
//	accuracy raw        the demo of a raw table, twenty times
//	accuracy figures    the figures of docs/experiments.md
//
// All but the figures, raw and simulate key their noise by the seed, so that they pass or fail
// alike everywhere, and fail where a bound is missed. Each takes -help.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// experiments are the subcommands. Each registers its flags and returns the function that measures,
// which writes tables to w and returns how many of its bounds are missed.
var experiments = map[string]func(*flag.FlagSet) func(w io.Writer) (missed int, err error){
	"center":      centers,
	"components":  countOf,
	"dppca":       histograms,
	"explained":   fewUnits,
	"figures":     figures,
	"fool":        fool,
	"gaps":        gaps,
	"mixed":       mixed,
	"noise":       noises,
	"picture":     pictures,
	"plan":        plans,
	"practical":   practical,
	"predict":     predictions,
	"raw":         raw,
	"simulate":    simulated,
	"standardize": learn,
	"stop":        stop,
	"table":       table,
	"targets":     targets,
	"utility":     utility,
	"worth":       worthOf,
}

func main() {
	if len(os.Args) < 2 || experiments[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: accuracy %s [-help] [flags]\n", strings.Join(slices.Sorted(maps.Keys(experiments)), "|"))
		os.Exit(2)
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	measure := experiments[os.Args[1]](flags)
	flags.Parse(os.Args[2:])
	missed, err := measure(os.Stdout)
	if err == nil && missed > 0 {
		err = fmt.Errorf("%d bounds are missed", missed)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "accuracy: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// columns returns a writer that aligns cells, each ended by a tab, under those of head.
func columns(w io.Writer, head string) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, head)
	return t
}
