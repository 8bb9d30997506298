package clip

import "math"

const (
	// blockLines is how many lines of a triangle a unitBlock adds to at a time: as many as a line
	// of a cache has values, so that tails of rows begin where one does if rows do.
	blockLines = 8

	// unitRows is how many rows a block of units has room for at least. Of fewer, to read and write
	// the triangle would cost more than the products.
	unitRows = 32
)

// unitBlock is a worker's scratch for units of several rows whose moments are added together, a few
// lines of the triangle after the others: no unit's is ever whole.
type unitBlock struct {
	d        int
	units    []scaledUnit
	squares  []float64 // of one unit: its diagonal
	diagonal []uint64  // of all units
	sums     []uint64  // by line and column
}

type scaledUnit struct {
	rows []float64
	off  float64
}

func newUnitBlock(d int) *unitBlock {
	return &unitBlock{
		d: d, squares: make([]float64, d), diagonal: make([]uint64, d),
		sums: make([]uint64, min(blockLines, d)*d),
	}
}

// momentUnits is momentRows for units of several rows: it adds Σ y yᵀ over a unit's rows, made in
// float64, times min(1/g, bound/trace). It takes as many units at a time as have height rows; one
// that is longer is folded.
func (m *Matrix) momentUnits(q Query, l limit, height, blockBytes int) func(acc []uint64, lo, hi int) {
	d, from, block := m.d, m.reader(), newUnitBlock(m.d)
	var long *fold
	return func(acc []uint64, lo, hi int) {
		for lo < hi {
			first, end := m.unit(lo)
			if end-first > height {
				if long == nil {
					long = newFold(m, q, nil, blockBytes)
				}
				long.unit(lo)
				long.add(acc, l)
				lo++
				continue
			}
			next := lo + 1
			for ; next < hi; next++ {
				_, behind := m.unit(next)
				if behind-first > height {
					break
				}
				end = behind
			}
			rows := from.widened(first, end)
			for ; lo < next; lo++ {
				at, behind := m.unit(lo)
				block.unit(rows[(at-first)*d:(behind-first)*d], l)
			}
			block.add(acc)
		}
	}
}

// unit takes a unit into the block, unless its trace is not finite.
func (b *unitBlock) unit(rows []float64, l limit) {
	clear(b.squares)
	blendSquares(b.squares, rows)
	trace := 0.0
	for _, square := range b.squares {
		trace += square
	}
	if c, ok := momentCoefficient(trace, l); ok {
		accumulate(b.diagonal, b.squares, []float64{c}, 0)
		b.units = append(b.units, scaledUnit{rows, off(c)})
	}
}

// add adds the block's units to a triangle, and empties the block. What addLines adds on the
// diagonal and left of it is dropped.
func (b *unitBlock) add(acc []uint64) {
	constant := uint64(len(b.units)) * roundBits
	for first := 0; first < b.d; first += blockLines {
		lines, w := min(blockLines, b.d-first), b.d-first
		sums := b.sums[:lines*w]
		clear(sums)
		for _, u := range b.units {
			addLines(sums, u.rows[first:], b.squares[:w], len(u.rows)/b.d, b.d, u.off)
		}
		for j := range lines {
			acc[0] += b.diagonal[first+j] - constant
			for k, v := range sums[j*w+j+1 : (j+1)*w] {
				acc[1+k] += v - constant
			}
			acc = acc[w-j:]
		}
	}
	b.units = b.units[:0]
	clear(b.diagonal)
}

// blendSquares adds Σ y_j² over rows to each v_j, to the bit as blendMoment does to its diagonal.
func blendSquares(v, rows []float64) {
	d := len(v)
	for ; len(rows) >= 4*d; rows = rows[4*d:] {
		r0, r1, r2, r3 := rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d]
		for j := range v {
			v[j] += (float64(r0[j]*r0[j]) + float64(r1[j]*r1[j])) + (float64(r2[j]*r2[j]) + float64(r3[j]*r3[j]))
		}
	}
	for ; len(rows) > 0; rows = rows[d:] {
		for j, y := range rows[:d] {
			v[j] += float64(y * y)
		}
	}
}

// addLines adds to line j of sums the bits of round(c·v) + 1.5·2^52, where v is Σ y_j·y over n
// rows y as long as v, blended. A row begins every stride values. It runs on the path in use; v is
// scratch.
func addLines(sums []uint64, rows, v []float64, n, stride int, c float64) {
	rows = rows[:(n-1)*stride+len(v)] // the assembly trusts that
	if !addLinesVector(sums, rows, len(v), n, stride, c) {
		addLinesPortable(sums, rows, v, n, stride, c)
	}
}

func addLinesPortable(sums []uint64, rows, v []float64, n, stride int, c float64) {
	for j := 0; len(sums) > 0; j++ {
		clear(v)
		blendPortable(v, rows, rows[j:], n, stride, stride)
		add1(sums[:len(v)], v, c)
		sums = sums[len(v):]
	}
}

// momentCoefficient is what the moment of a unit with this trace is scaled by. ok is false of a
// trace that is not finite (there is none, as in addClipped).
func momentCoefficient(trace float64, l limit) (c float64, ok bool) {
	return min(l.scale, l.bound/trace), trace >= 0 && trace <= math.MaxFloat64
}
