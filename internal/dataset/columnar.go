package dataset

import "math"

// room says how many rows columnar takes at a time.
func (b *builder) room() int {
	if len(b.columns) == 0 {
		return blockValues
	}
	return (cap(b.block) - len(b.block)) / len(b.columns)
}

// columnar takes the next n rows, at most room, from columns: fields[j] holds n numbers of
// columns[j], NaN where one is missing, and names the rows' units, if there is a
// unit column.
func (b *builder) columnar(n int, fields [][]float64, names [][]byte) error {
	d := len(b.columns)
	if cap(b.odds) < n {
		b.odds = make([]bool, n)
	}
	odd := b.odds[:n]
	clear(odd)
	rows := b.block[len(b.block) : len(b.block)+n*d]
	// Eight columns at a time: as many as share a cache line of a row.
	for lo := 0; lo < d; lo += 8 {
		hi := min(lo+8, d)
		for j := lo; j < hi; j++ {
			b.column(j, rows[j:], fields[j][:n], odd)
		}
	}
	for i := range n {
		b.begin(b.count + 1)
		if odd[i] { // with words for what is no value, in the order of columns
			for j := range fields {
				b.put(j, fields[j][i])
			}
			b.scale()
		}
		if b.seen != nil {
			b.whose(string(names[i]))
		}
		if err := b.take(); err != nil {
			return err
		}
	}
	return nil
}

// column offsets and scales the numbers of a column into every len(columns)-th of out, and marks
// rows that are not done with that: one is no value, or to be brought below the limit.
func (b *builder) column(j int, out, in []float64, odd []bool) {
	d, limit, c := len(b.columns), b.limit, b.columns[j]
	at := 0
	if c.Offset == 0 && c.Scale == 1 {
		for i, v := range in {
			if !(math.Abs(v) < limit) {
				odd[i] = true
			}
			out[at] = v
			at += d
		}
		return
	}
	for i, raw := range in {
		v := (raw - c.Offset) / c.Scale
		if !(math.Abs(raw) < limit && math.Abs(v) < limit) {
			odd[i] = true
		}
		out[at] = v
		at += d
	}
}
