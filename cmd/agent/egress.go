package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

type egressCmd struct {
	Each   bool `help:"List every message: time, study, kind, query, bytes, SHA-256. Reads the file; the agent need not run."`
	Verify bool `help:"Check the file's hash chain; the agent need not run."`
}

// Help is kong's longer text.
func (egressCmd) Help() string {
	return `Each line of egress.jsonl holds the hash of all lines before it. --verify finds a line
that was changed, removed or inserted, and a file that lacks lines that the running agent
recorded, or a study that the ledger was charged for. It prints the hash after the last
line: note it elsewhere, so that you later see whether lines were cut off the end.`
}

// chainReply is egress --verify's and --each's --json.
type chainReply struct {
	egress.Chain
	File string               `json:"file"`
	Each []egress.SentMessage `json:"messages_sent,omitempty"`
	// NotCompared says why the file was not compared with other records.
	NotCompared string `json:"not_compared,omitempty"`
}

// chain reads the file.
func (c egressCmd) chain(t *terminal) error {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return err
	}
	reply := chainReply{File: filepath.Join(config.DataDir(), egress.File)}
	known, unread := left(t, config) // before the file is read: what an agent adds meanwhile is no less
	if err := t.Ctx.Err(); err != nil {
		return err
	}
	if unread != nil { // the chain tells something where the ledger is lost, too
		reply.NotCompared = unread.Error()
	}
	found := map[proposal.Digest]bool{}
	see := func(m egress.SentMessage) {
		if m.Study != nil && m.Kind != egress.KindLocal {
			found[*m.Study] = true
		}
		switch {
		case c.Each && t.JSON:
			reply.Each = append(reply.Each, m)
		case c.Each:
			printSent(t.Out, m)
		}
	}
	if reply.Chain, err = egress.Verify(config.DataDir(), known.last, see); err != nil {
		return err
	}
	if err := known.lacks(reply, found); err != nil {
		return err
	}
	t.Say("%s: %s, %s, %s; hash chain OK; %s truncated by a crash.",
		reply.File, frame.Count(reply.Lines, "line", "lines"), frame.Count(reply.Messages, "message", "messages"), frame.Count(reply.Bytes, "byte", "bytes"), frame.Count(reply.Cut, "line", "lines"))
	switch _, err := os.Stat(reply.File); {
	case errors.Is(err, os.ErrNotExist):
		t.Say("WARNING: the file is missing. If this site has sent anything, somebody deleted it.")
	case !reply.Anew.IsZero():
		t.Say("WARNING: on %s the file was gone and was begun anew: what left before is not in it.", reply.Anew.Format(time.RFC3339))
	}
	if unread != nil {
		t.Say("WARNING: the file was not compared with what the agent and its ledger have on record: %v.", unread)
	}
	return t.Print(reply, func(w io.Writer) {
		if c.Verify {
			fmt.Fprintln(w, reply.Last)
		}
	})
}

func (c egressCmd) Run(t *terminal) error {
	if c.Each || c.Verify {
		return c.chain(t)
	}
	e, err := ask[egress.Reply](t, "GET", "egress")
	if err != nil {
		return err
	}
	return t.Print(e, func(w io.Writer) { printEgress(w, e) })
}

// leftReply is what other records than egress.jsonl know of what this site has sent.
type leftReply struct {
	last    string // link after the last line that the running agent knows of; empty if none runs
	charged []agent.StudyView
}

// left asks the running agent or, where none runs, reads the ledger. An agent that never ran has no
// ledger. The error says why there is no such record to compare with.
func left(t *terminal, config *siteconfig.Config) (known leftReply, err error) {
	sent, err := ask[egress.Reply](t, "GET", "egress")
	if err == nil {
		known.last = sent.Last
		var l agent.LedgerReply
		l, err = ask[agent.LedgerReply](t, "GET", "ledger")
		known.charged = slices.DeleteFunc(l.Studies, func(s agent.StudyView) bool { return s.Queries == 0 })
		return known, err
	}
	if !shared.Is[*shared.DialError](err) {
		return known, err
	}
	if _, err := os.Stat(config.LedgerDir()); errors.Is(err, os.ErrNotExist) {
		return known, nil // Open would make one
	}
	l, err := ledger.Open(config.LedgerDir())
	if err != nil {
		return known, err
	}
	for _, s := range l.Studies() {
		if s.Queries > 0 {
			known.charged = append(known.charged, agent.StudyView{Digest: s.Study, Name: s.Name})
		}
	}
	return known, l.Close()
}

// lacks returns an error if the file lacks what left. A charge is on the ledger before its sum
// leaves, but a study's keys leave before its first charge: at least they are in a whole file.
func (l leftReply) lacks(file chainReply, found map[proposal.Digest]bool) error {
	if !file.Holds {
		return &cutError{file.File, fmt.Sprintf("its %s do not lead to the last one that the running agent has recorded", frame.Count(file.Lines, "line", "lines"))}
	}
	for _, s := range l.charged {
		if file.Anew.IsZero() && !found[s.Digest] {
			return &cutError{file.File, fmt.Sprintf("it has no message of study %s (%s), which the ledger was charged for", s.Digest.String()[:12], frame.Word(s.Name))}
		}
	}
	return nil
}

// cutError is an egress.jsonl that lacks what left this site.
type cutError struct{ file, lacks string }

func (e *cutError) Error() string {
	return fmt.Sprintf("%s: %s: the file was cut, replaced or deleted. Stop the agent, put the whole file back and start it again; if that is lost, move this one away, and the agent begins a new one, and says so", e.file, e.lacks)
}

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
