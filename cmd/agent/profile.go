package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/dataset"
	"covey/internal/doctor"
	"covey/internal/frame"
	"covey/internal/profile"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/siteconfig"
)

type dataCmd struct {
	Profile profileCmd `cmd:"" help:"Show what a data set holds: all faults at once, quantiles, and lines to paste into agent.toml."`
}

type profileCmd struct {
	Dataset string `arg:"" help:"The data set's name in agent.toml."`
	Study   string `placeholder:"FILE|DIGEST" help:"A study.toml, a proposal's file, or the digest of a pending proposal (4 digits or more): profile the columns that it asks for."`
	Values  bool   `help:"Print even where stdout is not a terminal. What it prints is this site's data."`
}

// Help is kong's longer text.
func (profileCmd) Help() string {
	return `Reads the data set once, whether or not the agent runs. It writes no file, sends nothing and
changes nothing. What it prints is this site's data: quantiles from the 5th to the 95th of columns
with 50 values or more, and texts that 10 units or more have.`
}

func (c *profileCmd) Run(t *terminal) error {
	if err := t.OnlyShown("a profile shows this site's data", c.Values); err != nil {
		return err
	}
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return err
	}
	d, ok := config.Dataset(c.Dataset)
	if !ok {
		return config.Errorf("dataset", "no data set is named %q", c.Dataset)
	}
	var spec *proposal.Spec
	if c.Study != "" {
		if spec, err = c.spec(config); err != nil {
			return err
		}
		if spec.Dataset != d.Name {
			return shared.Bad("the study asks for data set %q, not %q", spec.Dataset, d.Name)
		}
	}
	options := dataset.ReadOptions{Progress: progress(t.Err)}
	r, err := shared.Await(t.Ctx, func() (*profile.Report, error) { return profile.Of(config, d, spec, options) })
	if options.Progress != nil {
		fmt.Fprintf(shared.Raw(t.Err), "\r%*s\r", progressWidth, "")
	}
	if bad, ok := errors.AsType[*dataset.Error](err); ok && bad.Remedy != "" {
		return fmt.Errorf("%w: %s", err, bad.Remedy)
	}
	if err != nil {
		return err
	}
	return t.Print(r, func(w io.Writer) { printProfile(w, r) })
}

// spec reads the study, from a file or from the agent's pending proposals.
func (c *profileCmd) spec(config *siteconfig.Config) (*proposal.Spec, error) {
	text, err := proposals.ReadFile(c.Study)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = pendingStudy(config, c.Study)
	}
	if err != nil {
		return nil, &shared.InputError{Err: err}
	}
	spec, _, err := doctor.ReadStudy(text)
	if err != nil {
		return nil, &shared.InputError{Err: fmt.Errorf("%s: %w", c.Study, err)}
	}
	return &spec, nil
}

// pendingStudy reads a proposal that awaits the operator. It does not ask the agent, which need not
// run.
func pendingStudy(config *siteconfig.Config, digest string) ([]byte, error) {
	if len(digest) < 4 || strings.Trim(digest, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%s: neither a file nor the digest of a proposal", digest)
	}
	dir := filepath.Join(config.DataDir(), "pending")
	found, err := filepath.Glob(filepath.Join(dir, digest+"*.toml.gz")) // no *.tmp of a crash
	if err != nil {
		return nil, err
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no pending proposal's digest begins with %s; for any other study, name its file", digest)
	case 1:
		return proposals.ReadFile(found[0])
	}
	return nil, fmt.Errorf("the digests of %d pending proposals begin with %s; write more digits", len(found), digest)
}

const progressWidth = 40

// progress returns what shows on a terminal how much of a large file was read, nil where there is
// none.
func progress(w io.Writer) func(read, total int64) {
	if shared.Width(w) == nil {
		return nil
	}
	last := time.Now()
	return func(read, total int64) {
		if now := time.Now(); total > 0 && now.Sub(last) > 300*time.Millisecond {
			last = now
			fmt.Fprintf(shared.Raw(w), "\rread %d of %d MiB (%d%%)", read>>20, total>>20, 100*read/total)
		}
	}
}

// screen is the width of what is printed, and nameWidth the longest name in a table.
const (
	screen    = 100
	nameWidth = 24
)

// printProfile prints a report on lines of at most screen characters.
func printProfile(w io.Writer, r *profile.Report) {
	size := fmt.Sprintf("%d rows", r.Rows)
	switch {
	case r.Unit != "" && r.Units == 0:
		size += ", of how many units is not known"
	case r.Unit != "":
		size += fmt.Sprintf(" of %d units (%s)", r.Units, frame.Word(r.Unit))
	}
	wrap(w, "", fmt.Sprintf("Data set %s: %s, %d columns. What follows is this site's own data, computed without noise: do not pass it on. Nothing was written or sent.", frame.Word(r.Dataset), size, r.Header))
	printFaults(w, r)
	printQuantiles(w, r.Columns)
	printTexts(w, r.Columns)
	if len(r.Look) > 0 {
		fmt.Fprintln(w, "\nLook at")
	}
	for _, l := range r.Look {
		text := l.Text
		if l.Column != "" {
			text = short(l.Column, 40) + ": " + text
		}
		wrap(w, "  - ", text)
	}
	if len(r.Paste) > 0 {
		fmt.Fprintln(w, "\nLines for this [[dataset]] in agent.toml: check each, then paste it")
	}
	for _, line := range r.Paste {
		fmt.Fprintln(w, "  "+line)
	}
}

// printFaults prints what cannot be read.
func printFaults(w io.Writer, r *profile.Report) {
	if len(r.Faults) == 0 {
		return
	}
	place := "FIRST ROW"
	if r.Lines {
		place = "FIRST LINE"
	}
	fmt.Fprintf(w, "\nWhat cannot be read\n  %-*s  %7s  %10s  %s\n", nameWidth, "COLUMN", "COUNT", place, "FAULT")
	for _, f := range r.Faults {
		name := "(the file)"
		if f.Column != "" {
			name = short(f.Column, nameWidth)
		}
		first := "-"
		if f.First > 0 {
			first = fmt.Sprint(f.First)
		}
		what := f.What
		if len(f.Names) > 0 {
			var names []string
			for _, n := range f.Names {
				names = append(names, frame.Quoted(short(n, 40)))
			}
			what += "; near: " + strings.Join(names, ", ")
		}
		if f.Do != "" {
			what += " (" + f.Do + ")"
		}
		wrap(w, fmt.Sprintf("  %s  %7d  %10s  ", pad(name, nameWidth), f.Count, first), what)
	}
}

// printQuantiles prints each column's counts and quantiles.
func printQuantiles(w io.Writer, columns []profile.Column) {
	if len(columns) == 0 {
		return
	}
	fmt.Fprintf(w, "\nColumns\n  %-*s  %-13s %8s %8s %8s %8s %8s %8s %8s\n", nameWidth-8, "COLUMN", "KIND", "VALUES", "MISSING", "5%", "25%", "50%", "75%", "95%")
	for i, c := range columns {
		if i == 10*columnsShown {
			fmt.Fprintf(w, "  … and %d more (--json has all)\n", len(columns)-i)
			break
		}
		line := fmt.Sprintf("  %s  %-13s %8d %8d", pad(short(c.Name, nameWidth-8), nameWidth-8), short(c.Kind, 13), c.Values, c.Missing)
		for _, q := range c.Quantiles {
			line += fmt.Sprintf(" %8.4g", q)
		}
		fmt.Fprintln(w, line)
	}
	sample := 0
	for _, c := range columns {
		sample = max(sample, c.Sample)
	}
	if sample > 0 {
		fmt.Fprintf(w, "  Quantiles of columns with more values come from %d at random.\n", sample)
	}
}

// printTexts prints the texts of columns that have some, with how many rows have each.
func printTexts(w io.Writer, columns []profile.Column) {
	var texts []profile.Column
	for _, c := range columns {
		if len(c.Levels)+c.Rarer > 0 {
			texts = append(texts, c)
		}
	}
	if len(texts) > 0 {
		fmt.Fprintln(w, "\nTexts, with their rows")
	}
	for _, c := range texts {
		var parts []string
		for _, l := range c.Levels {
			parts = append(parts, fmt.Sprintf("%s %d", frame.Quoted(short(l.Text, 40)), l.Rows))
		}
		switch {
		case c.Rarer == 1:
			parts = append(parts, "1 rarer text")
		case c.Rarer > 1:
			parts = append(parts, fmt.Sprintf("%d rarer texts", c.Rarer))
		}
		if c.More {
			parts = append(parts, "and others")
		}
		wrap(w, "  "+short(c.Name, nameWidth)+": ", strings.Join(parts, ", "))
	}
}

// short cuts a text that others wrote, cleaned, to so many characters.
func short(text string, most int) string {
	text = frame.Cleaned(text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-len([]rune(text))))
}

// wrap prints text after a head, further lines under its first.
func wrap(w io.Writer, head, text string) {
	indent := strings.Repeat(" ", min(len([]rune(head)), screen/2))
	line := head
	fresh := true
	for word := range slices.Values(strings.Fields(text)) {
		if !fresh && len([]rune(line))+1+len([]rune(word)) > screen {
			fmt.Fprintln(w, line)
			line, fresh = indent, true
		}
		if !fresh {
			line += " "
		}
		line += word
		fresh = false
	}
	fmt.Fprintln(w, line)
}
