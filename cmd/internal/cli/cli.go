// Package cli is what the commands share.
package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// InputError marks an error as the user's to mend: exit status 2.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// Bad is an *[InputError] of its words.
func Bad(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// PrintJSON writes one value, indented.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Build is which build of a program this is: version's --json.
type Build struct {
	Software string `json:"software"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"` // of the source, where the toolchain recorded it
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the source was not that revision's
}

// Version is the version command of a program.
type Version struct {
	JSON bool `help:"Print one object."`
}

// Print prints the running program's Build.
func (c *Version) Print(w io.Writer, software string) error {
	b := Build{Software: software, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
		return PrintJSON(w, b)
	}
	fmt.Fprintf(w, "%s\n%s, %s\n", b.Software, b.Go, b.Platform)
	if b.Revision != "" {
		fmt.Fprintf(w, "revision %s of %s, modified: %v\n", b.Revision, b.Time, b.Modified)
	}
	return nil
}
