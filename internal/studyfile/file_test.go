package studyfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"covey/internal/strict"
)

// names returns the columns' names as a decoder reads them.
func names(t testing.TB, text []byte) (out []string) {
	t.Helper()
	var s struct {
		Columns []struct {
			Name string `toml:"name"`
		} `toml:"columns"`
	}
	if err := toml.Unmarshal(text, &s); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, c := range s.Columns {
		out = append(out, c.Name)
	}
	return out
}

// TestRanges: a range stands for the names that count up from its first to its last. A text that
// only looks like a range is refused.
func TestRanges(t *testing.T) {
	for item, want := range map[string]string{
		`"a"`:                              "a",
		`"c0..c3"`:                         "c0 c1 c2 c3",
		`'c8..c11'`:                        "c8 c9 c10 c11",
		`"c08..c11"`:                       "c08 c09 c10 c11",
		`"c000..c002"`:                     "c000 c001 c002",
		`"7..9"`:                           "7 8 9",
		`"x.1..x.3"`:                       "x.1 x.2 x.3",
		`"x1y5..x1y6"`:                     "x1y5 x1y6",
		`"c5..c5"`:                         "c5",
		`"a.b"`:                            "a.b",
		`{ name="a..b"}`:                   "a..b",
		`"Größe 1..Größe 2", {name = "z"}`: "Größe 1,Größe 2,z",
	} {
		f, err := Read([]byte("columns = ["+item+"]\n"), 100)
		if err != nil {
			t.Errorf("%s: %v", item, err)
			continue
		}
		sep := " "
		if strings.Contains(want, ",") {
			sep = ","
		}
		if got := names(t, f.Text); !slices.Equal(got, strings.Split(want, sep)) {
			t.Errorf("%s is %q, want %q", item, got, want)
		}
	}
	for item, want := range map[string]string{
		`"a..b"`:                       "is not a range of names",
		`".."`:                         "is not a range of names",
		`"c0..d5"`:                     "is not a range of names",
		`"c0..c5..c9"`:                 "is not a range of names",
		`"c5..c0"`:                     "ends before it begins",
		`"c08..c9"`:                    "same number of digits",
		`"c8..c09"`:                    "same number of digits",
		`"c0..c1234567890"`:            "at most 9 digits",
		`"c0..c100"`:                   "more columns than a study may have, which are 100",
		`"a", "b0..b49", "c0..c49"`:    "columns[2]: more columns",
		`"a0..a98","b",{name="c"},"d"`: "columns[3]: more columns",
	} {
		_, err := Read([]byte("columns = ["+item+"]\n"), 100)
		if bad, ok := errors.AsType[*strict.Error](err); !ok || !strings.Contains(bad.Error(), want) {
			t.Errorf("%s: %v, want %q", item, err, want)
		}
	}
}

// TestPlacesStay: in Shape every key is at its line and column of the document, and in Text at its
// line.
func TestPlacesStay(t *testing.T) {
	const text = "name = 's' # é\ncolumns = [\n  \"age\", # years\n  'c0..c2', { name = \"b\", scale = 2 },\n  \"\"\"\nz\"\"\", 'y',\n]\n[defaults]\nscale = 3\n"
	f, err := Read([]byte(text), 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Shape) != len(text) {
		t.Fatalf("the shape is %d bytes of %d", len(f.Shape), len(text))
	}
	for _, mark := range []string{"scale = 2", "# years", "[defaults]", "scale = 3", "name = \"b\""} {
		if strings.Index(text, mark) != bytes.Index(f.Shape, []byte(mark)) {
			t.Errorf("%s is at %d, in the shape at %d", mark, strings.Index(text, mark), bytes.Index(f.Shape, []byte(mark)))
		}
	}
	if got := names(t, f.Text); !slices.Equal(got, []string{"age", "c0", "c1", "c2", "b", "z", "y"}) {
		t.Errorf("%q", got)
	}
	for key, want := range map[string]int{"columns[0].name": 3, "columns[3].name": 4, "columns[4].scale": 4, "columns[6].name": 6, "defaults.scale": 9} {
		if got := strict.Line(f.Text, key); got != want {
			t.Errorf("%s is in line %d, want %d", key, got, want)
		}
	}
}

// TestDefaults: a column takes of [defaults] what its table neither has nor has something in place
// of.
func TestDefaults(t *testing.T) {
	const head = "columns = ['a', {name='b', scale=2}, {name='c', standardize='private'}, {name='d', levels=['x']}, {name='e', Offset=1}]\n[defaults]\n"
	for defaults, want := range map[string]string{
		"offset = 1\nscale = 3":      "offset scale,offset,,,scale",
		"standardize = 'private'":    "standardize,,,,",
		"measure = 'mm'\nscale = 3":  "measure scale,measure,measure,,measure scale",
		"levels = ['p']":             "levels,,,,",
		"range = [0, 1]\noffset = 0": "offset range,offset range,range,,range",
		"SCALE = 3\nMeasure = 'mm'":  "measure scale,measure,measure,,measure scale",
	} {
		f, err := Read([]byte(head+defaults+"\n"), 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range 5 {
			keys := f.Defaults(i)
			slices.Sort(keys)
			got = append(got, strings.Join(keys, " "))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%q: %q, want %q", defaults, got, want)
		}
	}
}

// TestShorten: a list of names in its shortest form is read as the same names.
func TestShorten(t *testing.T) {
	if got := Shorten([]string{"age", "c0", "c1", "c2", "c3", "x9", "x10", "p098", "p099", "p100", "a..b", "q1", "q2", "می\u200cخواهم"}); !slices.Equal(got, []string{
		`"age"`, `"c0..c3"`, `"x9"`, `"x10"`, `"p098..p100"`, `{ name = "a..b" }`, `"q1"`, `"q2"`, `"می\u200cخواهم"`,
	}) {
		t.Errorf("%q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			prefix := rapid.SampledFrom([]string{"c", "", "x.", "a..b", "Größe ", "a\"b", "'", "\\", "می\u200cخواهم", "c0", "..", ".", "7_"}).Draw(t, "prefix")
			width := rapid.SampledFrom([]int{0, 0, 2, 3, 9, 10}).Draw(t, "width")
			from := rapid.SampledFrom([]int{0, 1, 8, 97, 99_998, 999_999_997}).Draw(t, "from")
			for n := range rapid.IntRange(1, 5).Draw(t, "count") {
				want = append(want, fmt.Sprintf("%s%0*d", prefix, width, from+n))
			}
			if rapid.Bool().Draw(t, "plain") {
				want = append(want, prefix+"x")
			}
		}
		f, err := Read([]byte("columns = ["+strings.Join(Shorten(want), ", ")+"]\n"), 1000)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Columns []struct {
				Name string `toml:"name"`
			} `toml:"columns"`
		}
		if err := toml.Unmarshal(f.Text, &s); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range s.Columns {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q is read as %q", want, got)
		}
	})
}

// FuzzRead: whatever the text, lines stay where they are, the columns of a document that was one
// are at most as many as asked for, and an error is a *strict.Error.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"columns = ['a', \"c0..c3\", {name='b'}]\n[defaults]\nscale=1\n", "Columns = [\n'''\nx''',\n'c1..c2' ] # é", "[columns]\na=1", "columns = [['a'], 3, {}]",
		"columns = ['a\n", "[[columns]]\nname='a'\n", "a = 1\r\ncolumns = [\r\n'c0..c3'\r\n]\r\n", "columns.a = ['b']", "\"columns\" = ['b']",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const most = 50
		file, err := Read(text, most)
		if err != nil {
			if _, ok := errors.AsType[*strict.Error](err); !ok {
				t.Fatalf("%#v", err)
			}
			return
		}
		if a, b := bytes.Count(file.Text, []byte("\n")), bytes.Count(text, []byte("\n")); a != b || len(file.Shape) != len(text) {
			t.Fatalf("%d lines of %d, a shape of %d bytes of %d", a, b, len(file.Shape), len(text))
		}
		var was, is map[string]any
		if toml.Unmarshal(text, &was) == nil && toml.Unmarshal(file.Text, &is) != nil {
			t.Fatalf("%q becomes %q, which is no TOML", text, file.Text)
		}
		for i := range file.columns() {
			file.Defaults(i)
			file.Place(item(i) + ".scale")
		}
		_ = file.CheckZeros()
		_ = file.CheckConstants(func(int) bool { return false })
	})
}
