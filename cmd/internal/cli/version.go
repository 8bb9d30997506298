package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Build is which build of a program this is: version's --json.
type Build struct {
	Software string `json:"software"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Kernel   string `json:"kernel,omitempty"`   // the path that sums rows here
	Revision string `json:"revision,omitempty"` // of the source, where the toolchain recorded it
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source was not that revision's
}

// Version is the version command of a program.
type Version struct{}

// Run prints the running program's Build.
func (Version) Run(t *Terminal, p *Program) error {
	b := Build{Software: p.Software, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if p.Kernel != nil {
		b.Kernel = p.Kernel()
	}
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
	return t.Print(b, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n%s, %s", b.Software, b.Go, b.Platform)
		if b.Kernel != "" {
			fmt.Fprintf(w, ", kernel %s", b.Kernel)
		}
		fmt.Fprintln(w)
		if b.Revision != "" {
			fmt.Fprintf(w, "revision %s of %s, modified: %v\n", b.Revision, b.Time, b.Modified)
		}
	})
}
