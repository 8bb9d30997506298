package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/sbinet/npyio/npz"

	"covey/internal/proposal"
)

// FuzzWrite draws a result with numbers, names and shapes of the fuzzer's: a typed error, or files
// that read back to the same numbers, bit by bit, and the same names.
func FuzzWrite(f *testing.F) {
	f.Add("größe (cm)", "a", uint8(3), uint8(2), []byte{0, 1, 2, 3, 4, 5, 6, 7}, false)
	f.Add("", "=1+1", uint8(1), uint8(1), bytes.Repeat([]byte{0xff}, 16), true)
	f.Add("a,\"b\n", "\x00", uint8(4), uint8(4), []byte{}, false)
	f.Fuzz(func(t *testing.T, first, name string, d, k uint8, noise []byte, short bool) {
		d, k = d%6+1, k%6+1
		r := sample(int(d), int(min(d, k)), 2, proposal.SubspaceBlock, 0.01)
		at := 0
		number := func() float64 {
			var v uint64
			for range 8 {
				v = v<<8 | 1
				if at < len(noise) {
					v = v&^0xff | uint64(noise[at])
				}
				at++
			}
			return math.Float64frombits(v)
		}
		r.Columns[0], r.Name, r.Unit = first, name, name
		r.Epsilon, r.Radius, r.TotalVariance = number(), number(), number()
		r.Components[0][0] = number()
		r.ExplainedVariance[0], r.Mean[0] = number(), number()
		if short {
			r.Components[0] = r.Components[0][1:]
		}
		var archive, table bytes.Buffer
		err, err2 := WriteNPZ(&archive, r), WriteCSV(&table, r)
		if _, ok := errors.AsType[*Error](err); (err == nil) != (err2 == nil) || err != nil && !ok && utf8.ValidString(first+name) {
			t.Fatalf("%v, %v", err, err2)
		}
		if err != nil {
			return
		}
		z, err := npz.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var mean, components []float64
		if err := errors.Join(z.Read("mean_.npy", &mean), z.Read("components_.npy", &components)); err != nil {
			t.Fatal(err)
		}
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if !slices.EqualFunc(mean, r.Mean, same) || !slices.EqualFunc(components, slices.Concat(r.Components...), same) {
			t.Fatalf("%v and %v are read for %v and %v", mean, components, r.Mean, r.Components)
		}
		rows, err := csv.NewReader(bytes.NewReader(table.Bytes())).ReadAll()
		if err != nil || len(rows) != r.K+4 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		for i, row := range rows[4:] {
			for j, cell := range row[len(csvFields) : len(csvFields)+r.D] {
				if v, err := strconv.ParseFloat(cell, 64); err != nil || !same(v, r.Components[i][j]) {
					t.Fatalf("%q is read for %v (%v)", cell, r.Components[i][j], err)
				}
			}
		}
	})
}
