package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"covey/internal/node"
)

type caCmd struct {
	List   caListCmd   `cmd:"" help:"Show the CA in force and, while it is changed, the other one and who is not ready."`
	New    caNewCmd    `cmd:"" help:"Begin to change the CA: everybody trusts both from then on."`
	Retire caRetireCmd `cmd:"" help:"Put the new CA in force and end the trust in the old one."`
}

// Help is kong's longer text.
func (caCmd) Help() string {
	return `A CA is changed in two commands. "ca new" makes the next one: coordinators and agents trust both, and
agents fetch certificates of the new one within minutes. When "ca list" names nobody any more,
"ca retire" puts it in force: from then on the old one opens nothing. A site that was away all
the time must join again ("site invite --again"). Studies go on meanwhile; identity keys and the
key that signs results stay.`
}

type caListCmd struct {
	dataFlag
	JSON bool `help:"Print one object."`
}

func (c *caListCmd) Run(s *streams) error { return askCA(s, c.dataFlag, "GET", "/v1/ca", c.JSON) }

type caNewCmd struct {
	dataFlag
	JSON bool `help:"Print one object."`
}

func (c *caNewCmd) Run(s *streams) error {
	if err := askCA(s, c.dataFlag, "POST", "/v1/ca/new", c.JSON); err != nil {
		return err
	}
	fmt.Fprintln(s.stderr, "tell the sites the next CA's fingerprint; their agents log it. Then: coordinator ca list, and when nobody is waited for, ca retire")
	return nil
}

type caRetireCmd struct {
	dataFlag
	Force bool `help:"Do not wait for sites: those that have no certificate of the new CA are cut off and must join again."`
	JSON  bool `help:"Print one object."`
}

func (c *caRetireCmd) Run(s *streams) error {
	path := "/v1/ca/retire"
	if c.Force {
		path += "?force=true"
	}
	if err := askCA(s, c.dataFlag, "POST", path, c.JSON); err != nil {
		return err
	}
	fmt.Fprintln(s.stderr, "the old CA opens nothing any more; join files made before now are void")
	return nil
}

func askCA(s *streams, d dataFlag, method, path string, asJSON bool) error {
	client, err := d.client(s.ctx)
	if err != nil {
		return err
	}
	var r node.CAReply
	if err := client.do(method, path, nil, &r); err != nil {
		return err
	}
	if asJSON {
		return printJSON(s.stdout, r)
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "in force\t%s\tends %s\n", r.Present, r.Expires.Format(time.DateOnly))
	if r.Next != "" {
		fmt.Fprintf(w, "next\t%s\n", r.Next)
	}
	if r.Old != "" {
		fmt.Fprintf(w, "before, trusted still\t%s\n", r.Old)
	}
	if r.Next != "" || r.Old != "" {
		if len(r.Coordinators) > 0 {
			fmt.Fprintf(w, "coordinators not ready\t%s\n", strings.Join(r.Coordinators, ", "))
		}
		if len(r.Waiting) > 0 {
			fmt.Fprintf(w, "sites not ready\t%s\n", strings.Join(r.Waiting, ", "))
		}
		if len(r.Waiting)+len(r.Coordinators) == 0 {
			fmt.Fprintf(w, "ready\tall sites and coordinators\n")
		}
	}
	return w.Flush()
}
