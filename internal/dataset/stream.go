package dataset

// Block is a run of a source's rows, as a study reads them: offset, scaled, and in its precision.
type Block struct {
	// First is the index of its first row, from 0.
	First int
	// Values are whole rows, row-major; zeros of one that is dropped.
	Values []float64
	// Gaps are as in [Rows.Gaps], of these rows; nil where every cell has a value.
	Gaps []byte
	// Absent are the indices of the dropped rows in this block, ascending.
	Absent []int
	// Units are the units' names as the source has them; nil without a unit column.
	Units []string
}

// Stream reads the source once, in memory that its number of rows does not change, and hands all
// rows to visit, in order, a few thousand values at a time. visit must not keep what a block holds
// beyond the call, and may change its values. What is read of a cell, and which rows are dropped,
// is as with [Read], by the same code. Of the rows that are returned there are counts and the pin
// alone, and Units is 0. An error of visit ends it; every other is an [*Error].
func Stream(s Source, q Request, o ReadOptions, visit func(Block) error) (*Rows, error) {
	r, _, err := s.read(q, o, func(b *builder) {
		t := &b.taken
		t.streams = true
		b.sink = func(values []float64) error {
			if b.precision == Float32 {
				for i, v := range values {
					values[i] = float64(float32(v))
				}
			}
			out := Block{First: t.first, Values: values, Absent: t.absent}
			if t.coverAll(GapStride(b.d)); len(t.gaps) > 0 {
				out.Gaps = t.gaps
			}
			if b.unit != "" {
				out.Units = t.names
			}
			err := visit(out)
			t.forget()
			return err
		}
	})
	if r != nil {
		r.Units, r.Gaps, r.Absent = 0, nil, nil
	}
	return r, err
}
