package ledger

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

// TestProposerCaps: what the studies of one key have taken of a population is summed over the
// ledger's entries and held to the key's own cap, in the transaction of the approval; others' do
// not count, nor do those of another population.
func TestProposerCaps(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	ada, bob := Proposer{"ada", bytes.Repeat([]byte{1}, 32)}, Proposer{"bob", bytes.Repeat([]byte{2}, 32)}
	by := func(n byte, rho float64, p Proposer) Approval {
		a := approval(n, rho)
		a.CapRho, a.CapGDP = 100, 100
		a.Proposer, a.ProposerCapRho, a.ProposerCapGDP = p, 3, 3
		return a
	}
	must(t, l.Approve(by(1, 2, ada)))
	must(t, l.Approve(by(2, 2, bob)))
	must(t, l.Approve(by(3, 2, Proposer{})))
	elsewhere := by(4, 2, ada)
	elsewhere.Population = "others"
	must(t, l.Approve(elsewhere))
	renamed := Proposer{"eve", ada.Key}
	e, ok := errors.AsType[*BudgetError](l.Approve(by(5, 1.5, renamed)))
	if !ok || e.Proposer != "eve" || e.Cap != 3 || e.Reserved != 2 {
		t.Errorf("beyond the key's cap: %+v", e)
	}
	free := by(5, 1.5, renamed)
	free.ProposerCapRho, free.ProposerCapGDP = 0, 0
	must(t, l.Approve(free))
	must(t, l.Charge(study(1), 0, 0.5))
	must(t, l.Finish(study(1), "done"))
	if e, ok := errors.AsType[*BudgetError](l.Approve(by(7, 1.1, ada))); !ok || e.Spent != 0.5 || e.Reserved != 1.5 {
		t.Errorf("beyond the key's cap with what is spent of it: %+v", e)
	}
	check := func(when string, l *Ledger) {
		t.Helper()
		p := l.Proposed(free.Population, ada.Key)
		if p.SpentRho != 0.5 || p.ReservedRho != 1.5 {
			t.Errorf("%s: %+v", when, p)
		}
		if p := l.Proposed(free.Population, nil); p.SpentRho+p.ReservedRho != 0 {
			t.Errorf("%s: nobody's: %+v", when, p)
		}
		if a, _ := l.Approved(study(2)); a.Proposer.Name != "bob" || !bytes.Equal(a.Proposer.Key, bob.Key) {
			t.Errorf("%s: the approval is of %+v", when, a.Proposer)
		}
	}
	check("now", l)
	must(t, l.Close())
	l = mustOpen(t, dir)
	check("after a restart", l)
	studies, populations := l.Studies(), l.Populations()
	copied := t.TempDir()
	must(t, Restore(copied, populations, studies))
	// All that was approved counts as spent.
	if p := mustOpen(t, copied).Proposed(free.Population, ada.Key); p.SpentRho != 2 {
		t.Errorf("restored: %+v", p)
	}
	for _, p := range []Proposer{{"ada", nil}, {"", ada.Key}, {"ada", ada.Key[:31]}, {"a\nb", ada.Key}} {
		if _, ok := errors.AsType[*FieldError](l.Approve(by(6, 1, p))); !ok {
			t.Errorf("%+v is taken for a proposer", p)
		}
	}
}

// TestBadProposerCaps: a proposer's caps that bound nothing are refused.
func TestBadProposerCaps(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	defer l.Close()
	for _, caps := range [][2]float64{{-1, 1}, {2, 1}, {2, 0}, {1, math.NaN()}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		a := approval(1, 1)
		a.ProposerCapRho, a.ProposerCapGDP = caps[0], caps[1]
		if f, ok := errors.AsType[*FieldError](l.Approve(a)); !ok || f.Field != "proposer's cap" {
			t.Errorf("%v: %v", caps, f)
		}
	}
}
