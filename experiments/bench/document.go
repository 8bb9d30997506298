package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A page's measured block stands between these lines. What is between them is the standard output of the
// command that the first names, and nobody types it.
//
//	<!-- measured: go run ./experiments/bench secagg -->
//	<!-- end -->
var block = regexp.MustCompile(`(?ms)^<!-- measured: ([^\n]*?) -->\n(.*?)^<!-- end -->$`)

// all measures every block of the page anew, in processes of their own and one after another, and writes the
// page after each: one that fails leaves its block as it was.
func all(args []string) error {
	flags := flag.NewFlagSet("all", flag.ContinueOnError)
	page := flags.String("page", "docs/performance.md", "the page whose blocks are measured")
	only := flags.String("only", "", "measure only blocks whose command holds this")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(*page)
	if err != nil {
		return err
	}
	found, err := blocks(text)
	if err != nil {
		return fmt.Errorf("%s: %w", *page, err)
	}
	var failed error
	for _, line := range found {
		if !strings.Contains(line, *only) {
			continue
		}
		start := time.Now()
		progress("all: %s", line)
		measured, err := output(line)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", line, err))
			continue
		}
		if text, err = fill(text, line, measured); err != nil {
			return err
		}
		if err := os.WriteFile(*page, text, 0o644); err != nil {
			return err
		}
		progress("all: %s: %v", line, time.Since(start).Round(time.Second))
	}
	return failed
}

// blocks gives the commands of a page's blocks. Only this folder's programs are run, and no two blocks are alike.
func blocks(page []byte) ([]string, error) {
	var lines []string
	for _, m := range block.FindAllSubmatch(page, -1) {
		line := string(m[1])
		words := strings.Fields(line)
		ours := slices.ContainsFunc(words, func(w string) bool { return w == "./experiments/bench" || strings.HasPrefix(w, "./experiments/bench/") })
		if len(words) < 3 || words[0] != "go" || words[1] != "run" || !ours || slices.Contains(words, "all") {
			return nil, fmt.Errorf("%q is no measurement of experiments/bench", line)
		}
		if slices.Contains(lines, line) {
			return nil, fmt.Errorf("two blocks of %q", line)
		}
		lines = append(lines, line)
	}
	if open := bytes.Count(page, []byte("<!-- measured: ")); open != len(lines) {
		return nil, fmt.Errorf("%d blocks begin and %d end", open, len(lines))
	}
	return lines, nil
}

// fill puts what a command printed into its block.
func fill(page []byte, line string, measured []byte) ([]byte, error) {
	if bytes.Contains(measured, []byte("<!--")) {
		return nil, errors.New("a measurement prints a comment of its own")
	}
	done := false
	out := block.ReplaceAllFunc(page, func(old []byte) []byte {
		if string(block.FindSubmatch(old)[1]) != line {
			return old
		}
		done = true
		return fmt.Appendf(nil, "<!-- measured: %s -->\n\n%s\n\n<!-- end -->", line, bytes.TrimSpace(measured))
	})
	if !done {
		return nil, fmt.Errorf("no block of %q", line)
	}
	return out, nil
}

func output(line string) ([]byte, error) {
	words := strings.Fields(line)
	var out bytes.Buffer
	c := exec.Command(words[0], words[1:]...)
	c.Stdout, c.Stderr = &out, os.Stderr
	err := c.Run()
	return out.Bytes(), err
}

// short runs every command on its smallest sizes and prints what it gives.
func short(w io.Writer) error {
	dir, drop, err := scratch("")
	if err != nil {
		return err
	}
	defer drop()
	for i, c := range commands {
		args := strings.Fields(c.short)
		if c.writes {
			args = append(args, "-dir", dir)
		}
		r, _, err := c.measure(args)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := r.write(w, false); err != nil {
			return err
		}
	}
	return nil
}
