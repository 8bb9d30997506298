package coordinator

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/admission"
	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/replica"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

// story is a whole study as a log holds it, of five sites with the protocol's real secrets,
// proposed by an analyst. Other studies are copies of it with their own nonce, digest and
// signatures. Their releases name the first one's digest, which neither lists nor a start look at.
type story struct {
	auth     *pki.Authority
	members  [][]byte // the lines that make sites and the analyst
	lines    []entry  // from the proposal on
	spec     proposal.Spec
	roster   []proposal.Member
	analyst  ed25519.PrivateKey
	identity []ed25519.PrivateKey
}

// newStory runs a study of so many columns, under an authority or a new one.
func newStory(t *testing.T, auth *pki.Authority, columns int) *story {
	if auth == nil {
		auth = newAuthority(t)
	}
	out := &story{auth: auth, analyst: ed25519.NewKeyFromSeed(append(make([]byte, 31), 77))}
	run := func(t *testing.T) {
		f := federationOf(t, auth, 5, func(s *proposal.Spec) {
			s.Columns = nil
			for i := range columns {
				s.Columns = append(s.Columns, proposal.Column{Name: fmt.Sprintf("column_%d", i)})
			}
			s.Rounds, s.Method = 12, proposal.MethodPower
		})
		defer func() { f.c.Close() }()
		for _, s := range f.sites {
			s.vector = func(a study.Ask) []int64 {
				v := make([]int64, f.plan.Queries[a.Query].Values)
				rng := rand.New(rand.NewPCG(uint64(s.index), uint64(a.Query)))
				for i := range v {
					v[i] = int64(1000*rng.NormFloat64()) + 1
				}
				return v
			}
			out.identity = append(out.identity, s.identity)
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		out.spec, out.roster = f.plan.Proposal.Spec, f.plan.Proposal.Roster
		for _, line := range f.log.all() {
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if e.Round == nil {
				out.members = append(out.members, line)
			} else {
				e.Head = chain.Head{} // it is told again after other entries
				out.lines = append(out.lines, e)
			}
		}
	}
	synctest.Test(t, run)
	key := proposal.Key(out.analyst.Public().(ed25519.PublicKey))
	for _, e := range []entry{
		{Invite: &membership.InviteEntry{Token: "ada", Invite: membership.Invite{Analyst: "ada", Expires: time.Now().Add(time.Hour)}}},
		{Join: &membership.JoinEntry{Token: "ada", Name: "ada", Key: key, TLS: key, Now: time.Now()}},
	} {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out.members = append(out.members, line)
	}
	return out
}

// proposalOf returns the proposal of the n-th study told after the story.
func (s *story) proposalOf(t *testing.T, n int) []byte {
	spec, err := s.spec.Dated(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	spec.Name, spec.Readers = fmt.Sprintf("study-%d", n), []string{"ada"}
	readers := []proposal.Party{{Name: "ada", Identity: proposal.Key(s.analyst.Public().(ed25519.PublicKey))}}
	var nonce [32]byte
	binary.BigEndian.PutUint64(nonce[:], uint64(n))
	body, err := proposal.ProposeAs(nil, spec, s.roster, readers, s.auth.SigningKey().Public().(ed25519.PublicKey), nonce)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// tell hands the first lines of the story, all of them if most is negative, to a log, as of the
// n-th study.
func (s *story) tell(t *testing.T, n, most int, apply func(line []byte)) proposal.Digest {
	body := s.proposalOf(t, n)
	digest := proposal.DigestOf(body)
	for i, e := range s.lines {
		if i == most {
			break
		}
		r := *e.Round
		e.Round, e.At, r.Study = &r, time.Now().UTC().Truncate(time.Millisecond), digest
		switch r.Kind {
		case round.EntryProposed:
			r.Body = body
		case round.EntryDecided:
			e.Signature = study.SignDecision(s.identity[r.Site], digest, r.Verdict, r.Code)
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		apply(line)
	}
	return digest
}

// population is the number of a coordinator's studies, by status.
type population struct{ ended, waiting, running, columns int }

// fill has a coordinator's folder made by its log, entry by entry, many studies at a time so that
// they share their fsyncs. The last of a thousand come after the only snapshot, with nearly as many
// entries as make the next one due: what a start may have to apply after a crash.
func (p population) fill(t *testing.T, dir string, s *story) {
	node, err := replica.Open(dir, NewMachine(), replica.Options{SnapshotThreshold: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	apply := func(line []byte) {
		answer, err := node.Apply(context.Background(), line)
		if refused, ok := answer.(error); err != nil || ok {
			t.Errorf("%v, %v", err, refused)
		}
	}
	for _, line := range s.members {
		apply(line)
	}
	var all sync.WaitGroup
	places := make(chan struct{}, 64)
	for n := range p.ended + p.waiting + p.running {
		if n >= p.ended+p.waiting { // of one that runs a leader checks the setup
			s := newStory(t, s.auth, p.columns)
			for _, e := range s.lines[:len(s.lines)/2] {
				line, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				apply(line)
			}
			continue
		}
		most := -1
		if n >= p.ended {
			most = 1
		}
		if n == p.ended-100 {
			if err := node.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
		places <- struct{}{}
		all.Go(func() {
			s.tell(t, n, most, apply)
			<-places
		})
	}
	all.Wait()
}

// cpu is the process's time so far.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestMany starts a coordinator with many studies and asks it for every list. COVEY_MANY=1000 makes
// a thousand that are over, a tenth as many that wait and a fiftieth that run, and -v prints what
// each took; COVEY_MANY_DIR keeps the folder from one run to the next.
func TestMany(t *testing.T) {
	p := population{ended: 12, waiting: 3, running: 2, columns: 8}
	if n, _ := strconv.Atoi(os.Getenv("COVEY_MANY")); n > 0 {
		p = population{ended: n, waiting: n / 10, running: n / 50, columns: 256}
	}
	s := newStory(t, nil, p.columns)
	dir := os.Getenv("COVEY_MANY_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	took := func(what string, do func()) {
		began, used := time.Now(), cpu()
		do()
		t.Logf("%-28s %8.1f ms wall %8.1f ms processor", what, float64(time.Since(began).Microseconds())/1e3, float64((cpu()-used).Microseconds())/1e3)
	}
	all := p.ended + p.waiting + p.running
	if _, err := os.Stat(filepath.Join(dir, "raft")); err != nil {
		took("make", func() { p.fill(t, dir, s) })
	}
	for _, when := range []string{"after entries", "after a snapshot"} {
		var c *Coordinator
		var node *replica.Node
		took("start "+when, func() {
			m, err := NewMachineIn(dir)
			if err != nil {
				t.Fatal(err)
			}
			c = New(Options{Authority: s.auth, Machine: m, Logger: slog.New(slog.DiscardHandler)})
			if node, err = replica.Open(dir, m, replica.Options{}); err != nil {
				t.Fatal(err)
			}
			if err := c.Lead(node); err != nil {
				t.Fatal(err)
			}
		})
		ada := admission.Client{Role: pki.RoleAnalyst, Name: "ada", Identity: s.analyst.Public().(ed25519.PublicKey)}
		for _, turn := range []string{"first", "second"} {
			took("operator's list, "+turn, func() {
				if n := len(c.Views()); n != all {
					t.Errorf("%d studies", n)
				}
			})
			took("page's list, "+turn, func() {
				if n := len(c.Overview(50).Studies); n != all {
					t.Errorf("%d studies", n)
				}
			})
			took("analyst's list, "+turn, func() {
				if n := len(toldTo(c, ada)); n != p.ended+p.waiting {
					t.Errorf("%d studies", n)
				}
			})
			took("sites and analysts, "+turn, func() { c.Sites(); c.Analysts() })
		}
		took("snapshot", func() {
			if err := node.Snapshot(); err != nil {
				t.Error(err)
			}
		})
		c.Close()
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "raft", "snapshots", "*", "state.bin"))
	for _, name := range files {
		if at, err := os.Stat(name); err == nil {
			t.Logf("a snapshot of %.1f MB", float64(at.Size())/1e6)
		}
	}
}

// TestListsReadSummaries: a start and every list read only the summaries of studies that are over.
// They are the same if all the rest is unreadable; only what shows a whole study then fails. One
// study's bytes do not pass for another's, and no study is proposed again.
func TestListsReadSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, all := longLived(t, 3)
		defer func() { f.c.Close() }()
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		lists := func(m *Machine) (string, *Coordinator) {
			c := New(Options{Authority: f.auth, Machine: m, Logger: slog.New(slog.DiscardHandler)})
			o := c.Overview(1000)
			o.Happenings = nil
			text, err := json.Marshal([]any{c.Views(), o, c.Sites(), c.Analysts(), c.People()})
			if err != nil {
				t.Fatal(err)
			}
			return string(text), c
		}
		begun := func(raw []byte) *Machine {
			m := NewMachine()
			if err := restored(m, raw); err != nil {
				t.Fatal(err)
			}
			return m
		}
		want, c := lists(begun(raw))
		defer c.Close()
		for _, d := range all[:3] {
			if story, ok := c.Story(d); !ok || len(story.Rounds) == 0 {
				t.Errorf("study %s is not shown", d)
			}
			if body, err := c.Body(d); err != nil || proposal.DigestOf(body) != d {
				t.Errorf("study %s has no proposal: %v", d, err)
			}
		}
		garbage := append([]byte(nil), raw...)
		clear(garbage[8+len(object(raw)):])
		got, bad := lists(begun(garbage))
		defer bad.Close()
		if got != want {
			t.Errorf("lists are\n%s\nwhere nothing else can be read, in place of\n%s", got, want)
		}
		if _, ok := bad.Story(all[0]); ok {
			t.Error("a study is shown that cannot be read")
		}
		if _, err := bad.Result(all[0]); err == nil {
			t.Error("a result is made that cannot be read")
		}
		changed := func(change func(*snapshot)) []byte {
			var s snapshot
			if err := json.Unmarshal([]byte(object(raw)), &s); err != nil {
				t.Fatal(err)
			}
			change(&s)
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return framed(string(text), raw)
		}
		m := begun(changed(func(s *snapshot) {
			a, b := &s.Closed[0].View.Digest, &s.Closed[1].View.Digest
			*a, *b = *b, *a
		}))
		if _, _, err := m.state.closed[all[0]].Load(); err == nil {
			t.Error("one study's bytes pass for another's")
		}
		for what, change := range map[string]func(*snapshot){
			"other sites than the roster's": func(s *snapshot) { s.Closed[0].View.Sites = s.Closed[0].View.Sites[1:] },
			"a study that is not over":      func(s *snapshot) { s.Closed[0].View.Status = round.StatusRunning },
			"a study twice":                 func(s *snapshot) { s.Order[1] = s.Order[0] },
			"a study too few":               func(s *snapshot) { s.Order = s.Order[1:] },
		} {
			if err := restored(NewMachine(), changed(change)); err == nil {
				t.Errorf("a snapshot is taken with %s", what)
			}
		}
		body, err := c.Body(all[0])
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(entry{Round: &round.Entry{Study: all[0], Kind: round.EntryProposed, Body: body}})
		if err != nil {
			t.Fatal(err)
		}
		if _, stale := m.Apply(line).(*round.StaleError); !stale || len(m.state.order) != len(all) {
			t.Error("a study that is over is proposed again")
		}
	})
}

// toldTo is what an analyst is told in a list.
func toldTo(c *Coordinator, who admission.Client) []wire.Told {
	m := c.machine.lock()
	defer c.machine.unlock()
	return audience{m, who, c.now()}.all()
}
