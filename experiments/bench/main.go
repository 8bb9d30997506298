// Bench measures what Covey costs, side by side in one run with what it is compared with: medians of
// interleaved repeats, ratios first. No time fails it.
//
//	go run ./experiments/bench secagg|study|growth|links|memory|machine [flags] [-json]
//	go run ./experiments/bench all [-only WORD]
//	go run ./experiments/bench short
//
// all writes the tables of docs/performance.md anew; short runs everything once on the smallest sizes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// command is one measurement. flags registers its own; what it gives then measures.
type command struct {
	name  string
	about string
	flags func(*flag.FlagSet) func() (*report, error)
	short string // flags of its smallest run
	// writes says that it writes files into -dir, which a short run sends elsewhere.
	writes bool
}

var commands = []command{
	{"secagg", "masking and opening, for sites and dimensions", secaggCommand, "-sites 5 -dims 200 -slots 2 -repeat 1", false},
	{"study", "a masked, private study beside the same one without masks", studyCommand, "-sites 3 -rows 300 -d 8 -rounds 2 -repeat 1", false},
	{"growth", "growth with n, d, k, N and T, as log-log plots", growthCommand, "-only N -points 2 -scale 0.1 -repeat 1", true},
	{"links", "time of a query over long links", linksCommand, "-sites 3 -rounds 1 -repeat 1 -delays 0s,5ms", false},
	{"memory", "the coordinator's peak memory", memoryCommand, "-sites 3 -d 300 -slots 3", false},
	{"machine", "what this machine is", machineCommand, "", false},
}

func main() {
	if err := dispatch(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func dispatch(args []string) error {
	if len(args) == 0 {
		return usage()
	}
	switch args[0] {
	case "all":
		return all(args[1:])
	case "short":
		return short(os.Stdout)
	case coordinatorRole:
		return coordinate(args[1:])
	}
	c := find(args[0])
	if c == nil {
		return usage()
	}
	r, asJSON, err := c.measure(args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return nil // and the flags were printed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return r.write(os.Stdout, asJSON)
}

// find gives the command of a name, nil if there is none.
func find(name string) *command {
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}

func usage() error {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "\n  %-8s %s", c.name, c.about)
	}
	return fmt.Errorf("which measurement? each takes -help\n%s\n  %-8s %s\n  %-8s %s", b.String(),
		"all", "the tables of docs/performance.md anew", "short", "everything once, on the smallest sizes")
}

func (c command) measure(args []string) (*report, bool, error) {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print one object instead of Markdown")
	measure := c.flags(flags)
	if err := flags.Parse(args); err != nil {
		return nil, false, err
	}
	if flags.NArg() > 0 {
		return nil, false, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	r, err := measure()
	if r != nil {
		r.Command = strings.TrimSpace("go run ./experiments/bench " + c.name + " " + strings.Join(args, " "))
	}
	return r, *asJSON, err
}

// progress says on stderr what is being measured: a run may take minutes.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// numbers reads "5,1e4" as whole numbers.
func numbers(list string) ([]int, error) {
	var out []int
	for _, s := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v < 1 || v != float64(int(v)) {
			return nil, fmt.Errorf("%q is no whole number above 0", s)
		}
		out = append(out, int(v))
	}
	return out, nil
}
