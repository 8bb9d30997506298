package cli

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type grammar struct {
	JSON  bool `name:"json"`
	Study struct {
		Show struct {
			Ref string `arg:""`
		} `cmd:""`
		List struct{} `cmd:""`
	} `cmd:""`
	Serve struct {
		Log    string `enum:"auto,json,text" default:"auto"`
		Secret bool   `hidden:""`
	} `cmd:""`
}

// TestBash sources the script in a real bash and asks it, as readline would.
func TestBash(t *testing.T) {
	parser, err := kong.New(&grammar{}, kong.Name("tool"))
	if err != nil {
		t.Fatal(err)
	}
	var script bytes.Buffer
	if err := writeCompletion(&script, "bash", parser.Model); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"tool ":                    "study serve",
		"tool s":                   "study serve",
		"tool study ":              "show list",
		"tool study l":             "list",
		"tool --json study s":      "show",
		"tool serve --":            "--help --json --log",
		"tool serve --log ":        "auto json text",
		"tool serve --log t":       "text",
		"tool study show --j":      "--json",
		"tool study show no-such-": "",
	} {
		words := strings.Split(line, " ")
		text := fmt.Sprintf("%s\nCOMP_WORDS=(", script.String())
		for _, w := range words {
			text += fmt.Sprintf("%q ", w)
		}
		text += fmt.Sprintf(")\nCOMP_CWORD=%d\n_tool_complete\necho \"${COMPREPLY[*]}\"\n", len(words)-1)
		out, err := exec.Command("bash", "-uc", text).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
	}
	if strings.Contains(script.String(), "--secret") {
		t.Error("a hidden flag is offered")
	}
}

// TestOtherShells: zsh's is bash's in its emulation, fish's has every command, and no other is
// known.
func TestOtherShells(t *testing.T) {
	parser, err := kong.New(&grammar{}, kong.Name("tool"))
	if err != nil {
		t.Fatal(err)
	}
	var zsh, fish bytes.Buffer
	if err := writeCompletion(&zsh, "zsh", parser.Model); err != nil || !strings.HasPrefix(zsh.String(), "#compdef tool\n") {
		t.Errorf("zsh: %v", err)
	}
	if err := writeCompletion(&fish, "fish", parser.Model); err != nil ||
		!strings.Contains(fish.String(), `-n '__tool_at "study"' -f -a 'show list'`) || !strings.Contains(fish.String(), `-l log -x -a 'auto json text'`) {
		t.Errorf("fish: %v\n%s", err, fish.String())
	}
	if err := writeCompletion(&fish, "csh", parser.Model); err == nil {
		t.Error("csh is known")
	}
}
