package parquet

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"covey/internal/dataset"
)

// TestParquetUUIDs: a unit that a file holds as a UUID's bytes is named as in a text file, with a
// dictionary and without. Bytes that begin or end like blanks are those of another.
func TestParquetUUIDs(t *testing.T) {
	type row struct {
		ID [16]byte `parquet:"id,uuid"`
		A  float64  `parquet:"a"`
	}
	type indexed struct {
		ID [16]byte `parquet:"id,uuid,dict"`
		A  float64  `parquet:"a"`
	}
	ids := [][16]byte{{0: 0xab, 6: 0x40, 15: 0x20}, {0: 0xab, 6: 0x40, 15: 0x09}, {0: 0x20, 15: 1}, {0: 0xab, 6: 0x40, 15: 0x20}}
	want := []string{"ab000000-0000-4000-0000-000000000020", "ab000000-0000-4000-0000-000000000009", "20000000-0000-0000-0000-000000000001", "ab000000-0000-4000-0000-000000000020"}
	var rows []row
	var words []indexed
	for i, id := range ids {
		rows, words = append(rows, row{id, float64(i)}), append(words, indexed{id, float64(i)})
	}
	for _, path := range []string{writeParquet(t, rows), writeParquet(t, words)} {
		var got []string
		_, err := dataset.Stream(dataset.Source{Path: path}, dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Unit: "id", Missing: dataset.MissingError}, dataset.ReadOptions{}, func(b dataset.Block) error {
			got = append(got, b.Units...)
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, want %q; %v", got, want, err)
		}
	}
}

// TestParquetUnitsOfBytes: a decimal's bytes are no name. Two that end with bytes of blanks would
// be one unit.
func TestParquetUnitsOfBytes(t *testing.T) {
	node := parquet.Decimal(0, 20, parquet.FixedLenByteArrayType(9))
	path := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(f, parquet.NewSchema("t", parquet.Group{"a": double, "id": node}))
	for i, last := range []byte{0x20, 0x09} {
		id := parquet.FixedLenByteArrayValue([]byte{0, 0, 0, 0, 0, 0, 0, 1, last})
		if _, err := w.WriteRows([]parquet.Row{{aDouble(i).Level(0, 0, 0), id.Level(0, 0, 1)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := dataset.Inspect(dataset.Source{Path: path}, "id", dataset.ReadOptions{})
	if e, ok := errors.AsType[*dataset.Error](err); !ok || e.Schema != dataset.SchemaFormat || !strings.Contains(e.Reason, "cannot be the unit") {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestParquetUnitsWithoutType: bytes that no type calls text may be any id. Two that differ in
// bytes at their ends that look like blanks are two units, with a dictionary and without.
func TestParquetUnitsWithoutType(t *testing.T) {
	for name, c := range map[string]struct {
		node  parquet.Node
		ids   []string
		names []string
	}{
		"fixed":    {parquet.Leaf(parquet.FixedLenByteArrayType(3)), []string{"\x00\x01\x20", "\x00\x01\x09", "\x20\x01\x00", "p1 ", " p1", "p12"}, []string{`\x000120`, `\x000109`, `\x200100`, `\x703120`, `\x207031`, "p12"}},
		"variable": {parquet.Leaf(parquet.ByteArrayType), []string{"\x00\x20", "\x00\x09", "\x00", "p1 ", "p1"}, []string{`\x0020`, `\x0009`, `\x00`, "p1", "p1"}},
		"text":     {parquet.String(), []string{"p1 ", "p1"}, []string{"p1", "p1"}},
	} {
		for _, node := range []parquet.Node{c.node, parquet.Encoded(c.node, &parquet.RLEDictionary), parquet.Optional(c.node)} {
			path := filepath.Join(t.TempDir(), "a.parquet")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			level := 0
			if node.Optional() {
				level = 1
			}
			w := parquet.NewWriter(f, parquet.NewSchema("t", parquet.Group{"a": double, "id": node}))
			for i, id := range c.ids {
				if _, err := w.WriteRows([]parquet.Row{{aDouble(i).Level(0, 0, 0), parquet.ByteArrayValue([]byte(id)).Level(0, level, 1)}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(w.Close(), f.Close()); err != nil {
				t.Fatal(err)
			}
			var got []string
			_, err = dataset.Stream(dataset.Source{Path: path}, dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Unit: "id", Missing: dataset.MissingError}, dataset.ReadOptions{}, func(b dataset.Block) error {
				got = append(got, b.Units...)
				return nil
			})
			if err != nil || !slices.Equal(got, c.names) {
				t.Errorf("%s: %q, want %q; %v", name, got, c.names, err)
			}
		}
	}
}

// older is a type whose writer knew no logical types, newer one whose writer left out converted
// ones.
type older struct{ parquet.Type }
type newer struct{ parquet.Type }

func (older) LogicalType() *format.LogicalType         { return nil }
func (newer) ConvertedType() *deprecated.ConvertedType { return nil }

// TestUntyped: text is said to be text by a logical type, by an older converted one, or by neither.
func TestUntyped(t *testing.T) {
	for name, c := range map[string]struct {
		typ  parquet.Type
		want bool
	}{
		"text": {parquet.String().Type(), false}, "enum": {parquet.Enum().Type(), false}, "JSON": {parquet.JSON().Type(), false},
		"older text": {older{parquet.String().Type()}, false}, "older enum": {older{parquet.Enum().Type()}, false}, "older JSON": {older{parquet.JSON().Type()}, false},
		"newer text": {newer{parquet.String().Type()}, false}, "newer enum": {newer{parquet.Enum().Type()}, false}, "newer JSON": {newer{parquet.JSON().Type()}, false},
		"BSON": {parquet.BSON().Type(), true}, "older BSON": {older{parquet.BSON().Type()}, true},
		"bytes": {parquet.ByteArrayType, true}, "fixed": {parquet.FixedLenByteArrayType(3), true}, "numbers": {parquet.DoubleType, false},
	} {
		if got := untyped(c.typ); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
