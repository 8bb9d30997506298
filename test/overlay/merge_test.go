package overlay

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const program = `package main

import "fmt"

const limit = 3

type counter int

// raise adds one.
func (c *counter) raise() {
	if *c > limit {
		return
	}
	*c++
}

var half = func(n int) int { return n / 2 }

func sum[T int | float64](all ...T) (total T) {
	for _, v := range all {
		total += v
	}
	return
}

func find(n int) int {
outer:
	for i := range 10 {
		for range 2 {
			if i == n {
				break outer
			}
		}
	}
	return n
}

func main() {
	var c counter
	c.raise()
	fmt.Println(c, half(8), sum(1, 2, 3), find(1))
}
`

// Each variant of a merged program does what a build of its own would; what cannot be merged is
// said to be so.
func TestMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26\n", "main.go": program, "page.html": "text"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name  string
		want  string // what the variant prints; empty where it cannot be one
		edits []Edit
	}{
		{"a method without results", "5 4 6 1", []Edit{{"main.go", "	*c++\n", "	*c += 5\n"}}},
		{"the same once more", "0 4 6 1", []Edit{{"main.go", "	*c++\n", "	// nothing\n"}}},
		{"it returns early", "0 4 6 1", []Edit{{"main.go", "*c > limit", "*c >= 0"}}},
		{"a function in a variable", "1 2 6 1", []Edit{{"main.go", "return n / 2", "return n / 4"}}},
		{"a generic function with a named result", "1 4 3 1", []Edit{{"main.go", "total += v", "total = v"}}},
		{"two edits in one function", "1 4 -5 1", []Edit{{"main.go", "total += v\n	}\n	return", "total -= v\n	}\n	return total"}, {"main.go", "range all", "range all[1:]"}}},
		{"two functions", "1 8 3 1", []Edit{{"main.go", "total += v", "total = v"}, {"main.go", "return n / 2", "return n"}}},
		{"more than a function", "", []Edit{{"main.go", "	return\n}\n\nfunc find", "	return 7\n}\n\nfunc find"}}},
		{"a constant", "", []Edit{{"main.go", "limit = 3", "limit = -1"}}},
		{"a function with a label", "", []Edit{{"main.go", "i == n", "i != n"}}},
		{"a further function", "", []Edit{{"main.go", "	*c++\n", "	more(c)\n}\n\nfunc more(c *counter) {\n	*c += 2\n"}}},
		{"no Go", "", []Edit{{"page.html", "text", "other"}}},
		{"edits that overlap", "", []Edit{{"main.go", "return n / 2", "return n"}, {"main.go", "n / 2", "n"}}},
		{"an edit of an edit", "", []Edit{{"main.go", "return n / 2", "return n / 16"}, {"main.go", "n / 16", "n"}}},
		{"one edit of two cannot be", "", []Edit{{"main.go", "return n / 2", "return n"}, {"main.go", "limit = 3", "limit = -1"}}},
	}
	var sets [][]Edit
	for _, tt := range tests {
		sets = append(sets, tt.edits)
	}
	list, merged, err := Merge(t.TempDir(), sets)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-overlay", list, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(variant string) string {
		t.Setenv(Variant, variant)
		out, err := exec.Command(file).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	for i, tt := range tests {
		if merged[i] != (tt.want != "") {
			t.Errorf("%s: merged is %v", tt.name, merged[i])
		} else if got := run(strconv.Itoa(i + 1)); tt.want != "" && got != tt.want {
			t.Errorf("%s: it prints %q instead of %q", tt.name, got, tt.want)
		}
	}
	for _, none := range []string{"", "0", "-1", "x", strconv.Itoa(len(tests) + 1)} {
		if got := run(none); got != "1 4 6 1" {
			t.Errorf("with %q chosen the program of the tree prints %q", none, got)
		}
	}
}
