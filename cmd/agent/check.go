package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/dataset"
	"covey/internal/doctor"
	"covey/internal/frame"
	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/limits"
	"covey/internal/proposals"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

type checkCmd struct {
	Study   string        `type:"existingfile" placeholder:"FILE" help:"Read the data set of this study.toml or proposal as the study would, down to each value."`
	Timeout time.Duration `default:"10s" help:"How long to wait for the coordinator (${default})."`
}

func (c *checkCmd) Run(t *terminal) error {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return err
	}
	found, err := shared.Await(t.Ctx, func() ([]doctor.Finding, error) { return c.findings(t, config) })
	if err != nil {
		return err
	}
	if err := t.Print(found, func(w io.Writer) { printFindings(w, found) }); err != nil {
		return err
	}
	failed := checkError{shown: t.Shown()}
	for _, f := range found {
		if f.Err != nil {
			failed.found = append(failed.found, f)
		}
	}
	if failed.found == nil {
		return nil
	}
	return failed
}

func (c *checkCmd) findings(t *terminal, config *siteconfig.Config) ([]doctor.Finding, error) {
	ctx, cancel := context.WithTimeout(t.Ctx, c.Timeout)
	defer cancel()
	found := doctor.Check(ctx, config, time.Now())
	found = append(found, c.ofRunning(t)...)
	if c.Study != "" {
		text, err := proposals.ReadFile(c.Study)
		if err != nil {
			return nil, err
		}
		of := doctor.CheckStudy(config, text)
		if of[0].Code == doctor.CheckStudyFile {
			of[0].Check = "study file " + frame.Word(filepath.Base(c.Study))
		}
		found = append(found, of...)
		if plan := of[len(of)-1].Plan; plan != nil {
			found = append(found, checkBudget(t, config, plan))
		}
	}
	return found, nil
}

// checkBudget compares a study with what is left of its population's budget, as far as the running
// agent knows it.
func checkBudget(t *terminal, config *siteconfig.Config, plan *study.Plan) doctor.Finding {
	d, _ := config.Dataset(plan.Proposal.Spec.Dataset) // which a plan has, and that a population
	population, _ := config.Population(d.Population)
	used, known := ledger.Population{Name: population.Name, GDP: true, Bridged: true}, ""
	l, err := ask[agent.LedgerReply](t, "GET", "ledger")
	if err != nil {
		known = "; the agent does not answer, so that what was charged before is not counted"
	}
	populations, studies := entriesOf(l)
	for _, p := range populations {
		if p.Name == population.Name {
			used = p
		}
	}
	for _, s := range studies {
		if s.Study == plan.Digest && s.Population == population.Name { // its own part is not counted twice
			used.SpentRho -= s.SpentRho
			if s.State == ledger.Approved {
				used.ReservedRho -= s.Rho - s.SpentRho
			}
		}
	}
	b := limits.Of(plan, population, used)
	f := doctor.Finding{Code: doctor.CheckBudget, Check: "budget of " + population.Name, OK: b.Fits}
	if f.Result = fmt.Sprintf("%s; %s more such studies fit after it%s", b, b.Others(), known); !b.Fits {
		f.Result, f.Do = b.String()+known, b.Remedy
		f.Err = errors.New(f.Result)
	}
	return f
}

// ofRunning is what only the running agent knows; nothing if there is none.
func (c *checkCmd) ofRunning(t *terminal) (out []doctor.Finding) {
	bounded := *t.Terminal
	ctx, cancel := context.WithTimeout(t.Ctx, c.Timeout) // one that is stopped takes the call
	defer cancel()
	bounded.Ctx = ctx
	s, err := ask[agent.Status](&terminal{&bounded, t.dir}, "GET", "status")
	if err != nil {
		return nil
	}
	for _, d := range s.Datasets {
		if d.Fault != "" && d.Studies > 0 {
			out = append(out, doctor.Warned(doctor.CheckChanged, "data set "+d.Name, frame.Cleaned(d.Fault)))
		} else if d.Data == holding.DataChanged || d.Data == holding.DataMaybe {
			out = append(out, doctor.Warned(doctor.CheckChanged, "data set "+d.Name, d.Data+": it is not what an approved study pinned, which gets no more sums of it"))
		}
	}
	if l, err := ask[agent.LedgerReply](&terminal{&bounded, t.dir}, "GET", "ledger"); err == nil && limits.Older(l.Beyond) != "" {
		out = append(out, doctor.Warned(doctor.CheckBudget, "ledger", limits.Older(l.Beyond)))
	}
	if s.Chain.Broken != "" {
		out = append(out, doctor.Warned(doctor.CheckChain, "running agent", "answers no query: "+frame.Cleaned(s.Chain.Broken)))
	}
	if !s.Linked {
		return append(out, doctor.Warned(doctor.CheckLink, "running agent", "no link: "+cmp.Or(frame.Cleaned(s.LinkError), "none was tried yet")))
	}
	return append(out, doctor.Finding{Code: doctor.CheckLink, Check: "running agent", OK: true, Result: "linked to " + s.Coordinator})
}

// checkError has the checks that failed. Its text has each fault once, or only their number if a
// person has just read them above it.
type checkError struct {
	found []doctor.Finding
	shown bool
}

func (e checkError) Error() string {
	if e.shown {
		return fmt.Sprintf("%d of the checks failed", len(e.found))
	}
	said := map[string]bool{}
	var lines []string
	for _, f := range e.found {
		if fault, ok := errors.AsType[*dataset.Error](f.Err); ok {
			if said[fault.Error()] {
				continue
			}
			said[fault.Error()] = true
		}
		line := string(f.Code) + ": "
		if !strings.HasPrefix(line, f.Check) {
			line += f.Check + ": "
		}
		lines = append(lines, line+f.Err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns what the findings failed with.
func (e checkError) Unwrap() []error {
	var out []error
	for _, f := range e.found {
		switch f.Code { // the study is the input, or the folder is this site's to mend
		case doctor.CheckStudyFile, doctor.CheckDryRun, doctor.CheckBudget, doctor.CheckFolder:
			out = append(out, &shared.InputError{Err: f.Err})
		default:
			out = append(out, f.Err)
		}
	}
	return out
}
