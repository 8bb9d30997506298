package dataset

import (
	"math"
	"slices"
)

// room says how many rows columnar takes at a time.
func (b *builder) room() int {
	if b.d == 0 {
		return blockValues
	}
	return (cap(b.block) - len(b.block)) / b.d
}

// columnar takes the next n rows, at most room, from columns: fields[j] holds n numbers of
// columns[j], NaN where one is missing (of a column that is read as text what [builder.cell]
// returns), and names the rows' units, if there is a unit column.
func (b *builder) columnar(n int, fields [][]float64, names [][]byte) error {
	if b.survey != nil {
		return b.shown(n, fields, names)
	}
	fields = b.renamed(n, fields)
	d := b.d
	if cap(b.odds) < n {
		b.odds = make([]bool, n)
	}
	odd := b.odds[:n]
	clear(odd)
	rows := b.block[len(b.block) : len(b.block)+n*d]
	// Eight columns at a time: as many as share a cache line of a row.
	for lo := 0; lo < len(b.columns); lo += 8 {
		for j := lo; j < min(lo+8, len(b.columns)); j++ {
			if r := b.encoder(j); r != nil && r.index != nil {
				r.levels(rows, fields[j][:n], odd, d)
			} else {
				b.column(j, rows[b.start(j):], fields[j][:n], odd)
			}
		}
	}
	for i := range n {
		b.begin(b.taken.next())
		if odd[i] { // with words for what is no value, in the order of columns
			for j := range fields {
				b.put(j, fields[j][i])
			}
			b.scale()
		}
		if b.unit != "" {
			b.setUnit(string(names[i]))
		}
		if err := b.take(); err != nil {
			return err
		}
	}
	return nil
}

// renamed returns fields with the study's numbers for those that names have: a copy of each such
// column, whose numbers may lie in the file's own page.
func (b *builder) renamed(n int, fields [][]float64) [][]float64 {
	if b.mapped == nil {
		return fields
	}
	fields = slices.Clone(fields)
	for j := range fields {
		if len(b.mapped.renamed[j]) == 0 || b.encoder(j) != nil {
			continue
		}
		fields[j] = slices.Clone(fields[j][:n])
		for i, v := range fields[j] {
			fields[j][i] = b.mapped.rename(j, v)
		}
	}
	return fields
}

// shown passes rows on as they are.
func (b *builder) shown(n int, fields [][]float64, names [][]byte) error {
	for i := range n {
		b.begin(b.taken.rows + 1)
		for j := range fields {
			b.put(j, fields[j][i])
		}
		if b.unit != "" {
			b.setUnit(string(names[i]))
		}
		if err := b.end(); err != nil {
			return err
		}
	}
	b.kept.forget()
	return nil
}

// column offsets and scales the numbers of a column into every len(columns)-th of out, and marks
// rows that are not done with that: one is no value, or to be brought below the limit.
func (l *layout) column(j int, out, in []float64, odd []bool) {
	d, limit, c := l.d, l.limit, l.columns[j]
	at := 0
	if l.mapped != nil && l.encoder(j) == nil {
		for i, raw := range in {
			if math.Abs(raw) < limit {
				raw = l.mapped.convert(j, raw, limit)
			}
			v := (raw - c.Offset) / c.Scale
			if !(math.Abs(raw) < limit && math.Abs(v) < limit) {
				odd[i] = true
			}
			out[at] = v
			at += d
		}
		return
	}
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

// levels writes a column's numbers, by the indices of its levels, into rows of d, and marks those
// that have none.
func (r *encoder) levels(rows, in []float64, odd []bool, d int) {
	width := r.width()
	for i, index := range in {
		out := rows[i*d+r.first:][:width]
		clear(out)
		if math.IsNaN(index) {
			odd[i] = true
			continue
		}
		out[int(index)] = 1
	}
}
