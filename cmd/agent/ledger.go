package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"covey/internal/agent"
	"covey/internal/frame"
	"covey/internal/ledger"
	"covey/internal/limits"
	"covey/internal/study"
)

// imported reports whether a study came with "ledger recover --from": what it spent is on record,
// but not by which queries.
func imported(s agent.StudyView) bool {
	return s.Queries == 0 && s.SpentRho > 0 && s.Code != ledger.CodeRecovered && s.Code != string(study.CodeRolledBack)
}

func printLedger(w io.Writer, l agent.LedgerReply) {
	if older := limits.Older(l.Beyond); older != "" {
		fmt.Fprintln(w, older+"\n")
	}
	fmt.Fprintln(w, "Budgets in ρ, over all studies of a population; CURVE is how a cap follows from ε and δ, and what a study's ρ allows")
	table(w, func(line func(string, ...any)) {
		line("POPULATION\tCAP\tSPENT\tRESERVED\tLEFT\tCURVE")
		for _, p := range l.Populations {
			name := p.Name
			if !p.Declared {
				name += " (not in agent.toml)"
			}
			line("%s\t%.6g\t%.6g\t%.6g\t%.6g\t%s", name, p.CapRho, p.SpentRho, p.ReservedRho, p.LeftRho, p.Curve)
		}
	})
	for _, below := range limits.Below(l.Populations) {
		fmt.Fprintln(w, "\n"+frame.Cleaned(below))
	}
	if len(l.Studies) == 0 {
		return
	}
	fmt.Fprintln(w, "\nCharges by study, the newest first; FORFEITED is the part of SPENT that no query was asked for;\n\"-\" is not known of what came from an export")
	table(w, func(line func(string, ...any)) {
		line("POPULATION\tSTUDY\tNAME\tSTATE\tAPPROVED\tSPENT\tFORFEITED\tQUERIES\tDATE\tBY\tCURVE")
		for _, s := range l.Studies {
			state, date := s.State, ""
			if s.Code != "" {
				state += " (" + s.Code + ")"
			}
			if s.Time != nil {
				date = s.Time.Format(time.DateOnly)
			}
			forfeited, queries := fmt.Sprintf("%.6g", s.ForfeitRho), strconv.Itoa(s.Queries)
			if imported(s) {
				forfeited, queries = "-", "-"
			}
			line("%s\t%s\t%s\t%s\t%.6g\t%.6g\t%s\t%s\t%s\t%s\t%s", s.Population, s.Digest.String()[:12], frame.Word(s.Name), state,
				s.Rho, s.SpentRho, forfeited, queries, date, s.By, s.Curve)
		}
	})
}
