package dataset

import (
	"slices"
	"unsafe"
)

// sampleRows are read before the file's number of rows is estimated.
const sampleRows = 1024

// expected estimates how many rows of a file, packed or not, are still to come after those read; 0
// if that is not known. An unpacked row has at least two bytes a column, so at most about four
// times a file's size is reserved.
func (b *builder) expected() float64 {
	rows := float64(b.taken.rows - b.taken.before)
	if b.consumed == nil || rows < sampleRows {
		return 0
	}
	read, total := b.consumed()
	return min(rows*(total-read)/read*1.03, total/float64(2*b.d))
}

// room makes room for n more values. If the slice has to grow, it grows for all that are expected,
// so that a big file's values are not copied again and again. If the estimate was short, the next
// one knows more.
func room[T float32 | float64](m *memory, values []T, n int, b *builder) []T {
	if cap(values)-len(values) >= n {
		return values
	}
	var one T
	want := b.expected() * float64(b.d)
	if want < float64(n) || !m.fits(want*float64(unsafe.Sizeof(one))) {
		return values
	}
	return slices.Grow(values, int(want))
}

// memory is a sink that keeps all rows.
type memory struct {
	values   []float64
	values32 []float32
	most     int  // bytes, 0 for any number
	over     bool // there were more
}

// fits reports whether so many more bytes may be kept.
func (m *memory) fits(more float64) bool {
	return m.most == 0 || float64(8*len(m.values)+4*len(m.values32))+more <= float64(m.most)
}

func (m *memory) take(b *builder, block []float64) error {
	if !m.fits(float64(8 * len(block))) {
		m.over = true
		return ErrMost
	}
	m.values = append(room(m, m.values, len(block), b), block...)
	return nil
}

func (m *memory) take32(b *builder, block []float64) error {
	if !m.fits(float64(4 * len(block))) {
		m.over = true
		return ErrMost
	}
	m.values32 = room(m, m.values32, len(block), b)
	for _, v := range block {
		m.values32 = append(m.values32, float32(v))
	}
	return nil
}

// into makes the builder of columns keep its rows here.
func (m *memory) into(b *builder) {
	d := float64(b.d)
	if b.precision == Float32 {
		b.sink = func(block []float64) error { return m.take32(b, block) }
		b.reserve = func(rows float64) {
			if m.fits(4 * rows * d) {
				m.values32 = slices.Grow(m.values32, int(rows*d))
			}
		}
		return
	}
	b.sink = func(block []float64) error { return m.take(b, block) }
	b.reserve = func(rows float64) {
		if m.fits(8 * rows * d) {
			m.values = slices.Grow(m.values, int(rows*d))
		}
	}
}
