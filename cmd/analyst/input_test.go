package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"covey/test/command"
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
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.WriteFile("study.toml", []byte("name = \"s\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			command.Refused(t, dir, []string{c.says}, func(out, errs io.Writer) int {
				return run(t.Context(), strings.Fields(c.args), strings.NewReader(""), out, errs)
			})
		})
	}
	t.Logf("figure: %d bad inputs: results and flags of an analyst", len(inputs))
}

// TestCommandsHaveHelp: --help describes every command and flag, as docs/commands.md has it.
func TestCommandsHaveHelp(t *testing.T) { command.Helped(t, &commands{}, "analyst") }

// TestShapesAreOnThePage: docs/commands.md has the fields of what --json prints.
func TestShapesAreOnThePage(t *testing.T) {
	command.Shaped(t, "../..", map[string]any{
		"analyst propose": proposed{},
		"analyst list":    []view{},
		"analyst show":    view{},
	})
}
