package profile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"covey/internal/dataset"
	_ "covey/internal/dataset/npy"
	_ "covey/internal/dataset/parquet"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// config is the agent.toml of a site with one data set.
func config(file, keys string) string {
	return "site = \"a\"\ncoordinator = [\"127.0.0.1:1\"]\n[[population]]\nname = \"p\"\ncap_rho = 0.5\n[[dataset]]\nname = \"icu\"\npopulation = \"p\"\npath = \"" + file + "\"\n" + keys
}

// site is a site with one data set.
func site(t testing.TB, dir, file, text, keys string) (*siteconfig.Config, siteconfig.Dataset) {
	t.Helper()
	c, err := siteconfig.Parse([]byte(config(file, keys)), filepath.Join(dir, siteconfig.File))
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, _ := c.Dataset("icu")
	return c, d
}

func profiled(t testing.TB, text, keys string, spec *proposal.Spec) *Report {
	t.Helper()
	c, d := site(t, t.TempDir(), "icu.csv", text, keys)
	r, err := Of(c, d, spec, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProfileShowsNobody: quantiles need 50 values of 10 units, and a text 10 units; of less
// nothing of a value is in the report, and neither are extremes.
func TestProfileShowsNobody(t *testing.T) {
	file := func(rows, units int) string {
		var text strings.Builder
		text.WriteString("u,x,y\n")
		for i := range rows {
			word := "common"
			if i%units < 9 {
				word = "hidden"
			}
			fmt.Fprintf(&text, "p%d,%d.%d,%s\n", i%units, 414142+i, i, word)
		}
		return text.String()
	}
	for _, c := range []struct {
		rows, units int
		quantiles   bool
	}{{49, 49, false}, {50, 9, false}, {50, 10, true}, {50, 50, true}} {
		r := profiled(t, file(c.rows, c.units), "unit = \"u\"\n", nil)
		if r.Rows != c.rows || r.Units != c.units || len(r.Columns) != 2 {
			t.Fatalf("%+v", r)
		}
		if x := r.Columns[0]; x.Kind != "numbers" || (len(x.Quantiles) == 5) != c.quantiles {
			t.Errorf("%d rows of %d units: %+v", c.rows, c.units, x)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if !c.quantiles && strings.Contains(string(text), "4141") {
			t.Errorf("%d rows of %d units: %s", c.rows, c.units, text)
		}
		for _, extreme := range []string{"414142", fmt.Sprint(414142 + c.rows - 1)} {
			if strings.Contains(string(text), extreme) {
				t.Errorf("an extreme is said: %s", text)
			}
		}
		// 9 units have the word whatever the rows
		if strings.Contains(string(text), "hidden") || r.Columns[1].Rarer == 0 {
			t.Errorf("%d rows of %d units: %s", c.rows, c.units, text)
		}
		if c.units >= 19 && !strings.Contains(string(text), "common") {
			t.Errorf("%s", text)
		}
	}
}

// numbers are those of a line to paste.
var pasted = regexp.MustCompile(`(multiply|add) = ([^ ,}]+)`)

// TestFactorsAreOfTheTable: whatever the rows and the study's constants are, a proposed factor or
// shift is one of the fixed table's, and none is fitted.
func TestFactorsAreOfTheTable(t *testing.T) {
	known := map[string][]float64{}
	for _, c := range conversions {
		known["multiply"] = append(known["multiply"], c.multiply)
		known["add"] = append(known["add"], c.add)
	}
	proposed := 0
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"creatinine", "temp", "height", "weight", "age", "x", "glucose"}).Draw(t, "column")
		middle := math.Pow(10, rapid.Float64Range(-2, 4).Draw(t, "middle"))
		offset, scale := math.Pow(10, rapid.Float64Range(-2, 4).Draw(t, "offset")), math.Pow(10, rapid.Float64Range(-2, 3).Draw(t, "scale"))
		if rapid.Bool().Draw(t, "by the table") {
			c := rapid.SampledFrom(conversions).Draw(t, "conversion")
			name = c.of[0]
			offset = middle*c.multiply + c.add
			scale = math.Abs(0.2 * middle * c.multiply)
		}
		rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		s := &sight{r: &Report{}, mapping: dataset.Mapping{}, random: rng, units: map[int]bool{}, spec: &proposal.Spec{Columns: []proposal.Column{{Name: name, Offset: offset, Scale: scale}}}}
		s.Header([]string{name}, -1)
		for i := range 60 {
			s.Row(i+2, i)
			s.Number(0, middle*(1+0.2*rng.NormFloat64()))
		}
		s.report(dataset.Mapping{})
		for _, line := range s.r.Paste {
			for _, found := range pasted.FindAllStringSubmatch(line, -1) {
				v, err := strconv.ParseFloat(found[2], 64)
				if err != nil || !slices.Contains(known[found[1]], v) {
					t.Fatalf("%s is not of the table: %s", found[0], line)
				}
				proposed++
			}
		}
	})
	if proposed == 0 {
		t.Error("nothing was proposed")
	}
}

// TestConversionsAreOfUnits: the way back of each leads back, and so do numbers that many know.
func TestConversionsAreOfUnits(t *testing.T) {
	for i, c := range conversions[:len(conversions)/2] {
		back := conversions[len(conversions)/2+i]
		if back.from != c.to || back.to != c.from {
			t.Fatalf("%+v, %+v", c, back)
		}
		if v := (37*c.multiply+c.add)*back.multiply + back.add; math.Abs(v-37) > 1e-9 {
			t.Errorf("%s: %v", c.of[0], v)
		}
	}
	for _, c := range []struct {
		of, from string
		v, want  float64
	}{{"temp", "°F", 98.6, 37}, {"creatinine", "mg/dL", 1, 88.4}, {"height", "in", 70, 177.8}, {"weight", "lb", 100, 45.359237}, {"glucose", "mmol/L", 5.5, 99.1}, {"hba1c", "%", 7, 53}} {
		at := slices.IndexFunc(conversions, func(k conversion) bool { return slices.Contains(k.of, c.of) && k.from == c.from })
		if v := c.v*conversions[at].multiply + conversions[at].add; math.Abs(v-c.want) > 0.006*c.want {
			t.Errorf("%v %s of %s are %v, want %v", c.v, c.from, c.of, v, c.want)
		}
	}
}

// Forms of cells that are no numbers.
func TestNotNumber(t *testing.T) {
	for cell, want := range map[string]string{
		"1,5": isComma, "-12,25": isComma, "1234,567": isComma, "41.5": isPoint, "-1234.125": isPoint, "1.234": isGrouped, "0,125": isComma, "1,234": isEither, "-12,345": isEither, "1 234.5": isGrouped, "1'234": isGrouped, "1.234,5": isGrouped, "1,234,567": isGrouped,
		"(49.5)": isSigned, "(1,234)": isSigned, "15,4-": isSigned, "\u22125": isSigned, "\u20135.5": isSigned, "(5": isText, "()": isText, "(-5)": isText, "5--": isText, "\u2212": isText,
		"44.72\u00a0": isPadded, "\u202f1,5": isPadded, "74.66 €": isMeasured, "€ 12": isMeasured, "$1,234.50": isMeasured, "$": isText,
		"27.1 kg/m²": isMeasured, "5%": isMeasured, "38°C": isMeasured, "12mg": isMeasured, "<5": isCompared, "> 100": isCompared, "≤0,3": isCompared, "~7": isCompared,
		"2024-05-31": isDate, "31.05.2024": isDate, "5/31/24": isDate, "2024-05-31 12:00": isDate, "NULL": isStand, "n/a": isStand, "-": isStand, ".": isStand, "#N/A": isStand,
		"k. A.": isStand, "N. a.": isStand, "keine Angabe": isStand, "<NA>": isStand, "#NV": isStand, "kA": isText, "inf": isInfinite, "-Infinity": isInfinite,
		"yes": isTruth, "FALSE": isTruth, "male": isText, "12 Main Street, Springfield": isText, "<": isText, "+": isText, "é": isText, "a1": isText, "\u00a0": isText,
	} {
		if got, _ := notNumber(cell); got != want {
			t.Errorf("%q is %q, want %q", cell, got, want)
		}
	}
}

// FuzzCell: any text has a kind.
func FuzzCell(f *testing.F) {
	for _, cell := range []string{"1,5", "1.5", "1,234", "(5)", "$5", "\u22125", "<5", "27 kg", "2024-05-31", "\u00a0", "-", "<", "1 "} {
		f.Add(cell)
	}
	kinds := []string{isText, isStand, isComma, isGrouped, isEither, isPoint, isSigned, isPadded, isCompared, isMeasured, isDate, isTruth, isInfinite}
	f.Fuzz(func(t *testing.T, cell string) {
		kind, stand := notNumber(cell)
		if !slices.Contains(kinds, kind) || (stand != "") != (kind == isStand) {
			t.Errorf("%q is %q, %q", cell, kind, stand)
		}
		near(cell, []string{cell, "age"})
		if quoted := quote(cell); strings.ContainsAny(quoted, "\n\r") {
			t.Errorf("%q", quoted)
		}
	})
}

// A typed file has no faults of text: columns that are no numbers are named, and the rest is read.
func TestProfileOfParquet(t *testing.T) {
	type row struct {
		Age  float64  `parquet:"age"`
		Word string   `parquet:"word"`
		Lab  *float64 `parquet:"lab,optional"`
		ID   string   `parquet:"id"`
		Sex  string   `parquet:"sex"`
		Ill  bool     `parquet:"ill"`
		Cost int64    `parquet:"cost,decimal(2:9)"`
	}
	var rows []row
	for i := range 80 {
		v := float64(i)
		r := row{Age: 30 + v, Word: "x", ID: fmt.Sprint(i / 2), Lab: &v, Sex: "F"}
		if i%8 == 0 {
			r.Lab = nil
		}
		rows = append(rows, r)
	}
	dir := t.TempDir()
	if err := parquet.WriteFile(filepath.Join(dir, "icu.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	c, d := site(t, dir, "icu.parquet", "", "unit = \"id\"\n[dataset.columns]\nlab = { multiply = 2 }\n")
	spec := &proposal.Spec{Missing: proposal.MissingError, Columns: []proposal.Column{{Name: "age", Offset: 70, Scale: 20}, {Name: "lab", Offset: 80, Scale: 50}, {Name: "word", Scale: 1}, {Name: "bmi", Scale: 1},
		{Name: "sex", Levels: []string{"F"}}, {Name: "ill", As: proposal.AsBoolean, Scale: 1}, {Name: "cost", Levels: []string{"7"}}}}
	r, err := Of(c, d, spec, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows != 80 || r.Units != 40 || r.Lines {
		t.Errorf("%+v", r)
	}
	var said []string
	for _, f := range r.Faults {
		said = append(said, f.String(r.Lines))
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{`column "bmi": none of the header's 7 fields has this name`, `column "word": `, `column "cost": `, `column "lab": missing value, 10 times, first at row 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not said:\n%s", want, text)
		}
	}
	for _, fine := range []string{`"sex"`, `"ill"`} { // which the study reads as they are
		if strings.Contains(text, fine) {
			t.Errorf("%s is said to be at fault:\n%s", fine, text)
		}
	}
	if q := r.Columns[slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == "lab" })].Quantiles; len(q) != 5 || q[2] < 70 || q[2] > 90 {
		t.Errorf("of the converted column: %v", q)
	}
}

// Names that are near, the nearest first; a value where a name should be is not one.
func TestNear(t *testing.T) {
	header := []string{"Age (years)", "AGE_AT_ADMISSION", "Kreatinin", "Größe [cm]", "41.5", "sex", "Geschlecht", "temperature", "\u200bhr\u00a0"}
	for name, want := range map[string][]string{
		"age": {"Age (years)", "AGE_AT_ADMISSION"}, "creatinine": {"Kreatinin"}, "height_cm": {"Größe [cm]"}, "41": nil, "temp_c": {"temperature"}, "potassium": nil, "hr": {"\u200bhr\u00a0"},
	} {
		if got := near(name, header); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A study that learns its constants has its range of plausible values for a unit, and its measure
// says which one a factor may lead to.
func TestUnitsByRange(t *testing.T) {
	var text strings.Builder
	text.WriteString("glucose,hba1c\n")
	for i := range 100 {
		fmt.Fprintf(&text, "%d,%d\n", 80+i%40, 30+i%20)
	}
	spec := &proposal.Spec{Missing: proposal.MissingError, Standardize: proposal.StandardizePrivate, Columns: []proposal.Column{
		{Name: "glucose", Scale: 1, Standardize: proposal.StandardizePrivate, Measure: "mmol/L", Range: []float64{3, 9}},
		{Name: "hba1c", Scale: 1, Standardize: proposal.StandardizePrivate},
	}}
	paste := strings.Join(profiled(t, text.String(), "", spec).Paste, "\n")
	if !strings.Contains(paste, "glucose = { multiply = 0.0555062166962") || strings.Contains(paste, "hba1c") {
		t.Error(paste)
	}
	if spec.Columns[0].Measure = "mg/dL"; len(profiled(t, text.String(), "", spec).Paste) != 0 {
		t.Error("a factor leads to another unit than the study's")
	}
}

// A matrix of numbers has no header of its own and no text.
func TestProfileOfMatrix(t *testing.T) {
	head := "{'descr': '<f8', 'fortran_order': False, 'shape': (60, 2), }"
	raw := []byte("\x93NUMPY\x01\x00\x76\x00" + head + strings.Repeat(" ", 117-len(head)) + "\n")
	for i := range 60 {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(float64(i)+0.5))
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(math.NaN()))
	}
	dir := t.TempDir()
	c, d := site(t, dir, "icu.npy", string(raw), "names = [\"age\", \"lab\"]\n")
	r, err := Of(c, d, nil, dataset.ReadOptions{})
	if err != nil || r.Rows != 60 || len(r.Columns) != 2 || r.Columns[0].Values != 60 || r.Columns[1].Missing != 60 || len(r.Columns[0].Quantiles) != 5 {
		t.Fatalf("%+v, %v", r, err)
	}
	if text := fmt.Sprint(r.Look); !strings.Contains(text, "no cell has a value") {
		t.Error(text)
	}
	// A number that names or missing_values make missing is shown so, in an array as in a file: by
	// names first. Without a study, a name that is no number may be a level's.
	for file, text := range map[string]string{"icu.npy": string(raw), "icu.csv": "age,lab\n0.50,1\n1.5,1\n2.5,1\n3.50,1\n4.5,1\n"} {
		keys := "missing_values = [\"2.5\", \"4.5\"]\n[dataset.columns]\nage = { names = { \"0.5\" = \"NA\", \"1.50\" = \"7\", \"3.5\" = \"F\", \"4.50\" = \"4\" } }\n"
		if file == "icu.npy" {
			keys = "names = [\"age\", \"lab\"]\n" + keys
		}
		c, d = site(t, t.TempDir(), file, text, keys)
		if r, err = Of(c, d, nil, dataset.ReadOptions{}); err != nil || r.Columns[0].Missing != 2 || r.Columns[0].Values != r.Rows-2 {
			t.Errorf("%s: %+v, %v", file, r, err)
		}
	}
	// Without names it has none of a study's columns, and agent.toml can name them.
	c, d = site(t, t.TempDir(), "icu.npy", string(raw), "unit = \"person\"\n")
	spec, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"icu\"\nepsilon = 1\ndelta = 1e-6\nunit = \"person\"\nstandardize = \"private\"\ncolumns = [\"age\", \"lab\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Of(c, d, &spec, dataset.ReadOptions{}); err != nil || len(r.Faults) != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, f := range r.Faults {
		if !strings.Contains(f.Do, "names = [") {
			t.Errorf("%+v", f)
		}
	}
}

// A column of levels whose cells cannot be read is not said to be in order.
func TestTypedDamage(t *testing.T) {
	type row struct {
		Age int64  `parquet:"age"`
		Sex string `parquet:"sex"`
	}
	rows := slices.Repeat([]row{{40, "female female female"}, {50, "male male male male"}}, 20)
	dir := t.TempDir()
	file := filepath.Join(dir, "icu.parquet")
	if err := parquet.WriteFile(file, rows); err != nil {
		t.Fatal(err)
	}
	c, d := site(t, dir, "icu.parquet", "", "")
	spec := &proposal.Spec{Missing: proposal.MissingError, Columns: []proposal.Column{{Name: "age", Scale: 1}, {Name: "sex", Levels: []string{"F"}}}}
	if r, err := Of(c, d, spec, dataset.ReadOptions{}); err != nil || r.Rows != 40 {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(raw, []byte("female female"))
	raw[at-1] = 0x7f // a text's length
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Of(c, d, spec, dataset.ReadOptions{}); err == nil {
		t.Errorf("of a damaged column: %+v", r.Columns)
	}
}
