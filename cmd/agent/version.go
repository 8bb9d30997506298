package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"covey/internal/clip"
	"covey/internal/completion"
	"covey/internal/enroll"
)

type versionCmd struct{}

// build is version's --json.
type build struct {
	Software string `json:"software"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Kernel   string `json:"kernel"`             // the path that sums rows here
	Revision string `json:"revision,omitempty"` // of the source, where the toolchain recorded it
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source was not that revision's
}

func (versionCmd) Run(t *terminal) error {
	b := build{Software: enroll.Software, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Kernel: clip.Path()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return t.print(b, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n%s, %s, kernel %s\n", b.Software, b.Go, b.Platform, b.Kernel)
		if b.Revision != "" {
			fmt.Fprintf(w, "revision %s of %s, modified: %v\n", b.Revision, b.Time, b.Modified)
		}
	})
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is kong's longer text.
func (completionCmd) Help() string {
	// Indented, since kong makes one paragraph of lines that are not.
	return `Where a script goes:

    agent completion bash > ~/.local/share/bash-completion/completions/agent
    agent completion zsh > "${fpath[1]}/_agent"
    agent completion fish > ~/.config/fish/completions/agent.fish`
}

func (c *completionCmd) Run(t *terminal, k *kong.Context) error {
	return completion.Write(t.out, c.Shell, k.Model)
}
