package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/egress"
	"covey/internal/notify"
	"covey/internal/study"
	"covey/internal/wire"
)

// facts of a site, in words.
func (s *testSite) told() string {
	var out []string
	for _, f := range s.agent.facts() {
		if f.Study != "" && f.Name == "" {
			s.t.Errorf("%s of a study without a name", f.Event)
		}
		out = append(out, string(f.Event))
	}
	return strings.Join(out, " ")
}

// A site's people hear of a study that waits for them, and how it ended.
func TestFactsFollowTheStudy(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s, id := c.sites[0], c.plan.Digest
	is := func(want string) {
		t.Helper()
		if got := s.told(); got != want {
			t.Errorf("facts %q, want %q", got, want)
		}
	}
	is("")
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	is("proposed awaiting")
	if err := s.agent.Decisions.Approve(id); err != nil {
		t.Fatal(err)
	}
	is("proposed")
	s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeAborted})
	is("proposed ended")
	s.restart()
	is("proposed ended")
}

// What a notice sends is a line of the egress log: its kind, its study, its size and its hash.
func TestNoticeIsInEgressLog(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s, id := c.sites[0], c.plan.Digest
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	out := filepath.Join(t.TempDir(), "out")
	script := filepath.Join(t.TempDir(), "tell")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncat >> "+out+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := *s.agent.Settings.current.Load()
	config.Notify = []notify.Target{{Command: []string{script}, Events: []notify.Event{notify.Awaiting}}}
	s.agent.Settings.current.Store(&config)
	n, err := s.agent.notifier()
	if err != nil {
		t.Fatal(err)
	}
	n.Step(t.Context())
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var notice notify.Notice
	if err := json.Unmarshal(raw, &notice); err != nil || notice.Study != id.String()[:12] || notice.Name != "" {
		t.Errorf("%s, %v", raw, err)
	}
	found := 0
	if _, err := egress.Verify(s.agent.config.DataDir(), "", func(m egress.SentMessage) {
		if m.Kind == "notification" && m.Study != nil && *m.Study == id && m.Bytes == len(raw) {
			found++
		}
	}); err != nil || found != 1 {
		t.Errorf("%d lines, %v", found, err)
	}
}
