package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// maxExport bounds what is read of an export.
const maxExport = 64 << 20

type ledgerRecoverCmd struct {
	From string `placeholder:"EXPORT" help:"Start a lost ledger from what \"ledger export\" wrote."`
	Yes  bool   `short:"y" help:"Do not ask."`
}

// Help is kong's longer text.
func (ledgerRecoverCmd) Help() string {
	return `Without --from: for a ledger.db whose key file or log is missing, or belongs to another
ledger or time. Budgets stay. Every approved study that is not over is left, and all of
its approved ρ counts as spent, since nobody knows what was sent for it.

With --from: for a ledger.db that is lost. The new ledger holds the budgets and studies of an
export, each unfinished one as left and spent in full. Charges after the export are
not in it: use the latest one.`
}

// recovered is what was done, for --json.
type recovered struct {
	Found       string            `json:"found"`       // what was wrong
	Left        []recoveredStudy  `json:"left"`        // studies that were not over
	Populations []recoveredBudget `json:"populations"` // afterwards
	// where another ledger's key file is now
	Aside string `json:"foreign_key_file,omitempty"`
}

type recoveredStudy struct {
	Digest     proposal.Digest `json:"digest"`
	Name       string          `json:"name,omitempty"`
	Population string          `json:"population"`
	Rho        float64         `json:"rho"`
	SpentRho   float64         `json:"spent_rho"` // before
}

type recoveredBudget struct {
	Name     string  `json:"name"`
	SpentRho float64 `json:"spent_rho"`
}

func (c *ledgerRecoverCmd) Run(t *terminal) error {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return err
	}
	if _, err := ask[agent.Status](t, "GET", "status"); err == nil {
		return shared.Bad("the agent is running; stop it first")
	}
	var done recovered
	if c.From != "" {
		done, err = c.restore(t, config.LedgerDir())
	} else {
		done, err = c.recover(t, config.LedgerDir())
	}
	if errors.Is(err, ledger.ErrHealthy) || errors.Is(err, ledger.ErrExists) || shared.Is[*ledger.FieldError](err) {
		return &shared.InputError{Err: err}
	}
	if err != nil {
		return err
	}
	t.Say("The ledger can be used again. The studies above are left for good; new ones can be joined.")
	return t.Print(done, func(w io.Writer) { printBudgets(w, done) })
}

// recover keeps ledger.db.
func (c *ledgerRecoverCmd) recover(t *terminal, dir string) (recovered, error) {
	rec, err := ledger.Recover(dir, func(r ledger.Recovery) error {
		return c.agree(t, newRecovered(r.Found.File+" "+r.Found.Reason, r.Studies, r.Populations))
	})
	if err != nil {
		return recovered{}, err
	}
	done := newRecovered(rec.Found.File+" "+rec.Found.Reason, rec.Studies, rec.Populations)
	if done.Aside = rec.Aside; done.Aside != "" {
		t.Say("Another ledger's key file was in the way and was moved to %s; return it to that ledger.", done.Aside)
	}
	return done, nil
}

// restore starts a ledger from an export.
func (c *ledgerRecoverCmd) restore(t *terminal, dir string) (recovered, error) {
	f, err := os.Open(c.From)
	if err != nil {
		return recovered{}, &shared.InputError{Err: err}
	}
	defer f.Close()
	var export agent.LedgerReply
	d := json.NewDecoder(io.LimitReader(f, maxExport))
	d.DisallowUnknownFields()
	if err := d.Decode(&export); err != nil {
		return recovered{}, shared.Bad("%s: not what \"ledger export\" writes: %w", c.From, err)
	}
	populations, studies := entriesOf(export)
	var open []ledger.StudyEntry
	for _, s := range studies {
		if s.State == ledger.Approved {
			open = append(open, s)
		}
	}
	after := make([]ledger.Population, len(populations))
	for i, p := range populations {
		after[i] = ledger.Population{Name: p.Name, CapRho: p.CapRho, SpentRho: p.SpentRho + p.ReservedRho}
	}
	done := newRecovered("ledger.db is missing", open, after)
	if _, err := os.Lstat(filepath.Join(dir, "ledger.db")); err == nil {
		return recovered{}, ledger.ErrExists // before asking; Restore looks again
	}
	if err := c.agree(t, done); err != nil {
		return recovered{}, err
	}
	return done, ledger.Restore(dir, populations, studies)
}

// entriesOf returns what ledger.Restore needs: the populations, and every study.
func entriesOf(r agent.LedgerReply) ([]ledger.Population, []ledger.StudyEntry) {
	var populations []ledger.Population
	for _, p := range r.Populations {
		populations = append(populations, ledger.Population{Name: p.Name, CapRho: p.CapRho, ReservedRho: p.ReservedRho, SpentRho: p.SpentRho,
			GDP: p.Curve != string(noise.ZCDP), Bridged: p.Curve == string(noise.GDP)})
	}
	var studies []ledger.StudyEntry
	for _, s := range r.Studies {
		e := ledger.StudyEntry{Study: s.Digest, Name: s.Name, Population: s.Population, State: ledger.State(s.State), Code: s.Code,
			Rho: s.Rho, GDP: s.Curve == string(noise.GDP), SpentRho: s.SpentRho, By: s.By}
		if s.Proposer != nil {
			e.Proposer = ledger.Proposer{Name: s.Proposer.Name, Key: s.Proposer.Identity}
		}
		if s.Time != nil {
			e.Time = *s.Time
		}
		studies = append(studies, e)
	}
	return populations, studies
}

func newRecovered(found string, left []ledger.StudyEntry, populations []ledger.Population) recovered {
	out := recovered{Found: found, Left: []recoveredStudy{}, Populations: []recoveredBudget{}}
	for _, s := range left {
		out.Left = append(out.Left, recoveredStudy{s.Study, s.Name, s.Population, s.Rho, s.SpentRho})
	}
	for _, p := range populations {
		out.Populations = append(out.Populations, recoveredBudget{p.Name, p.SpentRho})
	}
	return out
}

// leavesAll is what a recovery does to others.
const leavesAll = "A study with on_dropout = \"wait\" then ends for all its sites (code left)."

// agree shows what will be done, and asks unless --yes.
func (c *ledgerRecoverCmd) agree(t *terminal, r recovered) error {
	t.Say("%s. The studies that were not over are left, and all of their ρ counts as spent:", r.Found)
	table(t.Err, func(line func(string, ...any)) {
		line("  STUDY\tNAME\tPOPULATION\tRHO\tSPENT BEFORE")
		for _, s := range r.Left {
			line("  %s\t%s\t%s\t%.6g\t%.6g", s.Digest.String()[:12], s.Name, s.Population, s.Rho, s.SpentRho)
		}
	})
	if len(r.Left) > 0 {
		t.Say(leavesAll)
	}
	if c.Yes {
		return nil
	}
	return t.Confirm("\nGo on? Type yes: ", "nothing was changed", "give --yes")
}

func printBudgets(w io.Writer, r recovered) {
	table(w, func(line func(string, ...any)) {
		line("POPULATION\tSPENT")
		for _, p := range r.Populations {
			line("%s\t%.6g", p.Name, p.SpentRho)
		}
	})
}
