package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/coordinator"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
)

// progress shows a study's views: one line that is written over on a terminal, a line
// for each change of what there is to say elsewhere.
type progress struct {
	out   io.Writer
	width func() int // of the terminal, in columns; nil where there is none
	said  string
	drawn bool // a line is on the terminal, and the cursor at its end
}

func newProgress(out io.Writer) *progress {
	return &progress{out: out, width: shared.Width(out)}
}

func (p *progress) see(v coordinator.View) {
	text := describe(v)
	if p.width == nil {
		if text != p.said {
			p.said = text
			fmt.Fprintln(p.out, text)
		}
		return
	}
	if len(v.Waiting) > 0 && v.Status == round.StatusRunning && len(missingSites(v)) == 0 && !v.Overdue {
		text += ", awaits " + few(v.Waiting) // changes with every upload: on a terminal alone
	}
	done := 0
	if v.Queries > 0 {
		done = 100 * v.Released / v.Queries
	}
	line := []rune(fmt.Sprintf("[%-10s] %3d%%  %s", strings.Repeat("#", done/10), done, text))
	// One that reaches the last column would be a line and a half, and could not be written over.
	if most := max(p.width()-1, 1); len(line) > most {
		line = append(line[:most-1], '…')
	}
	fmt.Fprint(shared.Raw(p.out), "\r")
	fmt.Fprint(p.out, string(line))
	fmt.Fprint(shared.Raw(p.out), "\x1b[K")
	p.drawn = true
}

// end leaves the line as it is, the last word on a study.
func (p *progress) end() {
	if p.drawn {
		fmt.Fprintln(p.out)
		p.drawn = false
	}
}

// clear takes the line away, before something else is said.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(shared.Raw(p.out), "\r\x1b[K")
		p.drawn = false
	}
}

// describe says in one line where a study stands, for whom it waits and until when.
func describe(v coordinator.View) string {
	connected := 0
	for _, s := range v.Sites {
		if s.Connected {
			connected++
		}
	}
	sites := fmt.Sprintf("%d/%d sites", connected, len(v.Sites))
	switch v.Status {
	case round.StatusProposed:
		return "waiting for approval by " + few(v.Waiting) + ", " + untilWhen(v.Expires)
	case round.StatusSetup:
		text := fmt.Sprintf("setup, %s", sites)
		if missing := missingSites(v); len(missing) > 0 {
			text += ", waiting for " + few(missing) + ", with no deadline"
		}
		return text
	case round.StatusRunning:
		text := step(v)
		missing := missingSites(v)
		if v.Overdue {
			missing = v.Waiting
		}
		if len(missing) > 0 {
			text += ", waiting for " + few(missing)
			switch at := v.Deadline.Local().Format(time.TimeOnly); {
			case v.Deadline.IsZero():
			case v.Overdue || time.Until(v.Deadline) <= 0:
				text += ", overdue since " + at
			default:
				text += ", due by " + at // then it goes on without them, or is overdue
			}
		}
		text += fmt.Sprintf(", %s, %s", sites, privacy(v))
		if v.NoiseToSignal != nil {
			text += fmt.Sprintf(", noise-to-signal %.3f", *v.NoiseToSignal)
		}
		return text
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

// untilWhen says how long approvals are waited for.
func untilWhen(expires time.Time) string {
	if expires.IsZero() {
		return "with no deadline"
	}
	return "until " + expires.UTC().Format(time.RFC3339) + ", when the study expires"
}

// privacy is the study's bound and how much of it is charged.
func privacy(v coordinator.View) string {
	share := 0.0
	if v.RhoPlanned > 0 {
		share = 100 * v.Rho / v.RhoPlanned
	}
	return fmt.Sprintf("ε = %g (%.0f%% charged)", v.Epsilon, share)
}

// few names at most five.
func few(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
	}
	return strings.Join(names, ", ")
}

// step says what the open query is for.
func step(v coordinator.View) string {
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

// missingSites are the awaited sites without a link.
func missingSites(v coordinator.View) []string {
	var out []string
	for _, s := range v.Sites {
		for _, w := range v.Waiting {
			if s.Name == w && !s.Connected {
				out = append(out, w)
			}
		}
	}
	return out
}
