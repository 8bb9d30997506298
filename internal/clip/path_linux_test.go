package clip

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// fenced is n float64 that end where a page begins that may not be touched, or begin where such a page ends: a kernel that reads or writes
// outside dies.
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

// Every operand lies against a page that may not be touched: behind it, and then before it.
func TestKernelsStayInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	const most, height = 70, 20
	for _, atEnd := range []bool{true, false} {
		rows, x, acc := fenced(t, most*height, atEnd), fenced(t, most, atEnd), fenced(t, most, atEnd)
		s, c := fenced(t, height, atEnd), fenced(t, height, atEnd)
		part := func(v []float64, n int) []float64 {
			if atEnd {
				return v[len(v)-n:]
			}
			return v[:n]
		}
		for d := 1; d <= most; d++ {
			for n := 1; n <= height; n++ {
				k := drawCase(rng, d, n)
				rows, x, s, c := part(rows, n*d), part(x, d), part(s, n), part(c, n)
				copy(rows, k.rows)
				copy(x, k.x)
				copy(c, k.c)
				sums := part(acc, d)
				lanes := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(sums))), d)
				var want []uint64
				for _, p := range supported() {
					clear(lanes)
					on(p, func() {
						dots(s, rows, x)
						accumulate(lanes, rows, c)
					})
					if want == nil {
						want = slices.Clone(lanes)
					}
					if !slices.Equal(lanes, want) {
						t.Fatalf("%s: d=%d n=%d differs", pathNames[p], d, n)
					}
				}
			}
		}
	}
}
