package standardize

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/query"
)

// bounded checks that columns are finite and within the public bounds.
func bounded(t interface{ Fatalf(string, ...any) }, columns []Column) {
	for _, c := range columns {
		switch {
		case !(math.Abs(c.Center) <= farthest), c.Scale != 0 && !(c.Scale >= finest && c.Scale <= farthest),
			(c.Out == In) != (c.Scale > 0), !(c.Score >= 0 && c.Score < math.Inf(1)), !(c.Zero >= 0 && c.Zero <= 1),
			math.IsNaN(c.Variance) || math.IsInf(c.Variance, 0):
			t.Fatalf("a column is %+v", c)
		}
	}
}

// decode runs every step on whatever numbers there are.
func decode(t interface{ Fatalf(string, ...any) }, next func() float64) {
	const d = 2
	values := func(n int) []float64 {
		h := make([]float64, n)
		for i := range h {
			h[i] = next()
		}
		return h
	}
	columns := Octaves(values(d*query.OctaveBins), next())
	bounded(t, columns)
	for j := range columns { // as if all stood out
		if columns[j].Out != In {
			columns[j] = Column{Zero: min(max(0, sane(next())), 1), SkipZeros: j == 0}.at(0, sane(next()))
		}
	}
	columns = Tree(values(d*query.TreeBins), next(), columns)
	bounded(t, columns)
	for range MomentRounds {
		columns = Moments(values(2*d), next(), columns)
		bounded(t, columns)
	}
	diagonal := Diagonal(values(d), next(), columns)
	for j, v := range diagonal {
		if !(v > 0 && v < math.Inf(1)) {
			t.Fatalf("the variance of column %d is %v", j, v)
		}
	}
	bounded(t, Constants(columns, next()))
}

// TestAnyRelease: whatever is released, what is read off it is finite and bounded.
func TestAnyRelease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		rng := rapid.Float64()
		small := rapid.Float64Range(-1, 1)
		seed := rapid.Uint64().Draw(t, "seed")
		decode(t, func() float64 {
			seed = seed*6364136223846793005 + 1442695040888963407
			switch unit := float64(int64(seed)) / 0x1p63; kind {
			case 0: // any bits
				return math.Float64frombits(seed ^ seed>>29)
			case 1: // noise about nothing
				return unit
			case 2:
				return math.Ldexp(unit, int(seed>>40%2000)-1000)
			default:
				if seed>>60 == 0 {
					return rng.Draw(t, "value")
				}
				return small.Example(int(seed >> 50))
			}
		})
	})
}

// FuzzRelease is TestAnyRelease of bytes.
func FuzzRelease(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, 64))
	f.Add([]byte("\x7f\xf0\x00\x00\x00\x00\x00\x00\x7f\xf8\x00\x00\x00\x00\x00\x00\xff\xef\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(data, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a)
		at := 0
		decode(t, func() float64 {
			if at+8 > len(data) {
				at = 0
			}
			at += 8
			return math.Float64frombits(binary.BigEndian.Uint64(data[at-8:]))
		})
	})
}
