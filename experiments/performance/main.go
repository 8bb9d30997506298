// Command performance makes the tables of docs/performance.md:
//
//	go -C experiments run ./performance                       # all that are not slow, 25 minutes
//	go -C experiments run ./performance study links           # these alone
//	go -C experiments run ./performance -list                 # what there is, and its minutes
//	go -C experiments run ./performance -page                 # nothing is measured anew
//	go -C experiments run ./performance -compare v1.0.0       # with that release's numbers
//	go -C experiments run ./performance -before v1.0.0 study  # with its code, in turns
//
// A table's benchmarks write NAME.txt in docs/figures/performance, as Go prints them; NAME.csv and
// the part of the page between the table's markers are made from it. -compare takes the texts that
// another commit holds, by default the last tag, or the current commit where there is none. Numbers
// of two days differ by what else the machine did: -before builds the other commit's benchmarks and
// runs them in turns with this tree's, and leaves the files as they are. Both print benchstat's
// comparison and what got slower by more than 5%. No time fails anything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// results is the folder of the texts and their CSVs, and page the page that shows them, below the
// root.
const (
	results = "docs/figures/performance"
	page    = "docs/performance.md"
)

func main() {
	list := flag.Bool("list", false, "only list the tables")
	again := flag.Bool("page", false, "only write CSV and page anew")
	compare := flag.Bool("compare", false, "compare the kept numbers with those of a commit, the argument")
	before := flag.String("before", "", "a commit whose benchmarks run in turns with these, to be compared")
	count := flag.Int("count", 0, "how often each benchmark runs; 0 is as often as its table says")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() error {
		root, err := output(ctx, "", "git", "rev-parse", "--show-toplevel")
		if err != nil {
			return err
		}
		switch {
		case *compare:
			return compareCommits(ctx, root, flag.Args())
		case *again:
			return writePage(root)
		}
		chosen, err := choose(flag.Args())
		if err != nil || *list {
			return errors.Join(err, listTables(os.Stdout))
		}
		if *before != "" {
			return compareTrees(ctx, root, *before, chosen, *count)
		}
		return measureTables(ctx, root, chosen, *count)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "performance:", err)
		os.Exit(1)
	}
}

// choose returns the tables of these names, or without names those that are not slow.
func choose(names []string) (chosen []table, err error) {
	for _, t := range tables {
		if len(names) == 0 && !t.slow {
			chosen = append(chosen, t)
		}
	}
	for _, name := range names {
		t, err := find(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, t)
	}
	return chosen, nil
}

func find(name string) (table, error) {
	for _, t := range tables {
		if t.name == name {
			return t, nil
		}
	}
	return table{}, fmt.Errorf("no table %q; -list has their names", name)
}

// measureTables measures and writes one table after the other, so that an interrupt loses only the
// current one.
func measureTables(ctx context.Context, root string, chosen []table, count int) error {
	trees := []tree{{root, ""}}
	defer clearTrees(trees)
	var failed error
	for _, t := range chosen {
		began := time.Now()
		texts, err := t.measure(ctx, trees, count)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t.name, err))
			continue
		}
		fmt.Fprintf(os.Stderr, "%s took %v\n", t.name, time.Since(began).Round(time.Second))
		if err := os.MkdirAll(filepath.Join(root, results), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, results, t.name+".txt"), []byte(texts[0]), 0o644); err != nil {
			return err
		}
		if err := writePage(root); err != nil {
			return err
		}
	}
	return failed
}

// output runs a command and returns what it prints; the error has what it printed elsewhere.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var prose strings.Builder
	c.Stderr = &prose
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, text, prose.String())
	}
	return strings.TrimSpace(string(text)), nil
}
