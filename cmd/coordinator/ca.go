package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"covey/internal/node"
)

type caCmd struct {
	List   caListCmd   `cmd:"" help:"Show the CA in force and, during a change, the other one and who is not ready."`
	New    caNewCmd    `cmd:"" help:"Begin to change the CA: from then on everybody trusts both."`
	Retire caRetireCmd `cmd:"" help:"Put the new CA in force and remove the old one from the trust store."`
}

// Help is kong's longer text.
func (caCmd) Help() string {
	return `A CA is changed in two commands. "ca new" makes the next one: coordinators and agents trust both, and
agents fetch new certificates within minutes, and analysts with their next command. Once
"ca list" names nobody, "ca retire" puts the next CA in force, and nobody trusts the old one any more. A site that was
away all that time, or an analyst who ran no command, must join again ("site invite --again",
"analyst invite --again"). Studies go on meanwhile; identity keys and the key that signs results
stay.`
}

type caListCmd struct{}

func (c *caListCmd) Run(s *terminal) error { return askCA(s, "GET", "/v1/ca") }

type caNewCmd struct{}

func (c *caNewCmd) Run(s *terminal) error {
	if err := askCA(s, "POST", "/v1/ca/new"); err != nil {
		return err
	}
	fmt.Fprintln(s.Err, "tell the sites the next CA's fingerprint, which their agents log. Then run coordinator ca list until it names nobody, and coordinator ca retire")
	return nil
}

type caRetireCmd struct {
	Force bool `help:"Do not wait for sites: those without a certificate of the new CA are cut off and must join again."`
}

func (c *caRetireCmd) Run(s *terminal) error {
	path := "/v1/ca/retire"
	if c.Force {
		path += "?force=true"
	}
	var cut node.Cut
	if err := list(s, "POST", path, func(w io.Writer, r node.RetireReply) {
		cut = r.Cut
		printCA(w, r.CAReply)
	}); err != nil {
		return err
	}
	fmt.Fprintln(s.Err, "the old CA is no longer trusted; join files made before now no longer work")
	for _, of := range []struct {
		names []string
		what  string
	}{
		{cut.Sites, "cut off until they join again: `coordinator site invite SITE --again`"},
		{cut.Analysts, "cut off until they join again, unless they ran a command since `ca new`: `coordinator analyst invite NAME --again`"},
		{cut.Invited, "need a new join file"},
	} {
		if len(of.names) > 0 {
			fmt.Fprintf(s.Err, "%s: %s\n", strings.Join(of.names, ", "), of.what)
		}
	}
	return nil
}

func askCA(s *terminal, method, path string) error { return list(s, method, path, printCA) }

func printCA(w io.Writer, r node.CAReply) {
	fmt.Fprintf(w, "in force\t%s\tends %s\n", r.Present, r.Expires.Format(time.DateOnly))
	if r.Next != "" {
		fmt.Fprintf(w, "next\t%s\n", r.Next)
	}
	if r.Old != "" {
		fmt.Fprintf(w, "previous, still trusted\t%s\n", r.Old)
	}
	if r.Next != "" || r.Old != "" {
		if len(r.Coordinators) > 0 {
			fmt.Fprintf(w, "coordinators not ready\t%s\n", strings.Join(r.Coordinators, ", "))
		}
		if len(r.Waiting) > 0 {
			fmt.Fprintf(w, "sites not ready\t%s\n", strings.Join(r.Waiting, ", "))
		}
		if len(r.Analysts) > 0 {
			fmt.Fprintf(w, "analysts not ready\t%s: those who run no command before `ca retire` must join again\n", strings.Join(r.Analysts, ", "))
		}
		if len(r.Waiting)+len(r.Coordinators) == 0 {
			fmt.Fprintf(w, "ready\tall sites and coordinators\n")
		}
	}
}
