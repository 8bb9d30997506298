package cli

import (
	"fmt"

	"github.com/alecthomas/kong"

	"covey/internal/frame"
)

// Release is the flag --version: it prints the program's name and version on stdout and ends it
// with status 0, whatever else the command line holds.
type Release bool

// BeforeReset is kong's: it runs before anything else of the command line.
func (Release) BeforeReset(k *kong.Kong) error {
	fmt.Fprintln(k.Stdout, k.Model.Name, frame.Release())
	k.Exit(0)
	return nil
}
