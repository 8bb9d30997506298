package main

import (
	"testing"

	"github.com/alecthomas/kong"
)

// TestCommandsHaveHelp: --help describes every command and flag, as docs/commands.md has it.
func TestCommandsHaveHelp(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Name("agent"))
	if err != nil {
		t.Fatal(err)
	}
	helped(t, parser.Model.Node, "agent")
}

func helped(t *testing.T, n *kong.Node, path string) {
	for _, f := range n.Flags {
		if !f.Hidden && f.Help == "" {
			t.Errorf("%s --%s has no help", path, f.Name)
		}
	}
	for _, c := range n.Children {
		if !c.Hidden && c.Help == "" {
			t.Errorf("%s %s has no help", path, c.Name)
		}
		helped(t, c, path+" "+c.Name)
	}
}
