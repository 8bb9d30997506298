package coordinator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/admission"
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// everything returns all that a leader with a machine's state answers, as of a time.
func everything(t *testing.T, s *story, m *Machine, at time.Time) []string {
	t.Helper()
	c := New(Options{Authority: s.auth, Machine: m, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return at }})
	defer c.Close()
	if err := c.Lead(&memoryLog{machine: m}); err != nil {
		t.Fatal(err)
	}
	var out []string
	add := func(what string, all ...any) {
		for i, v := range all {
			if err, ok := v.(error); ok {
				all[i] = err.Error()
			}
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		out = append(out, what+": "+string(text))
	}
	ada := admission.Client{Role: pki.RoleAnalyst, Name: "ada", Identity: s.analyst.Public().(ed25519.PublicKey)}
	add("lists", c.Views(), c.Overview(1<<20), c.Sites(), c.Analysts(), c.People(), toldTo(c, ada), c.AwaitedOf(pki.RoleSite, "site-0"), c.AwaitedOf(pki.RoleAnalyst, "ada"))
	for at, v := range c.Views() {
		file, err := []byte(nil), error(nil)
		if r, failed := c.Result(v.Digest); failed != nil {
			err = failed
		} else {
			file, err = r.File()
		}
		add("result", file, err)
		var written bytes.Buffer
		if write, failed := c.ResultFile(v.Digest); (failed == nil) != (err == nil) {
			t.Errorf("the file of a result with %v: %v", err, failed)
		} else if err == nil && (write(&written) != nil || !bytes.Equal(written.Bytes(), file)) {
			t.Errorf("a result is written as %d bytes, has %d", written.Len(), len(file))
		}
		decisions, err := c.Decisions(v.Digest)
		add("decisions", decisions, err)
		body, err := c.Body(v.Digest)
		add("proposal", body, err)
		shown, ok := c.Story(v.Digest)
		add("story", shown.View, shown.Rounds, shown.Method, shown.X, ok)
		found, err := c.Find(v.Digest.String())
		add("found", found, err, c.Name(v.Digest), c.View(v.Digest))
		ctx, cancel := context.WithCancel(context.Background())
		var seen []outline.View
		err = c.Watch(ctx, v.Digest, func(v outline.View) error { seen = append(seen, v); cancel(); return nil })
		add("watched", seen, err)
		l := c.machine.lock()
		r, _ := l.find(v.Digest)
		told, ok := audience{l, ada, c.now()}.tell(r)
		add("reads", told, ok, r.Limit(), l.chainOf(v.Digest), known{}.misses(r), known{all: true}.misses(r), at)
		c.machine.unlock()
		for i, member := range s.roster {
			err := server{c}.reads(admission.Client{Role: pki.RoleSite, Name: member.Name, Identity: member.Identity}, v.Digest)
			add("a site reads", i, err)
		}
		add("an analyst reads", server{c}.reads(ada, v.Digest))
	}
	return out
}

// TestRestoredAnswersAlike: a coordinator that began from a snapshot answers everything as one that
// has never stopped, and snapshots of both are the same. That holds whichever entry the snapshot
// was asked for after and however late it was encoded, from memory and from a disk, of studies that
// are completed, rejected, aborted, withdrawn by a site, retracted and waiting.
func TestRestoredAnswersAlike(t *testing.T) {
	s := newStory(t, nil, 4)
	lines := append([][]byte(nil), s.members...)
	put := func(line []byte) { lines = append(lines, line) }
	enter := func(e entry) {
		e.At = time.Now().UTC().Truncate(time.Millisecond)
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		put(line)
	}
	ended := func(d proposal.Digest, code study.Code) {
		enter(entry{Round: &round.Entry{Study: d, Kind: round.EntryEnded, Code: code}})
	}
	decided := func(d proposal.Digest, site int, v study.Verdict, code study.Code) {
		enter(entry{Round: &round.Entry{Study: d, Kind: round.EntryDecided, Site: site, Verdict: v, Code: code}, Signature: study.SignDecision(s.identity[site], d, v, code)})
	}
	for _, e := range s.lines { // the real one
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		put(line)
	}
	s.tell(t, 1, -1, put)
	ended(s.tell(t, 2, 1, put), study.CodeAborted)
	undecided := (s.lines[1].Round.Site + 1) % len(s.identity) // line 1 is the approval of whichever site was first
	decided(s.tell(t, 3, 2, put), undecided, study.VerdictRejected, "policy_epsilon")
	decided(s.tell(t, 4, 3, put), 0, study.VerdictRejected, study.CodeWithdrawn)
	ended(s.tell(t, 5, len(s.lines)/2, put), study.CodeRetracted)
	ended(s.tell(t, 6, len(s.lines)-1, put), study.CodeAborted) // while its sites sign
	enter(entry{Tell: &tellEntry{"rows", map[string]int{"site-0": 7}}})
	enter(entry{Revoke: &membership.ClientEntry{Role: pki.RoleSite, Name: "site-4"}})
	s.tell(t, 7, 2, put) // it waits

	// stale ones, of studies that are over
	first := *s.lines[len(s.lines)-1].Round
	enter(entry{Round: &first})
	ended(first.Study, study.CodeAborted)

	at := time.Now().Add(time.Hour)
	answered := func(m *Machine, line []byte) string { return fmt.Sprint(m.Apply(line)) }
	never, err := NewMachineIn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	var at0 [][]byte                 // encoded between entries
	var late []func(io.Writer) error // encoded after all of them
	for _, line := range lines {
		raw, err := encoded(never)
		if err != nil {
			t.Fatal(err)
		}
		write, err := never.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		at0, late = append(at0, raw), append(late, write)
		answers = append(answers, answered(never, line))
	}
	if over := len(never.state.closed); over != 7 || len(never.state.studies) != 1 {
		t.Fatalf("%d studies are over, %d under way", over, len(never.state.studies))
	}
	want, err := encoded(never)
	if err != nil {
		t.Fatal(err)
	}
	told := everything(t, s, never, at)
	every, last := 5, 8
	if testing.Short() {
		every, last = 17, 3
	}
	for k := range lines {
		var raw bytes.Buffer
		if err := late[k](&raw); err != nil || !bytes.Equal(raw.Bytes(), at0[k]) {
			t.Fatalf("a snapshot before entry %d of %d is another one when it is encoded later: %v", k, len(lines), err)
		}
		if k%every != 0 && k < len(lines)-last {
			continue
		}
		m := NewMachine()
		if k%2 == 0 {
			if m, err = NewMachineIn(t.TempDir()); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Restore(&raw); err != nil {
			t.Fatal(err)
		}
		for i, line := range lines[k:] {
			if got := answered(m, line); got != answers[k+i] {
				t.Errorf("entry %d is answered with %s after a snapshot before entry %d, else with %s", k+i, got, k, answers[k+i])
			}
		}
		got, err := encoded(m)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("after a snapshot before entry %d the state is another:\n%s\n%s", k, object(got), object(want))
		}
		for i, text := range everything(t, s, m, at) {
			if text != told[i] {
				t.Fatalf("after a snapshot before entry %d:\n%s\nelse\n%s", k, text, told[i])
			}
		}
	}
}

// TestLeaderClosesAsFollowers: what only a leader remembers of a study (uploads, deadlines that
// have passed, refusals, links) is not kept once it is over: its state is then that of a follower,
// which has only read the log.
func TestLeaderClosesAsFollowers(t *testing.T) {
	refuses := func(f *federation) {
		for _, s := range f.sites {
			s.corrupt = func(m *covey.SiteMessage) {
				if a := m.GetAttestation(); a != nil {
					*m = covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: a.GetStudy(), Code: covey.Code_CODE_SECOND_RESULT}}}
				}
			}
		}
	}
	for name, c := range map[string]struct {
		setup func(*federation)
		until func(*federation) bool
	}{
		"completed":                   {func(*federation) {}, nil},
		"aborted past a deadline":     {func(f *federation) { f.sites[1].mute, f.sites[2].mute = muteUploads, muteUploads }, func(f *federation) bool { return f.view().Overdue && len(f.state().Uploaded()) > 0 }},
		"aborted as nobody signs":     {refuses, func(f *federation) bool { return f.drafted() && f.view().Sites[0].Unsigned != "" }},
		"aborted in the middle of it": {func(*federation) {}, func(f *federation) bool { return f.view().Released > 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 3, nil)
				defer func() { f.c.Close() }()
				if c.setup(f); c.until == nil {
					f.finish()
				} else {
					f.comesTo(func() bool { return c.until(f) })
					if err := f.c.Abort(f.plan.Digest); err != nil {
						t.Fatal(err)
					}
				}
				follower := NewMachine()
				for _, line := range f.log.all() {
					follower.Apply(line)
				}
				want, err := encoded(follower)
				if err != nil {
					t.Fatal(err)
				}
				got, err := encoded(f.c.machine)
				if err != nil {
					t.Fatal(err)
				}
				if len(follower.state.closed) != 1 || !bytes.Equal(got, want) {
					t.Errorf("the leader has\n%s\na follower\n%s", object(got), object(want))
				}
			})
		})
	}
}
