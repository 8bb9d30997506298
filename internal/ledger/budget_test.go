package ledger

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"
)

func TestApproveKeepsTheCap(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	a := approval(1, 4)
	must(t, l.Approve(a))
	must(t, l.Charge(a.Study, 0, 1))
	must(t, l.Approve(approval(2, 5)))

	check := func(n byte, rho, spent, reserved float64) {
		t.Helper()
		err := l.Approve(approval(n, rho))
		b, ok := errors.AsType[*BudgetError](err)
		if !ok || *b != (BudgetError{Population: "icu-patients", Cap: 10, Spent: spent, Reserved: reserved, Asked: rho}) {
			t.Errorf("approve %g: %v", rho, err)
		}
		if _, ok := l.Approved(study(n)); ok {
			t.Error("refused and approved")
		}
	}
	check(3, 1.5, 1, 8)
	must(t, l.Finish(a.Study, "aborted")) // its unspent 3 are free again, its 1 is not
	check(3, 4.5, 1, 5)
	must(t, l.Approve(approval(3, 4)))
	check(4, 1e-6, 1, 9)

	// A finished study's charges count forever, a rejected one's nothing.
	must(t, l.Reject(study(5), "policy", at))
	want := []Population{{Name: "icu-patients", CapRho: 10, ReservedRho: 9, SpentRho: 1}}
	if got := l.Populations(); !reflect.DeepEqual(got, want) {
		t.Errorf("populations %+v, want %+v", got, want)
	}
	// Another population has its own budget, and another process the same view.
	must(t, l.Close())
	l = mustOpen(t, dir)
	b := approval(6, 10)
	b.Population = "outpatients"
	must(t, l.Approve(b))
	want = append(want, Population{Name: "outpatients", CapRho: 10, ReservedRho: 10})
	if got := l.Populations(); !reflect.DeepEqual(got, want) {
		t.Errorf("populations %+v, want %+v", got, want)
	}
}

// Thirds and tenths fill a cap exactly, although their float64 sums pass it.
func TestCapToleratesRounding(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	for n := range byte(3) {
		a := approval(n, 0.1)
		a.CapRho = 0.3
		must(t, l.Approve(a))
	}
	a := approval(9, 0.3*1e-9)
	a.CapRho = 0.3
	if _, ok := errors.AsType[*BudgetError](l.Approve(a)); !ok {
		t.Error("a billionth over the cap was approved")
	}
}

func TestApproveIsIdempotent(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	a := approval(1, 6)
	must(t, l.Approve(a))
	again := a
	again.By, again.Time, again.CapRho = "policy", at.Add(time.Hour), 1
	must(t, l.Approve(again)) // even though 6 twice would not fit
	want := a
	want.Proposal = nil
	if got, ok := l.Approved(a.Study); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("approved %+v, want %+v", got, want)
	}
	if body, ok := l.Proposal(a.Study); !ok || !bytes.Equal(body, a.Proposal) {
		t.Errorf("the proposal is %q, %v", body, ok)
	}
	if body, ok := l.Proposal(study(2)); ok {
		t.Errorf("an unknown study has the proposal %q", body)
	}
	for name, change := range map[string]func(*Approval){
		"population": func(a *Approval) { a.Population = "fresh" },
		"proposal":   func(a *Approval) { a.Proposal = []byte("other") },
		"rho":        func(a *Approval) { a.Rho = 5 },
		"data":       func(a *Approval) { a.DataSHA256[0]++ },
		"name":       func(a *Approval) { a.Name = "other" },
	} {
		b := a
		change(&b)
		if _, ok := errors.AsType[*ConflictError](l.Approve(b)); !ok {
			t.Errorf("approved again with another %s", name)
		}
	}
}

func TestStates(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	state := func(err error, want State) {
		t.Helper()
		if s, ok := errors.AsType[*StateError](err); !ok || s.State != want {
			t.Errorf("%v, want state %q", err, want)
		}
	}
	id := study(1)
	j := l.Journal(id)
	upload := func() error {
		_, err := j.Upload(0, 0, [32]byte{}, 1, func() ([]byte, error) { t.Error("computed"); return nil, nil })
		return err
	}
	sign := func() error {
		_, err := j.Sign(0, 0, [32]byte{}, nil, func() ([]byte, error) { t.Error("computed"); return nil, nil })
		return err
	}
	shares := func() error {
		_, err := j.OpenShares(0, 0, [32]byte{}, nil, func() ([]byte, error) { t.Error("computed"); return nil, nil })
		return err
	}
	setup := func() error { _, err := j.PutSetup("seed", nil); return err }
	all := func(want State) {
		t.Helper()
		for _, err := range []error{l.Charge(id, 0, 1), upload(), sign(), shares(), setup(), j.PutSlot(0, nil), j.Final(0, 0, nil)} {
			state(err, want)
		}
	}
	all(Unknown)
	state(l.Finish(id, "done"), Unknown)

	must(t, l.Reject(id, "operator", at))
	must(t, l.Reject(id, "policy", at))
	all(Rejected)
	state(l.Finish(id, "done"), Rejected)
	byPolicy := approval(1, 1)
	byPolicy.By = "policy"
	state(l.Approve(byPolicy), Rejected)
	must(t, l.Approve(approval(1, 1)))
	state(l.Reject(id, "operator", at), Approved)

	must(t, l.Finish(id, "done"))
	must(t, l.Finish(id, "aborted"))
	all(Finished)
	state(l.Approve(approval(1, 1)), Finished)
	state(l.Reject(id, "operator", at), Finished)
	if s := l.Studies(); len(s) != 1 || s[0].State != Finished || s[0].Code != "done" || s[0].LatestFinal != -1 || !s[0].Time.Equal(at) {
		t.Errorf("studies %+v", s)
	}
}

func TestCharge(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 0.3)))
	id := study(1)
	for q := range 3 {
		must(t, l.Charge(id, q, 0.1)) // the sum is 0.30000000000000004
		l = mustOpen(t, crash(t, l.dir))
		must(t, l.Charge(id, q, 0.1)) // the reply was lost
	}
	if c, ok := errors.AsType[*ConflictError](l.Charge(id, 1, 0.05)); !ok || c.Query != 1 {
		t.Error("a second ρ for a query")
	}
	c, ok := errors.AsType[*ChargeError](l.Charge(id, 3, 1e-9))
	if !ok || c.Approved != 0.3 || c.Asked != 1e-9 || c.Query != 3 {
		t.Errorf("a charge beyond the approval: %v", c)
	}
	must(t, l.Charge(id, 4, 0))
	if s := l.Studies(); s[0].Queries != 4 || math.Abs(s[0].SpentRho-0.3) > 1e-15 || s[0].ReservedRho != 0 {
		t.Errorf("entry %+v", s[0])
	}
}

func TestBadFields(t *testing.T) {
	count := 0
	l := mustOpen(t, filepath.Join(t.TempDir(), "l"))
	for name, change := range map[string]func(*Approval){
		"population": func(a *Approval) { a.Population = "" },
		"name":       func(a *Approval) { a.Name = "a\x1b[31m" },
		"rho":        func(a *Approval) { a.Rho = math.NaN() },
		"cap":        func(a *Approval) { a.CapRho = math.NaN() },
		"by":         func(a *Approval) { a.By = "nobody" },
	} {
		count++
		a := approval(1, 1)
		change(&a)
		if f, ok := errors.AsType[*FieldError](l.Approve(a)); !ok || f.Field != name {
			t.Errorf("%s: %v", name, f)
		}
	}
	for _, rho := range []float64{0, -1, math.Inf(1)} {
		count++
		a := approval(1, rho)
		a.CapRho = math.MaxFloat64
		if _, ok := errors.AsType[*FieldError](l.Approve(a)); !ok {
			t.Errorf("approved ρ = %g", rho)
		}
	}
	must(t, l.Approve(approval(1, 1)))
	j := l.Journal(study(1))
	_, upload := j.Upload(0, -1, [32]byte{}, 0, nil)
	_, sign := j.Sign(-1, 0, [32]byte{}, nil, nil)
	_, setup := j.PutSetup("", nil)
	for name, err := range map[string]error{
		"negative charge": l.Charge(study(1), 0, -1), "NaN charge": l.Charge(study(1), 0, math.NaN()),
		"infinite charge": l.Charge(study(1), 0, math.Inf(1)), "negative query": l.Charge(study(1), -1, 0),
		"no code": l.Finish(study(1), ""), "slot": j.PutSlot(-1, nil), "large slot": j.PutSlot(1<<31, nil),
		"final": j.Final(0, -1, nil), "upload": upload, "sign": sign, "setup": setup,
	} {
		count++
		if _, ok := errors.AsType[*FieldError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("figure: %d bad inputs: calls of a ledger", count)
}

// However approvals and charges race, the cap holds.
func TestConcurrentApprovals(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	var wg sync.WaitGroup
	for n := range byte(16) {
		wg.Go(func() {
			if l.Approve(approval(n, 3)) == nil {
				for q := range 4 {
					l.Charge(study(n), q, 1)
				}
			}
		})
	}
	wg.Wait()
	if p := l.Populations()[0]; p.SpentRho != 9 || p.ReservedRho != 0 {
		t.Errorf("%+v", p)
	}
}
