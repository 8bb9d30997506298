package siteconfig

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// mappedConfig is a configuration whose data set has further lines.
func mappedConfig(lines string) string {
	return strings.Replace(goodConfig, "path = \"data/rows.csv\"\npopulation = \"p\"\n", "path = \"data/rows.csv\"\npopulation = \"p\"\n"+lines+"\n", 1)
}

const european = `unit = "patient_id"
separator = ";"
decimal = ","
thousands = "."
encoding = "latin-1"
skip_rows = 2
skip_last = 1
missing_values = ["NULL", "-9"]
dates = "DD/MM/YYYY"
[dataset.columns]
admitted = { from = "Aufnahme", dates = "DD.MM.YYYY" }
patient_id = "Fall-Nr"
creatinine = { from = "Kreatinin", multiply = 88.4, add = 0 }
temp_c = { multiply = 0.5, add = -17 }
"color of eyes" = { names = { "blau" = "blue", "" = "x" } }
`

func TestMappingIsRead(t *testing.T) {
	text := mappedConfig(strings.Replace(european, `, "" = "x"`, "", 1) + "[dataset.columns.sex]\nfrom = \"Geschlecht\"\nnames.w = \"F\"\n[[dataset]]\nname = \"other\"\npath = \"o.csv\"\npopulation = \"p\"\n[dataset.columns]\nage = \"Alter\"")
	c, err := Parse([]byte(text), "/site/agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	want := dataset.Mapping{
		Separator: ";", Decimal: ",", Thousands: ".", Encoding: dataset.Latin1, SkipRows: 2, SkipLast: 1, MissingValues: []string{"NULL", "-9"},
		Dates: "DD/MM/YYYY",
		Columns: map[string]dataset.From{
			"admitted":   {Name: "Aufnahme", Dates: "DD.MM.YYYY"},
			"patient_id": {Name: "Fall-Nr"}, "creatinine": {Name: "Kreatinin", Multiply: 88.4}, "temp_c": {Multiply: 0.5, Add: -17},
			"color of eyes": {Names: map[string]string{"blau": "blue"}}, "sex": {Name: "Geschlecht", Names: map[string]string{"w": "F"}},
		},
	}
	if got := c.Source(c.Datasets[0]).Mapping; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got := c.Source(c.Datasets[1]).Mapping; !reflect.DeepEqual(got.Columns, map[string]dataset.From{"age": {Name: "Alter"}}) {
		t.Errorf("the second data set has %+v", got)
	}
}

func TestBadMapping(t *testing.T) {
	for _, c := range []struct{ name, lines, key, reason string }{
		{"separator", `separator = "x"`, "dataset[0].separator", `must be ",", ";", "tab" or "|"`},
		{"decimal", `decimal = ";"`, "dataset[0].decimal", "must be"},
		{"thousands", `thousands = "."`, "dataset[0].thousands", "differ from decimal"},
		{"encoding", `encoding = "ebcdic"`, "dataset[0].encoding", `got "ebcdic"`},
		{"skip_rows", `skip_rows = -1`, "dataset[0].skip_rows", "0..10000"},
		{"skip_last", `skip_last = 20000`, "dataset[0].skip_last", "0..10000"},
		{"missing_values", `missing_values = [""]`, "dataset[0].missing_values[0]", "empty"},
		{"a number for a column", "[dataset.columns]\nage = 3", "dataset[0].columns.age", "must be text in quotes, or a table"},
		{"an unknown key", "[dataset.columns]\nage = { multipy = 3 }", "dataset[0].columns.age.multipy", `did you mean "multiply"?`},
		{"multiply by 0", "[dataset.columns]\nage = { multiply = 0.0 }", "dataset[0].columns.age.multiply", "must not be 0"},
		{"multiply by infinity", "[dataset.columns]\nage = { multiply = inf }", "dataset[0].columns.age.multiply", "must be finite"},
		{"add nan", "[dataset.columns]\nage = { add = nan }", "dataset[0].columns.age.add", "must be finite"},
		{"add text", "[dataset.columns]\nage = { add = \"1\" }", "dataset[0].columns.age.add", "must be a number"},
		{"from a number", "[dataset.columns]\nage = { from = 1 }", "dataset[0].columns.age.from", "in quotes"},
		{"names of numbers", "[dataset.columns]\nsex = { names = { w = 1 } }", "dataset[0].columns.sex.names", "text in quotes"},
		{"dates", `dates = "DD.MM.YY"`, "dataset[0].dates", "must be one of"},
		{"dates of a column", "[dataset.columns]\nage = { dates = \"D.M.YYYY\" }", "dataset[0].columns.age.dates", "must be one of"},
		{"dates in numbers", "[dataset.columns]\nage = { dates = 1 }", "dataset[0].columns.age.dates", "in quotes"},
		{"two from one", "[dataset.columns]\na = \"x\"\nb = \"x\"", "dataset[0].columns.b.from", "is already the source of"},
		{"the unit in numbers", "unit = \"id\"\n[dataset.columns]\nid = { multiply = 2 }", "dataset[0].columns.id", "is the unit"},
		{"not text", "format = \"parquet\"\nseparator = \";\"", "dataset[0].format", "for csv and csv.gz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(mappedConfig(c.lines)), "/site/agent.toml")
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Key != c.key || !strings.Contains(e.Reason, c.reason) || e.Line == 0 {
				t.Errorf("%#v, want %s: %s", err, c.key, c.reason)
			}
		})
	}
}

// TestMappingIsPinned: an approval binds all that decides what values are: with another separator,
// factor, code or name the same bytes are other rows, which a mask must not hide a second time.
func TestMappingIsPinned(t *testing.T) {
	base := Dataset{Name: "rows", Path: "rows.csv"}
	sha := [32]byte{1, 2, 3}
	if base.Pin(sha) != sha {
		t.Error("of a file as it is the pin is not its hash")
	}
	seen := map[[32]byte]string{base.Pin(sha): "none"}
	for name, change := range map[string]func(*Dataset){
		"separator":     func(d *Dataset) { d.Separator = ";" },
		"decimal":       func(d *Dataset) { d.Decimal = "," },
		"thousands":     func(d *Dataset) { d.Thousands = "'" },
		"encoding":      func(d *Dataset) { d.Encoding = "latin-1" },
		"skip rows":     func(d *Dataset) { d.SkipRows = 1 },
		"skip last":     func(d *Dataset) { d.SkipLast = 1 },
		"missing":       func(d *Dataset) { d.MissingValues = []string{"-9"} },
		"from":          func(d *Dataset) { d.Columns = map[string]any{"a": "b"} },
		"another from":  func(d *Dataset) { d.Columns = map[string]any{"a": "c"} },
		"multiply":      func(d *Dataset) { d.Columns = map[string]any{"a": map[string]any{"multiply": 2.0}} },
		"add":           func(d *Dataset) { d.Columns = map[string]any{"a": map[string]any{"add": 2.0}} },
		"names":         func(d *Dataset) { d.Columns = map[string]any{"a": map[string]any{"names": map[string]any{"x": "y"}}} },
		"another name":  func(d *Dataset) { d.Columns = map[string]any{"a": map[string]any{"names": map[string]any{"x": "z"}}} },
		"dates":         func(d *Dataset) { d.Dates = "DD.MM.YYYY" },
		"other dates":   func(d *Dataset) { d.Dates = "MM.DD.YYYY" },
		"column dates":  func(d *Dataset) { d.Columns = map[string]any{"a": map[string]any{"dates": "DD/MM/YYYY"}} },
		"other column":  func(d *Dataset) { d.Columns = map[string]any{"a": map[string]any{"dates": "MM/DD/YYYY"}} },
		"both columns":  func(d *Dataset) { d.Columns = map[string]any{"a": "b", "c": "d"} },
		"two columns":   func(d *Dataset) { d.Columns = map[string]any{"a": "d", "c": "b"} },
		"and precision": func(d *Dataset) { d.Separator, d.Precision = ";", "float32" },
		"and names":     func(d *Dataset) { d.MissingValues, d.Names = []string{"-9"}, []string{"a"} },
	} {
		d := base
		change(&d)
		pin := d.Pin(sha)
		if other, twice := seen[pin]; twice {
			t.Errorf("%s has the pin of %s", name, other)
		}
		seen[pin] = name
		if d.Pin(sha) != pin || d.Pin([32]byte{9}) == pin {
			t.Errorf("%s: the pin is not of the bytes and the mapping", name)
		}
	}
	if len(seen) < 22 {
		t.Error(slices.Collect(maps.Values(seen)))
	}
}

// Whether a bad cell ends reading is the site's to say, whatever the study says of missing ones.
func TestStrictIsTheSites(t *testing.T) {
	for _, missing := range []string{proposal.MissingError, proposal.MissingDropRow, proposal.MissingFill, proposal.MissingZero} {
		for _, strict := range []bool{false, true} {
			if q := (Dataset{Strict: strict}).Request(proposal.Spec{Missing: missing}); q.Strict != strict {
				t.Errorf("missing = %q, strict %v: %+v", missing, strict, q)
			}
		}
	}
}
