package npy

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/test/cost"
)

// What NumPy wrote is read as what it holds: either order, either width, either end first,
// archives with and without compression, units of text and of numbers.
func TestNumPy(t *testing.T) {
	x := func(i, j int) float64 { return float64((i*37+j*11)%101) / 8 }
	for name, c := range map[string]struct {
		columns, names string
		unit           string
		want           func(i, j int) float64
	}{
		"c-f8.npy":           {"c2 c0 c1", "", "", func(i, j int) float64 { return x(i, []int{2, 0, 1}[j]) }},
		"fortran-f8.npy":     {"q p r", "p q r", "", func(i, j int) float64 { return x(i, []int{1, 0, 2}[j]) }},
		"c-f4.npy":           {"c0 c1 c2", "", "", x},
		"fortran-big-f4.npy": {"c0 c2", "", "", func(i, j int) float64 { return x(i, 2*j) }},
		"vector-i2.npy":      {"c0", "", "", func(i, j int) float64 { return float64(i*3 - 50) }},
		"stored.npz":         {"d c0 c1", "", "who", func(i, j int) float64 { return []float64{float64(i * 1000003), x(i, 0), x(i, 1)}[j] }},
		"deflated.npz":       {"b d", "a b c", "who", func(i, j int) float64 { return []float64{x(i, 1), float64(i * 1000003)}[j] }},
		"vectors.npz":        {"c2 c1 d", "", "who", func(i, j int) float64 { return []float64{x(i, 2), x(i, 1), float64(i * 1000003)}[j] }},
	} {
		s := dataset.Source{Path: filepath.Join("testdata/numpy", name), Names: strings.Fields(c.names)}
		q := dataset.Request{Unit: c.unit, Missing: dataset.MissingDropRow}
		gone := false
		for _, column := range strings.Fields(c.columns) {
			q.Columns = append(q.Columns, dataset.Column{Name: column, Scale: 1})
			gone = gone || strings.HasPrefix(name, "vector-") == false && (column == "c1" || column == "q" || column == "b")
		}
		got, err := dataset.Read(s, q, dataset.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range 40 {
			for j := range got.D {
				want := c.want(i, j)
				if gone && i == 7 {
					want = 0
				}
				if v := got.Values[i*got.D+j]; v != want {
					t.Fatalf("%s: row %d, column %d: %v, want %v", name, i, j, v, want)
				}
			}
		}
		raw, err := os.ReadFile(s.Path)
		if err != nil || got.SHA256 != sha256.Sum256(raw) || got.Rows != 40 || gone != slices.Equal(got.Absent, []int{7}) {
			t.Errorf("%s: %d rows, absent %v, %v", name, got.Rows, got.Absent, err)
		}
		if c.unit != "" {
			if got.Units != 5 || !slices.Equal(got.Unit[:6], []int{0, 1, 2, 3, 4, 0}) {
				t.Errorf("%s: units %v", name, got.Unit)
			}
		}
		info, err := dataset.Inspect(s, c.unit, dataset.ReadOptions{})
		if err != nil || info.Rows != 40 || info.Units != got.Units || info.SHA256 != got.SHA256 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		var streamed []float64
		r, unit, err := dataset.ReadTo(s, q, dataset.ReadOptions{}, func(block []float64) error {
			streamed = append(streamed, block...)
			return nil
		})
		if err != nil || !slices.Equal(streamed, got.Values) || (unit != nil) != (c.unit != "") || r.SHA256 != got.SHA256 {
			t.Errorf("%s: other rows from ReadTo, %v", name, err)
		}
	}
}

// npy writes a header of version 1 and what follows.
func npy(header string, data []byte) []byte {
	out := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	header += "\n"
	binary.LittleEndian.PutUint16(out[8:], uint16(len(header)))
	return append(append(out, header...), data...)
}

// doubles are float64 as NumPy stores them.
func doubles(v ...float64) (out []byte) {
	for _, v := range v {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

func header(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
}

// npz packs arrays, by name and content in turn.
func npz(t testing.TB, method uint16, parts ...any) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: parts[i].(string), Method: method})
		if err == nil {
			_, err = w.Write(parts[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// claimed packs one array as if more bytes followed.
func claimed(t testing.TB, name string, array []byte, more int) []byte {
	t.Helper()
	var packed, out bytes.Buffer
	d, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(&out)
	_, wrote := d.Write(array)
	if err := errors.Join(wrote, d.Close()); err != nil {
		t.Fatal(err)
	}
	w, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(len(array) + more)})
	if err == nil {
		_, err = w.Write(packed.Bytes())
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var ab = []dataset.Column{{Name: "b", Scale: 1}, {Name: "a", Offset: 10, Scale: 2}}

// schemaOf is what an error says in words of the schema: faults in rows say nothing.
func schemaOf(e *dataset.Error) dataset.Schema {
	switch {
	case strings.Contains(e.Reason, "has this name"), strings.Contains(e.Reason, "have this name"):
		return dataset.SchemaColumns
	case strings.Contains(e.Reason, "its dtype is text"):
		return dataset.SchemaFormat
	}
	return ""
}

func TestBadNPY(t *testing.T) {
	count := 0
	good := npy(header("'<f8'", "False", "(2, 2)"), doubles(1, 2, 3, 4))
	const f8 = "'<f8'"
	for name, c := range map[string]struct {
		content []byte
		want    string
		names   string
		unit    string
	}{
		"empty":            {nil, "cannot be read: not NPY, cut off, or of a version that is not known here", "", ""},
		"not npy":          {[]byte("a,b\n1,2\n3,4\n"), "cannot be read: not NPY, cut off, or of a version that is not known here", "", ""},
		"version 9":        {append([]byte("\x93NUMPY\x09\x00"), good[8:]...), "cannot be read: not NPY, cut off, or of a version that is not known here", "", ""},
		"header cut off":   {good[:40], "cannot be read: not NPY, cut off, or of a version that is not known here", "", ""},
		"a long header":    {append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), good[10:]...), "cannot be read: its header is not one that NumPy writes", "", ""},
		"no dictionary":    {npy("descr", nil), "cannot be read: its header is not one that NumPy writes", "", ""},
		"a key twice":      {npy("{'descr': '<f8', 'descr': '<f8', 'shape': (1,), }", doubles(1)), "cannot be read: its header is not one that NumPy writes", "", ""},
		"another key":      {npy("{'descr': '<f8', 'order': False, 'shape': (1,), }", doubles(1)), "cannot be read: its header is not one that NumPy writes", "", ""},
		"a key less":       {npy("{'descr': '<f8', 'shape': (1,), }", doubles(1)), "cannot be read: its header is not one that NumPy writes", "", ""},
		"more behind it":   {npy(header(f8, "False", "(1,)")+"}", doubles(1)), "cannot be read: its header is not one that NumPy writes", "", ""},
		"a negative shape": {npy(header(f8, "False", "(-1, 2)"), nil), "cannot be read: its header is not one that NumPy writes", "", ""},
		"a huge shape":     {npy(header(f8, "False", "(2147483647, 281474976710656)"), nil), "cannot be read: it has more than 2^31-1 rows or 2^48 values", "", ""},
		"a wide shape":     {npy(header(f8, "False", "(0, 4000000000)"), nil), "cannot be read: it has more than 2^20 columns", "", ""},
		"a number":         {npy(header(f8, "False", "()"), doubles(1)), "cannot be read: must be an array of one or two dimensions", "", ""},
		"three dimensions": {npy(header(f8, "False", "(1, 1, 1)"), doubles(1)), "cannot be read: must be an array of one or two dimensions", "", ""},
		"no columns":       {npy(header(f8, "False", "(3, 0)"), nil), "cannot be read: it has no columns", "", ""},
		"objects":          {npy(header("'|O'", "False", "(1,)"), nil), "cannot be read: its dtype is object, which is Python code and is not opened (a.astype(float) converts numbers, a.astype(str) text)", "", ""},
		"half precision":   {npy(header("'<f2'", "False", "(1,)"), []byte{0, 0}), "cannot be read: its dtype is not supported; integers, float32, float64, booleans and fixed-length text are (a.astype(float) converts other numbers)", "", ""},
		"complex":          {npy(header("'<c16'", "False", "(1,)"), doubles(1, 1)), "cannot be read: its dtype is complex (save a.real, a.imag or abs(a))", "", ""},
		"dates":            {npy(header("'<M8[D]'", "False", "(1,)"), doubles(1)), "cannot be read: its dtype is a date's (a.astype('datetime64[D]').astype(str) is text that a study can read as days)", "", ""},
		"structured":       {npy(header("[('a', '<f8'), ('b', '<f8')]", "False", "(1,)"), doubles(1, 1)), "cannot be read: is a structured array (numpy.savez(FILE, **{name: a[name] for name in a.dtype.names}) saves its fields as vectors)", "", ""},
		"cut off":          {good[:len(good)-1], "cannot be read: it has fewer or more bytes than its shape says", "", ""},
		"more follows":     {append(bytes.Clone(good), 0), "cannot be read: it has fewer or more bytes than its shape says", "", ""},
		"no rows":          {npy(header(f8, "False", "(0, 2)"), nil), "has no rows", "a b", ""},
		"too few names":    {good, "names has 1 names, the matrix 2 columns", "a", ""},
		"a name twice":     {good, `column "a": two columns have this name`, "a a", ""},
		"no column":        {good, `column "b": none of the 2 columns has this name`, "", ""},
		"no unit column":   {good, `column "who": none of the 2 columns has this name`, "a b", "who"},
		"text":             {npy(header("'<U1'", "False", "(1, 2)"), make([]byte, 8)), `column "b": its dtype is text and no number`, "a b", ""},
		"nan":              {npy(header(f8, "True", "(2, 2)"), doubles(1, 2, 3, math.NaN())), `row 2, column "b": the value is missing`, "a b", ""},
		"infinity":         {npy(header(f8, "False", "(2, 2)"), doubles(1, 2, math.Inf(1), math.Inf(1))), `row 2, column "b": the value is infinite`, "a b", ""},
		"square overflows": {npy(header(f8, "False", "(1, 2)"), doubles(1e155, 1e155)), `row 1, column "b": the value is 2^480 or more`, "a b", ""},
		"a missing unit":   {npy(header(f8, "False", "(1, 3)"), doubles(1, 1, math.NaN())), `row 1, column "who": the unit is missing`, "a b who", "who"},
	} {
		count++
		path := cost.File(t, "data.npy", c.content)
		r, err := dataset.Read(dataset.Source{Path: path, Names: strings.Fields(c.names)}, dataset.Request{Columns: ab, Unit: c.unit, Missing: dataset.MissingError}, dataset.ReadOptions{})
		e, ok := errors.AsType[*dataset.Error](err)
		if !ok || r != nil || err.Error() != path+": "+c.want {
			t.Errorf("%s: %v", name, err)
		} else if e.Schema != schemaOf(e) {
			t.Errorf("%s: schema %q", name, e.Schema)
		}
	}
	t.Logf("figure: %d bad inputs: NPY files", count)
}

func TestBadNPZ(t *testing.T) {
	count := 0
	matrix := npy(header("'<f8'", "False", "(2, 2)"), doubles(1, 2, 3, 4))
	column := npy(header("'<f8'", "False", "(2,)"), doubles(1, 2))
	fortran := npy(header("'<f8'", "True", "(2, 2)"), doubles(1, 2, 3, 4))
	good := npz(t, zip.Deflate, "a.npy", column, "b.npy", column)
	flipped := bytes.Clone(npz(t, zip.Store, "a.npy", column, "b.npy", column))
	flipped[bytes.Index(flipped, doubles(1, 2))] ^= 1
	const bad = "cannot be read: not NPZ, cut off, or damaged"
	for name, c := range map[string]struct {
		content     []byte
		want, names string
	}{
		"empty":                  {nil, bad, ""},
		"not npz":                {matrix, bad, ""},
		"cut off":                {good[:len(good)-5], bad, ""},
		"no array":               {npz(t, zip.Store, "a.txt", column), "the archive holds no array", ""},
		"a bad array":            {npz(t, zip.Store, "a.npy", column, "b.npy", matrix[:20]), `array "b": not NPY, cut off, or of a version that is not known here`, ""},
		"a short array":          {npz(t, zip.Store, "a.npy", column, "b.npy", column[:len(column)-1]), `array "b": it has fewer or more bytes than its shape says`, ""},
		"another length":         {npz(t, zip.Store, "a.npy", column, "b.npy", npy(header("'<f8'", "False", "(1,)"), doubles(1))), `array "b": has another number of rows than the first array`, ""},
		"two matrices":           {npz(t, zip.Store, "a.npy", matrix, "b.npy", matrix), `array "b": a second matrix; an archive has one at most`, ""},
		"names without a matrix": {good, "names are given, but there is no matrix; vectors have names of their own", "a b"},
		"a column's name twice":  {npz(t, zip.Store, "a.npy", column, "x.npy", matrix), `column "a": two columns have this name`, "a b"},
		"an array twice":         {npz(t, zip.Store, "a.npy", column, "a.npy", column), `column "a": two columns have this name`, ""},
		"checksum":               {flipped, `array "a": not NPZ, cut off, or damaged`, ""},
		"compressed and fortran": {npz(t, zip.Deflate, "x.npy", fortran), `array "x": is compressed and in Fortran order, so that rows are all over it; save it in C order (numpy.ascontiguousarray), or with numpy.savez`, "a b"},
	} {
		count++
		path := cost.File(t, "data.npz", c.content)
		r, err := dataset.Read(dataset.Source{Path: path, Names: strings.Fields(c.names)}, dataset.Request{Columns: ab, Missing: dataset.MissingError}, dataset.ReadOptions{})
		e, ok := errors.AsType[*dataset.Error](err)
		if !ok || r != nil || err.Error() != path+": "+c.want {
			t.Errorf("%s: %v", name, err)
		} else if e.Schema != schemaOf(e) {
			t.Errorf("%s: schema %q", name, e.Schema)
		}
	}
	t.Logf("figure: %d bad inputs: NPZ files", count)
}

// TestClaimedLength: an archive of 10 KB that says that a row of 64 GiB follows is refused before
// there is memory for it.
func TestClaimedLength(t *testing.T) {
	array := npy(header("'|S65535'", "False", "(1, 1048576)"), make([]byte, 8_000))
	path := cost.File(t, "data.npz", claimed(t, "x.npy", array, 65535<<20-8_000))
	_, err := dataset.Inspect(dataset.Source{Path: path}, "c0", dataset.ReadOptions{})
	if _, ok := errors.AsType[*dataset.Error](err); !ok || err.Error() != path+`: array "x": not NPZ, cut off, or damaged` {
		t.Error(err)
	}
}

// Whatever the shape, the order and the type, values are those that were written.
func TestNPYKinds(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 700).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "d")
		kind := rapid.SampledFrom(strings.Fields("<f8 >f8 <f4 >f4 |i1 |u1 <i2 >u2 <i4 >i4 <u8 >i8")).Draw(t, "kind")
		fortran := rapid.Bool().Draw(t, "fortran")
		typ, ok := parseDtype(kind)
		if !ok {
			t.Fatal(kind)
		}
		salt := rapid.Uint64().Draw(t, "salt")
		value := func(i, j int) uint64 { return (uint64(i)*2654435761 + uint64(j)*40503 + salt) % 251 << 3 }
		put := func(out []byte, v uint64) []byte {
			if typ.kind == 'f' && typ.size == 8 {
				v = math.Float64bits(float64(v))
			} else if typ.kind == 'f' {
				v = uint64(math.Float32bits(float32(v)))
			}
			var raw [8]byte
			switch typ.size {
			case 1:
				raw[0] = byte(v)
			case 2:
				typ.order.PutUint16(raw[:], uint16(v))
			case 4:
				typ.order.PutUint32(raw[:], uint32(v))
			default:
				typ.order.PutUint64(raw[:], v)
			}
			return append(out, raw[:typ.size]...)
		}
		var data []byte
		for k := range n * d {
			if fortran {
				data = put(data, value(k%n, k/n))
			} else {
				data = put(data, value(k/d, k%d))
			}
		}
		order := "False"
		if fortran {
			order = "True"
		}
		s := dataset.Source{Path: filepath.Join(dir, "x.npy")}
		if err := os.WriteFile(s.Path, npy(header("'"+kind+"'", order, fmt.Sprintf("(%d, %d)", n, d)), data), 0o600); err != nil {
			t.Fatal(err)
		}
		j := rapid.IntRange(0, d-1).Draw(t, "column")
		q := dataset.Request{Columns: []dataset.Column{{Name: fmt.Sprint("c", j), Scale: 1}}, Missing: dataset.MissingError}
		if k := (j + 1) % d; k != j {
			q.Unit = fmt.Sprint("c", k)
		}
		got, err := dataset.Read(s, q, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			want := float64(value(i, j))
			if typ.kind == 'i' && typ.size == 1 {
				want = float64(int8(value(i, j)))
			} else if typ.size == 1 {
				want = float64(uint8(value(i, j)))
			}
			if got.Values[i] != want {
				t.Fatalf("row %d: %v, want %v", i, got.Values[i], want)
			}
		}
	})
}

// Whatever the archive: a typed error, or rows.
func FuzzNPZ(f *testing.F) {
	column := npy(header("'<f8'", "False", "(2,)"), doubles(1, 2))
	f.Add(npz(f, zip.Store, "a.npy", column, "b.npy", column))
	f.Add(npz(f, zip.Deflate, "a.npy", column, "b.npy", column))
	f.Add(claimed(f, "x.npy", npy(header("'<f8'", "False", "(1, 2)"), nil), 16))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := cost.File(t, "data.npz", raw)
		r, err := dataset.Read(dataset.Source{Path: path}, dataset.Request{Columns: ab, Missing: dataset.MissingDropRow}, dataset.ReadOptions{})
		if _, ok := errors.AsType[*dataset.Error](err); err != nil && !ok {
			t.Fatal(err)
		}
		if err == nil && len(r.Values) != 2*r.Rows {
			t.Fatal(len(r.Values))
		}
	})
}
