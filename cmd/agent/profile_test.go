package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	shared "covey/cmd/internal/cli"
	"covey/internal/profile"
	"covey/test/command"
)

// canaryFile has values that stand nowhere else: numbers, rare texts, identifiers, faulty cells.
func canaryFile() (text string) {
	var b strings.Builder
	b.WriteString("id,age,hr,note\n")
	for i := range 60 {
		hr := fmt.Sprintf("%d.77%03d", 60+i%20, i)
		if i%9 == 4 {
			hr = fmt.Sprintf("canary-%d kg", i)
		}
		fmt.Fprintf(&b, "CANARY%04d,%d.77%03d,%s,\"canary text %d\"\n", i, 40+i%30, i, hr, i)
	}
	return b.String() + "canary broken,1\n"
}

var canary = regexp.MustCompile(`(?i)canary|\.77\d\d\d`)

// TestProfileLeavesNothing: a profile, a check and whatever refuses them leave no value of the rows
// in a file, a log or a socket, and where they refuse none on the screen either; the values that
// are printed are the quantiles.
func TestProfileLeavesNothing(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	t.Setenv("TMPDIR", temporary)
	for name, text := range map[string]string{"agent.toml": goodConfig, "icu.csv": canaryFile(), "study.toml": goodStudy} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := command.Tree(t, dir)
	// a socket that nobody may call, but a check that asks how the agent stands
	l, err := net.Listen("unix", filepath.Join(dir, "agent.sock"))
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan string, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(called)
				return
			}
			request, _ := bufio.NewReader(c).ReadString('\n')
			called <- request
			c.Close()
		}
	}()
	printed := 0
	for _, args := range []string{
		"data profile icu", "data profile icu --study study.toml", "data profile icu --values", "data profile icu --values --study study.toml", "--json data profile icu --values",
		"check --timeout 1ms", "check --study study.toml --timeout 1ms", "--json check --study study.toml --timeout 1ms",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(args), &out, &errs)
		values := strings.Contains(args, "--values")
		if values != (code == shared.ExitOK) {
			t.Errorf("%s: exit status %d\n%s", args, code, errs.String())
		}
		if found := canary.FindString(errs.String()); found != "" {
			t.Errorf("%s: stderr has %q", args, found)
		}
		if found := canary.FindString(out.String()); found != "" && !strings.Contains(args, "--json data") {
			t.Errorf("%s: stdout has %q", args, found)
		}
		if values {
			printed++
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screen && !strings.Contains(args, "--json") {
					t.Errorf("%s: a line of %d characters: %s", args, n, line)
				}
			}
		}
	}
	if printed != 3 {
		t.Errorf("%d profiles were printed", printed)
	}
	l.Close() // which removes it
	if after := command.Tree(t, dir); after != before {
		t.Error("the disk changed")
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files %v, %v", left, err)
	}
	checks := 0
	for request := range called {
		checks++
		if request != "" && request != "GET /v1/status HTTP/1.1\r\n" {
			t.Errorf("the agent's socket was called: %q", request)
		}
	}
	if checks > 3 {
		t.Errorf("the agent's socket was called %d times", checks)
	}
}

// TestProfileSaysOfASample: quantiles of some of a column's values are not shown as if of all.
func TestProfileSaysOfASample(t *testing.T) {
	for sample, want := range map[int]bool{0: false, 4096: true} {
		var out bytes.Buffer
		printProfile(&out, &profile.Report{Columns: []profile.Column{{Name: "age", Quantiles: make([]float64, 5), Sample: sample}, {Name: "sex"}}})
		if got := strings.Contains(out.String(), "Quantiles of columns with more values come from 4096 at random."); got != want {
			t.Errorf("%d: %s", sample, out.String())
		}
	}
}

// TestLongKindsAreCut: a kind of many letters moves no number out of its column.
func TestLongKindsAreCut(t *testing.T) {
	var out bytes.Buffer
	printQuantiles(&out, []profile.Column{{Name: "a", Kind: "text", Values: 7}, {Name: "b", Kind: "comparison, such as <5", Values: 7}})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if n := len(lines); n != 4 || utf8.RuneCountInString(lines[2]) != utf8.RuneCountInString(lines[3]) {
		t.Errorf("\n%s", out.String())
	}
}

// TestProfileFitsAScreen: long names, texts of others and many faults stay within a line's width,
// and nothing of them moves the cursor.
func TestProfileFitsAScreen(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("a very long name ", 12)
	var text strings.Builder
	fmt.Fprintf(&text, "id,age,%s,\"esc\x1b[2J\u202e\",hr\n", long)
	for i := range 400 {
		fmt.Fprintf(&text, "%d,%de300,%s,x\x1b[31m%d,n/a\n", i/3, i, long, i%3)
	}
	for name, content := range map[string]string{"agent.toml": goodConfig, "icu.csv": text.String(), "study.toml": goodStudy} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"data profile icu --values", "data profile icu --values --study study.toml"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &out, &errs); code != shared.ExitOK {
			t.Fatalf("%d: %s", code, errs.String())
		}
		if strings.ContainsAny(out.String(), "\x1b\u202e") {
			t.Error("the cursor is moved")
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screen {
				t.Errorf("a line of %d characters: %s", n, line)
			}
		}
	}
}
