package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
	"covey/test/port"
)

// words replaces words of a site's configuration.
func (s *testSite) words(old, new string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, siteconfig.File))
	if err != nil || !bytes.Contains(text, []byte(old)) {
		s.t.Fatalf("%q is not in the configuration: %v", old, err)
	}
	s.write(siteconfig.File, strings.Replace(string(text), old, new, 1))
}

func (s *testSite) reload(yes bool) Reloaded {
	s.t.Helper()
	done, err := s.agent.Settings.Reload(yes)
	if err != nil {
		s.t.Fatal(err)
	}
	return done
}

const twice = `[[population]]
name = "others"
cap_rho = 9.0
[[dataset]]`

// A study keeps the data set that its approval recorded until it ends, at whatever point agent.toml
// is changed and read again, and after a restart too: its sums are those of the rows that were
// approved.
func TestReloadAtEachPoint(t *testing.T) {
	changes := []func(s *testSite){
		func(s *testSite) { s.words(atPath, "path = \"none.csv\"\n"); s.reload(false) },
		func(s *testSite) { s.words(atPath, atPath+"precision = \"float32\"\n"); s.reload(false) },
		func(s *testSite) { s.words(atPath, atPath+"unit = \"c0\"\n"); s.reload(false) },
		func(s *testSite) { s.words(`name = "rows"`, `name = "lines"`); s.reload(false) },
		func(s *testSite) {
			s.words(`approve = "within-limits"`, "approve = \"within-limits\"\noutside = \"reject\"\ncolumns = []")
			s.reload(false)
		},
		func(s *testSite) {
			s.words("[[dataset]]", twice)
			s.words(`population = "people"`, `population = "others"`)
			s.reload(true)
		},
		func(s *testSite) { // the file too: the same bytes in another place
			s.words(atPath, "path = \"moved.csv\"\n")
			if err := os.Rename(s.dir+"/rows.csv", s.dir+"/moved.csv"); err != nil {
				s.t.Fatal(err)
			}
			s.reload(false)
		},
	}
	for point, name := range []string{"approved", "prepared", "confirmed", "answered", "released"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && point != 1 {
				t.Skip("one point will do")
			}
			c := newStandIn(t, len(changes), autoPolicy, nil)
			now := func(at int) {
				for i, s := range c.sites {
					switch at {
					case point:
						changes[i](s)
					case point + 1:
						s.restart()
					}
				}
				if at == point+1 && at > 1 {
					c.confirm()
				}
			}
			sum := func(query int, x []float64) (wire.Query, []int64) {
				t.Helper()
				q := c.query(query, query, x)
				got := c.open(q, c.everyone())
				if !slices.Equal(got, c.plain(q, c.everyone())) {
					t.Errorf("another sum of query %d", query)
				}
				return q, got
			}
			c.approve()
			now(0)
			c.prepare()
			now(1)
			c.confirm()
			now(2)
			q, first := sum(0, c.plan.Start().X)
			now(3)
			c.tell(c.release(q, c.everyone(), first))
			now(4)
			now(5)
			sum(1, c.courses[1].X)
			for _, s := range c.sites {
				if p := s.agent.Views.View(c.plan.Digest).Population; p != "people" {
					t.Errorf("%s: it is charged to %q", s.name, p)
				}
			}
		})
	}
}

// A proposal that was left to the operator stays there when the policy is loosened, also after a
// restart; a new one is the policy's. What the operator approves then is under what holds then.
func TestReloadLeavesPending(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	offered := func(want_ study.Verdict) {
		t.Helper()
		if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != want_ {
			t.Fatalf("%+v", d)
		}
	}
	offered(study.VerdictPending)
	s.words(`approve = "ask"`, c.peers(3)+autoPolicy)
	s.reload(false)
	offered(study.VerdictPending)
	s.restart()
	offered(study.VerdictPending)
	if st, err := s.agent.Views.Status(); err != nil || st.Pending != 1 || st.Approved != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	// Its data set is what agent.toml says now.
	s.words("[[dataset]]", twice)
	s.words(`population = "people"`, `population = "others"`)
	if _, err := s.agent.Settings.Reload(false); err == nil {
		t.Fatal("a budget that begins anew needs no word")
	}
	s.reload(true)
	if d, err := s.agent.Views.Study(c.plan.Digest); err != nil || d.Budget.Population != "others" || d.Population != "others" {
		t.Errorf("%+v, %v", d, err)
	}
	s.words(`name = "rows"`, `name = "lines"`)
	s.reload(false)
	if d, err := s.agent.Views.Study(c.plan.Digest); err != nil || d.Code != string(study.CodeData) || d.Budget != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if err := s.agent.Decisions.Approve(c.plan.Digest); must.As[*RefusedError](t, err).Code != study.CodeData {
		t.Error(err)
	}
	s.words(`name = "lines"`, `name = "rows"`)
	s.reload(false)
	if err := s.agent.Decisions.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if a, ok := s.agent.ledger.Approved(c.plan.Digest); !ok || a.Population != "others" || a.By != ledger.ByOperator {
		t.Errorf("%+v", a)
	}
	// A budget below what it reserved is said to be.
	s.words("cap_rho = 9.0", "cap_rho = 1e-9")
	if done := s.reload(false); len(done.Below) != 1 || !strings.Contains(done.Below[0], `"others"`) {
		t.Errorf("%+v", done)
	}
	s.words("cap_rho = 1e-9", "cap_rho = 9.0")
	if done := s.reload(false); len(done.Below) > 0 {
		t.Errorf("%+v", done)
	}
	c.plan.Proposal.Spec.Epsilon = 0.5
	c.propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster)
	offered(study.VerdictApproved)
}

// What is not taken changes nothing, and says what it is.
func TestReloadIsAllOrNothing(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	file := filepath.Join(s.dir, siteconfig.File)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]struct {
		make func()
		want string
	}{
		"site":        {func() { s.words(`site = "site-0"`, `site = "site-9"`) }, "nothing was changed: a new site needs a restart"},
		"data":        {func() { s.words("[[population]]", "data = \"elsewhere\"\n[[population]]") }, "nothing was changed: a new data needs a restart"},
		"coordinator": {func() { s.words("127.0.0.1:1", "127.0.0.1:2"); s.words("max_epsilon = 1.0", "max_epsilon = 9.0") }, "nothing was changed: a new coordinator needs a restart"},
		"a fault": {func() {
			s.words("max_epsilon = 1.0", "max_epsilon = 9.0")
			s.words(`path = "rows.csv"`, `path = "rows.xls"`)
		}, "ends in none of"},
		"no file":  {func() { os.Remove(file) }, "no such file"},
		"a folder": {func() { os.Remove(file); os.Mkdir(file, 0o700) }, "is not a file"},
		"group":    {func() { os.Chmod(file, 0o620) }, "others may write to it (mode 0620); chmod go-w it"},
		"world":    {func() { os.Chmod(file, 0o602) }, "others may write to it (mode 0602); chmod go-w it"},
		"population": {func() { s.words("[[dataset]]", twice); s.words(`population = "people"`, `population = "others"`) },
			`data set "rows" was charged to another population than "others", whose budget does not count those charges`},
		"renamed population": {func() {
			s.words(`name = "people"`, `name = "folk"`)
			s.words(`population = "people"`, `population = "folk"`)
		},
			`data set "rows" was charged to another population than "folk", whose budget does not count those charges`},
		"another name of the data": {func() {
			s.words("[[dataset]]", twice)
			s.words(`name = "rows"`, `name = "lines"`)
			s.words(`population = "people"`, `population = "others"`)
		}, `data set "lines" was charged to another population than "others", whose budget does not count those charges`},
	} {
		before := s.agent.Settings.current.Load()
		change.make()
		if _, err := s.agent.Settings.Reload(false); err == nil || !strings.Contains(err.Error(), change.want) || !atFault(err) {
			t.Errorf("%s: %v", name, err)
		}
		if s.agent.Settings.current.Load() != before {
			t.Errorf("%s: it is taken", name)
		}
		os.Remove(file)
		s.write(siteconfig.File, string(good))
	}
	if done := s.reload(false); len(done.Changed) > 0 {
		t.Errorf("%v", done)
	}
	// Taken away and brought back, it is the same data set still.
	s.words(`name = "rows"`, `name = "lines"`)
	s.words(atPath, "path = \"x.csv\"\n")
	s.reload(false)
	s.write(siteconfig.File, string(good))
	s.words("[[dataset]]", twice)
	s.words(`population = "people"`, `population = "others"`)
	if _, err := s.agent.Settings.Reload(false); !strings.Contains(fmt.Sprint(err), "does not count those charges") {
		t.Errorf("brought back: %v", err)
	}
}

// A file that is half written is taken as it is, or not at all.
func TestReloadHalfWritten(t *testing.T) {
	s := newStandIn(t, 3, autoPolicy, nil).sites[0]
	text, err := os.ReadFile(filepath.Join(s.dir, siteconfig.File))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(text) {
		before := s.agent.Settings.current.Load()
		s.write(siteconfig.File, string(text[:n]))
		done, err := s.agent.Settings.Reload(false)
		alone, fault := siteconfig.Parse(text[:n], filepath.Join(s.dir, siteconfig.File))
		now := s.agent.Settings.current.Load()
		switch {
		case err != nil && now != before:
			t.Fatalf("%d bytes: %v, and it is taken", n, err)
		case err == nil && (fault != nil || len(alone.Diff(now)) > 0):
			t.Fatalf("%d bytes: %v is taken: %v", n, done, fault)
		}
	}
}

// The log names keys, and nothing that stands behind them.
func TestReloadLogsKeys(t *testing.T) {
	s := newStandIn(t, 3, autoPolicy, nil).sites[0]
	s.words("[[dataset]]", twice)
	s.words("max_epsilon = 1.0", "max_epsilon = 0.123")
	s.words(atPath, "query = \"select 'canary' as a order by 1\"\ndsn_env = \"CANARY\"\nquery_timeout = \"77s\"\n")
	s.words("[policy]", "[[dataset]]\nname = \"labs\"\npath = \"canary.csv\"\npopulation = \"others\"\n[policy]")
	s.log.Reset()
	done := s.reload(false)
	want := []string{"+dataset.labs", "+population.others", "dataset.rows.dsn_env", "dataset.rows.path", "dataset.rows.query", "dataset.rows.query_timeout", "policy.max_epsilon"}
	if !slices.Equal(done.Changed, want) {
		t.Errorf("%q", done.Changed)
	}
	log := regexp.MustCompile(`time=\S+ `).ReplaceAllString(s.log.String(), "") // a time's digits may hold a value's
	for _, key := range want {
		if !strings.Contains(log, key) {
			t.Errorf("the log does not name %s: %s", key, log)
		}
	}
	for _, value := range []string{"canary", "CANARY", "77", "0.123", "select"} {
		if strings.Contains(log, value) {
			t.Errorf("the log has %q: %s", value, log)
		}
	}
}

// What is offered now the coordinator hears at once, by a new link, also where a file alone has
// changed, or a file and the policy.
func TestReloadSaysHello(t *testing.T) {
	server := port.New(t)
	config, dir := joined(t, server)
	a, err := New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	l := <-server.Links
	if h := l.Receive(t).GetHello(); len(h.GetDatasets()) != 2 {
		t.Fatalf("%v", h)
	}
	change := func(old, new string) {
		t.Helper()
		file := filepath.Join(dir, siteconfig.File)
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(old)) {
			t.Fatal(err, string(text))
		}
		if err := pki.ReplaceFile(file, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Settings.Reload(false); err != nil {
			t.Fatal(err)
		}
	}
	change("absent.csv", "rows.csv")
	h := (<-server.Links).Receive(t).GetHello()
	if len(h.GetDatasets()) != 3 {
		t.Errorf("%v", h)
	}
	rows := filepath.Join(dir, "rows.csv")
	text, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n')
	row := bytes.Clone(text[last+1:])
	units := h.GetDatasets()[0].GetUnits()
	more := func(reload func()) {
		t.Helper()
		text = append(text, row...)
		if err := os.WriteFile(rows, text, 0o600); err != nil {
			t.Fatal(err)
		}
		reload()
		units++
		if now := (<-server.Links).Receive(t).GetHello().GetDatasets()[0].GetUnits(); now != units {
			t.Errorf("%d units, want %d", now, units)
		}
	}
	more(func() {
		if done, err := a.Settings.Reload(false); err != nil || len(done.Changed) > 0 {
			t.Fatalf("%+v, %v", done, err)
		}
	})
	more(func() { change("[policy]", "[policy]\nmin_sites = 4") })
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Reloads come at any time beside all else.
func TestReloadBeside(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	text, err := os.ReadFile(filepath.Join(s.dir, siteconfig.File))
	if err != nil {
		t.Fatal(err)
	}
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	begin := make(chan struct{})
	var all sync.WaitGroup
	beside := func(f func(i int)) {
		all.Go(func() {
			<-begin
			for i := range 20 {
				f(i)
			}
		})
	}
	beside(func(i int) {
		s.write(siteconfig.File, strings.Replace(string(text), atPath, atPath+fmt.Sprintf("workers = %d\n", 1+i%2), 1))
		if _, err := s.agent.Settings.Reload(false); err != nil && !strings.Contains(err.Error(), "changed while") {
			t.Error(err)
		}
	})
	beside(func(int) { s.agent.handle(wire.Proposal{Body: c.body}) })
	beside(func(int) { s.agent.Views.Status() })
	beside(func(int) { s.agent.Views.Study(c.plan.Digest) })
	beside(func(int) { s.agent.Views.Ledger() })
	beside(func(int) { s.agent.hello() })
	beside(func(i int) {
		if i == 10 {
			if err := s.agent.Decisions.Approve(c.plan.Digest); err != nil {
				t.Error(err)
			}
		}
	})
	close(begin)
	all.Wait()
	if approval, ok := s.agent.ledger.Approved(c.plan.Digest); !ok || s.session(c).pinnedNow(t) != "" {
		t.Errorf("%+v", approval)
	}
}

// Status tells of each data set what it is and whether a study's is still there.
func TestStatusOfDatasets(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	s.words("[policy]", "[[dataset]]\nname = \"labs\"\npath = \"labs.csv\"\npopulation = \"people\"\nunit = \"who\"\n[policy]")
	s.reload(false)
	check := func(hash bool, want string, studies int, read bool) {
		t.Helper()
		all := s.agent.Views.Datasets(hash)
		v := all[0]
		if len(all) != 2 || v.Name != "rows" || v.Population != "people" || v.Kind != "csv" || v.Unit != "" || !v.Offered || v.Data != want || v.Studies != studies || (v.Read != nil) != read || v.Fault != "" {
			t.Errorf("%+v, want %q", all, want)
		}
		if v := all[1]; v.Unit != "who" || v.Data != "" || !strings.Contains(v.Fault, "no such file") {
			t.Errorf("%+v", v)
		}
	}
	check(false, "", 0, false)
	check(true, "", 0, false)
	c.ready()
	check(false, holding.DataLooks, 1, true)
	check(true, holding.DataSame, 1, true)
	path := filepath.Join(s.dir, "rows.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	check(false, holding.DataMaybe, 1, true)
	check(true, holding.DataSame, 1, true)
	s.write("rows.csv", string(text)+"1,2,3\n")
	check(false, holding.DataMaybe, 1, true)
	check(true, holding.DataChanged, 1, true)
	s.write("rows.csv", string(text))
	s.restart()
	check(false, holding.DataUnknown, 1, false)
	check(true, holding.DataSame, 1, false)
	s.agent.hello() // reads what it offers
	check(false, holding.DataLooks, 1, true)
	s.write("rows.csv", string(text)+"1,2,3\n")
	s.agent.hello()
	check(false, holding.DataChanged, 1, true)
	s.write("rows.csv", string(text))
	// agent.toml has another by now, and the study its own.
	s.words(atPath, "path = \"labs.csv\"\n")
	s.reload(false)
	all := s.agent.Views.Datasets(true)
	if len(all) != 3 || all[0].Studies != 0 || all[2].Name != "rows" || all[2].Offered || all[2].Studies != 1 || all[2].Data != holding.DataSame {
		t.Errorf("%+v", all)
	}
	st, err := s.agent.Views.Status()
	if err != nil || len(st.Datasets) != 3 || st.Datasets[2].Data != holding.DataMaybe {
		t.Errorf("%+v, %v", st, err)
	}
}

// atFault reports whether a file of an operator is refused.
func atFault(err error) bool {
	_, config := errors.AsType[*siteconfig.Error](err)
	_, restart := errors.AsType[*RestartError](err)
	_, anew := errors.AsType[*AnewError](err)
	return config || restart || anew
}
