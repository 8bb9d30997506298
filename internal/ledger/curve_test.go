package ledger

import (
	"errors"
	"testing"
	"time"
)

// TestCapsByCurve: the larger cap binds while every charge of a population has the bridge, and no
// longer once another study has a charge or is to have one; what was never charged does not count.
func TestCapsByCurve(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	with := func(n byte, rho float64, gdp bool) Approval {
		a := approval(n, rho)
		a.CapRho, a.CapGDP, a.GDP, a.Time = 10, 12, gdp, at.Add(time.Duration(n)*time.Hour)
		return a
	}
	refused := func(a Approval, limit float64) {
		t.Helper()
		if e, ok := errors.AsType[*BudgetError](l.Approve(a)); !ok || e.Cap != limit {
			t.Errorf("%+v, want a cap of %v", e, limit)
		}
	}
	must(t, l.Approve(with(1, 1, false)))
	refused(with(2, 10, true), 10) // a reservation that may yet be charged
	must(t, l.Finish(study(1), "aborted"))
	must(t, l.Approve(with(2, 11, true)))
	refused(with(3, 1.5, true), 12)
	refused(with(3, 0.5, false), 10)
	if p := l.Populations(); len(p) != 1 || !p[0].GDP || p[0].CapRho != 12 {
		t.Errorf("%+v", p)
	}
	must(t, l.Charge(study(2), 0, 4))
	must(t, l.Finish(study(2), "done"))
	must(t, l.Approve(with(3, 3, false)))
	refused(with(4, 4, true), 10)
	if p := l.Populations(); len(p) != 1 || p[0].GDP || p[0].CapRho != 10 {
		t.Errorf("%+v", p)
	}
	must(t, l.Approve(with(4, 3, true)))
	changed := with(4, 3, false)
	if _, ok := errors.AsType[*ConflictError](l.Approve(changed)); !ok {
		t.Error("an approval changes its curve")
	}
	for _, s := range l.Studies() {
		if s.GDP != (s.Study == study(2) || s.Study == study(4)) {
			t.Errorf("%+v", s)
		}
	}
	if a, ok := l.Approved(study(4)); !ok || !a.GDP {
		t.Errorf("%+v", a)
	}
	none := with(5, 1, true)
	none.CapGDP = 0
	refused(func() Approval { none.Rho = 5; return none }(), 10)
}

// TestCapOnRecord: of a population is known whether its latest approval had a larger cap for
// studies with the bridge, also after a restore. Entries without the key had none.
func TestCapOnRecord(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	for i, c := range []struct {
		zcdp, gdp   float64
		study, kept bool
	}{{10, 12, true, true}, {10, 12, false, true}, {10, 0, true, false}, {10, 10, true, false}, {10, 12, true, true}} {
		if i == 0 && !l.Population("icu-patients").Bridged {
			t.Error("a fresh population has an old cap")
		}
		a := approval(byte(i+1), 1)
		a.CapRho, a.CapGDP, a.GDP, a.Time = c.zcdp, c.gdp, c.study, at.Add(time.Duration(i)*time.Hour)
		must(t, l.Approve(a))
		if p := l.Population("icu-patients"); p.Bridged != c.kept || p.ReservedRho != float64(i+1) {
			t.Errorf("%d: %+v", i, p)
		}
		studies, restored := l.Studies(), t.TempDir()
		must(t, Restore(restored, l.Populations(), studies))
		if p := mustOpen(t, restored).Population("icu-patients"); p.Bridged != c.kept {
			t.Errorf("%d, restored: %+v", i, p)
		}
	}
	if p := l.Population("others"); p != (Population{Name: "others", GDP: true, Bridged: true}) {
		t.Errorf("%+v", p)
	}
}

// TestRestoredKeepsItsCurve: a ledger from an export knows which charges have the bridge, and takes
// none for one that does not say so.
func TestRestoredKeepsItsCurve(t *testing.T) {
	for _, gdp := range []bool{true, false} {
		dir := t.TempDir()
		s := StudyEntry{Study: study(1), Population: "people", State: Finished, Rho: 1, GDP: gdp, SpentRho: 1, By: "operator", Time: time.Unix(1, 0)}
		must(t, Restore(dir, []Population{{Name: "people", CapRho: 10, SpentRho: 1}}, []StudyEntry{s}))
		if p := mustOpen(t, dir).Populations(); len(p) != 1 || p[0].GDP != gdp {
			t.Errorf("gdp %v: %+v", gdp, p)
		}
	}
}
