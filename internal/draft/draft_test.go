package draft

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"covey/internal/proposal"
)

var filled = Blanks{Name: "s", Dataset: "rows", Epsilon: 1, Delta: 1e-6}

// columnsOf returns the columns of a draft's text as a study has them.
func columnsOf(t *testing.T, d Draft, b Blanks) proposal.Spec {
	t.Helper()
	text, err := d.Text(b)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := proposal.ParseSpec(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return spec
}

// oneLine fails the test if it is asked for a byte after the first line end.
type oneLine struct {
	t    *testing.T
	rest string
	over bool
}

func (r *oneLine) Read(p []byte) (int, error) {
	if r.over {
		r.t.Error("a byte after the header was asked for")
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.rest, r.over = r.rest[n:], strings.Contains(r.rest[:n], "\n")
	return n, nil
}

// TestBrokenHeader: a line break or tab in a name is a space, as it is for agents.
func TestBrokenHeader(t *testing.T) {
	d, err := Header(strings.NewReader("id,\"height \r\n [m]\",\"a\tb\",c\u00a0d\n1,2,3,4\n"), "north.csv")
	if err != nil || len(d.Columns) != 2 || d.Columns[0].Name != "height [m]" || d.Columns[1].Name != "a b" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := Header(strings.NewReader("\"height\n[m]\",height [m]\n"), "north.csv"); err == nil {
		t.Error("two columns of one name")
	}
}

// TestLineForSpreadsheetIsNoHeader: sep=; makes no column, and a name that begins so is one.
func TestLineForSpreadsheetIsNoHeader(t *testing.T) {
	for _, line := range []string{"sep=;", "SEP=,\r", "\"sep=\t\"", "\ufeffsep=|"} {
		if d, err := Header(strings.NewReader(line+"\na;b\n"), "north.csv"); err == nil || !strings.Contains(err.Error(), "skip_rows = 1") {
			t.Errorf("%q: %+v, %v", line, d, err)
		}
	}
	if d, err := Header(strings.NewReader("sep=a;b\n"), "north.csv"); err != nil || len(d.Columns) != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestOpenQuote: a quote that is not closed makes no name of the rows below the header, and one
// within a name ends nothing.
func TestOpenQuote(t *testing.T) {
	for _, text := range []string{"age;\"bmi\n61;secret\n", "age,\"bmi\n61,\"secret\"\n", "age,\"bmi\n61,\"\"secret\"\"\n", "\"age\n", "\ufeff\"age\n61", "\"age\"secret\n"} {
		if d, err := Header(strings.NewReader(text), "north.csv"); !errors.Is(err, errQuote) {
			t.Errorf("%q: %+v, %v", text, d.Columns, err)
		}
	}
	for text, names := range map[string][]string{
		"age,height 5\",bmi\n":                         {"age", "height 5\"", "bmi"},
		"\ufeff\"age\",\"a \"\"b\"\"\",\"\",\"c\"\r\n": {"age", "a \"b\"", "c"},
	} {
		d, err := Header(&oneLine{t: t, rest: text}, "north.csv")
		var got []string
		for _, c := range d.Columns {
			got = append(got, c.Name)
		}
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestHeaderOfValues: a file without a header does not put its first row into a study file.
func TestHeaderOfValues(t *testing.T) {
	for _, row := range []string{"Ada Meyer,34.5,F\n", "F;34,5;x\n", "F,7\n", "x,1,2,4\n", "F,2024-01-31\n", "F,31.1.2024\n", "F,2024-01-31 10:00\n", "F,-9\n", "F,1e3\n", "F,2,2,2\n"} {
		if d, err := Header(strings.NewReader(row), "f"); err == nil || !strings.Contains(err.Error(), "may be a row of values") || strings.Contains(err.Error(), "Meyer") {
			t.Errorf("%q: %+v, %v", row, d, err)
		}
	}
	for _, names := range []string{"id,0,1,2,3\n", "2019,2020,2021\n", "400,410,420\n", "id;350,5;351;351,5\n", "24h,5-10,a1,1.b,nan,inf\n", "v1.2.3,x\n"} {
		if _, err := Header(strings.NewReader(names), "f"); err != nil {
			t.Errorf("%q: %v", names, err)
		}
	}
}

// TestNamesLikeValues: what a header of numbers is told to do works: a list of the names makes the
// study.
func TestNamesLikeValues(t *testing.T) {
	names := []string{"50-00-0", "7732-18-5", "1017", "450.5"}
	_, err := Header(strings.NewReader(strings.Join(names, ",")+"\n"), "f")
	if err == nil || !strings.Contains(err.Error(), "first line is name, and give that file as --dictionary") {
		t.Fatal(err)
	}
	d, err := Dictionary(strings.NewReader("name\n"+strings.Join(names, "\n")+"\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range d.Columns {
		got = append(got, c.Name)
	}
	if !slices.Equal(got, names) {
		t.Errorf("%q, want %q", got, names)
	}
}

// TestHeader: a header becomes a study of numbers in the order of the file, in the shortest form,
// with constants that are learned; nothing after it is read.
func TestHeader(t *testing.T) {
	const header = "\ufeffpatient_id,age,\"a, b\",c0,c1,c2,c3,,Größe [cm],x..y,ID\r\n"
	d, err := Header(&oneLine{t: t, rest: header + "4711,63"}, "north.csv")
	if err != nil {
		t.Fatal(err)
	}
	spec := columnsOf(t, d, filled)
	var names []string
	for _, c := range spec.Columns {
		names = append(names, c.Name)
		if c.Standardize != proposal.StandardizePrivate {
			t.Errorf("%+v is not learned", c)
		}
	}
	if want := []string{"age", "a, b", "c0", "c1", "c2", "c3", "Größe [cm]", "x..y"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	text, _ := d.Text(filled)
	for _, part := range []string{`"c0..c3"`, `{ name = "x..y" }`, "that line was read, and no value", `"patient_id", "ID"`, "1 column without a name"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(string(text), "4711") || strings.Contains(string(text), "FILL IN") {
		t.Errorf("%s", text)
	}
	if strings.Contains(string(text), "title") {
		t.Errorf("several names are a title:\n%s", text)
	}
	if d, err := Header(&oneLine{t: t, rest: "Auszug der Klinik\n"}, "north.csv"); err != nil || !strings.Contains(strings.Join(d.Notes, " "), "If it is a title, delete it") {
		t.Errorf("a title: %q, %v", d.Notes, err)
	}
	// blanks say what to fill in; the unit column is not among the columns
	text, err = d.Text(Blanks{Delta: 1e-6, Unit: "age"})
	if err != nil || strings.Count(string(text), "# FILL IN") != 3 || strings.Contains(string(text), `"age",`) || !strings.Contains(string(text), `unit = "age"`) {
		t.Errorf("%v\n%s", err, text)
	}
	for header, want := range map[string]string{
		"":                         "the first line is empty",
		"\na,b\n":                  "the first line is empty",
		"\xff\xfea\x00":            "UTF-16",
		"PK\x03\x04\x14":           "ZIP archive and no text: of a workbook save",
		"\x1f\x8b\x08\x00":         "compressed with gzip",
		"\x93NUMPY\x01":            "NumPy matrix",
		"PAR1\x15":                 "Parquet file",
		"age,bmi\r1,2\r":           "carriage return alone",
		"age,bmi\r\r\n1,2\r\r\n":   "more than one carriage return",
		"\"age\"\r\"1\"\r":         "carriage return alone",
		"gr\xf6\xdfe,b\n":          "not UTF-8",
		"a,b,a\n":                  `"a" twice`,
		strings.Repeat("a", 5<<20): "longer than",
	} {
		if _, err := Header(strings.NewReader(header), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", header, err, want)
		}
	}
	for header, want := range map[string]int{"PAR1,PAR2\n": 2, "PAR1\nage": 1, "PAR10;age\r\n": 2, "\"a\r\",b\n": 1} {
		if d, err := Header(strings.NewReader(header), "f"); err != nil || len(d.Columns) != want {
			t.Errorf("%q: %+v, %v", header, d.Columns, err)
		}
	}
	if d, err := Header(strings.NewReader("a;b;c\n"), "f"); err != nil || len(d.Columns) != 3 || !strings.Contains(strings.Join(d.Notes, ""), "semicolons") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := Header(strings.NewReader("id\n"), "f"); err != nil {
		t.Error(err)
	} else if _, err := d.Text(filled); err == nil || !strings.Contains(err.Error(), "no column is left") {
		t.Error(err)
	}
	if d, err := Dictionary(strings.NewReader("Variable / Field Name,Field Type\nnote,text\n"), "f"); err != nil {
		t.Error(err)
	} else if _, err := d.Text(filled); err == nil || !strings.Contains(err.Error(), `no column is left for a study. Understood: `) || !strings.HasSuffix(err.Error(), `its type is unknown: "note".`) {
		t.Error(err)
	}
	if _, err := Header(io.MultiReader(strings.NewReader("a,b"), broken{}), "f"); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

const redcap = `"Variable / Field Name","Form Name","Field Type","Field Label","Choices, Calculations, OR Slider Labels","Field Note","Text Validation Type OR Show Slider Number","Text Validation Min","Text Validation Max",Identifier?
record_id,demo,text,Record ID,,,,,,
name,demo,text,Name,,,,,,y
age,demo,text,Age in years,,,integer,18,110,
sex,demo,radio,Sex,"1, Male | 2, Female | 3, Other",,,,,
admitted,demo,text,Admission,,,date_dmy,,,
icu,demo,yesno,ICU?,,,,,,
comorb,demo,checkbox,Comorbidities,"1, Diabetes | 2, COPD",,,,,
bmi,demo,calc,BMI,[weight]/([height]^2),,,,,
comment,demo,notes,Comment,,,,,,
intro,demo,descriptive,Welcome,,,,,,
crea,labs,text,Creatinine,,,number,0.1,,
`

// TestDictionary: a data dictionary of REDCap's, and a plain one, become studies with levels,
// booleans, dates, measures and ranges; what was left out and why is said.
func TestDictionary(t *testing.T) {
	d, err := Dictionary(strings.NewReader(redcap), "dd.csv")
	if err != nil {
		t.Fatal(err)
	}
	spec := columnsOf(t, d, filled)
	want := []proposal.Column{
		{Name: "age", Range: []float64{18, 110}}, {Name: "sex", Levels: []string{"1", "2", "3"}}, {Name: "admitted", As: "days since 2000-01-01"}, {Name: "icu", As: "boolean"},
		{Name: "comorb___1", As: "boolean"}, {Name: "comorb___2", As: "boolean"}, {Name: "bmi"}, {Name: "crea"},
	}
	if len(spec.Columns) != len(want) {
		t.Fatalf("%+v", spec.Columns)
	}
	for i, c := range spec.Columns {
		w := want[i]
		if c.Name != w.Name || !slices.Equal(c.Range, w.Range) || !slices.Equal(c.Levels, w.Levels) || c.As != w.As {
			t.Errorf("%+v, want %+v", c, w)
		}
	}
	said := strings.Join(d.Notes, "\n")
	for _, part := range []string{
		`the name in "Variable / Field Name"`, `the levels in "Choices, Calculations, OR Slider Labels"`, `Not used: "Form Name", "Field Note"`, `identifier: "record_id", "name"`,
		`"crea" has no range`, `its type is unknown: "comment"`, "Levels are the codes", "FIELD___CODE", "days since 2000-01-01",
	} {
		if !strings.Contains(said, part) {
			t.Errorf("no %q in\n%s", part, said)
		}
	}

	d, err = Dictionary(strings.NewReader("Column;Unit;Min;Max;Levels;Description\nage;years;18;110;;Age\nsex;;;;f|m;\nx;;;;;\nghost;;;;f|f|NA|other;\nward;;;;"+many(70)+";\nlow;;5;1;;\n"), "d.csv")
	if err != nil {
		t.Fatal(err)
	}
	b := filled
	b.Public = true
	spec = columnsOf(t, d, b)
	if len(spec.Columns) != 5 || spec.Columns[0].Offset != 64 || math.Abs(spec.Columns[0].Scale-92.0/6) > 0.01 || spec.Columns[0].Measure != "years" || spec.Columns[0].Standardize != "" ||
		spec.Columns[2].Standardize != proposal.StandardizePrivate || !slices.Equal(spec.Columns[3].Levels, []string{"f"}) {
		t.Errorf("%+v", spec.Columns)
	}
	if said := strings.Join(d.Notes, "\n"); !strings.Contains(said, `it has more than 64 levels: "ward"`) || !strings.Contains(said, `"low" has no range`) {
		t.Errorf("%s", said)
	}
	for text, want := range map[string]string{
		"":                          "the first line is empty",
		"a,b\n1,2\n":                `no column of names, such as "name"`,
		"name,unit\nage,y\nage,z\n": `line 3: "age" is also on line 2`,
		"name\n\xff\n":              "not UTF-8",
		"PK\x03\x04\x14":            "ZIP archive and no text: of a workbook save",
	} {
		if _, err := Dictionary(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	// only levels: nothing is learned, and nothing says so
	d, err = Dictionary(strings.NewReader("name,levels\nsex,f|m\nward,a|b\n"), "d.csv")
	if err != nil {
		t.Fatal(err)
	}
	if spec = columnsOf(t, d, filled); spec.Standardize != proposal.StandardizeNone {
		t.Errorf("%+v", spec)
	}
}

// TestDictionaryKinds: what each line of a dictionary makes of a column, alone.
func TestDictionaryKinds(t *testing.T) {
	const header = "name,unit,min,max,levels,type,identifier\n"
	measure := strings.Repeat("m", proposal.MaxMeasure)
	for _, c := range []struct {
		line string
		want *Column // nil where it is left out
		note string
	}{
		{"a,,,,x|y, Radio ,", &Column{Levels: []string{"x", "y"}}, ""},
		{"a,,,,1|2,integer,", &Column{Levels: []string{"1", "2"}}, ""},
		{"a,,,,7,integer,", &Column{}, ""},
		{"a,,,,1|2,slider,", &Column{}, ""},
		{"a,,,,0|1,yesno,", &Column{As: proposal.AsBoolean}, ""},
		{"a,cm,,,,,", &Column{Measure: "cm"}, ""},
		{"a,,1,,,,", &Column{}, `"a" has no range: it needs a lowest and a highest number, got "1" and ""`},
		{"a,,,9,,,", &Column{}, `"a" has no range: it needs a lowest and a highest number, got "" and "9"`},
		{"a,,5,5,,number,", &Column{}, `got "5" and "5"`},
		{"a,,-1e100,1e100,,number,", &Column{Range: []float64{-1e100, 1e100}}, ""},
		{"a,,-1e101,1,,number,", &Column{}, "has no range"},
		{"a,,x,1,,number,", &Column{}, "has no range"},
		{"a," + measure + ",,,,number,", &Column{Measure: measure}, ""},
		{"a," + measure + "m,,,,number,", &Column{}, `"a" has no measure`},
		{"a,c\u202em,,,,number,", &Column{}, `"a" has no measure`},
		{"a,,,,,,", nil, `it is text without levels, or its type is unknown: "a"`},
		{"a,,,,x|y\u202e,radio,", nil, `a level has characters that are not printed: "a"`},
		{"a,,,,NA|other,radio,", nil, `its levels are not given: "a"`},
		{"a,,,,,checkbox,", nil, `its choices are not given: "a"`},
		{"a,,,,,integer,yes", nil, `identifier: "a"`},
		{"patient_id,,,,,integer,", nil, `identifier: "patient_id"`},
		{"patient_id,,,,,integer,no", &Column{}, ""},
		{"patient_id,,,,x|y,radio,", &Column{Levels: []string{"x", "y"}}, ""},
		{"a\u202eb,,,,,integer,", nil, "its name has over 200 bytes, or characters that are not printed"},
	} {
		d, err := Dictionary(strings.NewReader(header+c.line+"\n"), "d.csv")
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		switch {
		case c.want == nil && len(d.Columns) > 0, c.want != nil && len(d.Columns) != 1:
			t.Errorf("%q has the columns %+v", c.line, d.Columns)
		case c.want != nil:
			got := d.Columns[0]
			if !slices.Equal(got.Levels, c.want.Levels) || !slices.Equal(got.Range, c.want.Range) || got.As != c.want.As || got.Measure != c.want.Measure {
				t.Errorf("%q is %+v, want %+v", c.line, got, *c.want)
			}
		}
		if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "has no ") {
			t.Errorf("%q: no %q in %q", c.line, c.note, d.Notes)
		}
	}
}

func many(n int) string {
	var out []string
	for i := range n {
		out = append(out, "w"+string(rune('0'+i/10))+string(rune('0'+i%10)))
	}
	return strings.Join(out, "|")
}

// FuzzDraft: whatever a header or a dictionary holds, the draft is refused or is a study once its
// blanks are filled, and is printed as it is.
func FuzzDraft(f *testing.F) {
	f.Add("a,b,c0,c1,c2\n1,2\n", false)
	f.Add(redcap, true)
	f.Add("name;unit;min;max;levels\na;\u202e;1;2;\n\"b\n\";;;;x|\x1b\n", true)
	f.Fuzz(func(t *testing.T, text string, dictionary bool) {
		read := Header
		if dictionary {
			read = Dictionary
		}
		d, err := read(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		out, err := d.Text(filled)
		if err != nil {
			return
		}
		if _, err := proposal.ParseSpec(out); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, r := range string(out) {
			if r != '\n' && !strconv.IsPrint(r) {
				t.Fatalf("%q is written", r)
			}
		}
	})
}
