package main

import (
	"github.com/alecthomas/kong"

	shared "covey/cmd/internal/cli"
	"covey/internal/completion"
	"covey/internal/coordinator"
)

type versionCmd struct{ shared.Version }

func (c *versionCmd) Run(s *streams) error { return c.Print(s.stdout, coordinator.Software) }

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is kong's longer text.
func (completionCmd) Help() string {
	// Indented, since kong makes one paragraph of lines that are not.
	return `Where a script goes:

    coordinator completion bash > ~/.local/share/bash-completion/completions/coordinator
    coordinator completion zsh > "${fpath[1]}/_coordinator"
    coordinator completion fish > ~/.config/fish/completions/coordinator.fish`
}

func (c *completionCmd) Run(s *streams, k *kong.Context) error {
	return completion.Write(s.stdout, c.Shell, k.Model)
}
