package noise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Charge is what one query of a study costs.
type Charge struct {
	Query int     `json:"query"`
	Rho   float64 `json:"rho"` // zCDP
}

// Accountant adds up the charges of a study's queries against a budget, both in
// ρ-zCDP. It is a value: a copy is independent of what it was copied from. The zero
// value has no budget. As JSON it is {"budget": ρ, "charges": [{"query": i, "rho": ρ}, …]}
// with ascending queries, and decoding checks all that Charge does.
type Accountant struct {
	budget  float64
	charges []Charge // ascending by query; never changed in place
}

// BudgetError is a charge that the budget does not cover. All are ρ.
type BudgetError struct {
	Query              int
	Rho, Spent, Budget float64
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("noise: query %d needs rho %v, %v of the budget of %v is spent", e.Query, e.Rho, e.Spent, e.Budget)
}

// ChargeError is a second charge of a query, of another size.
type ChargeError struct {
	Query        int
	Rho, Charged float64
}

func (e *ChargeError) Error() string {
	return fmt.Sprintf("noise: query %d was charged rho %v, not %v", e.Query, e.Charged, e.Rho)
}

// NewAccountant gives an accountant of a budget in ρ, as Rho computes one; a
// *ParameterError if that is not positive and finite.
func NewAccountant(budget float64) (Accountant, error) {
	if !(budget > 0) || math.IsInf(budget, 0) {
		return Accountant{}, parameter("budget", "must be positive and finite, got %v", budget)
	}
	return Accountant{budget: budget}, nil
}

// Charge charges a query once: retries and failovers repeat the call and change
// nothing. It changes nothing either when it refuses: with a *ChargeError a query that was
// charged another ρ, with a *BudgetError a sum above the budget (exactly: not even by
// rounding, so a plan that splits a budget leaves 1e-12 of it), with a *ParameterError a
// negative query or a ρ that is not positive and finite.
func (a *Accountant) Charge(query int, rho float64) error {
	if query < 0 {
		return parameter("query", "must not be negative, got %d", query)
	}
	if !(rho > 0) || math.IsInf(rho, 0) {
		return parameter("rho", "must be positive and finite, got %v", rho)
	}
	at, charged := slices.BinarySearchFunc(a.charges, query, func(c Charge, q int) int { return c.Query - q })
	if charged {
		if before := a.charges[at].Rho; before != rho {
			return &ChargeError{Query: query, Rho: rho, Charged: before}
		}
		return nil
	}
	// The new slice is the accountant's own, so copies keep what they had.
	next := slices.Insert(slices.Clone(a.charges), at, Charge{query, rho})
	if sum(next).Cmp(big.NewFloat(a.budget)) > 0 {
		return &BudgetError{Query: query, Rho: rho, Spent: a.Spent(), Budget: a.budget}
	}
	a.charges = next
	return nil
}

// Budget is the ρ that may be spent in all.
func (a Accountant) Budget() float64 { return a.budget }

// Spent is the exact sum of the charges, rounded up once; never above the budget.
func (a Accountant) Spent() float64 {
	s, side := sum(a.charges).Float64()
	if side == big.Below {
		s = math.Nextafter(s, math.Inf(1))
	}
	return s
}

// Remaining is the largest ρ that may still be charged: the budget less the exact
// sum, rounded down.
func (a Accountant) Remaining() float64 {
	left := exact(a.budget)
	r, side := left.Sub(left, sum(a.charges)).Float64()
	if side == big.Above {
		r = math.Nextafter(r, 0)
	}
	return r
}

// Charges lists what was charged, ascending by query.
func (a Accountant) Charges() []Charge { return slices.Clone(a.charges) }

// exact holds any sum of fewer than 2^60 finite float64 without rounding: their
// bits lie between 2^-1074 and 2^1024.
func exact(v float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(v) }

func sum(charges []Charge) *big.Float {
	s := exact(0)
	for _, c := range charges {
		s.Add(s, big.NewFloat(c.Rho))
	}
	return s
}

// accountantJSON is the encoding.
type accountantJSON struct {
	Budget  float64  `json:"budget"`
	Charges []Charge `json:"charges"`
}

// MarshalJSON encodes the accountant; float64 survive exactly.
func (a Accountant) MarshalJSON() ([]byte, error) {
	return json.Marshal(accountantJSON{a.budget, append([]Charge{}, a.charges...)})
}

// UnmarshalJSON decodes an accountant and charges it again, so that what Charge
// would refuse, a query out of order or an unknown field is an error and leaves a as it was.
func (a *Accountant) UnmarshalJSON(data []byte) error {
	var in accountantJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return parameter("accountant", "is not an accountant's JSON")
	}
	next := Accountant{}
	if in.Budget != 0 || len(in.Charges) > 0 {
		var err error
		if next, err = NewAccountant(in.Budget); err != nil {
			return err
		}
	}
	last := -1
	for _, c := range in.Charges {
		if c.Query <= last {
			return parameter("query", "must ascend, got %d after %d", c.Query, last)
		}
		last = c.Query
		if err := next.Charge(c.Query, c.Rho); err != nil {
			return err
		}
	}
	*a = next
	return nil
}
