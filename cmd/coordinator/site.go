package main

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"covey/internal/frame"
	"covey/internal/membership"
	"covey/internal/operator"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
)

type siteCmd struct {
	Invite inviteCmd `cmd:"" help:"Make a join file for a site."`
	List   sitesCmd  `cmd:"" help:"List sites and pending invites."`
	Revoke revokeCmd `cmd:"" help:"End a site's membership."`
}

type inviteCmd struct {
	Site string `arg:"" help:"The site's name: lower-case letters, digits and dashes."`
	inviteFlags
}

// Run makes a join file.
func (c *inviteCmd) Run(s *terminal) error { return sites.invite(s, c.Site, c.inviteFlags) }

type inviteFlags struct {
	Valid    time.Duration `default:"72h" help:"How long the join file is good for."`
	Out      string        `help:"Where to write it; NAME.join if not given, - for stdout."`
	Again    bool          `xor:"kind" help:"For a member whose certificate expired: it joins again with its identity key."`
	Withdraw bool          `xor:"kind" help:"Make no file: cancel the unused join files of this name."`
}

// holders are the sites or the analysts on the operator's socket.
type holders struct{ path, word string }

var (
	sites    = holders{"/v1/sites", "site"}
	analysts = holders{"/v1/analysts", "analyst"}
)

func (h holders) invite(s *terminal, name string, c inviteFlags) error {
	if c.Withdraw {
		r, err := ask[operator.WithdrawReply](s, "POST", h.path+"/"+url.PathEscape(name)+"/withdraw", nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Err, "%s: unused join files withdrawn: %d\n", name, r.Withdrawn)
		return printDone(s, r)
	}
	out := c.Out
	if out == "" {
		out = name + ".join"
	}
	if err := oneStdout(s, out); err != nil {
		return err
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	text, err := client.saveJoin(h.path+"/invite", operator.InviteRequest{Name: name, Valid: proposal.Duration(c.Valid), Again: c.Again}, out)
	if err != nil {
		return err
	}
	join, err := pki.ParseJoin(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "wrote %s: send it to the %s by a channel you trust; it works once, until %s; unused older files of %s no longer work\n", written(out), h.word, join.Expires.Format(time.RFC3339), name)
	who := "the site's operator"
	if h == analysts {
		who = "the analyst"
	}
	fmt.Fprintf(s.Err, "when %s calls, read out the CA's fingerprint, which is in the file:\n  %s\n", who, join.Fingerprint)
	return printDone(s, struct {
		Site        string    `json:"site,omitempty"`
		Analyst     string    `json:"analyst,omitempty"`
		File        string    `json:"file"`
		Fingerprint string    `json:"fingerprint"` // of the CA
		Expires     time.Time `json:"expires"`
	}{join.Site, join.Analyst, out, join.Fingerprint, join.Expires})
}

// revoke ends a membership and returns the studies that it concerns.
func (h holders) revoke(s *terminal, name string) (r operator.RevokeReply, err error) {
	if r, err = ask[operator.RevokeReply](s, "POST", h.path+"/"+url.PathEscape(name)+"/revoke", nil); err != nil {
		return r, err
	}
	fmt.Fprintf(s.Err, "%s is revoked: its keys and all join files made before now no longer work; to return, it needs a new join file and joins with new keys\n", name)
	return r, nil
}

// invited returns what a list says of an invitation; empty where its holder came by another one.
func invited(i membership.Invite, joined bool) string {
	switch {
	case time.Now().Before(i.Expires):
		return "invited until " + i.Expires.Format(time.RFC3339)
	case joined:
		return ""
	}
	return "invitation ended " + i.Expires.Format(time.RFC3339)
}

type sitesCmd struct{}

func (c *sitesCmd) Run(s *terminal) error {
	return list(s, "GET", "/v1/sites", func(w io.Writer, r outline.SitesReply) {
		fmt.Fprintln(w, "SITE\tSTATE\tKEY EXCHANGE\tIDENTITY\tDATA SETS")
		var all []string
		for _, site := range r.Sites {
			state, next := siteState(site, time.Now())
			if next != "" {
				all = append(all, next)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t", site.Name, state, site.KeyExchange, site.Fingerprint)
			fmt.Fprintln(w, datasets(site))
		}
		for _, i := range r.Invited {
			joined := slices.ContainsFunc(r.Sites, func(s outline.ListedSite) bool { return s.Name == i.Site })
			if state := invited(i, joined); state != "" {
				fmt.Fprintf(w, "%s\t%s\t\t\t\n", i.Site, state)
			}
		}
		fmt.Fprintf(w, "\nhead of the chain\t%s\n", r.Chain)
		for _, text := range all {
			fmt.Fprintln(w, text)
		}
	})
}

// siteState returns what a list says of a site, and a line on why it cannot connect.
func siteState(s outline.ListedSite, now time.Time) (state, why string) {
	switch {
	case s.Revoked:
		return "revoked", ""
	case s.BrokenChain:
		return "BROKEN CHAIN: see operations.md", ""
	case s.Refused != "":
		return "refused", fmt.Sprintf("%s is refused: %s", s.Name, s.Refused)
	case s.Connected:
		return "connected", ""
	case !s.Expires.IsZero() && now.After(s.Expires):
		return "certificate ended", fmt.Sprintf("%s cannot connect: its certificate ended %s. Make it a join file: coordinator site invite %[1]s --again", s.Name, s.Expires.Format(time.DateOnly))
	}
	return "joined", ""
}

type revokeCmd struct {
	Site string `arg:"" help:"The site's name."`
}

// Run revokes a site.
func (c *revokeCmd) Run(s *terminal) error {
	r, err := sites.revoke(s, c.Site)
	if err != nil {
		return err
	}
	for _, study := range r.Studies {
		fmt.Fprintln(s.Err, withoutSite(study, c.Site))
	}
	return printDone(s, r)
}

// withoutSite says what becomes of a study without a site that was revoked.
func withoutSite(r outline.RevokedStudy, site string) string {
	study := fmt.Sprintf("study %.12s (%s) is %s", r.Digest, frame.Word(r.Name), r.Status)
	switch {
	case r.GoesOn:
		return fmt.Sprintf("%s and goes on without %s", study, site)
	case r.Status == round.StatusProposed:
		return fmt.Sprintf("%s and cannot begin without %s: `coordinator study abort %.12s` ends it", study, site, r.Digest)
	}
	return fmt.Sprintf("%s and waits for %s, which cannot come back to it: `coordinator study abort %.12s` ends it", study, site, r.Digest)
}

// datasets returns what a site offers, as its column shows it: the names are the site's own words.
func datasets(site outline.ListedSite) string {
	var sets []string
	for _, name := range slices.Sorted(maps.Keys(site.Datasets)) {
		sets = append(sets, fmt.Sprintf("%s (%d)", frame.Word(name), site.Datasets[name]))
	}
	return strings.Join(sets, " ")
}
