package main

import (
	"errors"
	"fmt"
	"io"

	"covey/internal/chain"
	"covey/internal/chainwatch"
	"covey/internal/frame"
)

type chainCmd struct {
	Show   chainShowCmd   `cmd:"" help:"Show the head that this site kept, and the one that the coordinator shows."`
	Accept chainAcceptCmd `cmd:"" help:"Accept a chain that does not extend the one that this site kept, after the coordinators' log was restored from a backup."`
}

type chainShowCmd struct{}

func (chainShowCmd) Run(t *terminal) error {
	v, err := ask[chainwatch.View](t, "GET", "chain")
	if err != nil {
		return err
	}
	if err := t.Print(v, func(w io.Writer) { printChain(w, v) }); err != nil || v.Broken == "" {
		return err
	}
	return errors.New("the coordinator's chain does not extend the one that this site kept: call the coordinator's operator. If a backup was restored, " +
		"and the head that is read to you is the one shown, run \"agent chain accept HEAD\"; otherwise keep this output, and suspect the coordinator")
}

type chainAcceptCmd struct {
	Head string `arg:"" help:"The head that \"agent chain show\" prints as shown, and that the coordinator's operator confirms."`
}

func (c *chainAcceptCmd) Run(t *terminal) error {
	v, err := ask[chainwatch.View](t, "POST", "chain", "accept", c.Head)
	if err != nil {
		return err
	}
	t.Say("This site goes on with the coordinator's present chain. The one before is in the agent's log.")
	return t.Print(v, func(w io.Writer) { printChain(w, v) })
}

func printChain(w io.Writer, v chainwatch.View) {
	head := func(h *chain.Signed) string {
		if h == nil {
			return "none yet"
		}
		return h.Head.String()
	}
	fmt.Fprintf(w, "kept:  %s\n", head(v.Kept))
	fmt.Fprintf(w, "shown: %s\n", head(v.Shown))
	if v.Broken != "" {
		fmt.Fprintf(w, "BROKEN: %s; no query is answered\n", frame.Cleaned(v.Broken))
	}
}
