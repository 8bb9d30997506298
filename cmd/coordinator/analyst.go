package main

import (
	"fmt"
	"io"
	"slices"

	"covey/internal/frame"
	"covey/internal/outline"
)

type analystCmd struct {
	Invite inviteAnalystCmd `cmd:"" help:"Make a join file for an analyst."`
	List   analystsCmd      `cmd:"" help:"List analysts and pending invites."`
	Revoke revokeAnalystCmd `cmd:"" help:"End an analyst's membership: the analyst's calls end at once, and studies go on."`
}

type inviteAnalystCmd struct {
	Name string `arg:"" help:"The analyst's name: lower-case letters, digits and dashes. It must never have been a site's."`
	inviteFlags
}

// Run makes a join file.
func (c *inviteAnalystCmd) Run(s *terminal) error { return analysts.invite(s, c.Name, c.inviteFlags) }

type analystsCmd struct{}

// Run lists analysts.
func (c *analystsCmd) Run(s *terminal) error {
	return list(s, "GET", "/v1/analysts", func(w io.Writer, r outline.AnalystsReply) {
		fmt.Fprintln(w, "ANALYST\tSTATE\tKEY EXCHANGE\tIDENTITY\tOPEN STUDIES")
		for _, a := range r.Analysts {
			state := "joined"
			if a.Revoked {
				state = "revoked"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", a.Name, state, a.KeyExchange, a.Fingerprint, a.Open)
		}
		for _, i := range r.Invited {
			joined := slices.ContainsFunc(r.Analysts, func(a outline.ListedAnalyst) bool { return a.Name == i.Analyst })
			if state := invited(i, joined); state != "" {
				fmt.Fprintf(w, "%s\t%s\t\t\t\n", i.Analyst, state)
			}
		}
	})
}

type revokeAnalystCmd struct {
	Name string `arg:"" help:"The analyst's name."`
}

// Run revokes an analyst. Its studies stay: ending them is another decision.
func (c *revokeAnalystCmd) Run(s *terminal) error {
	r, err := analysts.revoke(s, c.Name)
	if err != nil {
		return err
	}
	for _, study := range r.Studies {
		fmt.Fprintf(s.Err, "study %.12s (%s) of %s is %s and goes on: `coordinator study abort %.12s` ends it\n", study.Digest, frame.Word(study.Name), c.Name, study.Status, study.Digest)
	}
	return printDone(s, r)
}
