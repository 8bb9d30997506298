package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"covey/internal/agent"
	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/ledger"
)

// table writes aligned columns.
func table(w io.Writer, rows func(line func(format string, args ...any))) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	rows(func(format string, args ...any) { fmt.Fprintf(tw, format+"\n", args...) })
	tw.Flush()
}

// printFindings has what to do in a line of its own: beside the result it would be beyond a
// terminal's width.
func printFindings(w io.Writer, found []doctor.Finding) {
	table(w, func(line func(string, ...any)) {
		for _, f := range found {
			mark, result := "ok", f.Result
			if f.Err != nil {
				mark, result = "FAILED", string(f.Code)+": "+f.Result
			}
			line("%s\t%s\t%s", mark, f.Check, result)
			if f.Do != "" {
				line("\t\tdo: %s", f.Do)
			}
		}
	})
}

func printStatus(w io.Writer, s agent.Status) {
	link := "linked to " + s.Coordinator
	if !s.Linked {
		link = "no link"
		if s.LinkError != "" {
			link += " (" + s.Coordinator + ": " + s.LinkError + ")"
		}
		link += "; it tries again by itself, and \"agent check\" says which step fails"
	}
	table(w, func(line func(string, ...any)) {
		line("site\t%s", s.Site)
		line("key\t%s", s.Identity)
		line("coordinator\t%s", link)
		line("certificate\tends %s, %d days left", s.Expires.Format(time.DateOnly), s.DaysLeft)
		line("studies\t%d await you, %d approved", s.Pending, s.Approved)
	})
}

func printStudies(w io.Writer, all []agent.StudyView) {
	table(w, func(line func(string, ...any)) {
		line("DIGEST\tNAME\tSTATE\tPOPULATION\tRHO\tSPENT\tWHEN")
		for _, s := range all {
			line("%s\t%s\t%s\t%s\t%.6g\t%.6g\t%s", s.Digest.String()[:12], frame.Word(s.Name), stateOf(s), s.Population, s.Rho, s.SpentRho, whenOf(s))
		}
	})
}

// stateOf is a study's state with the code of why.
func stateOf(s agent.StudyView) string {
	if s.Code == "" {
		return s.State
	}
	return s.State + " (" + s.Code + ")"
}

// whenOf is when a study ended or was decided, or until when it can be.
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
	fmt.Fprintf(w, "study    %s\ndigest   %s\nstate    %s", frame.Word(s.Name), s.Digest, stateOf(s.StudyView))
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
	if over := s.State != "pending" && s.State != string(ledger.Approved); over || s.Plan == nil {
		fmt.Fprintf(w, "charged  ρ = %.6g over %d queries\n", s.SpentRho-s.ForfeitRho, s.Queries)
		if s.ForfeitRho > 0 {
			fmt.Fprintf(w, "spent    ρ = %.6g more, since nobody can say what was sent\n", s.ForfeitRho)
		}
		if s.Plan == nil {
			return
		}
		fmt.Fprintln(w, "\nIt is over here. What it asked for:")
	}
	fmt.Fprintf(w, "data     %s, %d columns", frame.Word(s.Dataset), s.Plan.D)
	for i, c := range s.Plan.Proposal.Spec.Columns {
		if i == 40 {
			fmt.Fprint(w, ", … (--json has all)")
			break
		}
		fmt.Fprintf(w, "%s%s", map[bool]string{true: ": ", false: ", "}[i == 0], frame.Word(c.Name))
	}
	fmt.Fprintln(w)
	if s.State == "pending" {
		fmt.Fprintln(w, "rows     are read once you approve; to try them before: agent check --study FILE,\n         where FILE is pending/DIGEST.toml in the data folder")
	}

	fmt.Fprintln(w, "\nPrivacy")
	for _, line := range s.Privacy {
		fmt.Fprintln(w, "  "+line)
	}
	fmt.Fprintln(w, "\nWho could learn what")
	table(w, func(line func(string, ...any)) {
		for _, l := range s.Learns {
			line("  %s\t%s", l.Who, l.What)
		}
	})
	fmt.Fprintln(w, "\nWhat leaves this site")
	printLeaves(w, s.Leaves)
	fmt.Fprintln(w, "\nRoster (compare the fingerprints, and not through the coordinator)")
	table(w, func(line func(string, ...any)) {
		known := ""
		if slices.ContainsFunc(s.Roster, func(m agent.RosterLine) bool { return m.Known != "" }) {
			known = "IN POLICY.PEERS"
		}
		line("  SITE\tUNITS\tKEY\t%s", known)
		for _, m := range s.Roster {
			name := frame.Word(m.Name)
			if m.Self {
				name += " (this site)"
			}
			line("  %s\t%d\t%s\t%s", name, m.Units, m.Fingerprint, m.Known)
		}
	})
	fmt.Fprintf(w, "\nReleases are signed by the coordinator's key %s\n", s.Key)
	if b := s.Budget; b != nil {
		fmt.Fprintf(w, "\nLedger of population %q (ρ)\n", b.Population)
		table(w, func(line func(string, ...any)) {
			by := ""
			if b.Curve != "" {
				by = ", by " + b.Curve
			}
			line("  cap\t%.6g%s", b.CapRho, by)
			line("  spent by others\t%.6g", b.SpentRho)
			line("  reserved by others\t%.6g", b.ReservedRho)
			line("  left before this study\t%.6g", b.LeftRho+b.StudyRho)
			line("  this study\t%.6g", b.StudyRho)
			line("  left after\t%.6g", b.LeftRho)
		})
		if !b.Fits {
			fmt.Fprintln(w, "  IT DOES NOT FIT.")
		}
	}
	printPolicy(w, s)
	section(w, "Warnings", s.Warnings)
}

// printPolicy shows every limit of the site's policy beside what the study has.
func printPolicy(w io.Writer, s agent.StudyDetail) {
	if len(s.Policy) == 0 {
		return
	}
	verdict := "within all limits"
	for _, r := range s.Policy {
		if !r.OK && s.State == "pending" {
			verdict = "outside, so it is yours to decide"
		} else if !r.OK {
			verdict = "outside"
		}
	}
	fmt.Fprintf(w, "\nWhat this site's policy says: %s\n", verdict)
	table(w, func(line func(string, ...any)) {
		line("  RULE\tLIMIT\tSTUDY\t")
		for _, r := range s.Policy {
			mark := "ok"
			if !r.OK {
				mark = "OUTSIDE"
			}
			line("  %s\t%s\t%s\t%s", r.Rule, r.Limit, r.Study, mark)
		}
	})
}

// printLeaves shows messages alike as one line. Their sizes may differ by the bytes
// that a query's number takes.
func printLeaves(w io.Writer, leaves []egress.Planned) {
	type message struct{ kind, what string }
	type seen struct{ times, least, most int }
	var order []message
	all, total := map[message]seen{}, 0
	for _, p := range leaves {
		m := message{p.Kind, p.What}
		s, again := all[m]
		if !again {
			order = append(order, m)
			s.least = p.Bytes
		}
		all[m] = seen{s.times + 1, min(s.least, p.Bytes), max(s.most, p.Bytes)}
		total += p.Bytes
	}
	table(w, func(line func(string, ...any)) {
		line("  TIMES\tKIND\tBYTES EACH\tWHAT")
		for _, m := range order {
			s := all[m]
			size := strconv.Itoa(s.most)
			if s.least != s.most {
				size = fmt.Sprintf("%d-%d", s.least, s.most)
			}
			line("  %d\t%s\t%s\t%s", s.times, m.kind, size, m.what)
		}
		line("  %d\t\t%d\tin all, before TLS; a retried query or a broken link sends messages again", len(leaves), total)
	})
}

func section(w io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, "\n"+title)
	for _, line := range lines {
		fmt.Fprintln(w, "  "+line)
	}
}

func printLedger(w io.Writer, l agent.LedgerReply) {
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
	if len(l.Studies) == 0 {
		return
	}
	fmt.Fprintln(w, "\nCharges by study, the newest first; FORFEITED is the part of SPENT that no query was asked for")
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
			line("%s\t%s\t%s\t%s\t%.6g\t%.6g\t%.6g\t%d\t%s\t%s\t%s", s.Population, s.Digest.String()[:12], frame.Word(s.Name), state,
				s.Rho, s.SpentRho, s.ForfeitRho, s.Queries, date, s.By, s.Curve)
		}
	})
}

// printSent is one line of "egress --each".
func printSent(w io.Writer, m egress.SentMessage) {
	study, query := "-", "-"
	if m.Study != nil {
		study = m.Study.String()[:12]
	}
	if m.Query != nil {
		query = strconv.Itoa(*m.Query)
	}
	fmt.Fprintf(w, "%s  %-12s  %-12s  %5s  %10d  %s  %s\n", m.Time.Format(time.RFC3339), study, m.Kind, query, m.Bytes, m.SHA256, m.Code)
}

func printEgress(w io.Writer, e egress.Reply) {
	table(w, func(line func(string, ...any)) {
		line("STUDY\tNAME\tKIND\tMESSAGES\tBYTES")
		for _, kind := range slices.Sorted(maps.Keys(e.Link)) {
			line("-\t-\t%s\t%d\t%d", kind, e.Link[kind].Messages, e.Link[kind].Bytes)
		}
		for _, s := range e.Studies {
			for _, kind := range slices.Sorted(maps.Keys(s.Sent)) {
				line("%s\t%s\t%s\t%d\t%d", s.Study.String()[:12], frame.Word(s.Name), kind, s.Sent[kind].Messages, s.Sent[kind].Bytes)
			}
		}
	})
}
