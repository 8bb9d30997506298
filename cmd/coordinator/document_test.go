package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestCommandsAreDocumented: docs/commands.md has every command, and every flag but those of the
// demo.
func TestCommandsAreDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&cli{}, kong.Name("coordinator"))
	if err != nil {
		t.Fatal(err)
	}
	documented(t, string(raw), parser.Model.Node, "coordinator")
}

func documented(t *testing.T, page string, n *kong.Node, path string) {
	for _, f := range n.Flags {
		if !f.Hidden && f.Name != "help" && path != "coordinator demo" && !strings.Contains(page, "--"+f.Name) {
			t.Errorf("%s --%s is not in docs/commands.md", path, f.Name)
		}
	}
	for _, c := range n.Children {
		documented(t, page, c, path+" "+c.Name)
	}
	if len(n.Children) == 0 && !strings.Contains(page, "`"+path) {
		t.Errorf("%s is not in docs/commands.md", path)
	}
}
