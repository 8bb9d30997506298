package hostile

import (
	"math/big"
	"testing"
)

// leftNull returns a basis of the combinations of rows in which all keys cancel, over ℚ, each
// with first non-zero coefficient 1.
func leftNull(rows []row) (basis [][]*big.Rat) {
	type line struct {
		keys map[[32]byte]*big.Rat
		by   []*big.Rat
	}
	pivots := map[[32]byte]line{}
	for i, r := range rows {
		l := line{map[[32]byte]*big.Rat{}, make([]*big.Rat, len(rows))}
		for k := range l.by {
			l.by[k] = new(big.Rat)
		}
		l.by[i].SetInt64(1)
		for key, sign := range r.keys {
			if sign != 0 {
				l.keys[key] = big.NewRat(sign, 1)
			}
		}
		for again := true; again; {
			again = false
			for key, x := range l.keys {
				p, ok := pivots[key]
				if !ok {
					continue
				}
				f := new(big.Rat).Quo(x, p.keys[key])
				for k, y := range p.keys {
					z := new(big.Rat).Mul(f, y)
					if l.keys[k] == nil {
						l.keys[k] = new(big.Rat)
					}
					if l.keys[k] = z.Sub(l.keys[k], z); z.Sign() == 0 {
						delete(l.keys, k)
					}
				}
				for k := range l.by {
					l.by[k].Sub(l.by[k], new(big.Rat).Mul(f, p.by[k]))
				}
				again = true
				break
			}
		}
		if len(l.keys) == 0 {
			scale := new(big.Rat).Inv(first(l.by))
			for k := range l.by {
				l.by[k].Mul(l.by[k], scale)
			}
			basis = append(basis, l.by)
			continue
		}
		for key := range l.keys {
			pivots[key] = l
			break
		}
	}
	return basis
}

// rank2 is the matrix's rank mod 2.
func rank2(rows []row) int {
	pivots := map[[32]byte]map[[32]byte]bool{}
	for _, r := range rows {
		l := map[[32]byte]bool{}
		for key, sign := range r.keys {
			if sign%2 != 0 {
				l[key] = true
			}
		}
		for again := true; again; {
			again = false
			for key := range l {
				if p, ok := pivots[key]; ok {
					for k := range p {
						if l[k] {
							delete(l, k)
						} else {
							l[k] = true
						}
					}
					again = true
					break
				}
			}
		}
		for key := range l {
			pivots[key] = l
			break
		}
	}
	return len(pivots)
}

// TestNullSpace checks the algebra on small matrices.
func TestNullSpace(t *testing.T) {
	key := func(k byte) [32]byte { return [32]byte{k} }
	rows := func(m ...[]int64) (out []row) {
		for _, line := range m {
			r := row{keys: map[[32]byte]int64{}}
			for k, x := range line {
				if x != 0 {
					r.keys[key(byte(k))] = x
				}
			}
			out = append(out, r)
		}
		return out
	}
	for name, c := range map[string]struct {
		rows      []row
		null, odd int
	}{
		"nothing known":            {rows([]int64{1, 1, 0}, []int64{-1, 0, 1}, []int64{0, -1, -1, 5}), 0, 3},
		"a sum":                    {rows([]int64{1, 1, 0}, []int64{-1, 0, 1}, []int64{0, -1, -1}), 1, 2},
		"two pairs":                {rows([]int64{1, 0}, []int64{-1, 0}, []int64{0, 1}, []int64{0, -1}), 2, 2},
		"one mask twice":           {rows([]int64{1, 1}, []int64{1, 1}), 1, 1},
		"all known":                {rows([]int64{0, 0}), 1, 0},
		"in the ring alone":        {rows([]int64{2, 0}), 0, 0},
		"a weighted difference":    {rows([]int64{1, 2}, []int64{3, 6}), 1, 1},
		"in the ring, three times": {rows([]int64{1, 1, 0}, []int64{1, 0, 1}, []int64{0, 1, 1}), 0, 2},
	} {
		if null, odd := len(leftNull(c.rows)), rank2(c.rows); null != c.null || odd != c.odd {
			t.Errorf("%s: a null space of %d and rank %d mod 2, want %d and %d", name, null, odd, c.null, c.odd)
		}
	}
}
