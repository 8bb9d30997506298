package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/dataset"
	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/ledger"
	"covey/internal/limits"
	"covey/internal/proposal"
	"covey/internal/sitedata"
)

// table writes aligned columns. Text that does not fit a terminal's line continues below, indented:
// a cell may hold a proposer's words.
func table(w io.Writer, rows func(line func(format string, args ...any))) {
	var out strings.Builder
	tw := tabwriter.NewWriter(shared.Unfilled(&out), 0, 8, 2, ' ', 0)
	rows(func(format string, args ...any) { fmt.Fprintln(tw, shared.Cells(fmt.Sprintf(format, args...))) })
	tw.Flush()
	shared.Lines(w, out.String(), "      ")
}

// printFindings has what to do in a line of its own: after the result it would be beyond a
// terminal's width.
func printFindings(w io.Writer, found []doctor.Finding) {
	said := map[string]bool{} // a fault of a data set is said once, whatever meets it
	table(w, func(line func(string, ...any)) {
		for _, f := range found {
			mark, result, again := "ok", f.Result, false
			if f.Warning {
				mark = "WARN"
			}
			if f.Err != nil {
				mark, result = "FAILED", string(f.Code)+": "+f.Result
			}
			if fault, ok := errors.AsType[*dataset.Error](f.Err); ok {
				if again = said[fault.Error()]; again {
					result = string(f.Code) + ": its data set, as above"
				}
				said[fault.Error()] = true
			}
			line("%s\t%s\t%s", mark, f.Check, result)
			if f.Do != "" && !again {
				line("\t\tdo: %s", f.Do)
			}
		}
	})
	for _, f := range found {
		if f.Figures != nil {
			printFigures(w, *f.Figures)
		}
	}
	if slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Code == doctor.CheckData || f.Figures != nil }) {
		fmt.Fprintln(w, "\nThis output holds exact figures of this site's rows: it is for this site alone.")
	}
}

// columnsShown is how many columns are listed with what is made of them; JSON has all.
const columnsShown = 40

// nothingRead is in place of figures of a column without a value.
const nothingRead = "no value read"

// printFigures shows this site's own columns next to what the study makes of them, those with
// a warning first.
func printFigures(w io.Writer, f sitedata.Figures) {
	fmt.Fprintln(w, "\nThe study's columns, and this site's own figures for them, which stay here")
	columns := slices.Clone(f.Columns)
	slices.SortStableFunc(columns, func(a, b sitedata.ColumnFigure) int { return min(1, len(b.Warnings)) - min(1, len(a.Warnings)) })
	stated := slices.ContainsFunc(columns, func(c sitedata.ColumnFigure) bool { return c.Measure != "" || c.Range != nil })
	table(w, func(line func(string, ...any)) {
		head := "  COLUMN\tOFFSET\tSCALE\tMEDIAN HERE\tSPREAD HERE\t"
		if stated {
			head += "5% TO 95% HERE\tMEASURE*\tPLAUSIBLE*\t"
		}
		line("%s", head)
		for i, c := range columns {
			if i == columnsShown {
				break
			}
			mark := ""
			if len(c.Warnings) > 0 {
				mark = "WARNING"
			}
			if c.Levels > 0 {
				here := fmt.Sprintf("%.3g%% other", 100*c.Other)
				if c.Unread {
					here = nothingRead
				}
				if stated { // below the last column's
					mark = "\t\t\t" + mark
				}
				line("  %s\t%d levels\t\t%s\t\t%s", frame.Cell(c.Name), c.Levels, here, mark)
				continue
			}
			words := ""
			if stated {
				here := ""
				if c.Low != nil {
					here = c.Text(*c.Low) + " to " + c.Text(*c.High)
				}
				words = here + "\t" + statedOf(c) + "\t"
			}
			offset, scale := constants(c)
			median, spread := c.Text(c.Median), c.LengthText(c.Spread)
			if c.Unread {
				median, spread = nothingRead, ""
			}
			line("  %s\t%s\t%s\t%s\t%s\t%s%s", frame.Cell(c.Name), offset, scale, median, spread, words, mark)
		}
	})
	printRest(w, columns, func(c sitedata.ColumnFigure) string { return c.Name })
	if stated {
		fmt.Fprintln(w, "  * "+proposal.StatementsTitle)
	}
	if text := f.Unchecked(); text != "" {
		fmt.Fprintln(w, text)
	}
}

// statedOf returns what a proposer wrote about a column: two cells of a table.
func statedOf(c sitedata.ColumnFigure) string {
	measure := ""
	if c.Measure != "" {
		measure = frame.Quoted(c.Measure)
	}
	return measure + "\t" + c.RangeText(c.Range)
}

// constants returns a column's offset and scale, shown as its own values are.
func constants(c sitedata.ColumnFigure) (offset, scale string) {
	if c.Learned {
		return "learned", "learned"
	}
	return c.Text(c.Offset), c.LengthText(c.Scale)
}

func printStudies(w io.Writer, all []agent.StudyView) {
	table(w, func(line func(string, ...any)) {
		line("DIGEST\tNAME\tSTATE\tPOPULATION\tRHO\tSPENT\tFROM\tWHEN")
		for _, s := range all {
			line("%s\t%s\t%s\t%s\t%s\t%.6g\t%s\t%s", s.Digest.String()[:12], frame.Cell(s.Name), stateOf(s), cmp.Or(s.Population, "-"), rhoOf(s), s.SpentRho, fromOf(s), whenOf(s))
		}
	})
}

// fromOf returns who proposed a study: "-" for nobody whose signature this site has seen.
func fromOf(s agent.StudyView) string {
	if s.Proposer == nil {
		return "-"
	}
	return frame.Word(s.Proposer.Name)
}

// rhoOf returns what a study asked to charge: "-" if this site made no plan for it.
func rhoOf(s agent.StudyView) string {
	if s.Rho == 0 {
		return "-"
	}
	return fmt.Sprintf("%.6g", s.Rho)
}

// stateOf returns a study's state with the code of why.
func stateOf(s agent.StudyView) string {
	if s.Code == "" {
		return s.State
	}
	return s.State + " (" + s.Code + ")"
}

// whenOf returns when a study ended or was decided, or until when it can be.
func whenOf(s agent.StudyView) string {
	switch {
	case s.Expires != nil:
		return "expires " + s.Expires.UTC().Format(time.RFC3339)
	case s.Ended != nil:
		return s.Ended.UTC().Format(time.RFC3339)
	case s.Time != nil:
		return s.Time.UTC().Format(time.RFC3339)
	}
	return ""
}

func printStudy(w io.Writer, s agent.StudyDetail) {
	printState(w, s)
	leaves := "What leaves this site, from its approval on"
	if over := s.State != "pending" && s.State != string(ledger.Approved); over || s.Plan == nil {
		printSpent(w, s.StudyView)
		if s.Plan == nil {
			return
		}
		fmt.Fprintln(w, "\nIt is over here. What it asked for:")
		leaves = "What leaves this site in a whole run, which can differ from what left"
	}
	printParties(w, s)
	fmt.Fprintf(w, "data     %s\n", folded(w, frame.Word(s.Dataset)+", "+proposal.ColumnsText(len(s.Plan.Proposal.Spec.Columns), s.Plan.D), "         "))
	if s.State == "pending" {
		fmt.Fprintf(w, "rows     go into a sum once you approve, not before; a dry run: agent check --study FILE,\n         where FILE is, in the data folder, pending/%s.toml.gz\n", s.Digest)
	}
	printColumns(w, s)

	fmt.Fprintln(w, "\nPrivacy")
	for _, line := range s.Privacy {
		fmt.Fprintln(w, shared.OnScreen(w, "  "+line, "    "))
	}
	fmt.Fprintln(w, "\nWho could learn what")
	table(w, func(line func(string, ...any)) {
		for _, l := range s.Learns {
			line("  %s\t%s", l.Who, l.What)
		}
	})
	fmt.Fprintln(w, "\n"+leaves)
	printLeaves(w, s.Leaves)
	printRoster(w, s.Roster)
	fmt.Fprintf(w, "\nReleases are signed by the coordinator's key %s\n", s.Key)
	printBudget(w, s.Budget)
	printPolicy(w, s)
	if since := s.Since; since != nil {
		section(w, fmt.Sprintf("Since study %.12s (%s), approved here on %s, from the same proposer", since.Digest, frame.Word(since.Name), since.Approved.UTC().Format(time.DateOnly)), orNothing(since.Changes))
	}
	section(w, "Warnings", s.Warnings)
	printStated(w, s.Plan.Proposal)
}

// printState shows what became of a study here, and how much has left the site for it.
func printState(w io.Writer, s agent.StudyDetail) {
	fmt.Fprintf(w, "study    %s\ndigest   %s\nstate    %s", folded(w, frame.Word(s.Name), "         "), s.Digest, stateOf(s.StudyView))
	switch {
	case s.By == "":
	case s.State == string(ledger.Finished): // on the ledger is who approved it, not who ended it
		fmt.Fprintf(w, "; approved by %s", s.By)
	default:
		fmt.Fprintf(w, ", by %s", s.By)
	}
	fmt.Fprintln(w)
	if when := whenOf(s.StudyView); when != "" {
		fmt.Fprintf(w, "when     %s\n", when)
	}
	if s.Why != "" {
		fmt.Fprintf(w, "why      %s\n", s.Why)
	}
	left := egress.Total(s.Sent)
	if left.Messages > 0 {
		fmt.Fprintf(w, "left     %s, %s, as \"agent egress\" has them by kind\n", frame.Count(left.Messages, "message", "messages"), frame.Count(left.Bytes, "byte", "bytes"))
	} else {
		fmt.Fprintln(w, "left     egress.jsonl does not count this study's messages separately; \"agent egress --each\" has all")
	}
}

// printSpent shows what a study that is over here took of the budget.
func printSpent(w io.Writer, s agent.StudyView) {
	if imported(s) {
		fmt.Fprintf(w, "spent    ρ = %.6g, by an export of the ledger before this one\n", s.SpentRho)
	} else {
		fmt.Fprintf(w, "charged  ρ = %.6g over %s\n", s.SpentRho-s.ForfeitRho, frame.Count(s.Queries, "query", "queries"))
	}
	if s.ForfeitRho > 0 && !imported(s) {
		fmt.Fprintf(w, "spent    ρ = %.6g more, since what was sent is not known\n", s.ForfeitRho)
	}
}

// printParties shows who proposed a study, what its proposer has had of the population, and who may
// read the result.
func printParties(w io.Writer, s agent.StudyDetail) {
	if a := s.Analyst; a == nil {
		fmt.Fprintln(w, "from     the coordinator's own machine: no analyst signed it")
	} else {
		fmt.Fprintf(w, "from     %s\n", analystText(*a))
	}
	if t := s.Total; t != nil {
		limit := "no limit of its own"
		if t.Limit > 0 {
			limit = fmt.Sprintf("max_epsilon_total = %g", t.Limit)
		}
		fmt.Fprintf(w, "         all studies of this key on this population: ε = %.4g without this one, %.4g with all that it may take, at δ = %g by the budget's %s (%s)\n", t.Before, t.After, t.Delta, t.Curve, limit)
		if !t.Fits && s.State == "pending" {
			fmt.Fprintln(w, "         THAT IS ABOVE THE LIMIT: you decide.")
		}
	}
	readers := []string{"this study's sites and coordinator"}
	if s.Analyst != nil {
		readers = append(readers, "its proposer")
	}
	for _, r := range s.Readers {
		readers = append(readers, analystText(r))
	}
	fmt.Fprintf(w, "read by  %s\n", strings.Join(readers, "\n         "))
}

// analystText returns an analyst's name and key, and whether the policy lists them.
func analystText(a agent.AnalystView) string {
	known := map[string]string{"yes": ", listed in policy.analysts", "no": ", not listed in policy.analysts", "other key": ", A DIFFERENT KEY from the one in policy.analysts"}[a.Known]
	return fmt.Sprintf("%s, key %s%s", frame.Word(a.Name), a.Fingerprint, known)
}

// printColumns shows offset and scale of every column, beside this site's own figures where they
// were computed, and what they warn of.
func printColumns(w io.Writer, s agent.StudyDetail) {
	defer printReadings(w, s.Plan.Proposal.Spec.Columns)
	if s.Figures != nil {
		printFigures(w, *s.Figures)
		section(w, "WARNINGS of this site's own rows (they stay here; the proposer is not told of them)", s.Figures.Warnings())
		return
	}
	fmt.Fprintln(w, "\nThe study's columns: (value - offset) / scale is used")
	stated := slices.ContainsFunc(s.Plan.Proposal.Spec.Columns, func(c proposal.Column) bool { return c.Measure != "" || c.Range != nil })
	table(w, func(line func(string, ...any)) {
		if stated {
			line("  COLUMN\tOFFSET\tSCALE\tMEASURE*\tPLAUSIBLE*")
		} else {
			line("  COLUMN\tOFFSET\tSCALE")
		}
		columns := s.Plan.Proposal.Spec.Columns
		for i, c := range columns {
			if i == columnsShown {
				break
			}
			if len(c.Levels) > 0 {
				line("  %s\t%d levels\t", frame.Cell(c.Name), len(c.Levels))
				continue
			}
			shown := sitedata.ColumnFigure{Offset: c.Offset, Scale: c.Scale, Learned: c.Standardize == proposal.StandardizePrivate, Measure: c.Measure, Range: c.Range}
			words := ""
			if stated {
				words = "\t" + statedOf(shown)
			}
			offset, scale := constants(shown)
			line("  %s\t%s\t%s%s", frame.Cell(c.Name), offset, scale, words)
		}
	})
	printRest(w, s.Plan.Proposal.Spec.Columns, func(c proposal.Column) string { return c.Name })
	if stated {
		fmt.Fprintln(w, "  * "+proposal.StatementsTitle)
	}
	if s.FiguresError != "" {
		section(w, "WARNING", []string{"This site's own figures cannot be computed: " + s.FiguresError})
	}
}

// printReadings shows what is read of the columns that are not of numbers: the proposer's texts,
// quoted.
func printReadings(w io.Writer, columns []proposal.Column) {
	shown := 0
	for _, c := range columns {
		said := "as " + c.As
		if len(c.Levels) > 0 {
			said = fmt.Sprintf("levels %q", c.Levels)
			if r := []rune(said); len(r) > levelsShown {
				said = string(r[:levelsShown]) + "…"
			}
		} else if c.As == proposal.AsNumber {
			continue
		}
		if shown++; shown == 1 {
			fmt.Fprintln(w, "\nHow the columns of text are read (any other text is the level \"other\", or a missing value)")
		}
		if shown > columnsShown {
			fmt.Fprintln(w, "  … and more (--json has all)")
			return
		}
		fmt.Fprintf(w, "  %s\n", folded(w, frame.Word(c.Name)+": "+said, "      "))
	}
}

// levelsShown is how many characters of a column's levels are shown; JSON has all.
const levelsShown = 500

// printRoster shows the sites' keys.
func printRoster(w io.Writer, roster []agent.RosterLine) {
	fmt.Fprintln(w, "\nRoster (compare the fingerprints, and not through the coordinator)")
	table(w, func(line func(string, ...any)) {
		known := ""
		if slices.ContainsFunc(roster, func(m agent.RosterLine) bool { return m.Known != "" }) {
			known = "IN POLICY.PEERS"
		}
		line("  SITE\tUNITS\tKEY\t%s", known)
		for _, m := range roster {
			name := frame.Word(m.Name)
			if m.Self {
				name += " (this site)"
			}
			line("  %s\t%d\t%s\t%s", name, m.Units, m.Fingerprint, m.Known)
		}
	})
}

// printBudget shows what a study leaves of the budget.
func printBudget(w io.Writer, b *limits.Budget) {
	if b == nil {
		return
	}
	fmt.Fprintf(w, "\nLedger of population %q (ρ)\n", b.Population)
	table(w, func(line func(string, ...any)) {
		by := ""
		if b.Curve != "" {
			by = ", by " + b.Curve
		}
		line("  cap\t%.6g%s", b.CapRho, by)
		line("  spent by others\t%.6g", b.SpentRho)
		line("  reserved by others\t%.6g", b.ReservedRho)
		left, takes := limits.Apart(b.LeftRho+b.StudyRho, b.StudyRho)
		line("  left before this study\t%s", left)
		line("  this study\t%s", takes)
		line("  left after\t%.6g", b.LeftRho)
		if b.Fits {
			line("  more such studies\t%s", b.Others())
		}
	})
	if !b.Fits {
		fmt.Fprintln(w, "  IT DOES NOT FIT:", frame.Cleaned(b.Remedy))
	}
}

// printPolicy shows every limit of the site's policy next to what the study has.
func printPolicy(w io.Writer, s agent.StudyDetail) {
	if len(s.Policy) == 0 {
		return
	}
	verdict := "within all limits"
	for _, r := range s.Policy {
		switch {
		case r.OK:
		case r.Asks(): // which comes first
			verdict += "; it leaves every study to you"
		default:
			verdict = "outside" + map[bool]string{true: ", so you decide"}[s.State == "pending"]
		}
	}
	fmt.Fprintf(w, "\nWhat this site's policy says: %s\n", verdict)
	table(w, func(line func(string, ...any)) {
		line("  RULE\tLIMIT\tSTUDY\t")
		for _, r := range s.Policy {
			mark := map[bool]string{true: "ok", false: "OUTSIDE"}[r.OK]
			if r.Asks() {
				mark = "you decide"
			}
			line("  %s\t%s\t%s\t%s", r.Rule, r.Limit, r.Study, mark)
		}
	})
}

// printLeaves shows messages alike as one line.
func printLeaves(w io.Writer, leaves []egress.Planned) {
	groups, total := egress.Group(leaves)
	table(w, func(line func(string, ...any)) {
		line("  TIMES\tKIND\tBYTES EACH\tWHAT")
		for _, g := range groups {
			line("  %d\t%s\t%s\t%s", g.Times, g.Kind, g.Size(), g.What)
		}
		line("  %d\t\t%d\tin all, before TLS; a retried query or a broken link sends messages again", len(leaves), total)
	})
}

func section(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, "\n"+shared.OnScreen(w, title, "  "))
	for _, line := range lines {
		fmt.Fprintln(w, shared.OnScreen(w, "  "+line, "    "))
	}
}

// orNothing returns lines, or one line that nothing has changed where there are none.
func orNothing(lines []string) []string {
	if len(lines) == 0 {
		return []string{"nothing has changed"}
	}
	return lines
}
