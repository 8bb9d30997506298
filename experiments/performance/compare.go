package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// slower is the ratio above which a number is listed.
const slower = 1.05

// compareCommits compares the texts of this tree with those of a commit, the last tag if there is
// no argument, and the current commit if there is no tag.
func compareCommits(ctx context.Context, root string, args []string) error {
	if len(args) > 1 {
		return errors.New("-compare takes one commit")
	}
	commit := "HEAD"
	if len(args) == 1 {
		commit = args[0]
	} else if tag, err := output(ctx, root, "git", "describe", "--tags", "--abbrev=0"); err == nil {
		commit = tag
	}
	var now, before strings.Builder
	for _, t := range tables {
		ours, err := os.ReadFile(filepath.Join(root, results, t.name+".txt"))
		if err != nil {
			continue // never measured
		}
		theirs, err := output(ctx, root, "git", "show", commit+":"+results+"/"+t.name+".txt")
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s has no %s\n", commit, t.name)
			continue
		}
		now.Write(ours)
		before.WriteString(theirs + "\n")
	}
	if before.Len() == 0 {
		return fmt.Errorf("%s holds no measurement", commit)
	}
	return printComparison(ctx, root, commit, before.String(), now.String())
}

// printComparison prints benchstat's comparison of two texts, and what is slower.
func printComparison(ctx context.Context, root, commit, before, now string) error {
	dir, err := os.MkdirTemp("", "covey-benchstat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"before": before, "now": now} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	tools := filepath.Join(root, "tools.mod")
	text, err := output(ctx, root, "go", "tool", "-modfile="+tools, "benchstat", "before="+filepath.Join(dir, "before"), "now="+filepath.Join(dir, "now"))
	if err != nil {
		return err
	}
	fmt.Printf("before is %s\n\n%s\n\n", commit, text)
	return listSlower(os.Stdout, read(before), read(now))
}

// listSlower lists the numbers whose median got worse by more than 5%, with the ranges, which show
// how much of that may be due to the machine.
func listSlower(to io.Writer, before, now summary) error {
	both, count := 0, 0
	var out strings.Builder
	for _, line := range now.lines {
		old, ok := before.get(line.bench, line.unit)
		if !ok || !better(line.unit) || wall(line.unit) && now.measures(line.bench) {
			continue
		}
		both++
		a, b := old.median, line.median
		if strings.HasPrefix(line.unit, "MB/") && strings.HasSuffix(line.unit, "s") { // more is better
			a, b = b, a
		}
		if a <= 0 || b/a <= slower {
			continue
		}
		count++
		apart := "ranges overlap"
		if old.most < line.least || line.most < old.least {
			apart = "ranges apart"
		}
		fmt.Fprintf(&out, "%+6.1f%%  %s %s: %s (%s to %s) is now %s (%s to %s), %s\n", 100*(b/a-1), line.bench, line.unit,
			number(old.median), number(old.least), number(old.most), number(line.median), number(line.least), number(line.most), apart)
	}
	_, err := fmt.Fprintf(to, "%d of %d medians are worse by more than 5%%\n%s", count, both, out.String())
	return err
}

// better reports whether a number of this unit can be better or worse: exponents, bounds and the
// numbers of an earlier build cannot.
func better(unit string) bool {
	return unit != "power" && unit != "bound-MB" && unit != "rows-MB" && !strings.HasPrefix(unit, "before-")
}

// wall reports whether a unit is that of a benchmark's whole wall time.
func wall(unit string) bool { return unit == "ns/op" || unit == "MB/s" }

// measures reports whether a benchmark has numbers of its own, by processor time or of parts.
func (s summary) measures(bench string) bool {
	return slices.ContainsFunc(s.lines, func(l line) bool { return l.bench == bench && !wall(l.unit) })
}
