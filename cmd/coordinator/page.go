package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"covey/internal/frame"
	"covey/internal/node"
	"covey/internal/people"
	"covey/internal/proposal"
)

type pageCmd struct {
	Invite pageInviteCmd `cmd:"" help:"Let a person or program log in to every coordinator's page; write the token to a file."`
	List   pageListCmd   `cmd:"" help:"List who may log in, what each sees, and until when."`
	Revoke pageRevokeCmd `cmd:"" help:"End a person's logins at all coordinators."`
}

type pageInviteCmd struct {
	Name        string        `arg:"" help:"The person's name: lower-case letters, digits and dashes. Anyone who can log in already gets a new token, and the old one no longer works."`
	Role        people.Role   `enum:"viewer,operator,metrics" default:"viewer" help:"viewer sees studies and results; operator sees all that the page shows; metrics is for a program that reads /metrics (${default})."`
	Studies     []string      `placeholder:"STUDY,..." help:"The only studies that a viewer sees, by digest or name; if not given, all, including later ones."`
	Valid       time.Duration `default:"2160h" help:"How long the login is good for, at most 8784h (${default})."`
	Certificate bool          `xor:"way" help:"Make no token: the person logs in by a client certificate of the page's --dashboard-client-ca with this common name."`
	Out         string        `short:"o" xor:"way" type:"path" help:"Where to write the token; NAME.token if not given, - for stdout."`
}

func (c *pageInviteCmd) Run(s *terminal) error {
	if c.Out == "" {
		c.Out = c.Name + ".token"
	}
	if err := oneStdout(s, c.Out); err != nil {
		return err
	}
	var r node.PersonSecret
	invite := func() (_ []byte, err error) {
		r, err = ask[node.PersonSecret](s, "POST", "/v1/page/invite", node.PersonRequest{Name: c.Name, Role: c.Role, Studies: c.Studies, Valid: proposal.Duration(c.Valid), Certificate: c.Certificate})
		return []byte(r.Token + "\n"), err
	}
	var err error
	if c.Certificate {
		_, err = invite()
	} else {
		err = saveSecret(c.Out, invite)
	}
	if err != nil {
		return err
	}
	how := "by a client certificate with that name"
	if !c.Certificate {
		how = "with the token in " + c.Out
		if c.Out == "-" {
			how = "with that token"
		}
	}
	fmt.Fprintf(s.Err, "%s (%s) may log in %s until %s, at every coordinator's page, and sees %s\n", r.Name, r.Role, how, r.Expires.Format(time.RFC3339), sees(r.ListedPerson))
	if !c.Certificate {
		fmt.Fprintf(s.Err, "hand it over by a channel you trust: anyone who has it logs in as %s, until `coordinator page revoke %s`\n", r.Name, r.Name)
	}
	if r.Replaced {
		fmt.Fprintf(s.Err, "the login that %s had before no longer works\n", r.Name)
	}
	file := c.Out
	if c.Certificate {
		file = ""
	}
	return printDone(s, struct {
		node.PersonReply
		File string `json:"file,omitempty"`
	}{r.PersonReply, file})
}

// sees says what a person may see.
func sees(p node.ListedPerson) string {
	switch {
	case p.Role == people.Operator:
		return "everything"
	case p.Role == people.Metrics:
		return "/metrics"
	case len(p.Studies) == 0:
		return "all studies"
	}
	var out []string
	for _, st := range p.Studies {
		out = append(out, fmt.Sprintf("%s (%.12s)", frame.Word(st.Name), st.Digest))
	}
	return strings.Join(out, ", ")
}

type pageListCmd struct{}

func (c *pageListCmd) Run(s *terminal) error {
	return list(s, "GET", "/v1/page/people", func(w io.Writer, r node.PeopleReply) {
		fmt.Fprintln(w, "NAME\tROLE\tBY\tUNTIL\tSEES")
		for _, p := range r.People {
			by, until := "token", p.Expires.Format(time.RFC3339)
			if p.Certificate {
				by = "certificate"
			}
			if time.Now().After(p.Expires) {
				until = "ended " + until
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", p.Name, p.Role, by, until, sees(p))
		}
	})
}

type pageRevokeCmd struct {
	Name string `arg:"" help:"The person's name."`
}

func (c *pageRevokeCmd) Run(s *terminal) error {
	if _, err := ask[struct{}](s, "POST", "/v1/page/revoke", node.PersonRequest{Name: c.Name}); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "%s may no longer log in, and open sessions end at every coordinator that hears of it\n", c.Name)
	return printDone(s, struct {
		Name string `json:"name"`
	}{c.Name})
}
