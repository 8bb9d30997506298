package agent

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/wire"
)

// offer proposes another study to the first site, by a coordinator's key, and returns its digest.
func (c *standIn) offer(nonce byte, key ed25519.PrivateKey, change func(*proposal.Spec)) proposal.Digest {
	c.t.Helper()
	spec := c.plan.Proposal.Spec
	change(&spec)
	body, err := proposal.Propose(spec, c.plan.Proposal.Roster, key.Public().(ed25519.PublicKey), [32]byte{nonce})
	if err != nil {
		c.t.Fatal(err)
	}
	want[wire.Decision](c.sites[0], wire.Proposal{Body: body})
	return proposal.DigestOf(body)
}

// TestSince: a proposal is compared with the last study that was approved here of the same key and
// population, whatever their names; never with one of another key, one that nobody approved or one
// that was withdrawn from.
func TestSince(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	a := c.sites[0].agent
	since := func(id proposal.Digest) *Since {
		t.Helper()
		d, err := a.Views.Study(id)
		if err != nil || d.State != statePending {
			t.Fatalf("%+v, %v", d.StudyView, err)
		}
		return d.Since
	}
	roomy := *a.Settings.current.Load()
	roomy.Populations = []siteconfig.Population{{Name: roomy.Datasets[0].Population, CapRho: 10}}
	a.Settings.current.Store(&roomy)
	at := testNow
	a.now = func() time.Time { return at }
	approve := func(id proposal.Digest) {
		t.Helper()
		at = at.Add(time.Minute)
		if err := a.Decisions.Approve(id); err != nil {
			t.Fatal(err)
		}
	}
	stranger := ed25519.NewKeyFromSeed(make([]byte, 32))
	other := c.offer(1, stranger, func(s *proposal.Spec) {})
	approve(other)
	first := c.offer(2, c.key, func(s *proposal.Spec) {})
	if got := since(first); got != nil {
		t.Errorf("compared with another key's study: %+v", got)
	}
	approve(first)
	second := c.offer(3, c.key, func(s *proposal.Spec) { s.Name, s.Epsilon = "second", 0.5 })
	got := since(second)
	if got == nil || got.Digest != first || !got.Approved.Equal(at) || strings.Join(got.Changes, "; ") != `epsilon = 0.5 (was 1); name = "second" (was "test")` {
		t.Fatalf("%+v", got)
	}
	approve(second)
	if err := a.Decisions.Withdraw(second); err != nil {
		t.Fatal(err)
	}
	third := c.offer(4, c.key, func(s *proposal.Spec) { s.Epsilon = 0.25 })
	if got := since(third); got == nil || got.Digest != first {
		t.Errorf("after a withdrawal: %+v", got)
	}
	// the same when it is over, from what is kept of it
	want := *since(third)
	c.sites[0].ask(wire.Ended{Header: wire.Header{Study: first}, Code: study.CodeAborted})
	if got := since(third); got == nil || got.Digest != want.Digest || strings.Join(got.Changes, ";") != strings.Join(want.Changes, ";") {
		t.Errorf("after its end: %+v", got)
	}
	config := *a.Settings.current.Load()
	config.Datasets = []siteconfig.Dataset{config.Datasets[0]}
	config.Datasets[0].Population = "others"
	config.Populations = append(config.Populations, siteconfig.Population{Name: "others", CapRho: 10})
	a.Settings.current.Store(&config)
	if got := since(c.offer(5, c.key, func(s *proposal.Spec) {})); got != nil {
		t.Errorf("compared over populations: %+v", got)
	}
}

// TestSameProposer: keys count and names do not; an analyst is never the coordinator's operator.
func TestSameProposer(t *testing.T) {
	of := func(coordinator, name, key string) proposal.Proposal {
		p := proposal.Proposal{Coordinator: proposal.Key(coordinator)}
		if name != "" {
			p.Proposer = &proposal.Party{Name: name, Identity: proposal.Key(key)}
		}
		return p
	}
	for _, c := range []struct {
		a, b proposal.Proposal
		same bool
	}{
		{of("c", "", ""), of("c", "", ""), true}, {of("c", "", ""), of("d", "", ""), false},
		{of("c", "ada", "1"), of("d", "eve", "1"), true}, {of("c", "ada", "1"), of("c", "ada", "2"), false},
		{of("c", "ada", "c"), of("c", "", ""), false}, {of("c", "", ""), of("c", "ada", "c"), false},
	} {
		if got := sameProposer(c.a, c.b); got != c.same {
			t.Errorf("%+v, %+v: %t", c.a, c.b, got)
		}
	}
}

// TestFiguresAreKept: looking again at a proposal reads no rows, unless the file looks changed; and
// as many studies as are looked at, figures of 8 are kept.
func TestFiguresAreKept(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	a, path := c.sites[0].agent, filepath.Join(c.sites[0].dir, "rows.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stamp := testNow
	write := func(text []byte, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write(text, stamp)
	first := c.offer(1, c.key, func(s *proposal.Spec) {})
	before, err := a.Views.Figures(first)
	if err != nil {
		t.Fatal(err)
	}
	// other rows behind the same looks: they are not read
	other := []byte(strings.Map(func(r rune) rune {
		if r >= '1' && r <= '8' {
			return r + 1
		}
		return r
	}, string(text[strings.IndexByte(string(text), '\n'):])))
	write(append(text[:len(text)-len(other):len(text)-len(other)], other...), stamp)
	again, err := a.Views.Figures(first)
	if err != nil || again.Columns[0].Median != before.Columns[0].Median {
		t.Errorf("the rows are read again: %+v, %v", again, err)
	}
	write(append(text[:len(text)-len(other):len(text)-len(other)], other...), stamp.Add(time.Second))
	if again, err = a.Views.Figures(first); err != nil || again.Columns[0].Median == before.Columns[0].Median {
		t.Errorf("a file that looks changed is not read: %+v, %v", again, err)
	}
	// another study has figures of its own
	far := c.offer(2, c.key, func(s *proposal.Spec) {
		s.Columns = append([]proposal.Column{}, s.Columns...)
		s.Columns[0].Offset = 1e6
	})
	if f, err := a.Views.Figures(far); err != nil || len(f.Columns[0].Warnings) == 0 || len(again.Columns[0].Warnings) > 0 {
		t.Errorf("another study's figures: %+v, %v", f, err)
	}
	for i := range byte(2 * maxFigures) {
		if _, err := a.Views.Figures(c.offer(10+i, c.key, func(s *proposal.Spec) {})); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.Views.figures.kept); n != maxFigures {
		t.Errorf("figures of %d studies are kept", n)
	}
}

// TestMoreStudies: an approver reads how many such studies the budget takes after this one, and as
// many are approved.
func TestMoreStudies(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	a := c.sites[0].agent
	config := *a.Settings.current.Load()
	config.Populations = []siteconfig.Population{{Name: config.Datasets[0].Population, CapRho: 3.5 * c.plan.Rho}}
	a.Settings.current.Store(&config)
	for n := range byte(4) {
		id := c.offer(1+n, c.key, func(s *proposal.Spec) {})
		if n == 3 {
			if _, ok := a.pending.Get(id); ok {
				t.Error("a fourth one fits")
			}
			break
		}
		for _, approved := range []bool{false, true} {
			d, err := a.Views.Study(id)
			if err != nil || d.Budget == nil || d.Budget.More != 2-int(n) || !d.Budget.Fits {
				t.Fatalf("study %d, approved %t: %+v, %v", n, approved, d.Budget, err)
			}
			if !approved {
				if err := a.Decisions.Approve(id); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestChargedElsewhere: an approver reads what the data set was charged to another population
// before, and of no other data set's charges.
func TestChargedElsewhere(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	a := c.sites[0].agent
	config := *a.Settings.current.Load()
	people := config.Datasets[0].Population
	config.Populations = []siteconfig.Population{{Name: people, CapRho: 1}, {Name: "others", CapRho: 1}}
	a.Settings.current.Store(&config)
	before := c.offer(1, c.key, func(s *proposal.Spec) {})
	if err := a.Decisions.Approve(before); err != nil {
		t.Fatal(err)
	}
	c.offer(2, c.key, func(s *proposal.Spec) {}) // left to the operator, charged to nobody
	warned := func(id proposal.Digest) string {
		t.Helper()
		d, err := a.Views.Study(id)
		if err != nil || d.State != statePending {
			t.Fatalf("%+v, %v", d.StudyView, err)
		}
		return strings.Join(d.Warnings, "\n")
	}
	if said := warned(c.offer(3, c.key, func(s *proposal.Spec) {})); strings.Contains(said, "charged") {
		t.Error(said)
	}
	moved := config
	moved.Datasets = []siteconfig.Dataset{config.Datasets[0], config.Datasets[0]}
	moved.Datasets[0].Population, moved.Datasets[1].Population, moved.Datasets[1].Name = "others", "others", "lines"
	a.Settings.current.Store(&moved)
	want := fmt.Sprintf("charged ρ = %.4g of the budget of %q before, which that of \"others\" does not count", c.plan.Rho, people)
	if said := warned(c.offer(4, c.key, func(s *proposal.Spec) {})); !strings.Contains(said, want) {
		t.Errorf("no %q in %q", want, said)
	}
	if said := warned(c.offer(5, c.key, func(s *proposal.Spec) { s.Dataset = "lines" })); strings.Contains(said, "charged") {
		t.Errorf("another data set: %q", said)
	}
	// One that asked the same and is completed is told of, too.
	approval, _ := a.ledger.Approved(before)
	if err := a.Decisions.finish(approval, study.CodeCompleted, "", nil); err != nil {
		t.Fatal(err)
	}
	if said := warned(c.offer(6, c.key, func(s *proposal.Spec) {})); !strings.Contains(said, "asked the same and is completed") {
		t.Errorf("nothing of the completed study in %q", said)
	}
}

// TestFiguresOfOtherRows: figures of an approved study say that they are not of its rows, once the
// file has changed, and nothing before or of a study that nobody approved.
func TestFiguresOfOtherRows(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	a, path := c.sites[0].agent, filepath.Join(c.sites[0].dir, "rows.csv")
	id, waits := c.offer(1, c.key, func(s *proposal.Spec) {}), c.offer(2, c.key, func(s *proposal.Spec) {})
	if err := a.Decisions.Approve(id); err != nil {
		t.Fatal(err)
	}
	says := func(id proposal.Digest) bool {
		t.Helper()
		f, err := a.Views.Figures(id)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(strings.Join(f.Warnings(), "\n"), "is not what was approved")
	}
	if says(id) || says(waits) {
		t.Error("the approved rows are called others")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, text[bytes.IndexByte(text, '\n')+1:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if !says(id) || says(waits) {
		t.Errorf("other rows: approved %t, pending %t", says(id), says(waits))
	}
}
