package clip

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// fenced is n float64 that end where a page begins that may not be touched, or begin where such a
// page ends: a kernel that reads or writes outside dies.
func fenced(t *testing.T, n int, atEnd bool) []float64 {
	page := syscall.Getpagesize()
	size := (8*n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	for _, fence := range [][]byte{b[:page], b[page+size:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := b[page : page+size]
	if atEnd {
		inside = inside[size-8*n:]
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(inside))), n)
}

// partOf takes n values from where the fence is.
func partOf[T uint64 | number](atEnd bool) func(v []T, n int) []T {
	return func(v []T, n int) []T {
		if atEnd {
			return v[len(v)-n:]
		}
		return v[:n]
	}
}

// TestLinesStayInside is TestKernelsStayInside for what units of several rows need: lines, and rows
// with something between them.
func TestLinesStayInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	const most, height, apart = 33, 9, 5
	for _, atEnd := range []bool{true, false} {
		rows, sums := fenced(t, height*(most+apart), atEnd), fenced(t, blockLines*most, atEnd)
		v, factors := fenced(t, most, atEnd), fenced(t, 3*height, atEnd)
		part := partOf[float64](atEnd)
		for d := 1; d <= most; d++ {
			for n := 1; n <= height; n++ {
				lines := min(d, blockLines)
				rows, words := part(rows, (n-1)*(d+apart)+d), part(sums, lines*d)
				sums := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(words))), lines*d)
				c, want := linesCase(rng, rows, d, n, d+apart, lines)
				for _, p := range supported() {
					clear(sums)
					on(p, func() {
						addLines(sums, rows, part(v, d), n, d+apart, c)
						blendApart(part(v, d), rows, part(factors, 3*n-2), n, d+apart, 3)
					})
					if !slices.Equal(sums, want) {
						t.Fatalf("%s: d=%d n=%d differs", pathNames[p], d, n)
					}
				}
			}
		}
	}
}

// Every operand lies against a page that may not be touched: behind it, and then before it.
func TestKernelsStayInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	const most, height, k = 70, 20, 7 // directions
	for _, atEnd := range []bool{true, false} {
		rows, x, acc := fenced(t, most*height, atEnd), fenced(t, k*most, atEnd), fenced(t, k*most, atEnd)
		s, c := fenced(t, k*height, atEnd), fenced(t, k*height, atEnd)
		half := fenced(t, most*height/2, atEnd)
		rows32 := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(half))), most*height)
		part, part32 := partOf[float64](atEnd), partOf[float32](atEnd)
		for d := 1; d <= most; d++ {
			for n := 1; n <= height; n++ {
				drawn := drawCase(rng, d, n)
				rows, x, s, c := part(rows, n*d), part(x, k*d), part(s, k*n), part(c, k*n)
				copy(rows, drawn.rows)
				for l := range k {
					copy(x[l*d:], drawn.x[:d])
				}
				for l := range k {
					copy(c[l*n:], drawn.c[:n])
				}
				narrow := part32(rows32, n*d)
				copy(narrow, float32s(rows))
				sums := part(acc, k*d)
				lanes := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(sums))), k*d)
				var want, want32 []uint64
				for _, p := range supported() {
					clear(lanes)
					on(p, func() {
						one := part(s, n)
						dots(one, rows, part(x, d), 0)
						accumulate(partOf[uint64](atEnd)(lanes, d), rows, part(c, n), 0)
						dotsBlock(s, rows, x, n, d, 0)
						accumulateBlock(lanes, rows, c, n, d, 0)
					})
					if want == nil {
						want = slices.Clone(lanes)
					}
					if !slices.Equal(lanes, want) {
						t.Fatalf("%s: d=%d n=%d differs", pathNames[p], d, n)
					}
					clear(lanes)
					on(p, func() {
						one := part(s, n)
						dots(one, narrow, part(x, d), 0)
						accumulate(partOf[uint64](atEnd)(lanes, d), narrow, part(c, n), 0)
						dotsBlock(s, narrow, x, n, d, 0)
						accumulateBlock(lanes, narrow, c, n, d, 0)
					})
					if want32 == nil {
						want32 = slices.Clone(lanes)
					}
					if !slices.Equal(lanes, want32) {
						t.Fatalf("%s: float32 d=%d n=%d differs", pathNames[p], d, n)
					}
				}
			}
		}
	}
}

// readOnly is values in memory that may not be written to: what writes dies.
func readOnly[T number](t *testing.T, values []T) []T {
	var size = int(unsafe.Sizeof(values[0]))
	b, err := syscall.Mmap(-1, 0, size*len(values), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	out := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(values))
	copy(out, values)
	if err := syscall.Mprotect(b, syscall.PROT_READ); err != nil {
		t.Fatal(err)
	}
	return out
}

// A matrix never writes to its values, whatever is made of it: they may be a file that is mapped to
// be read.
func TestMatrixIsNeverWrittenTo(t *testing.T) {
	const n, d = 50, 13
	rng := rand.New(rand.NewPCG(31, 32))
	values := float32s(gaussian(rng, n*d))
	clear(values[:d]) // one that stands for no row
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	unit := make([]int, n)
	for i := range unit {
		unit[i] = i * 11 / n // together, as in a mapped file: others are put in order in place
	}
	var all []*Matrix
	for _, make := range []func() (*Matrix, error){
		func() (*Matrix, error) { return NewMatrix(d, readOnly(t, wide), 0) },
		func() (*Matrix, error) { return NewUnits(d, readOnly(t, wide), unit, 0) },
		func() (*Matrix, error) { return NewMatrix32(d, readOnly(t, values), 0) },
		func() (*Matrix, error) { return NewUnits32(d, readOnly(t, values), unit, 0) },
	} {
		m, err := make()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	center, found := gaussian(rng, d), orthogonal(rng, d, 2)
	for _, m := range all {
		for _, kind := range maps {
			q := queryOf(rng, kind, d, 3, 2, 0)
			for _, p := range supported() {
				on(p, func() { mustSum(t, m, q, 2) })
			}
			mustHistogram(t, m, Query{Map: kind, X: q.X}, 2)
		}
		if _, err := Groups(m, 3, 2); err != nil {
			t.Error(err)
		}
		if _, err := m.Less(center); err != nil {
			t.Error(err)
		}
		if _, err := m.Off(found); err != nil {
			t.Error(err)
		}
		if _, err := m.Pairs([]int{3, 0, 1, 2}); err != nil && m.starts == nil {
			t.Error(err)
		}
	}
}
