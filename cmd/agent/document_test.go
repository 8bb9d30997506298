package main

import (
	"testing"

	"covey/test/command"
)

// TestCommandsHaveHelp: --help describes every command and flag, as docs/commands.md has it.
func TestCommandsHaveHelp(t *testing.T) { command.Helped(t, &cli{}, "agent") }
