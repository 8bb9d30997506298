package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/study"
)

type approvalsCmd struct {
	studyRef
}

// approvalsReply is approvals --json.
type approvalsReply struct {
	Digest    proposal.Digest          `json:"digest"`
	Decisions []outline.SignedDecision `json:"decisions"`
}

// Run checks the signatures here, with the keys in the proposal, and not at the coordinator.
func (c *approvalsCmd) Run(s *terminal) error {
	v, err := ask[outline.View](s, "GET", c.path(""), nil)
	if err != nil {
		return err
	}
	r := approvalsReply{Digest: v.Digest}
	if r.Decisions, err = ask[[]outline.SignedDecision](s, "GET", c.path("/decisions"), nil); err != nil {
		return err
	}
	for _, d := range r.Decisions {
		if !study.CheckDecision(proposal.Member{Name: d.Site, Identity: d.Identity}, r.Digest, d.Verdict, d.Code, d.Signature) {
			return fmt.Errorf("%s: the decision is not signed by the site's key", d.Site)
		}
	}
	if s.JSON {
		return shared.PrintJSON(s.Out, r)
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "SITE\tDECISION\tAT\tof digest %s\n", r.Digest)
	for _, d := range r.Decisions {
		fmt.Fprintf(w, "%s\t%s\t%s\tsigned by %s\n", d.Site, decisionText(d.Verdict, d.Code), d.At.UTC().Format(time.RFC3339), d.Fingerprint)
	}
	return w.Flush()
}

// decisionText is a verdict, with its reason where that is another word.
func decisionText(v study.Verdict, reason study.Code) string {
	if reason == "" || string(reason) == string(v) {
		return string(v)
	}
	return fmt.Sprintf("%s (%s)", v, reason)
}
