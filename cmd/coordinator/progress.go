package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/frame"
	"covey/internal/outline"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
)

// progress shows a study's views.
type progress struct{ *shared.Progress }

func newProgress(out io.Writer) *progress { return &progress{shared.NewProgress(out)} }

func (p *progress) see(v outline.View) {
	more := ""
	open := v.Status == round.StatusRunning && !v.Overdue || v.Status == round.StatusSigning
	if len(v.Waiting) > 0 && open && len(awaited(v, false)) == 0 {
		more = ", awaits " + shared.Few(v.Waiting) // changes with every answer: on a terminal alone
	}
	p.Show(v.Released, v.Queries, describe(v), more)
}

// describe says in one line where a study stands, for whom it waits and until when.
func describe(v outline.View) string {
	connected := 0
	for _, s := range v.Sites {
		if s.Connected {
			connected++
		}
	}
	sites := fmt.Sprintf("%d/%d sites", connected, len(v.Sites))
	switch v.Status {
	case round.StatusProposed:
		return "waiting for approval by " + shared.Few(awaited(v, true)) + ", " + shared.UntilWhen(v.Expires)
	case round.StatusSetup:
		text := fmt.Sprintf("setup, %s", sites)
		if missing := awaited(v, false); len(missing) > 0 {
			text += ", waiting for " + shared.Few(missing) + ", until approvals expire"
		}
		return text
	case round.StatusRunning:
		text := step(v)
		if missing := awaited(v, v.Overdue); len(missing) > 0 {
			text += ", waiting for " + shared.Few(missing)
			switch at := v.Deadline.Local().Format(time.TimeOnly); {
			case v.Deadline.IsZero():
			case v.Overdue || time.Until(v.Deadline) <= 0:
				text += ", overdue since " + at
			default:
				text += ", due by " + at // then it goes on without them, or is overdue
			}
		}
		if left := without(v); len(left) > 0 {
			text += ", without " + shared.Few(left)
		}
		text += fmt.Sprintf(", %s, %s", sites, privacy(v))
		if v.NoiseToSignal != nil {
			text += fmt.Sprintf(", noise-to-signal %.3f", *v.NoiseToSignal)
		}
		return text
	case round.StatusSigning:
		who := "the sites"
		if missing := awaited(v, false); len(missing) > 0 {
			who = shared.Few(missing)
		}
		return fmt.Sprintf("all %d queries released, waiting for %s to sign the result, with no deadline, %s, %s", v.Released, who, sites, privacy(v))
	case round.StatusEnded: // in the midst of some round
		return fmt.Sprintf("%s after %d of %d queries, %s", v.Status, v.Released, v.Queries, privacy(v))
	default:
		text := fmt.Sprintf("%s after %s, %d queries, %s", v.Status, result.DoneText(v.Method, v.Round), v.Released, privacy(v))
		if v.NoiseToSignal != nil {
			text += fmt.Sprintf(", noise-to-signal %.3f", *v.NoiseToSignal)
		}
		return text
	}
}

// privacy is the study's bound and how much of it is charged.
func privacy(v outline.View) string {
	rho, most := v.Charged()
	share := 0.0
	if v.RhoPlanned > 0 {
		share = rho / v.RhoPlanned
	}
	return fmt.Sprintf("ε = %g (%s%s charged)", v.Epsilon, most, frame.Percent(share, 0))
}

// step says what the open query is for.
func step(v outline.View) string {
	if v.Kind == study.KindPower || v.Of == study.KindPower || v.Kind == "" {
		text := fmt.Sprintf("round %d/%d", v.Round+1, v.Rounds)
		if v.Runs > 1 {
			text = fmt.Sprintf("component %d/%d, %s", v.Run+1, v.Runs, text)
		}
		return text
	}
	text := v.Kind.Title(v.Of)
	if steps := cmp.Or(v.Of, v.Kind).Definition().Steps; steps > 1 {
		text += fmt.Sprintf(", step %d/%d", v.Round+1, steps)
	}
	return text
}

// awaited are the awaited sites that cannot answer just now, each with why; with all, the others
// too.
func awaited(v outline.View, all bool) []string {
	var out []string
	for _, s := range v.Sites {
		if !slices.Contains(v.Waiting, s.Name) {
			continue
		}
		switch why := refuses(s); {
		case s.Barred != "":
			out = append(out, s.Name+" ("+s.Barred+", cannot come back: abort the study)")
		case why != "":
			out = append(out, s.Name+" ("+why+")")
		case all || !s.Connected:
			out = append(out, s.Name)
		}
	}
	return out
}

// without are the sites that a running study goes on without, each with why: one that is away too
// long is no longer waited for.
func without(v outline.View) []string {
	var out []string
	for _, s := range v.Sites {
		why := cmp.Or(s.Barred, refuses(s))
		if why == "" && !s.Connected && !s.Uploaded {
			why = "away"
		}
		if why != "" && !slices.Contains(v.Waiting, s.Name) {
			out = append(out, s.Name+" ("+why+")")
		}
	}
	return out
}

// refuses is the code with which a site refuses on its link; empty if it does not, or has none.
func refuses(s outline.SiteView) string {
	if !s.Connected {
		return ""
	}
	return string(cmp.Or(s.Unsigned, s.Refused))
}
