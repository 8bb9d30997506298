package main

import (
	"os"
	"strings"
	"testing"
)

// TestFill: a block holds what its command printed, once, and all else of the page stays.
func TestFill(t *testing.T) {
	const page = "# Page\n\n<!-- measured: go run ./experiments/bench study -d 8 -->\n\nold\n\n<!-- end -->\n\nbetween\n\n<!-- measured: go run -tags openblas ./experiments/bench/kernel -->\n<!-- end -->\nlast\n"
	lines, err := blocks([]byte(page))
	if err != nil || len(lines) != 2 || lines[0] != "go run ./experiments/bench study -d 8" || lines[1] != "go run -tags openblas ./experiments/bench/kernel" {
		t.Fatalf("%q, %v", lines, err)
	}
	out := []byte(page)
	for range 2 { // the second time over what the first wrote
		for i, line := range lines {
			if out, err = fill(out, line, []byte("\nnew $1 "+string(rune('0'+i))+"\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	const want = "# Page\n\n<!-- measured: go run ./experiments/bench study -d 8 -->\n\nnew $1 0\n\n<!-- end -->\n\nbetween\n\n<!-- measured: go run -tags openblas ./experiments/bench/kernel -->\n\nnew $1 1\n\n<!-- end -->\nlast\n"
	if string(out) != want {
		t.Errorf("%s", out)
	}
	if _, err := fill(out, "go run ./experiments/bench links", nil); err == nil {
		t.Error("a command without a block is filled in")
	}
	if _, err := fill(out, lines[0], []byte("a <!-- end -->")); err == nil {
		t.Error("a measurement may end its own block")
	}
}

// TestBlocksRefused: a page runs nothing but measurements.
func TestBlocksRefused(t *testing.T) {
	for _, line := range []string{"rm -rf x ./experiments/bench", "go run ./cmd/agent", "go run ./experiments/bench all", "go test ./experiments/bench", "go run"} {
		if lines, err := blocks([]byte("<!-- measured: " + line + " -->\n<!-- end -->\n")); err == nil {
			t.Errorf("%q is taken", lines)
		}
	}
	twice := strings.Repeat("<!-- measured: go run ./experiments/bench links -->\n<!-- end -->\n", 2)
	if _, err := blocks([]byte(twice)); err == nil {
		t.Error("one command has two blocks")
	}
	if _, err := blocks([]byte("<!-- measured: go run ./experiments/bench links -->\nopen\n")); err == nil {
		t.Error("a block without an end is passed over")
	}
}

// TestPage: the page's own blocks are in order, and name commands and flags that there are.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := blocks(text)
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, line := range lines {
		words := strings.Fields(line)
		if words[2] != "./experiments/bench" {
			continue
		}
		measured[words[3]] = true
		if _, _, err := find(words[3]).measure(append(words[4:], "-help")); err == nil || !strings.Contains(err.Error(), "help requested") {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, c := range commands {
		if !measured[c.name] {
			t.Errorf("%s is not on the page", c.name)
		}
	}
}
