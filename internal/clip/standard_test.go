package clip

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestStandardize: rows less the center over the scale, within the limits, zeros where the scale is
// 0 and where a row is absent; of the largest values and the smallest scales still finite; and no
// other center, scale or limit.
func TestStandardize(t *testing.T) {
	inf := math.Inf(1)
	values := []float64{1, 2, 3, 5, 6, 7, -9, 8, 9}
	for _, lengths := range [][]int{nil, {2, 1}} {
		m := mustUnits(t, 3, values, lengths)
		s, err := m.Standardize([]float64{1, 1, 1}, []float64{2, 0, 0.5}, []float64{3, 3, inf})
		if err != nil {
			t.Fatal(err)
		}
		if want := []float64{0, 0, 4, 2, 0, 12, -3, 0, 16}; !slices.Equal(wideOf(s), want) || s.N() != m.N() {
			t.Errorf("got %v", wideOf(s))
		}
		held(t, s, "standardized")
		if !slices.Equal(wideOf(m), values) {
			t.Error("the matrix itself changed")
		}
		if s, err = m.Standardize(nil, []float64{2, 1, 1}, []float64{inf, inf, inf}); err != nil || wideOf(s)[0] != 0.5 {
			t.Errorf("without a center: %v, %v", s, err)
		}
	}
	top := math.Nextafter(valueLimit(2), 0)
	far, err := mustMatrix(t, 2, []float64{top, -top}).Standardize([]float64{-0x1p150, 0x1p150}, []float64{0x1p-100, 0x1p-100}, []float64{inf, 3})
	if err != nil {
		t.Fatal(err)
	}
	held(t, far, "far")
	gone, err := NewMatrix(1, []float64{0, 5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := gone.Standardize([]float64{4}, []float64{1}, []float64{3}); err != nil || !slices.Equal(wideOf(s), []float64{0, 1}) {
		t.Errorf("an absent row becomes %v, %v", wideOf(s), err)
	}
	m := mustMatrix(t, 1, []float64{1, 2})
	for _, c := range []struct {
		center, scale, limit []float64
		field                string
	}{
		{[]float64{1, 2}, []float64{1}, []float64{1}, "scale"},
		{nil, nil, []float64{1}, "scale"},
		{nil, []float64{1}, nil, "scale"},
		{nil, []float64{-1}, []float64{1}, "scale"},
		{nil, []float64{math.NaN()}, []float64{1}, "scale"},
		{nil, []float64{inf}, []float64{1}, "scale"},
		{nil, []float64{math.Nextafter(0x1p-100, 0)}, []float64{1}, "scale"},
		{nil, []float64{math.Nextafter(0x1p100, inf)}, []float64{1}, "scale"},
		{[]float64{math.NaN()}, []float64{1}, []float64{1}, "center"},
		{[]float64{math.Nextafter(0x1p150, inf)}, []float64{1}, []float64{1}, "center"},
		{[]float64{math.Nextafter(-0x1p150, -inf)}, []float64{1}, []float64{1}, "center"},
		{nil, []float64{1}, []float64{0}, "limit"},
		{nil, []float64{1}, []float64{math.NaN()}, "limit"},
	} {
		_, err := m.Standardize(c.center, c.scale, c.limit)
		if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != c.field {
			t.Errorf("%v, %v, %v: %v", c.center, c.scale, c.limit, err)
		}
	}
	for _, c := range [][2]float64{{-0x1p150, 0x1p-100}, {0x1p150, 0x1p100}, {0, 0}} {
		if _, err := m.Standardize(c[:1], c[1:], []float64{inf}); err != nil {
			t.Errorf("center %v and scale %v: %v", c[0], c[1], err)
		}
	}
}
