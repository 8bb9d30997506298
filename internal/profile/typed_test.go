package profile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// held is a row whose types are those of a typed source; a nil is null.
type held struct {
	Unit  string  `parquet:"person"`
	Sex   *string `parquet:"sex,optional"`
	Code  *int64  `parquet:"code,optional"`
	Ill   *string `parquet:"ill,optional"`
	Well  *bool   `parquet:"well,optional"`
	Seen  *string `parquet:"seen,optional"`
	Dated *int32  `parquet:"dated,optional,date"`
	Twin  *string `parquet:"twin,optional"`
}

// record is the row as a text file has it.
func (h held) record() []string {
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	out := []string{h.Unit, text(h.Sex), "", text(h.Ill), "", text(h.Seen), "", text(h.Twin)}
	if h.Code != nil {
		out[2] = strconv.FormatInt(*h.Code, 10)
	}
	if h.Well != nil {
		out[4] = strconv.FormatBool(*h.Well)
	}
	if h.Dated != nil {
		out[6] = time.Unix(int64(*h.Dated)*86400, 0).UTC().Format(time.DateOnly)
	}
	return out
}

var place = regexp.MustCompile(`at (?:line|row) \d+`)

// told is a report without what counts rows in another way.
func told(t rapid.TB, r *Report, lines int) string {
	for i := range r.Faults {
		r.Faults[i].First -= lines
	}
	r.Lines = false
	out, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return place.ReplaceAllStringFunc(string(out), func(at string) string {
		n, err := strconv.Atoi(at[strings.LastIndexByte(at, ' ')+1:])
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint("at ", n-lines)
	})
}

// TestTypedLikeText: columns that a study reads as levels, as true or false, or as dates are told
// of alike, whether a text file or a typed one holds the table.
func TestTypedLikeText(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte(`
name = "s"
dataset = "icu"
epsilon = 1
delta = 1e-6
unit = "person"
standardize = "private"
missing = "fill"
columns = [
  { name = "sex", levels = ["F", "M"] }, { name = "code", levels = ["1", "2"] },
  { name = "ill", as = "boolean" }, { name = "well", as = "boolean" },
  { name = "twin", levels = ["F", "M"] },
  { name = "seen", as = "days since 2000-01-01" }, { name = "dated", as = "days since 2000-01-01" },
]
`))
	if err != nil {
		t.Fatal(err)
	}
	dir, unread, levels := t.TempDir(), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		some := func(label string, texts ...string) func() *string {
			texts = rapid.SliceOfNDistinct(rapid.SampledFrom(texts), 1, 3, rapid.ID).Draw(t, label)
			one := rapid.SampledFrom(append(texts, ""))
			return func() *string {
				if v := one.Draw(t, label); v != "" {
					return &v
				}
				return nil
			}
		}
		sex, ill := some("sex", "F", "M", "f", "Male", "NULL", "k.A.", "9", "-9", "NA", " F "), some("ill", "ja", "nein", "yes", "0", "n/a", "9")
		seen := some("seen", "2024-05-31", "31.05.2024", "1.6.2024", "05/31/2024", "9999-12-31", "unknown", "2024-05-31 08:30")
		var rows []held
		n, odd := rapid.IntRange(40, 80).Draw(t, "rows"), rapid.Bool().Draw(t, "twins")
		for i := range n {
			h := held{Unit: fmt.Sprint("p", i), Sex: sex(), Ill: ill(), Seen: seen()}
			if h.Twin = h.Sex; odd && i == n/2 {
				h.Twin = nil
			}
			if v := rapid.Int64Range(-1, 3).Draw(t, "code"); v >= 0 {
				h.Code = &v
			}
			if v := rapid.IntRange(0, 2).Draw(t, "well"); v < 2 {
				well := v == 1
				h.Well = &well
			}
			if v := rapid.SampledFrom([]int32{0, 19000, 19001, 2932896}).Draw(t, "dated"); v > 0 {
				h.Dated = &v
			}
			rows = append(rows, h)
		}
		if err := parquet.WriteFile(filepath.Join(dir, "icu.parquet"), rows); err != nil {
			t.Fatal(err)
		}
		records := [][]string{{"person", "sex", "code", "ill", "well", "seen", "dated", "twin"}}
		for _, h := range rows {
			records = append(records, h.record())
		}
		var file bytes.Buffer
		if err := csv.NewWriter(&file).WriteAll(records); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "icu.csv"), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		keys := "unit = \"person\"\n" + rapid.SampledFrom([]string{"", `missing_values = ["9999-12-31", "9", "k.A."]` + "\n"}).Draw(t, "missing") +
			"[dataset.columns]\nwell = { names = { \"true\" = \"yes\" } }\n" + rapid.SampledFrom([]string{"", `sex = { names = { "Male" = "M", "9" = "F" } }` + "\n"}).Draw(t, "names") +
			rapid.SampledFrom([]string{"", `code = { names = { "1" = "2", "3" = "1" } }` + "\n"}).Draw(t, "codes") +
			rapid.SampledFrom([]string{"", `seen = { dates = "DD.MM.YYYY" }` + "\n", `seen = { dates = "MM/DD/YYYY" }` + "\n"}).Draw(t, "form")
		form := rapid.SampledFrom([]string{"", `dated = { dates = "DD.MM.YYYY" }` + "\n"}).Draw(t, "of a type") // which has none
		text, typed := of(t, dir, "icu.csv", keys, &spec), of(t, dir, "icu.parquet", keys+form, &spec)
		for _, f := range typed.Faults {
			unread += f.Count
		}
		for _, c := range typed.Columns {
			levels += len(c.Levels)
		}
		if text, typed := told(t, text, 1), told(t, typed, 0); text != typed {
			t.Fatalf("of a text file:\n%s\nof a typed one:\n%s", text, typed)
		}
	})
	if unread == 0 || levels == 0 {
		t.Errorf("%d cells that cannot be read and %d texts in all", unread, levels)
	}
}

func of(t rapid.TB, dir, file, keys string, spec *proposal.Spec) *Report {
	c, err := siteconfig.Parse([]byte(config(file, keys)), filepath.Join(dir, siteconfig.File))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := c.Dataset("icu")
	r, err := Of(c, d, spec, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCodeOfATypedColumn: a code that is another column's value has a line of the one column, which
// the study reads as it reads a text file's.
func TestCodeOfATypedColumn(t *testing.T) {
	type row struct {
		Sys  int64   `parquet:"sys"`
		Cost float64 `parquet:"cost"`
	}
	var rows []row
	for i := range 2000 {
		r := row{100 + int64(i%40), float64(i * 7 % 2000)}
		if i%20 == 0 {
			r.Sys = 999
		}
		rows = append(rows, r)
	}
	dir := t.TempDir()
	if err := parquet.WriteFile(filepath.Join(dir, "icu.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	line := `sys = { names = { "999" = "NA" } }`
	if r := of(t, dir, "icu.parquet", "", nil); !slices.Contains(r.Paste, "# "+line+"  # if these stand for a missing value in this column") {
		t.Errorf("no line: %q", r.Paste)
	}
	r := of(t, dir, "icu.parquet", "[dataset.columns]\n"+line+"\n", nil)
	if c := r.Columns[0]; c.Missing != 100 || r.Columns[1].Missing != 0 || len(r.Look) > 0 {
		t.Errorf("with the line: %+v, %v", c, r.Look)
	}
}
