package main

import (
	"testing"

	"covey/internal/node"
	"covey/internal/operator"
	"covey/internal/outline"
	"covey/test/command"
)

// TestCommandsHaveHelp: --help describes every command and flag, as docs/commands.md has it.
func TestCommandsHaveHelp(t *testing.T) { command.Helped(t, &cli{}, "coordinator") }

// TestShapesAreOnThePage: docs/commands.md has the fields of what --json prints.
func TestShapesAreOnThePage(t *testing.T) {
	command.Shaped(t, "../..", map[string]any{
		"coordinator account":         account{},
		"coordinator analyst list":    outline.AnalystsReply{},
		"coordinator analyst revoke":  operator.RevokeReply{},
		"coordinator page list":       node.PeopleReply{},
		"coordinator site list":       outline.SitesReply{},
		"coordinator site revoke":     operator.RevokeReply{},
		"coordinator study create":    operator.CreateReply{},
		"coordinator study list":      []outline.View{},
		"coordinator study show":      outline.View{},
		"coordinator study approvals": approvalsReply{},
		"coordinator ca list":         node.CAReply{},
		"coordinator ca retire":       node.RetireReply{},
		"coordinator raft peers":      node.PeersReply{},
	})
}
