package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// event is one event of a test of its own.
func event(point, owner string, data string) func(*story) {
	return func(st *story) {
		st.add("x", failpoint.Event{Point: point, Phase: failpoint.Before, Owner: owner, Query: -1, Slot: 1 << 20, Data: []byte(data)})
	}
}

// strangeHistories make no sense in one place.
func strangeHistories() []broken {
	readable := func(name string, tell func(*story)) broken { return broken{rule: Readable, name: name, tell: tell} }
	other := proposal.Digest{9}
	return []broken{
		readable("a stranger's log", event(failpoint.Log, "/c9", `{}`)),
		readable("a stranger's snapshot", event(failpoint.Snapshot, "/c9", `{}`)),
		readable("a stranger's ledger", event("ledger.sign", "/s9/ledger", "")),
		readable("a stranger's message", event(failpoint.Send, "/s9", "")),
		readable("a message to a stranger", event(failpoint.Receive, "/s9", "")),
		readable("no site message", event(failpoint.Send, "/s1", "\xff")),
		readable("no body", event(failpoint.Send, "/s1", "")),
		readable("no coordinator message", event(failpoint.Receive, "/s1", "\xff")),
		readable("no entry", event(failpoint.Log, "/c1", "{")),
		readable("an entry of no study", event(failpoint.Log, "/c1", fmt.Sprintf(`{"round":{"study":"%s","kind":"opening"}}`, other))),
		readable("a proposal of another study", event(failpoint.Log, "/c1", fmt.Sprintf(`{"round":{"study":"%s","kind":"proposed","body":"AAAA"}}`, other))),
		readable("a snapshot of no study", event(failpoint.Snapshot, "/c1", `{"studies":[{"body":"AAAA"}]}`)),
		readable("a message of no study", func(st *story) {
			st.send(st.members[0], "x", 0, 0, &covey.SiteMessage{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{Study: other[:]}}})
		}),
		readable("a message about no study", func(st *story) {
			st.receive(st.members[0], "x", 0, 0, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{Study: other[:]}}})
		}),
		readable("a message without a study", func(st *story) {
			st.receive(st.members[0], "x", 0, 0, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{}}})
		}),
		readable("a site outside the roster", func(st *story) {
			st.truth.Sites["/s9"] = Site{Name: "site-9"}
			m := &member{dir: "/s9"}
			st.send(m, "x", 0, 0, &covey.SiteMessage{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{Study: st.id()}}})
			st.receive(m, "x", 0, 0, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: st.id()}}})
		}),
		readable("shares of another length", func(st *story) {
			st.journal(st.members[3], "shares", 1, 1)
			st.send(st.members[3], "x", 1, 1, &covey.SiteMessage{Body: &covey.SiteMessage_Shares{Shares: &covey.Shares{Study: st.id(), Query: 1, Slot: 1, Shares: []byte{1}}}})
		}),
		readable("a release of nothing", func(st *story) { st.log(round.Entry{Kind: round.EntryReleased}) }),
		{rule: Readable, name: "a release that does not read", tell: func(st *story) {
			st.log(round.Entry{Kind: round.EntryReleased, Query: 0, Released: &round.Released{Encoded: []byte("x")}})
		}, also: []Rule{OneRelease}},
		{rule: OneRelease, name: "a release in the entry of another query", vary: variation{queries: 1}, tell: func(st *story) {
			e := st.released[0]
			e.Query = 1
			st.log(e)
		}},
		{rule: NextStep, name: "a query that is not the plan's", tell: shown("receive/query/0/0/s1", "receive/query/0/0/s1", func(m *covey.CoordinatorMessage) {
			m.GetQuery().Sigma /= 2
		})},
		{rule: NextStep, name: "a release before the one before it", vary: variation{queries: 1}, tell: func(st *story) {
			st.drop("log/released")
			st.drop("receive/final")
			r, err := study.ParseRelease(st.released[0].Released.Encoded)
			st.must(err)
			r.Query, r.Slot, r.Round, r.Rho = 1, 1, 1, st.plan.Queries[1].Rho
			st.log(st.entryOf(r))
		}, also: []Rule{RightSum}},
		{rule: HonestEnd, name: "sites are told no code", vary: variation{queries: 1}, tell: func(st *story) {
			st.log(round.Entry{Kind: round.EntryDecided, Site: 1, Verdict: study.VerdictRejected, Code: study.CodeRejected})
			st.receive(st.members[0], "x", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{Study: st.id()}}})
		}},
	}
}

// TestViolationsAreBounded: a run that is broken throughout does not fill memory.
func TestViolationsAreBounded(t *testing.T) {
	c := New(Truth{Quorum: 1, Coordinators: []string{"/c1"}})
	for i := range 10 * maxViolations {
		c.Add(failpoint.Event{Point: failpoint.Log, Phase: failpoint.Before, Owner: "/c1", Slot: i, Data: fmt.Append(nil, "x", i)})
	}
	report, all := c.Close()
	if len(all) != maxViolations || report.Events != 10*maxViolations {
		t.Errorf("%d violations of %d events", len(all), report.Events)
	}
	if text := all[1].String(); !strings.HasPrefix(text, "readable: event 1, /c1, ") {
		t.Error(text)
	}
}

// FuzzAdd: no event makes the checker fail, whatever came before it.
func FuzzAdd(f *testing.F) {
	st := newStory(f, variation{queries: 1})
	for i := 0; i < len(st.moments); i += 7 {
		e := st.moments[i].e
		f.Add(uint16(i), e.Point, e.Owner, e.Data)
	}
	entry, err := json.Marshal(map[string]any{"round": round.Entry{Study: st.plan.Digest, Kind: round.EntrySurvivors, Query: -1, Survivors: []int{-5, 1 << 40}}})
	st.must(err)
	f.Add(uint16(len(st.moments)), failpoint.Log, "/c1", entry)
	c := New(st.truth)
	at := 0
	f.Fuzz(func(t *testing.T, n uint16, point, owner string, data []byte) {
		for ; at < min(int(n), len(st.moments)); at++ { // the study goes on beside it
			c.Add(st.moments[at].e)
		}
		for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
			c.Add(failpoint.Event{Point: point, Phase: phase, Owner: owner, Study: st.plan.Digest, Query: int(n), Slot: int(n) - 5, Data: data})
		}
		if report, all := c.Close(); len(all) > maxViolations || slices.Contains(rulesOf(all), "") || report.Events == 0 {
			t.Errorf("%d violations", len(all))
		}
	})
}
