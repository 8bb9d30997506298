package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"covey/cmd/internal/cli"
	"covey/internal/analyst"
	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// view is what an analyst is told of a study, as --json prints it.
type view struct {
	Digest   proposal.Digest `json:"digest"`
	Name     string          `json:"name"`
	Proposer string          `json:"proposer,omitempty"` // none of the coordinator's operator
	Own      bool            `json:"own"`
	Status   wire.Phase      `json:"status"`
	Code     study.Code      `json:"code,omitempty"`
	Sites    []siteView      `json:"sites"`
	Waiting  []string        `json:"waiting_for,omitempty"`
	Released int             `json:"released"`
	Queries  int             `json:"queries"`
	Proposed time.Time       `json:"proposed,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"`
	Expires  time.Time       `json:"expires,omitzero"`
	// KeyExchange is that of this program's link to the coordinator; show fills it in.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
}

type siteView struct {
	Site     string        `json:"site"`
	Decision study.Verdict `json:"decision"`
	Fault    study.Code    `json:"fault,omitempty"`
	Awaited  bool          `json:"awaited,omitempty"`
	Gone     bool          `json:"gone,omitempty"`
}

func viewOf(t wire.Told) view {
	v := view{
		Digest: t.Study, Name: t.Name, Proposer: t.Proposer, Own: t.Own, Status: t.Phase, Code: t.Code,
		Released: t.Done, Queries: t.Queries, Proposed: t.Proposed, Ended: t.Ended, Expires: t.Expires,
	}
	for _, a := range t.Answers {
		v.Sites = append(v.Sites, siteView{a.Site, a.Verdict, a.Fault, a.Awaited, a.Gone})
		if a.Awaited {
			v.Waiting = append(v.Waiting, a.Site)
		}
	}
	return v
}

// words returns other parties' names, each fit to stand in a line of text.
func words(names []string) (out []string) {
	for _, name := range names {
		out = append(out, word(name))
	}
	return out
}

// status returns where a study stands, in one or a few words.
func (v view) status() string {
	switch v.Status {
	case wire.PhaseEnded:
		return strings.TrimSpace("ended: " + string(v.Code))
	case wire.PhaseRunning:
		return fmt.Sprintf("running, %d/%d queries", v.Released, v.Queries)
	}
	return string(v.Status)
}

// by returns who proposed the study.
func (v view) by() string {
	switch {
	case v.Own:
		return "you"
	case v.Proposer == "":
		return "the coordinator"
	}
	return word(v.Proposer)
}

// stuck are the sites without which the study cannot go on, and that cannot come back to it.
func (v view) stuck() (sites []string) {
	for _, s := range v.Sites {
		if s.Gone && (s.Awaited || v.Status != wire.PhaseRunning) {
			sites = append(sites, s.Site)
		}
	}
	return sites
}

// describe returns where a study stands, for whom it waits and whether in vain, in a sentence.
func (v view) describe() string {
	text := v.stands()
	if gone := v.stuck(); len(gone) > 0 {
		text += fmt.Sprintf("; it cannot go on without %s, gone from the federation or back with another key", cli.Few(words(gone)))
		if v.Own {
			text += ": withdraw it and propose anew"
		}
	}
	return text
}

func (v view) stands() string {
	waits := ""
	if len(v.Waiting) > 0 {
		waits = ", waiting for " + cli.Few(words(v.Waiting))
	}
	switch v.Status {
	case wire.PhaseProposed:
		text := "waiting for approval"
		if len(v.Waiting) > 0 {
			text += " by " + cli.Few(words(v.Waiting))
		}
		return text + ", " + cli.UntilWhen(v.Expires)
	case wire.PhaseSetup:
		return "setup: the sites exchange keys" + waits
	case wire.PhaseRunning:
		return fmt.Sprintf("running, %d of at most %d queries answered%s", v.Released, v.Queries, waits)
	case wire.PhaseCompleted:
		return fmt.Sprintf("completed after %d queries", v.Released)
	}
	return fmt.Sprintf("%s after %d queries", v.status(), v.Released)
}

// decision returns a site's answer in words.
func (s siteView) decision() string {
	switch s.Decision {
	case study.VerdictApproved:
		return "approved"
	case study.VerdictRejected:
		return "declined"
	}
	return "waiting"
}

// faults are what a site's data set lacks of what a study asks for, and what to do.
var faults = map[study.Code]string{
	study.CodeUnit:    "has another unit in this data set: `unit` is the column that the sites' agent.toml names",
	study.CodeColumns: "does not have one column of each name: ask the site which it has, or propose without it",
	study.CodeFormat:  "has a file of another format, or a column that is not numbers, levels or dates as the study has it: ask the site",
}

func (s siteView) fault() string {
	if s.Fault == "" {
		return ""
	}
	if text := faults[s.Fault]; text != "" {
		return string(s.Fault) + ": it " + text
	}
	return string(s.Fault) + ": docs/errors.md says what to do"
}

// asOf is as of when a study is told that is told now.
func asOf() string {
	return time.Now().UTC().Format(time.TimeOnly) + " UTC; answers, and what follows from them, show at the next whole minute"
}

type listCmd struct{}

func (listCmd) Run(t *terminal) error {
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := client.List(t.Ctx)
	if err != nil {
		return err
	}
	views := []view{}
	for _, told := range all {
		views = append(views, viewOf(told))
	}
	return t.Print(views, func(out io.Writer) {
		t.Say("as of %s", asOf())
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "DIGEST\tNAME\tBY\tSTATUS\tEXPIRES\tWAITING FOR")
		for _, v := range views {
			expires := "-"
			if v.Status == wire.PhaseProposed && !v.Expires.IsZero() {
				expires = v.Expires.UTC().Format(time.RFC3339)
			}
			waits := cli.Few(words(v.Waiting))
			if gone := v.stuck(); len(gone) > 0 {
				waits = "in vain for " + cli.Few(words(gone))
			}
			fmt.Fprintf(w, "%.12s\t%s\t%s\t%s\t%s\t%s\n", v.Digest, frame.Cell(v.Name), v.by(), v.status(), expires, waits)
		}
		w.Flush()
	})
}

// ref is how a study is named.
type ref struct {
	Study string `arg:"" help:"A digest, the beginning of one (4 digits or more), or a name."`
}

// find returns the study that is meant, as it stands now.
func (r ref) find(t *terminal, client *analyst.Client) (wire.Told, error) {
	if id, err := proposal.ParseDigest(strings.ToLower(r.Study)); err == nil {
		return client.Study(t.Ctx, id)
	}
	return client.Find(t.Ctx, r.Study)
}

type showCmd struct {
	ref
	Proposal bool `help:"Print the exact bytes of a proposal of yours, from this folder."`
}

func (c *showCmd) Run(t *terminal) error {
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.Close()
	if id, err := proposal.ParseDigest(strings.ToLower(c.Study)); c.Proposal && err == nil {
		return c.proposal(t, client, id) // offline
	}
	told, err := c.find(t, client)
	if err != nil {
		return err
	}
	if c.Proposal {
		return c.proposal(t, client, told.Study)
	}
	v := viewOf(told)
	v.KeyExchange = client.KeyExchange()
	return t.Print(v, func(out io.Writer) { v.print(out) })
}

func (c *showCmd) proposal(t *terminal, client *analyst.Client, id proposal.Digest) error {
	body, err := client.Kept(id)
	if err != nil {
		return err
	}
	if body == nil {
		return cli.Bad("study %.12s: no copy of its proposal is in this folder, which has those that were signed here", id)
	}
	_, err = t.Out.Write(body)
	return err
}

func (v view) print(out io.Writer) {
	var text strings.Builder // a study's name is its proposer's words
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "study\t%s\ndigest\t%s\nproposed\tby %s", word(v.Name), v.Digest, v.by())
	if !v.Proposed.IsZero() {
		fmt.Fprintf(w, ", %s", v.Proposed.UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(w, "\nstatus\t%s\nas of\t%s\n", v.describe(), asOf())
	if v.Status == wire.PhaseEnded {
		fmt.Fprintf(w, "\tdocs/errors.md explains %s; what was charged stays charged\n", v.Code)
	}
	if !v.Ended.IsZero() {
		fmt.Fprintf(w, "ended\t%s\n", v.Ended.UTC().Format(time.RFC3339))
	}
	if k := v.KeyExchange.String(); k != "" {
		fmt.Fprintf(w, "link\t%s\n", k)
	}
	fmt.Fprintln(w, "\nSITE\tANSWER\tAWAITED\t")
	for _, s := range v.Sites {
		awaited := ""
		switch {
		case s.Gone:
			awaited = "gone"
		case s.Awaited:
			awaited = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", word(s.Site), s.decision(), awaited, s.fault())
	}
	w.Flush()
	cli.Lines(out, text.String(), "      ")
}

type watchCmd struct{ ref }

func (c *watchCmd) Run(t *terminal) error {
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.Close()
	told, err := c.find(t, client)
	if err != nil {
		return err
	}
	show := cli.NewProgress(t.Err)
	var last view
	said := map[string]bool{} // faults
	err = client.Watch(t.Ctx, told.Study, func(now wire.Told) error {
		last = viewOf(now)
		if t.JSON {
			return json.NewEncoder(t.Out).Encode(last)
		}
		for _, s := range last.Sites {
			if text := word(s.Site) + ": " + s.fault(); s.Fault != "" && !said[text] {
				said[text] = true
				show.Clear()
				t.Say("%s", text)
			}
		}
		show.Show(last.Released, last.Queries, last.describe(), "")
		return nil
	}, func(until time.Time) {
		show.Clear()
		t.Say("the coordinator that led was lost; looking for the next one until %s", until.Local().Format(time.TimeOnly))
	})
	if t.Ctx.Err() != nil {
		show.Clear()
		return fmt.Errorf("stopped watching; the study goes on, and `analyst watch %s` follows it again", cli.Shell(c.Study))
	}
	show.End()
	if err != nil {
		return err
	}
	if last.Status == wire.PhaseEnded {
		return fmt.Errorf("the study ended without a result: %s", last.Code)
	}
	return nil
}

type withdrawCmd struct {
	ref
	Yes bool `short:"y" help:"Do not ask: STUDY is the whole digest."`
}

func (c *withdrawCmd) Run(t *terminal) error {
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.Close()
	told, err := c.find(t, client)
	if err != nil {
		return err
	}
	v := viewOf(told)
	switch _, whole := proposal.ParseDigest(strings.ToLower(c.Study)); {
	case !v.Own:
		return cli.Bad("study %.12s is not yours: %s proposed it", v.Digest, v.by())
	case analyst.Over(v.Status):
		return cli.Bad("study %.12s is over: it is %s", v.Digest, v.status())
	case c.Yes && whole != nil:
		return cli.Bad("--yes withdraws one study for good: give its whole digest, 64 hexadecimal digits, got %.80q", c.Study)
	case !c.Yes:
		v.print(t.Err)
		if err := t.Confirm(fmt.Sprintf("\nWithdraw study %s? Type yes: ", v.Digest), "not withdrawn", "give --yes with the whole digest"); err != nil {
			return err
		}
	}
	if err := client.Withdraw(t.Ctx, v.Digest); err != nil {
		return err
	}
	t.Say("asked to withdraw study %.12s: if it was over already, that shows at the next whole minute; what was charged stays charged", v.Digest)
	return t.Print(map[string]proposal.Digest{"digest": v.Digest}, func(w io.Writer) { fmt.Fprintln(w, v.Digest) })
}
