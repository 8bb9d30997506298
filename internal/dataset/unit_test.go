package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A unit is the text of its field: numbered by first appearance, wherever its rows
// are, and there though every row of it was dropped.
func TestUnits(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		unit    []int
		units   int
		values  []float64
		dropped int
	}{
		"one row each":   {"u,a,b\np,12,3\nq,8,-4\n", []int{0, 1}, 2, []float64{3, 1, -4, -1}, 0},
		"interleaved":    {"a,u,b\n12,q,3\n8,p,-4\n10,q,0\n10,r,1\n10,p,2\n", []int{0, 1, 0, 2, 1}, 3, []float64{3, 1, -4, -1, 0, 0, 1, 0, 2, 0}, 0},
		"spaces":         {"a,b, u \n12,3,p\n8,4,\t p\n8,4,\" p \"\n", []int{0, 0, 0}, 1, []float64{3, 1, 4, -1, 4, -1}, 0},
		"exact text":     {"u,a,b\n7,12,3\n07,12,3\n7.0,12,3\nP,12,3\np,12,3\n7,12,3\n", []int{0, 1, 2, 3, 4, 0}, 5, slices.Repeat([]float64{3, 1}, 6), 0},
		"breaks, quotes": {"u,a,b\n\"p\n\"\"q\",12,3\n\"p\n\"\"q\",8,4\np,8,4\n", []int{0, 0, 1}, 2, []float64{3, 1, 4, -1, 4, -1}, 0},
		"all dropped":    {"u,a,b\np,12,3\nq,,3\nq,12,NA\nr,8,4\np,nan,1\n", []int{0, 1, 1, 2, 0}, 3, []float64{3, 1, 0, 0, 0, 0, 4, -1, 0, 0}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.text)
			r, err := ReadCSV(path, ab, "u", MissingDropRow)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Unit, c.unit) || r.Units != c.units || r.Rows != len(c.unit) || !slices.Equal(r.Values, c.values) || r.Dropped != c.dropped {
				t.Fatalf("%+v", r)
			}
			i, err := InspectCSV(path, "u")
			if err != nil || i.Units != c.units || i.Rows != len(c.unit) || i.SHA256 != r.SHA256 {
				t.Fatalf("%+v, %v", i, err)
			}
			// Without the column every row is a unit.
			r, err = ReadCSV(path, ab, "", MissingDropRow)
			if err != nil || r.Unit != nil || r.Units != len(c.unit) || r.Rows != r.Units {
				t.Fatalf("%+v, %v", r, err)
			}
		})
	}
}

func TestBadUnits(t *testing.T) {
	count := 0
	for _, c := range []struct{ text, want string }{
		{"u,a,b\np,1,2\n,3,4\n", `line 3, column "u": the unit is missing`},
		{"u,a,b\np,1,2\n \t ,3,4\n", `line 3, column "u": the unit is missing`},
		{"u,a,b\np,1,2\nNA,3,4\n", `line 3, column "u": the unit is missing`},
		{"u,a,b\nnan,1,2\n", `line 2, column "u": the unit is missing`},
		{"a,b\n1,2\n", `line 1, column "u": none of the header's 2 fields has this name`},
		{"U,a,b\np,1,2\n", `line 1, column "u": none of the header's 3 fields has this name`},
		{"u,a,b\n", "no rows follow the header"},
	} {
		count++
		path := write(t, c.text)
		for _, missing := range []Missing{MissingError, MissingDropRow} {
			_, err := ReadCSV(path, ab, "u", missing)
			_, other := InspectCSV(path, "u")
			if err == nil || err.Error() != path+": "+c.want || other == nil || other.Error() != err.Error() {
				t.Errorf("%q: %v, InspectCSV %v", c.text, err, other)
			}
		}
	}
	path := write(t, "u,a,b\np,1,2\n")
	for unit, want := range map[string]string{
		"a":  `column "a": is the unit column, which cannot be a column of numbers, too`,
		" u": `column " u": the name has spaces around it`,
		" ":  "the unit column's name is blank",
	} {
		count++
		_, err := ReadCSV(path, ab, unit, MissingError)
		if _, ok := errors.AsType[*Error](err); !ok || err.Error() != want {
			t.Errorf("%q: %v, want %s", unit, err, want)
		}
		if _, err := InspectCSV(path, unit); unit != "a" && (err == nil || err.Error() != want) {
			t.Errorf("InspectCSV %q: %v, want %s", unit, err, want)
		}
	}
	t.Logf("figure: %d bad inputs: units", count)
}

// Whatever the values and their order, rows with one value share one number and
// others do not.
func TestUnitsAreThePartition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.StringMatching(`[ap ",\n]{0,2}x`), 1, 60).Draw(t, "ids")
		if rapid.Bool().Draw(t, "many") {
			ids = slices.Repeat(ids, 40) // beyond the rows that the size is estimated from
		}
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Write([]string{"a", "b", "u"})
		for _, id := range ids {
			w.Write([]string{"12", "3", id})
		}
		w.Flush()
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := ReadCSV(path, ab, "u", MissingError)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for i, id := range ids {
			id = strings.TrimLeft(id, " ")
			if !slices.Contains(order, id) {
				order = append(order, id)
			}
			if order[r.Unit[i]] != id {
				t.Fatalf("row %d of unit %q is numbered %d", i, id, r.Unit[i])
			}
		}
		if r.Units != len(order) || len(r.Unit) != len(ids) || len(r.Values) != 2*len(ids) {
			t.Fatalf("%d units of %d rows, want %d of %d", r.Units, len(r.Unit), len(order), len(ids))
		}
	})
}

// The values of a unit column are kept once a unit and without their lines.
func TestUnitMemory(t *testing.T) {
	const units, each, wide = 500, 20, 4096
	var text strings.Builder
	text.WriteString("u,a,b,long\n")
	long := strings.Repeat("x", wide)
	for i := range units * each {
		text.WriteString("unit-" + string(rune('a'+i%units%26)) + string(rune('a'+i%units/26)) + ",1,2," + long + "\n")
	}
	path := write(t, text.String())
	src, err := open(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	table, err := openText(src, src, Mapping{})
	if err != nil {
		t.Fatal(err)
	}
	b := built(t, "line", Request{Unit: "u", Missing: MissingError}, Mapping{})
	before := heap()
	if err := table.rows(b); err != nil {
		t.Fatal(err)
	}
	grown := int64(heap()) - int64(before)
	if len(b.taken.seen) != units {
		t.Fatalf("%d units, want %d", len(b.taken.seen), units)
	}
	// The lines of the units alone would be 2 MB.
	if limit := int64(units * wide / 4); grown > limit {
		t.Fatalf("%d units hold %d bytes, want below %d", units, grown, limit)
	}
	runtime.KeepAlive(b)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
