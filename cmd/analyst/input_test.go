package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"covey/cmd/internal/cli"
)

// TestBadInput: each gives exit status 2, says what is at fault, and changes nothing on disk.
func TestBadInput(t *testing.T) {
	inputs := []struct {
		name, args string
		says       string
	}{
		{"verify absent", "verify absent.json", "absent.json"},
		{"verify's key", "verify study.toml --key abc", "six groups"},
		{"verify no result", "verify study.toml", "study.toml is not a result"},
		{"export absent", "export absent.json --csv out.csv", "absent.json"},
		{"export of nothing", "export study.toml", "--npz, --csv or --plots"},
		{"export no result", "export study.toml --csv out.csv", "study.toml is not a result"},
		{"export over the result", "export study.toml --csv study.toml", "study.toml is the result itself"},
		{"completion", "completion csh", "csh"},
	}
	for _, c := range inputs {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("study.toml", []byte("name = \"s\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if code := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &errs); code != cli.ExitBad || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit status %d: %s", code, errs.String())
			}
			text, err := os.ReadFile("study.toml")
			if left, _ := os.ReadDir("."); err != nil || string(text) != "name = \"s\"\n" || len(left) != 1 {
				t.Errorf("the disk changed: %v, %v", left, err)
			}
		})
	}
	t.Logf("figure: %d bad inputs: results and flags of an analyst", len(inputs))
}

// TestCommandsHaveHelp: --help describes every command and flag, as docs/commands.md has it.
func TestCommandsHaveHelp(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Name("analyst"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range parser.Model.Node.Children {
		if !c.Hidden && c.Help == "" {
			t.Errorf("analyst %s has no help", c.Name)
		}
		for _, f := range c.Flags {
			if !f.Hidden && f.Help == "" {
				t.Errorf("analyst %s --%s has no help", c.Name, f.Name)
			}
		}
	}
}
