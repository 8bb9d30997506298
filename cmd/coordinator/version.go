package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"covey/internal/completion"
	"covey/internal/coordinator"
)

type versionCmd struct {
	JSON bool `help:"Print one object."`
}

// build is version's --json.
type build struct {
	Software string `json:"software"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"` // of the source, where the toolchain recorded it
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source was not that revision's
}

func (c *versionCmd) Run(s *streams) error {
	b := build{Software: coordinator.Software, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, set := range info.Settings {
			switch set.Key {
			case "vcs.revision":
				b.Revision = set.Value
			case "vcs.time":
				b.Time = set.Value
			case "vcs.modified":
				b.Modified = set.Value == "true"
			}
		}
	}
	if c.JSON {
		return printJSON(s.stdout, b)
	}
	fmt.Fprintf(s.stdout, "%s\n%s, %s\n", b.Software, b.Go, b.Platform)
	if b.Revision != "" {
		fmt.Fprintf(s.stdout, "revision %s of %s, modified: %v\n", b.Revision, b.Time, b.Modified)
	}
	return nil
}

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
