package cli

import (
	"testing"

	"covey/internal/compare"
	"covey/internal/worth"
	"covey/test/command"
)

// TestShapesAreOnThePage: docs/commands.md has the fields of what --json prints.
func TestShapesAreOnThePage(t *testing.T) {
	command.Shaped(t, "../../..", map[string]any{
		"analyst compare":  compare.Report{},
		"analyst simulate": simulated{},
		"analyst plan":     worth.Solution{},
		"analyst verify":   verdict{},
		"version":          Build{},
	})
}
