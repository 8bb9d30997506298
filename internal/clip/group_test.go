package clip

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/query"
)

func mustGroups(tb testing.TB, m *Matrix, size, workers int) []int64 {
	tb.Helper()
	h, err := Groups(m, size, workers)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// powerEigenvalue is the largest eigenvalue of (1/size) Σ y yᵀ by power iteration.
func powerEigenvalue(rows []float64, d, size int) float64 {
	x := make([]float64, d)
	for j := range x {
		x[j] = 1 + 0.1*float64(j)
	}
	value := 0.0
	for range 3000 {
		z := make([]float64, d)
		for lo := 0; lo < len(rows); lo += d {
			s := dot(rows[lo:lo+d], x)
			for j := range z {
				z[j] += s * rows[lo+j] / float64(size)
			}
		}
		value = math.Sqrt(dot(z, z))
		if value == 0 {
			return 0
		}
		for j := range x {
			x[j] = z[j] / value
		}
	}
	return value
}

// Groups are consecutive units, all their rows; more rows than columns and fewer; what does not
// fill a group is left out.
func TestGroupsCountTopEigenvalues(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for _, d := range []int{1, 3, 8} {
		for _, size := range []int{1, 2, 5, 20} {
			for _, lengths := range [][]int{nil, {1, 3, 2, 1, 4, 1, 1, 2, 5, 1, 2, 2}} {
				n := 41
				if lengths != nil {
					lengths = slices.Repeat(lengths, 4)[:n]
					n = 0
					for _, r := range lengths {
						n += r
					}
				}
				values := gaussian(rng, n*d)
				for i := range values {
					values[i] *= math.Ldexp(1, i/(5*d)%7-3)
				}
				m := mustUnits(t, d, values, lengths)
				want := make([]int64, query.GroupBins)
				for g := range m.N() / size {
					first, _ := m.unit(g * size)
					_, end := m.unit((g+1)*size - 1)
					value := powerEigenvalue(m.values.wide[first*d:end*d], d, size)
					want[int(math.Floor(math.Log2(value)))+256]++
				}
				for workers := range 4 {
					if got := mustGroups(t, m, size, workers); !slices.Equal(got, want) {
						t.Errorf("d=%d size=%d units=%v: got %v, want %v", d, size, lengths != nil, got, want)
					}
				}
			}
		}
	}
}

func TestGroupBins(t *testing.T) {
	for _, c := range []struct {
		f    float64
		e    int
		want int
	}{
		{1, 0, 256}, {math.Nextafter(1, 0), 0, 255}, {2, 0, 257}, {1.99, 0, 256}, {0.5, 0, 255}, {1, -256, 0}, {1, -255, 1}, {1, -300, 0}, {1, -2000, 0},
		{1, 255, 511}, {1.5, 254, 510}, {1, 256, 511}, {1, 2000, 511}, {0, 0, 0}, {-1, 0, 0}, {math.NaN(), 0, 0},
	} {
		if got := query.Octave(c.f, c.e); got != c.want {
			t.Errorf("%v·2^%d is in bin %d, want %d", c.f, c.e, got, c.want)
		}
	}
	// One row a group: the eigenvalue is the square of its norm.
	m := mustMatrix(t, 2, []float64{1, 0, 0, 2, 1e150, 0, 0, 0, 1e-200, 1e-200, 3, 4, 0x1p-1074, 0})
	want := make([]int64, query.GroupBins)
	want[256], want[258], want[511], want[0], want[260] = 1, 1, 1, 3, 1
	if got := mustGroups(t, m, 1, 1); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, size := range []int{0, -1} {
		_, err := Groups(m, size, 1)
		if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != "group size" {
			t.Errorf("size %d: %v", size, err)
		}
	}
	if got := mustGroups(t, m, 8, 1); !slices.Equal(got, make([]int64, query.GroupBins)) {
		t.Error("a group that is not full counts")
	}
}

// Any finite rows give one count a group, the same for all workers, and the count of a group
// depends on its units alone: replacing one unit moves the counts by √2 at most.
func TestGroupsTakeAnyRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 9).Draw(t, "d")
		n := rapid.IntRange(1, 12).Draw(t, "units")
		size := rapid.IntRange(1, n+1).Draw(t, "size")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		q := Query{X: unit(rng, d), Radius: 1, Grid: query.Grid(1)}
		var values []float64
		var of []int
		for u := range n {
			for range 1 + rng.IntN(3) {
				values = append(values, hostileRow(rng, d, q)...)
				of = append(of, u)
			}
		}
		count := func() []int64 {
			m, err := NewUnits(d, slices.Clone(values), of)
			if err != nil {
				t.Fatal(err)
			}
			h, err := Groups(m, size, 1)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Groups(m, size, 3)
			if err != nil || !slices.Equal(h, again) {
				t.Fatalf("three workers: %v, %v", again, err)
			}
			total := int64(0)
			for _, c := range h {
				total += c
			}
			if total != int64(n/size) {
				t.Fatalf("%d groups counted of %d", total, n/size)
			}
			return h
		}
		before := count()
		for range 10 {
			u := rng.IntN(n)
			for i := range of {
				if of[i] == u {
					copy(values[i*d:(i+1)*d], hostileRow(rng, d, q))
				}
			}
			after := count()
			if exceeds(less(after, before), query.HistogramSensitivity) {
				t.Fatalf("counts moved by %v", length(less(after, before)))
			}
			before = after
		}
	})
}

func BenchmarkGroups(b *testing.B) {
	rng := rand.New(rand.NewPCG(63, 64))
	const d = 64
	m := mustMatrix(b, d, gaussian(rng, 400*2*d*d))
	for b.Loop() {
		mustGroups(b, m, 2*d, 1)
	}
}

// Groups are bounded for units that keep their places. Where a file is sorted by a value, another
// value of one unit moves all between its two places, and with them the groups: docs/privacy.md
// tells sites not to offer that.
func TestGroupsNeedPlaces(t *testing.T) {
	const d, groups = 4, 1000
	r := rand.New(rand.NewPCG(8, 9))
	values := make([]float64, 0, d*d*groups)
	for i := range d * groups {
		size := math.Exp(0.02*float64(i) - 30)
		values = append(values, size)
		for range d - 1 {
			values = append(values, size*math.Abs(r.NormFloat64()))
		}
	}
	other := []float64{1e30, 1, 1, 1} // the first row, and the largest
	moved := func(changed []float64) float64 {
		before, after, sum := mustGroups(t, mustMatrix(t, d, values), d, 1), mustGroups(t, mustMatrix(t, d, changed), d, 1), 0.0
		for j := range before {
			sum += float64((after[j] - before[j]) * (after[j] - before[j]))
		}
		return math.Sqrt(sum)
	}
	if in := moved(slices.Concat(other, values[d:])); in > query.HistogramSensitivity {
		t.Errorf("a unit replaced in its place moved the counts by %v", in)
	}
	sorted := moved(slices.Concat(values[d:], other))
	if sorted < 10 {
		t.Errorf("a unit that changed its place moved the counts by %v only: is the warning needed?", sorted)
	}
	t.Logf("sorted by size: %.1f", sorted)
}
