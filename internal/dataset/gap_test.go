package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// gapAt reports whether row i has a gap in column j.
func gapAt(r *Rows, i, j int) bool {
	return r.Gaps != nil && r.Gaps[i*GapStride(r.D)+j/8]>>(j%8)&1 != 0
}

// gappedText is a file of nine columns, more than a byte of gaps, and a unit, and what each cell is
// to be: NaN is a gap.
func gappedText(rng *rand.Rand, rows int) (text string, cells [][]float64) {
	words := []string{"NA", "", "nan", "x", "41,5", "Inf", "-inf", "1e999", "1e200"}
	var b strings.Builder
	b.WriteString("c0,c1,c2,c3,c4,c5,c6,c7,c8,who\n")
	for i := range rows {
		row, unit := make([]float64, 9), fmt.Sprint("p", rng.IntN(1+i/2))
		for j := range row {
			row[j] = float64(rng.IntN(9) - 4)
			field := fmt.Sprint(row[j])
			// the first row has none, the last nothing else
			if i != 0 && (i == rows-1 || rng.IntN(4) == 0) {
				row[j], field = math.NaN(), words[rng.IntN(len(words))]
			}
			fmt.Fprintf(&b, "%q,", field)
		}
		fmt.Fprintf(&b, "%s\n", unit)
		cells = append(cells, row)
	}
	return b.String(), cells
}

// TestGapsAreKept: a cell that is missing, a word, infinite or beyond the limit is a gap of its own
// row, with 0 in its place; no row is left out, and nothing is refused for a value. So it is in
// memory, in both precisions, and as it is looked at.
func TestGapsAreKept(t *testing.T) {
	text, cells := gappedText(rand.New(rand.NewPCG(3, 1)), 60)
	s := Source{Path: write(t, text)}
	for _, precision := range []Precision{Float64, Float32} {
		for _, unit := range []string{"", "who"} {
			q := Request{Missing: MissingGaps, Precision: precision, Unit: unit}
			for j := range 9 {
				q.Columns = append(q.Columns, Column{fmt.Sprint("c", 8-j), 1, 2})
			}
			read, err := Read(s, q, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range cells {
				for j := range 9 {
					cell := cells[i][8-j]
					want, gap := (cell-1)/2, math.IsNaN(cell)
					if gap {
						want = 0
					}
					got := 0.0
					if read.Values32 != nil {
						got = float64(read.Values32[i*9+j])
					} else {
						got = read.Values[i*9+j]
					}
					if got != want || gapAt(read, i, j) != gap {
						t.Fatalf("%s, unit %q: row %d, column %d is %v, a gap: %t; want %v, %t", precision, unit, i, j, got, gapAt(read, i, j), want, gap)
					}
				}
			}
			if read.Rows != len(cells) || read.Dropped != 0 || len(read.Absent) != 0 {
				t.Errorf("%+v, %d left out", read, read.Dropped)
			}
			if e := read.Fault; read.Faulty == 0 || e == nil || !e.Value {
				t.Errorf("%d rows at fault, the first %v", read.Faulty, e)
			}
			for name, show := range map[string]func(visit func([]float64, bool)) error{
				"Look":  func(visit func([]float64, bool)) error { _, err := Look(s, q, ReadOptions{}, visit); return err },
				"Visit": func(visit func([]float64, bool)) error { read.Visit(visit); return nil },
			} {
				at := 0
				if err := show(func(row []float64, dropped bool) {
					for j, v := range row {
						if cell := cells[at][8-j]; dropped || math.IsNaN(v) != math.IsNaN(cell) || v == v && v != (cell-1)/2 {
							t.Fatalf("%s: row %d is shown as %v, dropped %t", name, at, row, dropped)
						}
					}
					at++
				}); err != nil || at != len(cells) {
					t.Errorf("%s: %d rows are shown, %v", name, at, err)
				}
			}
		}
	}
	q := Request{Missing: MissingGaps, Columns: []Column{{"a", 0, 1}}}
	if r, err := Read(Source{Path: write(t, "a\n1\n2\n")}, q, ReadOptions{}); err != nil || r.Gaps != nil {
		t.Errorf("of a file without gaps %v, %v", r.Gaps, err)
	}
	if r, err := Read(Source{Path: write(t, "a\n1\nNA\n3\n")}, q, ReadOptions{}); err != nil || fmt.Sprint(r.Gaps) != "[0 1 0]" {
		t.Errorf("gaps %v, %v", r, err)
	}
	unnamed := Request{Missing: MissingGaps, Columns: []Column{{"c0", 0, 1}}, Unit: "who"}
	if _, err := Read(Source{Path: write(t, "c0,who\n1,NA\n")}, unnamed, ReadOptions{}); err == nil {
		t.Error("a row is nobody's")
	}
}

// TestGapsOfColumns: tables that come by columns have the same gaps as those that come by rows.
func TestGapsOfColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const d, n = 11, 300
	fields := make([][]float64, d)
	var columns []Column
	for j := range fields {
		fields[j] = make([]float64, n)
		columns = append(columns, Column{fmt.Sprint("c", j), float64(j % 2), 1})
		for i := range n {
			fields[j][i] = []float64{rng.NormFloat64(), 1, math.NaN(), math.Inf(1), 0x1p490}[rng.IntN(5)]
		}
	}
	var out [2]*Rows
	for at := range out {
		var m memory
		b := built(t, "row", Request{Columns: columns, Missing: MissingGaps}, Mapping{})
		m.into(b)
		for i := 0; i < n; {
			if at == 0 {
				b.begin(i + 1)
				for j := range fields {
					b.put(j, fields[j][i])
				}
				if err := b.end(); err != nil {
					t.Fatal(err)
				}
				i++
				continue
			}
			some := min(b.room(), n-i, 7)
			var part [][]float64
			for j := range fields {
				part = append(part, fields[j][i:i+some])
			}
			if err := b.columnar(some, part, nil); err != nil {
				t.Fatal(err)
			}
			i += some
		}
		r, err := b.finish()
		if err != nil {
			t.Fatal(err)
		}
		r.Values, out[at] = m.values, r
	}
	if !slices.Equal(out[0].Values, out[1].Values) || !slices.Equal(out[0].Gaps, out[1].Gaps) || out[0].Faulty != out[1].Faulty {
		t.Error("rows and columns differ")
	}
	for i := range n {
		for j := range d {
			if gap := !(math.Abs(fields[j][i]) < Limit); gap != gapAt(out[0], i, j) || gap && out[0].Values[i*d+j] != 0 {
				t.Fatalf("cell %d of row %d: %v", j, i, fields[j][i])
			}
		}
	}
}
