package main

import (
	"fmt"
	"io"
	"time"

	"covey/internal/agent"
	"covey/internal/frame"
)

// clocks says how far this machine's clock is from the coordinator's.
func clocks(ahead time.Duration) string {
	if ahead < 0 {
		return fmt.Sprintf("%v behind the coordinator's", -ahead)
	}
	return fmt.Sprintf("%v ahead of the coordinator's", ahead)
}

func printStatus(w io.Writer, s agent.Status) {
	link := "linked to " + s.Coordinator + ", " + s.KeyExchange.String()
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
		if s.Chain.Broken != "" {
			line("chain\tBROKEN: %s; no query is answered, and \"agent chain show\" shows both heads", frame.Cleaned(s.Chain.Broken))
		}
		if s.DaysLeft < 0 {
			line("certificate\tENDED %s: the site must join again (`coordinator site invite %s --again`)", s.Expires.Format(time.DateOnly), s.Site)
		} else {
			line("certificate\tends %s, %s left", s.Expires.Format(time.DateOnly), frame.Count(s.DaysLeft, "day", "days"))
		}
		if s.ClockAhead != nil {
			if apart := time.Duration(*s.ClockAhead) * time.Second; apart.Abs() > agent.MaxSkew {
				line("clock\t%s: set the wrong one, or proposals and approvals end too early or too late", clocks(apart))
			}
		}
		line("studies\t%d await you, %d approved", s.Pending, s.Approved)
	})
	if len(s.Datasets) > 0 {
		fmt.Fprintln(w)
		table(w, func(line func(string, ...any)) { printDatasets(line, s.Datasets) })
	}
}
