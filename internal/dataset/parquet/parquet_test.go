package parquet

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/internal/rowcache"
	"covey/test/cost"
	"covey/test/rows"
)

// What DuckDB wrote as Parquet is what it wrote as CSV, with every compression and encoding, nulls,
// and the unit column; so it is when it comes from a cache.
func TestParquetOfDuckDB(t *testing.T) {
	columns := []dataset.Column{{Name: "d", Offset: 1e6, Scale: 3}, {Name: "a", Offset: 0, Scale: 1}, {Name: "e", Offset: 1, Scale: 2}, {Name: "b", Offset: -1, Scale: 7}, {Name: "c", Offset: 0, Scale: 1}}
	for _, unit := range []string{"", "who"} {
		q := dataset.Request{Columns: columns, Unit: unit, Missing: dataset.MissingDropRow}
		want, err := dataset.Read(dataset.Source{Path: "testdata/duckdb.csv.gz"}, q, dataset.ReadOptions{})
		if err != nil || want.Rows != 3000 || want.Dropped < 400 {
			t.Fatalf("%+v, %v", want, err)
		}
		for _, kind := range []string{"snappy", "zstd", "plain"} {
			s := dataset.Source{Path: "testdata/duckdb-" + kind + ".parquet"}
			got, err := dataset.Read(s, q, dataset.ReadOptions{})
			if err != nil {
				t.Fatal(kind, err)
			}
			raw, err := os.ReadFile(s.Path)
			if err != nil || got.SHA256 != sha256.Sum256(raw) {
				t.Errorf("%s: the pin is not of the file, %v", kind, err)
			}
			want.SHA256 = got.SHA256
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, unit %q: other rows", kind, unit)
			}
			stored := rows.Load(t, rows.Open(t, rowcache.Open).Load, s, q, "a")
			if !reflect.DeepEqual(&stored.Rows, rows.Together(want)) {
				t.Errorf("%s, unit %q: other rows from the cache", kind, unit)
			}
			info, err := dataset.Inspect(s, unit, dataset.ReadOptions{})
			if err != nil || info.Rows != want.Rows || info.Units != want.Units || info.SHA256 != got.SHA256 || !slices.Equal(info.Header, strings.Split("who a b c d e money day flag", " ")) {
				t.Errorf("%s: %+v, %v", kind, info, err)
			}
		}
	}
}

// writeParquet writes rows in groups of 100 and pages of a few values.
func writeParquet[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[T](f, append([]parquet.WriterOption{parquet.PageBufferSize(200), parquet.WriteBufferSize(0), parquet.MaxRowsPerRowGroup(100)}, options...)...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

type allKinds struct {
	Who string   `parquet:"who,dict"`
	A   float64  `parquet:"a"`
	B   *float64 `parquet:"b,optional"`
	C   *float32 `parquet:"c,optional,dict"`
	D   int32    `parquet:"d,delta"`
	E   *int64   `parquet:"e,optional,dict"`
	F   uint32   `parquet:"f"`
	G   *uint64  `parquet:"g,optional"`
	H   float64  `parquet:"h,dict"`
	I   *int32   `parquet:"i,optional"`
	J   uint64   `parquet:"j,dict"`
	K   float32  `parquet:"k,split"`
}

// Values of every kind come as float64, whatever the pages, row groups and nulls; those of units
// as their digits.
func TestParquetKinds(t *testing.T) {
	codecs := []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Gzip)}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.SampledFrom([]int{1, 7, 99, 100, 101, 450}).Draw(r, "n")
		seeds := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 11, 11).Draw(r, "seeds")
		holes := rapid.IntRange(1, 9).Draw(r, "holes")
		var rows []allKinds
		for i := range n {
			v := seeds[i*i%11] * float64(1+i%3)
			k := allKinds{Who: fmt.Sprint("w", i*5%7), A: v, D: int32(v), F: uint32(int64(v)), H: seeds[i%11], J: math.MaxUint64 - uint64(i), K: float32(v)}
			if i%holes != 0 {
				b, c, e, g, h := v/3, float32(v), int64(v)<<20, uint64(int64(v)), int32(i)
				k.B, k.C, k.E, k.G, k.I = &b, &c, &e, &g, &h
			}
			rows = append(rows, k)
		}
		path := writeParquet(t, rows, codecs[rapid.IntRange(0, 3).Draw(r, "codec")], parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(r, "version")))
		q := dataset.Request{Missing: dataset.MissingDropRow, Unit: "who"}
		for _, name := range strings.Split("k j i h g f e d c b a", " ") {
			q.Columns = append(q.Columns, dataset.Column{Name: name, Offset: 0, Scale: 1})
		}
		got, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{})
		if err != nil {
			r.Fatal(err)
		}
		for i, k := range rows {
			want := make([]float64, 11)
			if k.B != nil {
				want = []float64{float64(k.K), float64(k.J), float64(*k.I), k.H, float64(*k.G), float64(k.F), float64(*k.E), float64(k.D), float64(*k.C), *k.B, k.A}
			}
			if !slices.Equal(got.Values[i*11:(i+1)*11], want) {
				r.Fatalf("row %d: %v, want %v", i, got.Values[i*11:(i+1)*11], want)
			}
			if j := slices.IndexFunc(rows, func(o allKinds) bool { return o.Who == k.Who }); got.Unit[i] != got.Unit[j] {
				r.Fatalf("row %d is another unit", i)
			}
		}
		for _, name := range strings.Split("a d f h j k", " ") {
			units := map[string]bool{}
			for _, k := range rows {
				switch name {
				case "a":
					units[fmt.Sprint(k.A+0)] = true
				case "d":
					units[fmt.Sprint(k.D)] = true
				case "f":
					units[fmt.Sprint(k.F)] = true
				case "h":
					units[fmt.Sprint(k.H+0)] = true
				case "j":
					units[fmt.Sprint(k.J)] = true
				default:
					units[fmt.Sprint(float64(k.K)+0)] = true
				}
			}
			info, err := dataset.Inspect(dataset.Source{Path: path}, name, dataset.ReadOptions{})
			if err != nil || info.Units != len(units) {
				r.Fatalf("column %s: %d units, want %d, %v", name, info.Units, len(units), err)
			}
		}
	})
}

type nested struct {
	A    float64   `parquet:"a"`
	B    []float64 `parquet:"b"`
	C    struct{ X float64 }
	Date time.Time `parquet:"date,timestamp"`
	Day  int32     `parquet:"day,date"`
	Text string    `parquet:"text"`
	Flag bool      `parquet:"flag"`
	Cent int64     `parquet:"cent,decimal(2:12)"`
}

type one struct {
	A *float64 `parquet:"a,optional"`
	U *string  `parquet:"u,optional"`
}

func TestBadParquet(t *testing.T) {
	count := 0
	odd := writeParquet(t, []nested{{A: 1, Text: "41"}})
	number := func(v float64) *float64 { return &v }
	word := func(v string) *string { return &v }
	values := func(v ...*float64) string {
		var rows []one
		for i := range 150 {
			rows = append(rows, one{number(float64(i)), word("p")})
		}
		for _, v := range v {
			rows = append(rows, one{v, word("p")})
		}
		return writeParquet(t, rows)
	}
	good, err := os.ReadFile(values())
	if err != nil {
		t.Fatal(err)
	}
	raw := func(b []byte) string { return cost.File(t, "data.parquet", b) }
	const bad = "cannot be read: not Parquet, cut off, damaged, or of a kind that is not known here"
	kind := func(what, do string) string {
		return "its type is not a number, but " + what + "; FLOAT, DOUBLE, INT32 and INT64 are (" + do + ")"
	}
	days := kind("a date or a point in time", `ask for as = "days since 2000-01-01" in the study`)
	for name, c := range map[string]struct {
		path, column, unit, want string
	}{
		"empty":              {raw(nil), "a", "", bad},
		"not parquet":        {raw([]byte("a,b\n1,2\n")), "a", "", bad},
		"cut off":            {raw(good[:len(good)-1]), "a", "", bad},
		"front cut off":      {raw(good[100:]), "a", "", bad},
		"only magic":         {raw([]byte("PAR1PAR1")), "a", "", bad},
		"damaged footer":     {raw(append(bytes.Repeat([]byte{9}, len(good)-8), good[len(good)-8:]...)), "a", "", bad},
		"no rows":            {writeParquet(t, []one{}), "a", "", "has no rows"},
		"no column":          {odd, "b2", "", `column "b2": none of the file's 8 columns has this name`},
		"case counts":        {odd, "A", "", `column "A": none of the file's 8 columns has this name`},
		"a list":             {odd, "b", "", `column "b": is not one value a row, but a list or a group (write each value as a column of its own)`},
		"a group":            {odd, "C", "", `column "C": is not one value a row, but a list or a group (write each value as a column of its own)`},
		"a time":             {odd, "date", "", `column "date": ` + days},
		"a date":             {odd, "day", "", `column "day": ` + days},
		"text":               {odd, "text", "", `column "text": ` + kind("text", "ask for levels in the study, or write numbers as DOUBLE")},
		"a boolean":          {odd, "flag", "", `column "flag": ` + kind("a boolean", `let the study read it as "boolean", or write it as DOUBLE`)},
		"a decimal":          {odd, "cent", "", `column "cent": ` + kind("a decimal, a time or another", "write it as DOUBLE")},
		"null":               {values(nil), "a", "", `row 151, column "a": the value is missing`},
		"nan":                {values(number(1), number(math.NaN())), "a", "", `row 152, column "a": the value is missing`},
		"infinity":           {values(number(math.Inf(-1))), "a", "", `row 151, column "a": the value is infinite`},
		"square overflows":   {values(number(1), number(1), number(1e155)), "a", "", `row 153, column "a": the value is 2^480 or more`},
		"no unit column":     {odd, "a", "who", `column "who": none of the file's 8 columns has this name`},
		"a list as the unit": {odd, "a", "b", `column "b": is not one value a row, but a list or a group (write each value as a column of its own)`},
		"null unit":          {writeParquet(t, []one{{number(1), word("p")}, {number(1), nil}}), "a", "u", `row 2, column "u": the unit is missing`},
		"empty unit":         {writeParquet(t, []one{{number(1), word(" ")}}), "a", "u", `row 1, column "u": the unit is missing`},
		"NA unit":            {writeParquet(t, []one{{number(1), word("NA")}}), "a", "u", `row 1, column "u": the unit is missing`},
	} {
		count++
		r, err := dataset.Read(dataset.Source{Path: c.path}, dataset.Request{Columns: []dataset.Column{{Name: c.column, Offset: 0, Scale: 1}}, Unit: c.unit, Missing: dataset.MissingError}, dataset.ReadOptions{})
		sep := ": "
		e, ok := errors.AsType[*dataset.Error](err)
		if !ok || r != nil || err.Error() != c.path+sep+c.want {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(e.Reason, "41") {
			t.Errorf("%s: the reason carries a value", name)
		} else {
			checkSchema(t, e)
		}
	}
	t.Logf("figure: %d bad inputs: Parquet files", count)
}
