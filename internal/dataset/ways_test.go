package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// way hands a table's cells to a builder: NaN is a missing one, and one of a column that is read as
// text is the place of its text.
type way func(b Builder, cells [][]float64, texts, units []string) error

// asText is how a text file's cells come, numbers too.
func asText(b Builder, cells [][]float64, texts, units []string) error {
	for i, row := range cells {
		b.b.begin(i + 1)
		for j, v := range row {
			switch {
			case math.IsNaN(v):
				b.b.text(j, " ")
			case b.Texts(j):
				b.b.text(j, texts[int(v)])
			default:
				b.b.text(j, strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
		if units != nil {
			b.b.setUnit(units[i])
		}
		if err := b.b.end(); err != nil {
			return err
		}
	}
	return nil
}

// byRows is how a server's come.
func byRows(b Builder, cells [][]float64, texts, units []string) error {
	for i, row := range cells {
		b.Begin()
		for j, v := range row {
			if b.Texts(j) && !math.IsNaN(v) {
				b.Text(j, []byte(texts[int(v)]))
			} else {
				b.Put(j, v)
			}
		}
		if units != nil {
			b.SetUnit([]byte(units[i]))
		}
		if err := b.End(); err != nil {
			return err
		}
	}
	return nil
}

// byColumns is how those of arrays and Parquet files come, so many at a time.
func byColumns(most int) way {
	return func(b Builder, cells [][]float64, texts, units []string) error {
		for at := 0; at < len(cells); {
			n := min(b.Room(), most, len(cells)-at)
			fields := make([][]float64, len(b.Columns()))
			var names [][]byte
			for _, row := range cells[at : at+n] {
				for j, v := range row {
					if b.Texts(j) && !math.IsNaN(v) {
						v = b.Cell(j, []byte(texts[int(v)]))
					}
					fields[j] = append(fields[j], v)
				}
			}
			if units != nil {
				for _, u := range units[at : at+n] {
					names = append(names, []byte(u))
				}
			}
			if err := b.Columnar(n, fields, names); err != nil {
				return err
			}
			at += n
		}
		return nil
	}
}

// TestWays: one table is the same rows, gaps, units and faults, whichever way its cells come.
func TestWays(t *testing.T) {
	texts := []string{"x", " y\t", "7", "07", "-9", "1", "No", "TRUE", "2024-02-29", "1999-12-31 23:59", "01.02.2003", "2023-02-29", "NA", "NULL", "w"}
	numbers := []float64{math.NaN(), 0, 1, 3, -9, 99.5, 0.1, float64(float32(0.1)), 1e16, 0x1p130, -0x1p490, math.Inf(1), math.Inf(-1)}
	rapid.Check(t, func(t *rapid.T) {
		q := Request{Missing: rapid.SampledFrom([]Missing{MissingError, MissingDropRow, MissingDropFaulty, MissingGaps, MissingGaps}).Draw(t, "missing")}
		q.Precision = rapid.SampledFrom([]Precision{Float64, Float32}).Draw(t, "precision")
		q.Strict = rapid.Bool().Draw(t, "strict")
		m := Mapping{Columns: map[string]From{}, Dates: rapid.SampledFrom([]string{"", "DD.MM.YYYY"}).Draw(t, "dates")}
		m.MissingValues = rapid.SampledFrom([][]string{nil, {"-9"}, {"NULL", "99.5", "1999-12-31"}}).Draw(t, "codes")
		for j := range rapid.IntRange(1, 9).Draw(t, "columns") {
			c, r, f := Column{Name: fmt.Sprint("c", j), Scale: 1}, Reading{}, From{}
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				r.Levels = []string{"x", "y", "7", "-9"}[:rapid.IntRange(1, 4).Draw(t, "levels")]
				f.Names = rapid.SampledFrom([]map[string]string{nil, {"w": "x", "07": "7"}}).Draw(t, "names")
			case 1:
				r.As = Boolean
			case 2:
				r.As, r.Epoch = Days, 10957
			default:
				c.Offset = rapid.SampledFrom([]float64{0, 1.5, -0x1p479}).Draw(t, "offset")
				c.Scale = rapid.SampledFrom([]float64{1, 3, 0x1p-400}).Draw(t, "scale")
				f.Multiply = rapid.SampledFrom([]float64{0, 0.1, -0x1p300}).Draw(t, "multiply")
				f.Add = rapid.SampledFrom([]float64{0, -17.7}).Draw(t, "add")
				f.Names = rapid.SampledFrom([]map[string]string{nil, {"3": "NA", "0.1": "0.05"}}).Draw(t, "names")
			}
			r.Indicator = q.Missing == MissingGaps && rapid.Bool().Draw(t, "indicator")
			q.Columns, q.Readings = append(q.Columns, c), append(q.Readings, r)
			if f.numeric() || f.Names != nil {
				m.Columns[c.Name] = f
			}
		}
		if err := m.Check(""); err != nil {
			t.Fatal(err)
		}
		var units []string
		if rapid.Bool().Draw(t, "units") {
			q.Unit = "who"
		}
		var cells [][]float64
		good := rapid.IntRange(1, len(numbers)).Draw(t, "good") // how many of numbers there may be
		for range rapid.IntRange(1, 60).Draw(t, "rows") {
			var row []float64
			for _, r := range q.Readings {
				if r.text() {
					row = append(row, rapid.SampledFrom([]float64{math.NaN(), float64(rapid.IntRange(0, len(texts)-1).Draw(t, "text"))}).Draw(t, "cell"))
				} else {
					row = append(row, rapid.SampledFrom(numbers[:good]).Draw(t, "number"))
				}
			}
			cells = append(cells, row)
			if q.Unit != "" {
				units = append(units, rapid.SampledFrom([]string{"p", " p", "q", "-9", "NULL", "7"}).Draw(t, "unit"))
			}
		}
		var want string
		for k, w := range []way{asText, byRows, byColumns(1), byColumns(7), byColumns(1000)} {
			var mem memory
			b := built(t, "row", q, m)
			mem.into(b)
			err := w(Builder{b}, cells, texts, units)
			var r *Rows
			if err == nil {
				r, err = b.finish()
			}
			got := fmt.Sprint(err)
			if err == nil {
				fault := ""
				if r.Fault != nil {
					fault = r.Fault.Error()
				}
				got = fmt.Sprintf("%x %x gaps %x absent %v units %v faulty %d: %s", mem.values, mem.values32, r.Gaps, r.Absent, b.taken.unitColumn(), r.Faulty, fault)
				if slices.ContainsFunc(mem.values, func(v float64) bool { return !(math.Abs(v) < Limit) }) {
					t.Fatalf("way %d: a value is not below the limit: %s", k, got)
				}
			}
			if k == 0 {
				want = got
			} else if got != want {
				t.Fatalf("way %d:\n%s\nof text:\n%s", k, got, want)
			}
		}
	})
}
