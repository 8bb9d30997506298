package mariadb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/dataset"
)

// TestReadings: a cell that a study reads as text is its text, whatever its type, as in a file. No
// number of a column is taken for the place of a level, and none ends the reading.
func TestReadings(t *testing.T) {
	const tiny, double, single, words, bits, decimal, date, datetime = 1, 5, 4, 253, 16, 246, 10, 12 // types of the protocol
	float := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	days := dataset.Reading{As: dataset.Days, Epoch: 10957}
	for _, c := range []struct {
		kind    byte
		value   []byte // nil: NULL
		reading dataset.Reading
		want    []float64 // nil: refused for its type
	}{
		{double, float(1), dataset.Reading{Levels: []string{"1", "2"}}, []float64{1, 0, 0}},
		{double, float(2), dataset.Reading{Levels: []string{"1", "2"}}, []float64{0, 1, 0}},
		{double, float(1e6), dataset.Reading{Levels: []string{"1000000"}}, []float64{1, 0}},
		{double, float(1e300), dataset.Reading{Levels: []string{"1"}}, []float64{0, 1}},
		{double, float(-3), dataset.Reading{Levels: []string{"1"}}, []float64{0, 1}},
		{double, nil, dataset.Reading{Levels: []string{"1"}}, []float64{0, 0}},
		{single, binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1)), dataset.Reading{Levels: []string{"0.1"}}, []float64{1, 0}},
		{tiny, []byte{1}, dataset.Reading{As: dataset.Boolean}, []float64{1}},
		{tiny, []byte{7}, dataset.Reading{As: dataset.Boolean}, []float64{0}}, // neither: missing
		{words, text("E"), dataset.Reading{Levels: []string{"E"}}, []float64{1, 0}},
		{words, text("Yes"), dataset.Reading{As: dataset.Boolean}, []float64{1}},
		{words, text("2000-01-03 00:00:00"), days, []float64{2}},
		{date, []byte{4, 0xD0, 7, 1, 3}, days, []float64{2}},
		{datetime, []byte{7, 0xD0, 7, 1, 3, 23, 30, 0}, days, []float64{2}},
		{date, []byte{4, 0xD0, 7, 1, 3}, dataset.Reading{Levels: []string{"2000-01-03"}}, []float64{1, 0}},
		{decimal, text("7.00"), dataset.Reading{Levels: []string{"7"}}, []float64{1, 0}},
		{decimal, text("70"), dataset.Reading{Levels: []string{"7"}}, []float64{0, 1}},
		{decimal, text("-0.50"), dataset.Reading{Levels: []string{"-0.5"}}, []float64{1, 0}},
		{decimal, text("0.00"), dataset.Reading{As: dataset.Boolean}, []float64{0}},
		{bits, text("\x01"), dataset.Reading{As: dataset.Boolean}, nil},
		{words, text("E"), dataset.Reading{}, nil},
		{double, float(1), days, nil},
	} {
		f := &fake{replies: func(seen []byte) []byte {
			if seen[0] != comExecute {
				return nil
			}
			row := append([]byte{0, 0}, c.value...)
			if c.value == nil {
				row[1] = 1 << 2
			}
			return packets([]byte{1}, definition(c.kind), eof, row, eof)
		}}
		q := columnA
		q.Missing, q.Readings = dataset.MissingDropRow, []dataset.Reading{c.reading}
		s := f.start(t)
		if c.kind == date || c.kind == datetime { // the form of dates in text is none of theirs
			s.Mapping.Dates = "DD.MM.YYYY"
		}
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		<-f.ended
		if c.want == nil {
			if bad, ok := errors.AsType[*dataset.Error](err); !ok || bad.Schema != dataset.SchemaFormat {
				t.Errorf("type %d as %v: %v", c.kind, c.reading, err)
			}
		} else if err != nil || !slices.Equal(r.Values, c.want) {
			t.Errorf("type %d, % x as %v: %v, %v, want %v", c.kind, c.value, c.reading, r, err, c.want)
		}
	}
}

// Names are of numbers, whatever type holds them.
func TestNames(t *testing.T) {
	const long, double, decimal = 3, 5, 246
	for kind, value := range map[byte][]byte{long: {99, 0, 0, 0}, double: binary.LittleEndian.AppendUint64(nil, math.Float64bits(99)), decimal: text("99.00")} {
		f := &fake{replies: func(seen []byte) []byte {
			if seen[0] != comExecute {
				return nil
			}
			return packets([]byte{1}, definition(kind), eof, append([]byte{0, 0}, value...), eof)
		}}
		q, s := columnA, f.start(t)
		q.Missing = dataset.MissingGaps
		s.Mapping.Columns = map[string]dataset.From{q.Columns[0].Name: {Names: map[string]string{"99": "NA"}}}
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		if <-f.ended; err != nil || !slices.Equal(r.Gaps, []byte{1}) {
			t.Errorf("type %d: %v, %v", kind, r, err)
		}
	}
}

// TestUnitsOfBytes: a type of bytes, whose character set is binary, may hold ids that are no text.
// Bits are named as the number that they are: their bytes could be blanks, and the unit missing.
func TestUnitsOfBytes(t *testing.T) {
	const fixed, variable, bits = 254, 253, 16
	for _, c := range []struct {
		kind byte
		raw  string
		want string
	}{
		{fixed, "\x01\x20", `\x0120`}, {fixed, "p ", `\x7020`}, {fixed, "p1", "p1"},
		{variable, "\x01\x09", `\x0109`}, {variable, "p ", "p"},
		{bits, "\x00\x20", "32"}, {bits, "\t", "9"}, {bits, "A", "65"}, {bits, "\x00", "0"}, {bits, strings.Repeat("\xff", 8), "18446744073709551615"},
	} {
		column := definition(c.kind)
		at := len(column) - 12 // of the character set
		column[at], column[at+1] = 63, 0
		for _, spelled := range []bool{false, true} {
			want := c.want
			if spelled { // of a character set
				if column[at] = 45; c.kind != bits {
					want = strings.Trim(c.raw, " \t")
				}
			}
			f := &fake{replies: func(seen []byte) []byte {
				if seen[0] != comExecute {
					return nil
				}
				return packets([]byte{2}, bytes.Replace(definition(5), text("a"), text("v"), 1), column, eof, append(binary.LittleEndian.AppendUint64([]byte{0, 0}, math.Float64bits(1)), text(c.raw)...), eof)
			}}
			q := dataset.Request{Columns: []dataset.Column{{Name: "v", Scale: 1}}, Unit: "a", Missing: dataset.MissingError}
			var got []string
			_, err := dataset.Stream(f.start(t), q, dataset.ReadOptions{}, func(b dataset.Block) error {
				got = append(got, b.Units...)
				return nil
			})
			if <-f.ended; err != nil || !slices.Equal(got, []string{want}) {
				t.Errorf("type %d, %q: %q, want %q; %v", c.kind, c.raw, got, want, err)
			}
		}
	}
}
