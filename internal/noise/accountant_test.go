package noise

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func accountant(t testing.TB, budget float64) Accountant {
	t.Helper()
	a, err := NewAccountant(budget)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestChargeIsOncePerQuery(t *testing.T) {
	a := accountant(t, 1)
	for range 3 {
		if err := a.Charge(7, 0.75); err != nil {
			t.Fatal(err)
		}
	}
	if a.Spent() != 0.75 || a.Remaining() != 0.25 {
		t.Fatalf("one query, retried: spent %v, remaining %v", a.Spent(), a.Remaining())
	}
	before := a
	err := a.Charge(7, 0.7)
	if e, ok := errors.AsType[*ChargeError](err); !ok || *e != (ChargeError{Query: 7, Rho: 0.7, Charged: 0.75}) {
		t.Errorf("another charge for the same query: %v", err)
	}
	err = a.Charge(8, 0.26)
	if e, ok := errors.AsType[*BudgetError](err); !ok || *e != (BudgetError{Query: 8, Rho: 0.26, Spent: 0.75, Budget: 1}) {
		t.Errorf("a charge above the budget: %v", err)
	}
	// A query that was charged may be retried when nothing is left.
	if !reflect.DeepEqual(a, before) {
		t.Errorf("refusals changed %v into %v", before, a)
	}
	if err := a.Charge(3, 0.25); err != nil {
		t.Fatal(err)
	}
	if err := a.Charge(7, 0.75); err != nil || a.Remaining() != 0 {
		t.Errorf("a retry with nothing left: %v", err)
	}
	if err := a.Charge(4, math.SmallestNonzeroFloat64); err == nil {
		t.Error("the least charge was accepted with nothing left")
	}
	for _, rho := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := a.Charge(9, rho); err == nil {
			t.Errorf("a charge of %v was accepted", rho)
		}
		if _, err := NewAccountant(rho); err == nil {
			t.Errorf("a budget of %v was accepted", rho)
		}
	}
	if err := a.Charge(-1, 0.1); err == nil {
		t.Error("query -1 was accepted")
	}
	var none Accountant
	if err := none.Charge(0, 1e-300); err == nil {
		t.Error("the zero value has a budget")
	}
}

// TestAccountantIsAValue: a copy and its original do not see each other's charges.
func TestAccountantIsAValue(t *testing.T) {
	a := accountant(t, 10)
	for q := range 5 {
		if err := a.Charge(2*q, 1); err != nil {
			t.Fatal(err)
		}
	}
	b, c := a, a
	if err := b.Charge(3, 2); err != nil {
		t.Fatal(err)
	}
	if err := c.Charge(3, 3); err != nil {
		t.Fatal(err)
	}
	a.Charges()[0].Rho = 9
	if a.Spent() != 5 || b.Spent() != 7 || c.Spent() != 8 {
		t.Fatalf("spent %v, %v and %v", a.Spent(), b.Spent(), c.Spent())
	}
}

// TestSpentIsRoundedUpOnce: whatever the order and the sizes, the total is the
// exact sum rounded up by at most one unit in the last place, and never above the budget.
func TestSpentIsRoundedUpOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		logs := rapid.SliceOfN(rapid.Float64Range(-60, 0), 1, 40).Draw(r, "logs")
		a, reversed := accountant(t, 100), accountant(t, 100)
		truth, plain := exact(0), 0.0
		for i, l := range logs {
			rho := math.Exp(l)
			if err := a.Charge(i, rho); err != nil {
				r.Fatal(err)
			}
			truth.Add(truth, exact(rho))
			plain += rho
		}
		for i := range logs {
			i = len(logs) - 1 - i
			if err := reversed.Charge(i, math.Exp(logs[i])); err != nil {
				r.Fatal(err)
			}
		}
		s := a.Spent()
		if exact(s).Cmp(truth) < 0 || exact(math.Nextafter(s, 0)).Cmp(truth) >= 0 || !near(s, plain, 1e-12*plain) {
			r.Fatalf("spent %v of charges that add up to %v", s, truth)
		}
		if !reflect.DeepEqual(a, reversed) {
			r.Fatal("the order of charges shows")
		}
		left := exact(a.Remaining())
		if left.Add(left, truth).Cmp(exact(100)) > 0 {
			r.Fatal("remaining is rounded up")
		}
		if rest := a.Remaining(); rest > 0 {
			if err := a.Charge(1000, rest); err != nil || a.Spent() > 100 {
				r.Fatalf("what remains cannot be charged: %v, spent %v", err, a.Spent())
			}
		}
	})
}

// TestSplitBudget: T equal charges of a budget less 1e-12 of it fit, and not one more.
func TestSplitBudget(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		budget, rounds := source.Float64(), 1+source.IntN(300)
		a := accountant(t, budget)
		each := RhoOf(1, SigmaFor(budget*(1-1e-12)/float64(rounds), 1))
		for q := range rounds {
			if err := a.Charge(q, each); err != nil {
				t.Fatalf("charge %d of %d: %v", q, rounds, err)
			}
		}
		if a.Charge(rounds, each) == nil {
			t.Fatalf("%d charges of one %dth were accepted", rounds+1, rounds)
		}
	}
}

func TestAccountantJSON(t *testing.T) {
	a := accountant(t, 0.1)
	for q, rho := range []float64{0.01, 1.0 / 30, 1e-17} {
		if err := a.Charge(5-q, rho); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := json.Marshal(a)
	const want = `{"budget":0.1,"charges":[{"query":3,"rho":1e-17},{"query":4,"rho":0.03333333333333333},{"query":5,"rho":0.01}]}`
	if err != nil || string(encoded) != want {
		t.Fatalf("%s (%v), want %s", encoded, err, want)
	}
	var back Accountant
	if err := json.Unmarshal(encoded, &back); err != nil || !reflect.DeepEqual(back, a) {
		t.Fatalf("%v (%v), want %v", back, err, a)
	}
	encoded, err = json.Marshal(Accountant{})
	if err != nil || string(encoded) != `{"budget":0,"charges":[]}` {
		t.Fatalf("the zero value is %s (%v)", encoded, err)
	}
	for name, text := range map[string]string{
		"over budget":   `{"budget":1,"charges":[{"query":0,"rho":0.6},{"query":1,"rho":0.6}]}`,
		"twice":         `{"budget":1,"charges":[{"query":0,"rho":0.1},{"query":0,"rho":0.1}]}`,
		"order":         `{"budget":1,"charges":[{"query":1,"rho":0.1},{"query":0,"rho":0.1}]}`,
		"negative":      `{"budget":1,"charges":[{"query":0,"rho":-0.1}]}`,
		"query":         `{"budget":1,"charges":[{"query":-1,"rho":0.1}]}`,
		"budget":        `{"budget":-1,"charges":[]}`,
		"no budget":     `{"budget":0,"charges":[{"query":0,"rho":0.1}]}`,
		"unknown field": `{"budget":1,"charges":[],"spent":0}`,
		"no JSON":       `{"budget":`,
		"text":          `"1"`,
	} {
		got := a
		if err := got.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s: was decoded", name)
		} else if !reflect.DeepEqual(got, a) {
			t.Errorf("%s: a refused text changed the accountant", name)
		}
	}
}

// FuzzAccountantJSON: what decodes is within its budget and encodes to what
// decodes to the same.
func FuzzAccountantJSON(f *testing.F) {
	f.Add([]byte(`{"budget":0.1,"charges":[{"query":3,"rho":1e-17},{"query":4,"rho":0.03}]}`))
	f.Add([]byte(`{"budget":0,"charges":[]}`))
	f.Add([]byte(`{"budget":1,"charges":[{"query":1,"rho":0.6},{"query":0,"rho":0.6}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b Accountant
		if json.Unmarshal(data, &a) != nil {
			return
		}
		if a.Spent() > a.Budget() || a.Remaining() < 0 {
			t.Fatalf("%v is over its budget", a)
		}
		encoded, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s decodes to %v, not %v (%v)", encoded, b, a, err)
		}
	})
}
