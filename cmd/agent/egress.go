package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"covey/internal/egress"
	"covey/internal/frame"
)

// printSent prints one line of "egress --each".
func printSent(w io.Writer, m egress.SentMessage) {
	study, query := "-", "-"
	if m.Study != nil {
		study = m.Study.String()[:12]
	}
	if m.Query != nil {
		query = strconv.Itoa(*m.Query + 1) // as people count: the pages do, too
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
