package clip

import (
	"math"
	"unsafe"
)

// step makes a worker's function that sets out to rows lo to hi-1 of a derived matrix, from the
// rows that the worker's reader from returns.
type step func(from *reader) func(out []float64, lo, hi int)

// reader reads a matrix's rows, a block at a time: one worker's, with its scratch.
type reader struct {
	m    *Matrix
	from *reader                         // of what m is derived from; nil of a matrix that holds values
	make func(out []float64, lo, hi int) // likewise
	out  []float64
	wide []float64
	next uintptr // where the values of the next rows are, to be fetched ahead
}

func (m *Matrix) reader() *reader {
	r := &reader{m: m}
	if m.from != nil {
		r.from = m.from.reader()
		r.make = m.derive(r.from)
	}
	return r
}

// rows returns rows lo to hi-1, good until the next call and not to be written to.
func (r *reader) rows(lo, hi int) stored {
	d := r.m.d
	if r.make == nil {
		values := r.m.values.part(lo*d, hi*d)
		r.next = values.end()
		return values
	}
	if r.m.same != nil && r.m.same(lo, hi) { // absent ones among them are zeros there, too
		values := r.from.rows(lo, hi)
		r.next = r.from.next
		return values
	}
	h := hi - lo
	if n := (h + 1) * d; cap(r.out) < n {
		r.out = make([]float64, n)
	}
	out := r.out[:h*d]
	r.make(out, lo, hi)
	// An absent row stays zeros, whatever the step made of it. For any other one a row behind the
	// last is cleared, so that the time tells nothing of how many rows are absent, nor whether any
	// is.
	all, m := r.out[:(h+1)*d], r.m
	for i := range h {
		at := d * (i + (h-i)*int(m.there(lo+i)))
		clear(all[at : at+d])
	}
	r.next = r.from.next
	return stored{wide: out, far: int(r.next - uintptr(unsafe.Pointer(unsafe.SliceData(out))))}
}

// widened is rows as float64, good until the next call and not to be written to.
func (r *reader) widened(lo, hi int) []float64 { return r.rows(lo, hi).widened(&r.wide) }

// norms sets out to the norms of rows.
func (r *reader) norms(out []float64, rows stored) {
	values, d := rows.widened(&r.wide), r.m.d
	for i := range out {
		row := values[i*d : (i+1)*d]
		dots(out[i:i+1], row, row, 0)
		out[i] = math.Sqrt(zeroBelow(out[i], tinySquare))
	}
}
