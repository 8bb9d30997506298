package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"covey/cmd/internal/cli"
	"covey/internal/analyst"
	"covey/internal/frame"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

type proposeCmd struct {
	File   string   `arg:"" type:"existingfile" help:"study.toml."`
	Yes    bool     `short:"y" help:"Do not ask: propose it."`
	DryRun bool     `help:"Print the proposal with the current keys and counts, and send nothing. A later proposal has another digest."`
	Trust  []string `placeholder:"FINGERPRINT" help:"Accept this key in place of the pinned one; its owner must have read it to you."`
}

// Help is kong's longer text.
func (proposeCmd) Help() string {
	return `Asks the coordinator for the keys and counts of the study's sites and the keys of its readers, and
makes and signs the proposal here. A key that changed since this folder first proposed with it is
refused. Before the proposal is sent, a copy is kept in proposals/ of the folder.`
}

// proposed is propose's --json.
type proposed struct {
	Digest      proposal.Digest `json:"digest"`
	Warnings    []string        `json:"warnings,omitempty"`
	Sites       []party         `json:"sites"`
	Readers     []party         `json:"readers,omitempty"`
	Coordinator string          `json:"coordinator"`        // its key's fingerprint
	Proposal    string          `json:"proposal,omitempty"` // with --dry-run
	Plan        *study.Plan     `json:"plan"`
}

// party is a site or a reader of a proposal.
type party struct {
	Name        string `json:"name"`
	Units       int    `json:"units,omitempty"`
	Fingerprint string `json:"fingerprint"`
	New         bool   `json:"new,omitempty"` // its key is not pinned
}

func (c *proposeCmd) Run(t *terminal) error {
	text, err := cli.ReadStudy(c.File)
	if err != nil {
		return err
	}
	spec, _, err := cli.ReadSpec(c.File, text)
	if err != nil {
		return err
	}
	if err := fingerprints(c.Trust); err != nil {
		return err
	}
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.Close()
	draft, err := client.Draft(t.Ctx, spec, c.Trust)
	if err != nil {
		return cli.InFile(c.File, err)
	}
	out := c.reply(draft)
	if err := c.show(t, client, draft, &out); err != nil {
		return err
	}
	if c.DryRun {
		out.Proposal = string(draft.Body)
		return t.Print(out, func(w io.Writer) { w.Write(draft.Body) })
	}
	if !c.Yes {
		question := fmt.Sprintf("\nPropose this to %d sites? Type yes: ", len(out.Sites))
		if err := t.Confirm(question, "not proposed", "--yes proposes without asking; --dry-run shows what would be proposed"); err != nil {
			return err
		}
	}
	if err := client.Propose(t.Ctx, draft); err != nil {
		return err
	}
	t.Say("proposed to %d sites; it starts when all have approved, and waits for them %s", len(out.Sites), cli.UntilWhen(draft.Plan.Proposal.Expires()))
	return t.Print(out, func(w io.Writer) { fmt.Fprintln(w, out.Digest) })
}

func (c *proposeCmd) reply(d *analyst.Draft) proposed {
	p := d.Plan.Proposal
	out := proposed{Digest: d.Plan.Digest, Coordinator: analyst.FingerprintOf(p.Coordinator), Plan: d.Plan}
	for _, m := range p.Roster {
		out.Sites = append(out.Sites, party{m.Name, m.Units, analyst.FingerprintOf(m.Identity), slices.Contains(d.Fresh, m.Name)})
	}
	for _, r := range p.Readers {
		out.Readers = append(out.Readers, party{r.Name, 0, analyst.FingerprintOf(r.Identity), slices.Contains(d.Fresh, r.Name)})
	}
	return out
}

// show prints the plan, its warnings, and the sites and readers with their keys, for the decision.
func (c *proposeCmd) show(t *terminal, client *analyst.Client, d *analyst.Draft, out *proposed) error {
	out.Warnings = append(d.Plan.Warnings(), again(t, client, d)...)
	lines, _, err := cli.Expected(d.Plan)
	if err != nil {
		return err
	}
	if !t.JSON {
		if err := cli.PrintPlan(t.Err, d.Plan, lines); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(t.Err, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nSITE\tUNITS\tKEY\t")
	mark := func(first bool) string {
		if first {
			return "shown for the first time"
		}
		return ""
	}
	for _, s := range out.Sites {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", s.Name, s.Units, s.Fingerprint, mark(s.New))
	}
	for _, r := range out.Readers {
		fmt.Fprintf(w, "%s\treader\t%s\t%s\n", r.Name, r.Fingerprint, mark(r.New))
	}
	fmt.Fprintf(w, "coordinator\t\t%s\t%s\n%s\tyou\t%s\t\n", out.Coordinator, mark(slices.Contains(d.Fresh, "")), client.Party().Name, client.Fingerprint())
	if err := w.Flush(); err != nil {
		return err
	}
	t.Warn(out.Warnings)
	return nil
}

// again warns of studies that are most often the same one, proposed twice.
func again(t *terminal, client *analyst.Client, d *analyst.Draft) (out []string) {
	all, err := client.List(t.Ctx)
	if err != nil {
		return nil // proposing says it
	}
	var same []string
	for _, s := range all {
		switch {
		case !analyst.Over(s.Phase) && s.Name == d.Plan.Proposal.Spec.Name:
			out = append(out, fmt.Sprintf("study %.12s has the same name and is not over: each takes privacy budget of its own; `analyst withdraw %.12s` ends it if it is yours", s.Study, s.Study))
		case s.Phase == wire.PhaseCompleted:
			kept, err := client.Kept(s.Study)
			if err != nil || kept == nil {
				continue
			}
			if p, err := proposal.Parse(kept); err == nil && d.Plan.Proposal.Again(p) {
				same = append(same, d.Plan.AgainText(s.Study, s.Name))
			}
		}
	}
	if lost := client.Untold(d.Plan.Proposal, all); len(lost) > 0 {
		var ids []string
		for _, id := range lost {
			ids = append(ids, fmt.Sprintf("%.12s", id))
		}
		out = append(out, fmt.Sprintf("this folder has signed what asks the same (%s), and the coordinator does not tell of it: it was refused or never arrived; or the coordinator was restored from an older backup, and then sites may have charged it already, and would charge again. Ask its operator first", cli.Few(ids)))
	}
	return append(out, study.Again(same)...)
}

// fingerprints puts those of --trust into the form in which keys print.
func fingerprints(trust []string) error {
	for i, key := range trust {
		if trust[i] = strings.ToLower(key); !cli.IsFingerprint(trust[i]) {
			return cli.Bad("--trust must be a fingerprint, six groups of four letters and digits, got %.80q", key)
		}
	}
	return nil
}

// word returns another party's text, fit to stand in a column.
func word(s string) string { return frame.Word(s) }
