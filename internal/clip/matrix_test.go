package clip

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestMatrixRefusesNonFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Float64frombits(0xfff0000000000001)} {
		for at := range 6 {
			values := []float64{1, 2, 3, 4, 5, 6}
			values[at] = v
			_, err := NewMatrix(3, values)
			e, ok := errors.AsType[*ValueError](err)
			if !ok || !errors.Is(err, ErrNonFinite) || e.Row != at/3 || e.Column != at%3 {
				t.Errorf("%v at %d: got %v", v, at, err)
			}
		}
	}
}

func TestMatrixRefusesOverflow(t *testing.T) {
	for _, d := range []int{1, 4, 9, 64, 100} {
		limit := 0x1p500 / math.Sqrt(float64(d))
		for _, sign := range []float64{1, -1} {
			values := make([]float64, 2*d)
			values[2*d-1] = sign * limit
			_, err := NewMatrix(d, values)
			e, ok := errors.AsType[*ValueError](err)
			if !ok || !errors.Is(err, ErrTooLarge) || e.Row != 1 || e.Column != d-1 {
				t.Errorf("d=%d: got %v", d, err)
			}
			// Just below, everything stays finite, norms and sums.
			for j := range values {
				values[j] = sign * math.Nextafter(limit, 0)
			}
			m, err := NewMatrix(d, values)
			if err != nil {
				t.Fatal(err)
			}
			if n := m.norms[0]; !(n <= 0x1p500*(1+0x1p-40)) {
				t.Errorf("d=%d: norm %v", d, n)
			}
		}
	}
	if _, err := NewMatrix(1, []float64{math.MaxFloat64}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("largest float: %v", err)
	}
}

func TestMatrixErrorsCarryNoData(t *testing.T) {
	_, err := NewMatrix(2, []float64{0, 1.2345e300})
	if s := err.Error(); strings.Contains(s, "1.23") || strings.Contains(s, "e+") {
		t.Error(s)
	}
	m, err := NewMatrix(2, []float64{12.5, 77.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(f, m); strings.Contains(s, "12.5") || strings.Contains(s, "77.5") || !strings.Contains(s, "redacted") {
			t.Errorf("%s prints %s", f, s)
		}
	}
}

func TestMatrixShape(t *testing.T) {
	for _, c := range []struct{ d, n int }{{0, 0}, {-1, 4}, {3, 4}, {5, 4}, {MaxDim + 1, 0}, {0, 3}} {
		_, err := NewMatrix(c.d, make([]float64, c.n))
		if _, ok := errors.AsType[*ShapeError](err); !ok {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	m, err := NewMatrix(3, nil)
	if err != nil || m.N() != 0 || m.D() != 3 {
		t.Errorf("no rows: %v %v", m, err)
	}
	m, err = NewMatrix(3, make([]float64, 12))
	if err != nil || m.N() != 4 || m.D() != 3 {
		t.Errorf("4×3: %v %v", m, err)
	}
}

// The norm must not underflow to something smaller than the truth: either it is exact to a few
// units, or the row is a zero row.
func TestMatrixTinyRows(t *testing.T) {
	for e := -1074; e < 500; e++ {
		v := math.Ldexp(1, e)
		m, err := NewMatrix(1, []float64{v})
		if err != nil {
			t.Fatal(err)
		}
		if n := m.norms[0]; e < -480 && n != 0 || e >= -480 && n != v {
			t.Fatalf("2^%d: norm %v", e, n)
		}
	}
}
