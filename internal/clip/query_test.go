package clip

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/query"
)

// radii draws radii over the whole allowed range, powers of two and their neighbors included.
func radii() *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 {
		r := math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "mantissa"), rapid.IntRange(-200, 199).Draw(t, "exponent"))
		return min(max(r, query.MinRadius), query.MaxRadius)
	})
}

func TestGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := radii().Draw(t, "radius")
		g := query.Grid(r)
		if f, _ := math.Frexp(g); f != 0.5 {
			t.Fatalf("query.Grid(%v) = %v is not a power of two", r, g)
		}
		if q := r / g; !(q >= 0x1p16 && q < 0x1p17) {
			t.Fatalf("%v/Grid = %v", r, q)
		}
	})
	for r, want := range map[float64]float64{
		1: 0x1p-16, math.Nextafter(1, 0): 0x1p-17, math.Nextafter(1, 2): 0x1p-16,
		8: 0x1p-13, 7.99: 0x1p-14, query.MinRadius: 0x1p-216, query.MaxRadius: 0x1p184,
	} {
		if g := query.Grid(r); g != want {
			t.Errorf("query.Grid(%v) = %v, want %v", r, g, want)
		}
	}
	for _, r := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 0x1p-201, 0x1p201} {
		if g := query.Grid(r); !math.IsNaN(g) {
			t.Errorf("query.Grid(%v) = %v", r, g)
		}
	}
}

func TestSensitivityIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := radii().Draw(t, "radius")
		g := math.Ldexp(query.Grid(r), -rapid.IntRange(0, 23).Draw(t, "finer"))
		n := rapid.IntRange(1, query.MaxValues).Draw(t, "values")
		kind := rapid.SampledFrom(maps).Draw(t, "map")
		factor, values := big.NewFloat(2).SetPrec(300), n
		if kind == Total || kind == Rows {
			values = 1
		}
		if kind >= Moment {
			factor.Sqrt(factor)
			if values == 1 {
				factor.SetInt64(1)
			}
		}
		got := new(big.Float).SetPrec(300).SetFloat64(kind.definition().Sensitivity(r, g, values))
		want := new(big.Float).SetPrec(300).SetInt64(int64(values))
		want.Sqrt(want)
		ratio := new(big.Float).SetPrec(300).Quo(big.NewFloat(r), big.NewFloat(g))
		want.Add(want, ratio.Mul(ratio, factor))
		if got.Cmp(want) < 0 {
			t.Fatalf("Sensitivity(%v, %v, %v, %d) = %v is below %v", kind, r, g, values, got, want)
		}
		over, _ := new(big.Float).Quo(got, want).Float64()
		if over > 1+1e-15 {
			t.Fatalf("Sensitivity(%v, %v, %v, %d) = %v is more than rounding above %v", kind, r, g, values, got, want)
		}
	})
	for _, values := range []int{0, 2} {
		if s := Total.definition().Sensitivity(1, 0x1p-16, values); !math.IsInf(s, 1) {
			t.Errorf("a total of %d values: %v", values, s)
		}
	}
	if s := Map(len(definitions)).definition().Sensitivity(1, 0x1p-16, 1); !math.IsInf(s, 1) {
		t.Errorf("an unknown map: %v", s)
	}
	for _, c := range []struct {
		r, g float64
		d    int
	}{
		{0, 1, 1}, {-1, 0x1p-16, 1}, {1, 0.75 * 0x1p-16, 1}, {1, 0x1p-15, 1}, {1, 0x1p-41, 1}, {math.NaN(), 1, 1},
		{1, math.NaN(), 1}, {1, 0, 1}, {1, -0x1p-16, 1}, {1, 0x1p-16, 0}, {1, 0x1p-16, query.MaxValues + 1}, {0x1p201, 0x1p185, 1},
	} {
		if s := Power.definition().Sensitivity(c.r, c.g, c.d); !math.IsInf(s, 1) {
			t.Errorf("Sensitivity(%v, %v, %d) = %v, want +Inf", c.r, c.g, c.d, s)
		}
	}
}

// The claim that ‖c·y‖ ≤ R/g: (1-2^-30) times the worst rounding of norm and bound, with the
// numbers of the package comment, at MaxDim.
func TestMarginCoversRounding(t *testing.T) {
	prec := func(f float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(f) }
	u := prec(0x1p-53)
	one := prec(1)
	up := new(big.Float).SetPrec(400).Add(one, u)
	lhs := prec(margin)
	lhs.Mul(lhs, up).Mul(lhs, up)
	// (1-u)^(d/2+1) ≥ 1-(d/2+1)u by Bernoulli.
	loss := prec(MaxDim/2 + 1)
	loss.Mul(loss, u).Sub(one, loss)
	loss.Mul(loss, new(big.Float).SetPrec(400).Sub(one, prec(0x1p-95)))
	lhs.Quo(lhs, loss)
	if lhs.Cmp(prec(1-0x1p-31)) > 0 {
		t.Errorf("‖c y‖ may reach %v R/g", lhs)
	}
}

func TestQueryValidate(t *testing.T) {
	good := func() Query { return Query{X: []float64{0.6, -0.8}, Radius: 3, Grid: query.Grid(3)} }
	if err := good().Validate(2); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, 1, 23} {
		q := good()
		q.Grid = math.Ldexp(q.Grid, -k)
		if err := q.Validate(2); err != nil {
			t.Error(err)
		}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		field string
		f     func(*Query)
	}{
		"short":        {"direction", func(q *Query) { q.X = q.X[:1] }},
		"long":         {"direction", func(q *Query) { q.X = []float64{0.6, 0.8, 0} }},
		"nan":          {"direction", func(q *Query) { q.X[1] = nan }},
		"inf":          {"direction", func(q *Query) { q.X[0] = -inf }},
		"zero":         {"direction", func(q *Query) { q.X = []float64{0, 0} }},
		"norm":         {"direction", func(q *Query) { q.X[0] += 1e-8 }},
		"overflow":     {"direction", func(q *Query) { q.X[0] = 1e300 }},
		"radius nan":   {"radius", func(q *Query) { q.Radius = nan }},
		"radius inf":   {"radius", func(q *Query) { q.Radius = inf }},
		"radius zero":  {"radius", func(q *Query) { q.Radius = 0 }},
		"radius minus": {"radius", func(q *Query) { q.Radius = -3 }},
		"radius small": {"radius", func(q *Query) { q.Radius, q.Grid = 0x1p-201, 0x1p-217 }},
		"radius big":   {"radius", func(q *Query) { q.Radius, q.Grid = 0x1p201, 0x1p185 }},
		"grid not 2^k": {"grid", func(q *Query) { q.Grid *= 0.75 }},
		"grid nan":     {"grid", func(q *Query) { q.Grid = nan }},
		"grid inf":     {"grid", func(q *Query) { q.Grid = inf }},
		"grid zero":    {"grid", func(q *Query) { q.Grid = 0 }},
		"grid minus":   {"grid", func(q *Query) { q.Grid = -q.Grid }},
		"grid coarse":  {"grid", func(q *Query) { q.Grid *= 2 }},
		"grid fine":    {"grid", func(q *Query) { q.Grid = math.Ldexp(q.Grid, -24) }},
	} {
		q := good()
		c.f(&q)
		m, err := NewMatrix(2, []float64{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Sum(m, q, 1)
		if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != c.field {
			t.Errorf("%s: got %v", name, err)
		}
		if (name == "nan" || name == "inf") && !strings.Contains(err.Error(), "not finite at index") {
			t.Errorf("%s: got %v", name, err)
		}
		if c.field == "direction" {
			if _, err = Histogram(m, q, 1); err == nil {
				t.Errorf("%s: histogram took it", name)
			}
		}
	}
}

// Every map checks its shape and its directions, for sums and for histograms.
func TestMapsAreChecked(t *testing.T) {
	m, err := NewMatrix(3, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	axes := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	for name, c := range map[string]struct {
		kind  Map
		x     []float64
		field string // "" where it is fine
	}{
		"power": {Power, axes, ""}, "variance": {Variance, axes[:6], ""}, "mean": {Mean, nil, ""}, "rows": {Rows, []float64{}, ""},
		"unknown": {Map(len(definitions)), nil, "map"}, "power of nothing": {Power, nil, "direction"}, "variance of nothing": {Variance, nil, "direction"},
		"ragged": {Power, axes[:4], "direction"}, "four of three": {Variance, append(axes[:9:9], 0, 0, 1), "direction"},
		"twice the same": {Power, append(axes[:3:3], 1, 0, 0), "direction"}, "askew": {Variance, []float64{1, 0, 0, 2e-6, 1, 0}, "direction"},
		"askew the other way":  {Variance, []float64{1, 0, 0, -2e-6, 1, 0}, "direction"},
		"second not of norm 1": {Power, []float64{1, 0, 0, 0, 1 + 1e-8, 0}, "direction"}, "second nan": {Power, []float64{1, 0, 0, 0, math.NaN(), 0}, "direction"},
		"mean with directions": {Mean, axes[:3], "direction"}, "moment with directions": {Moment, axes[:3], "direction"},
		"total with directions": {Total, axes[:3], "direction"}, "rows with directions": {Rows, axes[:3], "direction"},
	} {
		q := Query{Map: c.kind, X: c.x, Radius: 1, Grid: query.Grid(1)}
		_, a := Sum(m, q, 1)
		_, b := Histogram(m, q, 1)
		for _, err := range []error{a, b} {
			if e, ok := errors.AsType[*QueryError](err); (c.field != "" || err != nil) && (!ok || e.Field != c.field) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, c := range []struct {
		q    Query
		want int
	}{{Query{Map: Power, X: axes[:6]}, 6}, {Query{Map: Mean}, 3}, {Query{Map: Moment}, 6}, {Query{Map: Variance, X: axes[:6]}, 2}, {Query{Map: Total}, 1}, {Query{Map: Rows}, 1}} {
		if got := c.q.Values(3); got != c.want {
			t.Errorf("map %d has %d values, want %d", c.q.Map, got, c.want)
		}
	}
	wide, err := NewMatrix(5793, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Sum(wide, Query{Map: Moment, Radius: 1, Grid: query.Grid(1)}, 1)
	if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != "map" {
		t.Errorf("a moment of more than 2^24 values: %v", err)
	}
}

func TestPowerSumRefusesTotalsThatCouldWrap(t *testing.T) {
	// 2^22 rows of one value at R/g = 2^40 could reach 2^62.
	m, err := NewMatrix(1, make([]float64, 1<<22))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Sum(m, Query{X: []float64{1}, Radius: 1, Grid: 0x1p-40}, 2)
	if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != "grid" {
		t.Errorf("got %v", err)
	}
	if _, err := Sum(m, Query{X: []float64{1}, Radius: 1, Grid: 0x1p-39}, 2); err != nil {
		t.Error(err)
	}
}
