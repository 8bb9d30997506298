package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// wideUnits is how many rows each site of a wide study has.
const wideUnits = 2

// newWide proposes a study of so many columns to sites whose operators decide.
func newWide(t *testing.T, columns int, column func(j int) proposal.Column) *standIn {
	t.Helper()
	c := newStandIn(t, 3, "approve = \"ask\"\n", nil)
	spec, roster := c.plan.Proposal.Spec, c.plan.Proposal.Roster
	spec.Columns = nil
	names := make([]string, columns)
	for j := range columns {
		spec.Columns = append(spec.Columns, column(j))
		names[j] = spec.Columns[j].Name
	}
	for i := range roster {
		roster[i].Units = wideUnits
	}
	spec.Noise = proposal.NoiseDistributed
	c.propose(spec, roster)
	c.sites[0].write("rows.csv", strings.Join(names, ",")+"\n"+strings.Repeat(strings.Repeat("1,", columns-1)+"1\n", wideUnits))
	return c
}

// letGo is how many columns the proposals of tests have that are too wide for their sessions to
// stay in memory.
func letGo() int {
	if testing.Short() {
		return 6000
	}
	return 12_000
}

// heap is how many bytes of the heap are in use.
func heap() int {
	runtime.GC()
	runtime.GC() // of what the first one found weakly held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestWide: a proposal of the most columns takes at most 3 MB of an agent's heap while it waits for
// the operator, and approved until its setup, besides its rows; also after somebody looked at it,
// who sees the same as before. -v prints what it takes, and what its setup does. Under -short only
// "held" runs: what is wider is let go, which TestLetGo shows.
func TestWide(t *testing.T) {
	// what a process keeps of the first study that it sees, as encoders of types, is no study's
	narrow := newWide(t, testColumns, func(j int) proposal.Column { return proposal.Column{Name: fmt.Sprintf("c%d", j), Scale: 1} })
	want[wire.Decision](narrow.sites[0], wire.Proposal{Body: narrow.body})
	see(t, narrow.sites[0], narrow.plan.Digest)

	for name, of := range map[string]struct {
		columns int
		column  func(j int) proposal.Column
	}{
		"pattern": {proposal.MaxColumns, func(j int) proposal.Column { return proposal.Column{Name: fmt.Sprintf("c%d", j), Scale: 1} }},
		"genes": {proposal.MaxColumns, func(j int) proposal.Column {
			return proposal.Column{Name: fmt.Sprintf("ENSG%011d", j*7919), Offset: float64(j*31%997) / 100, Scale: 1 + float64(j*17%541)/100}
		}},
		// about the most that stays in memory
		"held": {5000, func(j int) proposal.Column { return proposal.Column{Name: fmt.Sprintf("c%d", j), Scale: 1} }},
		"levels": {1500, func(j int) proposal.Column {
			c := proposal.Column{Name: fmt.Sprintf("c%d", j)}
			for l := range proposal.MaxLevels {
				c.Levels = append(c.Levels, string(rune('Ā'+l)))
			}
			return c
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "held" {
				t.Skip("most seconds of this package")
			}
			c := newWide(t, of.columns, of.column)
			s, id := c.sites[0], c.plan.Digest
			empty := heap()
			took := func(what string, most int) {
				t.Helper()
				n := heap() - empty
				t.Logf("%-24s %6.2f MB", what, float64(n)/1e6)
				if n > most {
					t.Errorf("%s takes %d bytes, want at most %d", what, n, most)
				}
			}
			if d := want[wire.Decision](s, wire.Proposal{Body: bytes.Clone(c.body)}); d.Verdict != study.VerdictPending {
				t.Fatalf("%+v\n%s", d, s.log.String())
			}
			took("one that waits", maxIdle)
			files, err := filepath.Glob(filepath.Join(s.config.DataDir(), "pending", "*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			file, err := os.Stat(files[0])
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-24s %6.2f MB, %.2f MB on disk", "its bytes", float64(len(c.body))/1e6, float64(file.Size())/1e6)
			began := time.Now()
			s.session(c)
			t.Logf("%-24s %6.2f s", "made again in", time.Since(began).Seconds())
			see(t, s, id)
			took("one that was looked at", maxIdle)
			if err := s.agent.Decisions.Approve(id); err != nil {
				t.Fatal(err)
			}
			took("one that is approved", maxIdle+8*wideUnits*c.plan.D)
			want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
			took("one that is set up", 40e6)
			runtime.KeepAlive(c)
		})
	}
}

// see looks at all that an operator can see of a study, and returns its bytes.
func see(t *testing.T, s *testSite, id proposal.Digest) string {
	t.Helper()
	detail, err := s.agent.Views.Study(id)
	if err != nil {
		t.Fatal(err)
	}
	studies, err := s.agent.Views.Studies()
	if err != nil {
		t.Fatal(err)
	}
	figures, err := s.agent.Views.Figures(id)
	text, fault := json.Marshal([]any{detail, studies, s.agent.Views.Datasets(true), s.agent.Views.Egress(), s.agent.Views.Ledger(), figures, fmt.Sprint(err)})
	if fault != nil {
		t.Fatal(fault)
	}
	return string(text)
}

// TestLetGo: a session that was let go goes on where it was, as a short proposal's, which stays,
// does: what is seen of it, the configuration that it is under, its end, the rows that were
// approved, and from its setup on it stays.
func TestLetGo(t *testing.T) {
	for _, columns := range []int{testColumns, letGo()} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			c := newWide(t, columns, func(j int) proposal.Column { return proposal.Column{Name: fmt.Sprintf("c%d", j), Scale: 1} })
			s, id := c.sites[0], c.plan.Digest
			stays := columns == testColumns
			rest := func(stays bool) {
				t.Helper()
				heap()
				if in := s.agent.sessions.places[id].session.Value() != nil; in != stays {
					t.Fatalf("in memory: %t, want %t", in, stays)
				}
			}
			offer := func() {
				t.Helper()
				if d := want[wire.Decision](s, wire.Proposal{Body: bytes.Clone(c.body)}); d.Verdict != study.VerdictPending {
					t.Fatalf("%+v\n%s", d, s.log.String())
				}
			}
			offer()
			one := s.session(c)
			before := see(t, s, id)
			heap()
			if s.session(c) != one {
				t.Error("two sessions of one study")
			}
			runtime.KeepAlive(one)
			rest(stays)
			for range 2 { // lists make none
				if _, err := s.agent.Views.Studies(); err != nil {
					t.Fatal(err)
				}
				if _, err := s.agent.Views.Status(); err != nil {
					t.Fatal(err)
				}
				s.agent.facts()
			}
			if in := s.agent.sessions.places[id].session.Value() != nil; in != stays {
				t.Errorf("a list has the session in memory: %t", in)
			}
			if see(t, s, id) != before {
				t.Error("it is not shown as before")
			}

			// agent.toml no longer has its data set: it waits, for nothing, until it ends
			s.words(`name = "rows"`, `name = "other"`)
			s.reload(false)
			rest(stays)
			if v := s.agent.Views.View(id); v.Name != "test" || v.State != statePending || v.Population != "people" {
				t.Errorf("%+v", v)
			}
			if err := must.As[*RefusedError](t, s.agent.Decisions.Approve(id)); err.Code != study.CodeData {
				t.Errorf("refused with %q", err.Code)
			}
			rest(stays)
			if got := s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeLeft}); got != nil || s.agent.pending.Has(id) {
				t.Errorf("the end is answered %+v, and it waits: %t", got, s.agent.pending.Has(id))
			}
			if s.agent.sessions.places[id] != nil {
				t.Error("it stays in memory after its end")
			}

			s.words(`name = "other"`, `name = "rows"`)
			s.reload(false)
			offer()
			rest(stays)
			if err := s.agent.Decisions.Approve(id); err != nil {
				t.Fatal(err)
			}
			rest(stays)
			s.write("rows.csv", "c0\n1\n") // the study has the rows that were hashed
			if d := want[wire.Decision](s, wire.Proposal{Body: bytes.Clone(c.body)}); d.Verdict != study.VerdictApproved {
				t.Errorf("offered again: %+v", d)
			}
			rest(stays)
			if code := s.session(c).pinnedNow(t); code != "" {
				t.Errorf("its rows: %q", code)
			}
			rest(stays)
			want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
			rest(true)
			if err := s.agent.Decisions.Reject(id); err != nil {
				t.Fatal(err)
			}
			if s.agent.sessions.places[id] != nil {
				t.Error("it stays in memory after its end")
			}
		})
	}
}
