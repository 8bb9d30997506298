package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

type studyResultCmd struct {
	ref
	Out string `placeholder:"FILE" help:"Write the signed result file here. An existing file is not replaced."`
}

// Help is kong's longer text.
func (studyResultCmd) Help() string {
	return `Asks the coordinator, through the running agent, for the signed result of a study that this site
takes part in, and checks it against this site's ledger: its digest is one that was approved here,
and every release that this site received is in it. The agent keeps no copy. Without --json, your own
rows are then checked against constants that the study learned, for your eyes alone.`
}

func (c *studyResultCmd) Run(t *terminal) error {
	s, err := c.resolve(t)
	if err != nil {
		return err
	}
	if c.Out != "" {
		body, err := fetched(t, s)
		if err != nil {
			return err
		}
		defer body.Close()
		if err := shared.CopyNew(c.Out, body); err != nil {
			return err
		}
		t.Say("%s: the result of study %s, which this site approved; it verifies.", c.Out, s.Digest.String()[:12])
		if err := t.Print(map[string]string{"file": c.Out}, func(io.Writer) {}); err != nil || t.JSON {
			return err
		}
		file, err := os.Open(c.Out)
		if err != nil {
			return err
		}
		defer file.Close()
		if r, err := result.Outline(file); err == nil {
			standOut(t, r)
		}
		return nil
	}
	file, err := fetch(t, s)
	if err != nil {
		return err
	}
	defer file.Close()
	if t.JSON {
		_, err := io.Copy(t.Out, file)
		return err
	}
	r, err := result.ReadVerified(file) // by the agent
	if err != nil {
		return err
	}
	t.Say("The result verifies, and belongs to a study that this site approved.")
	if err := t.PrintResult(r); err != nil {
		return err
	}
	standOut(t, r)
	return nil
}

// fetched returns the result file of a study, which the running agent has checked, as it comes.
func fetched(t *terminal, s agent.StudyDetail) (io.ReadCloser, error) {
	body, err := call(t, "GET", "studies", s.Digest.String(), "result")
	if shared.Is[*shared.InputError](err) && over(s) && s.Code != string(study.CodeCompleted) {
		return nil, fmt.Errorf("study %.12s has no result for this site: here it ended (%s)", s.Digest, s.Code)
	}
	return body, err
}

// fetch is fetched once all of it has come: nothing of a part is shown.
func fetch(t *terminal, s agent.StudyDetail) (io.ReadSeekCloser, error) {
	body, err := fetched(t, s)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return shared.Spool(body)
}

// over reports whether a study takes no decision any more.
func over(s agent.StudyDetail) bool {
	return s.State != "pending" && s.State != string(ledger.Approved)
}

// held returns what this site has on record of a study, of the running agent or, where none runs,
// of the ledger in t.dir. It is nil where there is neither, with why in words.
func held(t *terminal, id proposal.Digest) (*agent.Held, string) {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return nil, "-C does not name an agent's folder"
	}
	if _, err := os.Stat(filepath.Join(config.DataDir(), "ledger")); err != nil {
		return nil, "there is no ledger" // Open would make one
	}
	if h, err := ask[agent.Held](t, "GET", "studies", id.String(), "held"); err == nil {
		return &h, ""
	}
	l, err := ledger.Open(config.LedgerDir())
	if err != nil {
		return nil, err.Error()
	}
	defer l.Close()
	h := agent.HeldIn(l, id)
	return &h, ""
}
