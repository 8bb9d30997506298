package main

import (
	"testing"

	"covey/internal/agent"
	"covey/internal/chainwatch"
	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/profile"
	"covey/test/command"
)

// TestCommandsHaveHelp: --help describes every command and flag, as docs/commands.md has it.
func TestCommandsHaveHelp(t *testing.T) { command.Helped(t, &cli{}, "agent") }

// TestShapesAreOnThePage: docs/commands.md has the fields of what --json prints.
func TestShapesAreOnThePage(t *testing.T) {
	command.Shaped(t, "../..", map[string]any{
		"agent check":           []doctor.Finding{},
		"agent status":          agent.Status{},
		"agent project":         projection{},
		"agent data profile":    profile.Report{},
		"agent reload":          agent.Reloaded{},
		"agent study list":      []agent.StudyView{},
		"agent study show":      agent.StudyDetail{},
		"agent study approve":   agent.StudyView{},
		"agent ledger show":     agent.LedgerReply{},
		"agent ledger export":   agent.LedgerReply{},
		"agent ledger recover":  recovered{},
		"agent chain show":      chainwatch.View{},
		"agent egress":          egress.Reply{},
		"agent egress --verify": chainReply{},
	})
}
