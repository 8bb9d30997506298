package main

import (
	"fmt"
	"io"
	"strings"

	"covey/cmd/internal/cli"
	"covey/internal/analyst"
	"covey/internal/proposal"
	"covey/internal/wire"
)

type resultCmd struct {
	ref
	Out   string   `placeholder:"FILE" help:"Write the signed result file here. An existing file is not replaced."`
	Trust []string `placeholder:"FINGERPRINT" help:"For another analyst's study: the coordinator's key as its operator read it to you, if it is not the one of this folder's proposals."`
}

// Help is kong's longer text.
func (resultCmd) Help() string {
	return `A result is not written or printed if it does not verify, belongs to another study, or, for a study
of yours, is not the result of the exact bytes that were signed in this folder. --json prints the
file's exact bytes.`
}

func (c *resultCmd) Run(t *terminal) error {
	if err := fingerprints(c.Trust); err != nil {
		return err
	}
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.Close()
	id, err := proposal.ParseDigest(strings.ToLower(c.Study))
	if err != nil {
		told, err := client.Find(t.Ctx, c.Study)
		if err != nil {
			return err
		}
		id = told.Study
	}
	got, err := client.Result(t.Ctx, id, c.Trust)
	if cli.Is[*analyst.NoResultError](err) {
		if told, gone := client.Study(t.Ctx, id); gone == nil && told.Phase == wire.PhaseEnded {
			return fmt.Errorf("study %.12s has no result: it ended (%s)", id, told.Code)
		}
	}
	if err != nil {
		return err
	}
	defer got.File.Close()
	if c.Out != "" {
		if err := cli.CopyNew(c.Out, got.File); err != nil {
			return err
		}
		t.Say("%s: the result of study %.12s. %s", c.Out, id, signedBy(got))
		return t.Print(map[string]string{"file": c.Out}, func(io.Writer) {})
	}
	if t.JSON {
		_, err := io.Copy(t.Out, got.File)
		return err
	}
	t.Say("%s", signedBy(got))
	return t.PrintResult(got.Result)
}

// signedBy says what a result was held against.
func signedBy(got *analyst.Fetched) string {
	switch {
	case got.Kept:
		return "It verifies, and belongs to the proposal that you signed."
	case got.Pinned:
		return "It verifies, and is signed by the coordinator's key of your proposals, " + got.Key + "."
	}
	return "It verifies: it is signed by the key in it, " + got.Key + ", with which nothing was proposed from this folder. Compare it with the coordinator's key, as somebody you trust reads it to you."
}
