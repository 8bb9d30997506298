package doctor

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"covey/internal/dataset"
	"covey/internal/profile"
	"covey/internal/siteconfig"
)

// messyRows have 60 patients who come twice each, in the columns patient_id, age, height_cm,
// weight_kg, temp_c, creatinine and sex.
const messyRows = 120

// messyTable is the table in order; cell changes one of its cells.
func messyTable(cell func(row int, column, value string) string) string {
	names := []string{"patient_id", "age", "height_cm", "weight_kg", "temp_c", "creatinine", "sex"}
	var text strings.Builder
	text.WriteString(strings.Join(names, ",") + "\n")
	for i := range messyRows {
		p := i / 2
		values := []string{
			fmt.Sprintf("P%03d", p), fmt.Sprint(22 + p), fmt.Sprintf("%d.5", 150+(p*37)%45), fmt.Sprintf("%d.25", 52+(p*53)%50),
			fmt.Sprintf("%.1f", 36.2+float64((i*7)%16)/10), fmt.Sprint(55 + (i*29)%75), fmt.Sprint(p % 2),
		}
		for j, v := range values {
			if cell != nil {
				v = cell(i, names[j], v)
			}
			values[j] = v
		}
		text.WriteString(strings.Join(values, ",") + "\n")
	}
	return text.String()
}

// at changes the cells of one column: in row, or in all rows if it is negative.
func at(row int, column, value string) func(int, string, string) string {
	return func(i int, name, v string) string {
		if name == column && (i == row || row < 0) {
			return value
		}
		return v
	}
}

func mapped(column string, f func(v string) string) func(int, string, string) string {
	return func(_ int, name, v string) string {
		if name == column {
			return f(v)
		}
		return v
	}
}

const messyStudy = `name = "s"
dataset = "icu"
epsilon = 1.0
delta = 1e-6
missing = "error"
columns = [
 { name = "age", offset = 50, scale = 15 },
 { name = "height_cm", offset = 172, scale = 12 },
 { name = "weight_kg", offset = 76, scale = 14 },
 { name = "temp_c", offset = 37, scale = 0.5 },
 { name = "creatinine", offset = 90, scale = 22 },
]
`

// messy is one of the files that sites have.
type messy struct {
	name  string
	text  string // of icu.csv
	keys  string // of the data set in agent.toml, which make it acceptable
	study string // in place of messyStudy
	// fails is in the failing line of agent check; empty: the file is accepted as it is.
	fails string
	// says are words of the profile's faults and remarks, which agent check prints, too.
	says []string
	// hides are values that agent check, whose output goes to logs, does not print.
	hides []string
	// paste are lines that the profile proposes.
	paste []string
	// accepts reports that with keys (and study) agent check finds nothing to fail.
	accepts bool
}

func europe(v string) string {
	v = strings.ReplaceAll(v, ",", ";")
	return strings.ReplaceAll(v, ".", ",")
}

func latin(t *testing.T, v string) string {
	out, err := charmap.ISO8859_1.NewEncoder().String(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func dropping(s string) string { return strings.Replace(s, `"error"`, `"drop-row"`, 1) }

// messies are the files of the first hours of a site, each with what it must be told.
func messies(t *testing.T) []messy {
	plain := messyTable(nil)
	header, rest, _ := strings.Cut(plain, "\n")
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(plain)
	if err != nil {
		t.Fatal(err)
	}
	sexed := strings.Replace(messyStudy, "\n]", "\n { name = \"sex\", offset = 0.5, scale = 0.5 },\n]", 1)
	withUnit := `unit = "patient_id"` + "\n"
	unitStudy := strings.Replace(messyStudy, "dataset =", "unit = \"patient_id\"\ndataset =", 1)
	german := strings.NewReplacer("patient_id", "Fall-Nr", "age", "Alter", "height_cm", "Größe [cm]", "weight_kg", "Gewicht", "temp_c", "Temperatur", "creatinine", "Kreatinin", "sex", "Geschlecht").Replace(header)
	standing := func(word string) messy {
		return messy{
			name: "a word for missing: " + word, text: messyTable(at(4, "creatinine", word)), fails: `line 6, column "creatinine": not a number`,
			says:  []string{`column "creatinine": not a number: stands for a missing value, 1 time, first at line 6; name it in missing_values`},
			paste: []string{fmt.Sprintf("missing_values = [%q]", word)},
			keys:  fmt.Sprintf("missing_values = [%q]\n", word), study: dropping(messyStudy), accepts: true,
		}
	}
	dated := func(form, proposed string) messy {
		text := messyTable(func(i int, c, v string) string {
			if c == "sex" {
				return time.Date(2024, 1, 1+i, 8, 0, 0, 0, time.UTC).Format(form)
			}
			return v
		})
		return messy{
			name: "dates as " + form, text: text, says: []string{`column "sex": not a date such as 2024-05-31: taken as missing, 120 times, first at line 2; dates = "` + proposed + `" of the column`},
			paste: []string{`sex = { dates = "` + proposed + `" }  # if all of the column's dates are written so`}, keys: "[dataset.columns]\nsex = { dates = \"" + proposed + "\" }\n",
			study: strings.Replace(messyStudy, "\n]", "\n { name = \"sex\", offset = 8800, scale = 100, as = \"days since 2000-01-01\" },\n]", 1), accepts: true,
			fails: `line 2, column "sex": the value is missing`,
		}
	}
	return []messy{
		{name: "in order", text: plain},
		dated("02.01.2006", "DD.MM.YYYY"), dated("1/2/2006 3:04 PM", "MM/DD/YYYY"), dated("2/1/2006", "DD/MM/YYYY"), dated("2006/01/02 15:04", "YYYY/MM/DD"),
		{name: "byte order mark", text: "\ufeff" + plain},
		{name: "CRLF", text: strings.ReplaceAll(plain, "\n", "\r\n")},
		{name: "spaces around names", text: strings.ReplaceAll(header, ",", " , ") + "\n" + rest},
		{name: "UTF-16", text: utf16, fails: "line 1: the file is UTF-16; save it as UTF-8", paste: []string{`encoding = "utf-16"`}, keys: "encoding = \"utf-16\"\n", accepts: true},
		{
			name: "Latin-1 header", text: latin(t, strings.Replace(header, "age", "âge", 1)+"\n"+rest), fails: `column "age": none of the header's 7 fields has this name`,
			says:  []string{"looks like windows-1252", `column "age": none of the header's 7 fields has this name; near: "âge"`},
			paste: []string{`encoding = "windows-1252"`, `age = "âge"`}, keys: "encoding = \"latin-1\"\n[dataset.columns]\nage = \"âge\"\n", accepts: true,
		},
		{
			name: "semicolons", text: strings.ReplaceAll(plain, ",", ";"), fails: "the header is one field with another name; fields are separated by commas",
			says: []string{`fields are separated by ";"`}, paste: []string{`separator = ";"`}, keys: "separator = \";\"\n", accepts: true,
		},
		{
			name: "tabs", text: strings.ReplaceAll(plain, ",", "\t"), fails: "the header is one field with another name; fields are separated by commas",
			says: []string{`fields are separated by "tab"`}, paste: []string{`separator = "tab"`}, keys: "separator = \"tab\"\n", accepts: true,
		},
		{
			name: "semicolons and decimal commas", text: europe(plain), fails: "the header is one field with another name",
			says: []string{`fields are separated by ";"`, "numbers have a decimal comma"}, paste: []string{`separator = ";"`, `decimal = ","`}, keys: "separator = \";\"\ndecimal = \",\"\n", accepts: true,
		},
		{
			name: "a decimal comma in some cells", text: messyTable(func(i int, c, v string) string {
				if c == "weight_kg" && i%40 == 4 {
					return `"` + strings.Replace(v, ".", ",", 1) + `"`
				}
				return v
			}), fails: `line 6, column "weight_kg": not a number`,
			says: []string{`column "weight_kg": not a number: decimal comma, 3 times, first at line 6`}, study: dropping(messyStudy), accepts: true,
		},
		{
			name: "comparisons, thousands and units", text: messyTable(func(i int, c, v string) string {
				switch {
				case c == "creatinine" && i >= 110:
					return "<5"
				case c == "weight_kg" && i == 7:
					return "1 234.5"
				case c == "weight_kg" && i == 8:
					return "27.1 kg/m²"
				}
				return v
			}), fails: `line 9, column "weight_kg": not a number`,
			says: []string{
				`column "weight_kg": not a number: mark between thousands, 1 time, first at line 9`, `column "weight_kg": not a number: number with a unit, 1 time, first at line 10`,
				`column "creatinine": not a number: comparison, such as <5, 10 times, first at line 112`,
			}, study: dropping(messyStudy), accepts: true,
		},
		{
			name: "thousands", text: messyTable(mapped("creatinine", func(v string) string { return "1 0" + v[len(v)-2:] })), study: strings.Replace(messyStudy, "offset = 90", "offset = 1050", 1),
			fails: `line 2, column "creatinine": not a number`, says: []string{`thousands are marked by " "; agent.toml does not say so`}, paste: []string{`thousands = " "`}, keys: "thousands = \" \"\n", accepts: true,
		},
		{
			name: "thousands in some cells", text: messyTable(func(i int, c, v string) string {
				if c == "creatinine" && i%30 == 4 {
					return "1 0" + v[len(v)-2:]
				}
				return v
			}), study: dropping(messyStudy),
			says: []string{`thousands are marked by " "; agent.toml does not say so`}, paste: []string{`thousands = " "`}, keys: "thousands = \" \"\n", accepts: true,
		},
		{
			name: "sex as letters", text: messyTable(mapped("sex", func(v string) string { return map[string]string{"0": "M", "1": "F"}[v] })), study: sexed, fails: `line 2, column "sex": not a number`,
			says: []string{`column "sex": not a number: text, 120 times, first at line 2; names = { ... } of the column`}, keys: "[dataset.columns]\nsex = { names = { \"M\" = \"0\", \"F\" = \"1\" } }\n", accepts: true,
		},
		{
			name: "missing", text: messyTable(at(150-2-20, "creatinine", "")) + "P070,40,170.5,70.25,36.6,,1\n", fails: `line 122, column "creatinine": the value is missing`,
			says: []string{`column "creatinine": missing value, 1 time, first at line 122; ask for missing = "drop-row" in the study`}, study: dropping(messyStudy), accepts: true,
		},
		standing("NULL"), standing("n/a"), standing("-"), standing("."), standing("#N/A"),
		{name: "duplicate header", text: strings.Replace(plain, "temp_c", "age", 1), fails: "line 1: fields 2 and 5 of the header are the same"},
		{
			name: "short rows", text: plain + "P070,40\nP071,41\n", fails: "line 122: 2 fields, the header has 7",
			says: []string{"2 fields, the header has 7, 2 times, first at line 122"},
		},
		{name: "blank line", text: header + "\n\n" + rest, fails: "line 2: a blank line", says: []string{"a blank line, 1 time, first at line 2"}},
		{
			name: "preamble", text: "Export of the ICU\nprinted 2024-05-31\n" + plain, fails: "line 1, column \"age\": the header is one field with another name",
			says: []string{"the header is on line 3"}, paste: []string{"skip_rows = 2"}, keys: "skip_rows = 2\n", accepts: true,
		},
		{name: "empty", text: "", fails: "the file is empty"},
		{name: "header only", text: header + "\n", fails: "no rows follow the header"},
		{
			name: "footer", text: plain + "TOTAL,5000,20000.5,9000.25,4000.1,9999,\n", keys: "skip_last = 1\n", accepts: true,
			says: []string{"the last record looks like sums or notes, and every one counts as a row"}, paste: []string{"skip_last = 1  # if they are not rows"},
		},
		{name: "patients twice", text: plain, says: []string{`column "patient_id": looks like an id, and unit is not set: 60 different ones in 120 rows`}},
		{name: "patients as units", text: plain, keys: withUnit, study: unitStudy, accepts: true},
		{name: "a constant column", text: messyTable(at(-1, "temp_c", "37.0")), says: []string{`column "temp_c" has the same value in every row`}},
		{
			name: "a column twice, and a mark between thousands", text: messyTable(func(i int, c, v string) string {
				switch c {
				case "height_cm":
					return fmt.Sprint(22 + i/2)
				case "creatinine":
					return fmt.Sprintf("%d.%03d", 1+i%9, 100+i)
				case "weight_kg", "temp_c":
					return fmt.Sprint(40 + i%50)
				}
				return v
			}), says: []string{`column "height_cm": has the same cells as age in every row`, `column "creatinine": every "." comes before the last three digits`},
		},
		{
			name: "codes and outliers", text: messyTable(func(i int, c, v string) string {
				switch {
				case c == "creatinine" && i%50 == 3:
					return "-9"
				case c == "weight_kg" && i == 9:
					return "99999"
				case c == "height_cm" && i == 11:
					return "1e12"
				}
				return v
			}), says: []string{
				`column "creatinine": numbers that often stand for a missing value`,
				`column "weight_kg": numbers that often stand for a missing value`, `column "height_cm" has one value more than 100 scales away`,
			}, hides: []string{"99999", "-9"}, paste: []string{`# missing_values = ["99999", "-9"]  # if these numbers stand for one`}, keys: "missing_values = [\"-9\", \"99999\"]\n", study: dropping(messyStudy), accepts: true,
		},
		{name: "columns that nobody asks for", text: messyTable(at(-1, "sex", `"a note, with ""quotes"""`))},
		{
			name: "meters and Fahrenheit", text: messyTable(func(i int, c, v string) string {
				var x float64
				fmt.Sscan(v, &x)
				switch c {
				case "height_cm":
					return fmt.Sprintf("%.3f", x/100)
				case "temp_c":
					return fmt.Sprintf("%.2f", x*1.8+32)
				}
				return v
			}), says: []string{`column "height_cm": looks like m where the study expects cm`, `column "temp_c": looks like °F where the study expects °C`},
			paste: []string{"height_cm = { multiply = 100 }  # if it is in m", "temp_c = { multiply = 0.5555555555555556, add = -17.77777777777778 }  # if it is in °F"},
			keys:  "[dataset.columns]\nheight_cm = { multiply = 100 }\ntemp_c = { multiply = 0.5555555555555556, add = -17.77777777777778 }\n", accepts: true,
		},
		{
			name: "creatinine in mg/dL", text: messyTable(mapped("creatinine", func(v string) string {
				var x float64
				fmt.Sscan(v, &x)
				return fmt.Sprintf("%.3f", x/88.4)
			})), says: []string{`column "creatinine": looks like mg/dL where the study expects µmol/L`},
			paste: []string{"creatinine = { multiply = 88.4 }  # if it is in mg/dL"}, keys: "[dataset.columns]\ncreatinine = { multiply = 88.4 }\n", accepts: true,
		},
		{
			name: "other names", text: strings.NewReplacer("age", "Age (years)", "height_cm", "Height [cm]").Replace(header) + "\n" + rest, fails: `column "age": none of the header's 7 fields has this name`,
			says:  []string{`column "age": none of the header's 7 fields has this name; near: "Age (years)"`, `column "height_cm": none of the header's 7 fields has this name; near: "Height [cm]"`},
			paste: []string{`age = "Age (years)"`, `height_cm = "Height [cm]"`}, keys: "[dataset.columns]\nage = \"Age (years)\"\nheight_cm = { from = \"Height [cm]\" }\n", accepts: true,
		},
		{
			name: "a German export", text: latin(t, "Station 3;;;;;;\r\n"+strings.ReplaceAll(german, ",", ";")+"\r\n"+europe(strings.ReplaceAll(rest, "\n", "\r\n"))+"Summe;;;;;;\r\n"), fails: "the header is one field with another name",
			says:  []string{`near: "Alter"`, `near: "Größe [cm]"`, `near: "Gewicht"`, `near: "Kreatinin"`, `column "Fall-Nr": looks like an id, and unit is not set`},
			paste: []string{`separator = ";"`, `decimal = ","`, `encoding = "windows-1252"`, "skip_rows = 1", "skip_last = 1  # if they are not rows", `creatinine = "Kreatinin"`},
			keys: "separator = \";\"\ndecimal = \",\"\nencoding = \"latin-1\"\nskip_rows = 1\nskip_last = 1\n[dataset.columns]\nage = \"Alter\"\nheight_cm = \"Größe [cm]\"\nweight_kg = \"Gewicht\"\n" +
				"temp_c = \"Temperatur\"\ncreatinine = \"Kreatinin\"\n", accepts: true,
		},
	}
}

// messySite is a site with one data set.
func messySite(t *testing.T, name, text, keys string) *siteconfig.Config {
	t.Helper()
	dir := t.TempDir()
	config := "site = \"a\"\ncoordinator = [\"127.0.0.1:1\"]\n[[population]]\nname = \"p\"\ncap_rho = 0.5\n[[dataset]]\nname = \"icu\"\npopulation = \"p\"\npath = \"" + name + "\"\n" + keys
	for file, content := range map[string]string{siteconfig.File: config, name: text} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := siteconfig.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEncodingOfLevels: letters of another encoding make a level another text, however rare, and a
// boolean that agent.toml names a missing one. No number is either.
func TestEncodingOfLevels(t *testing.T) {
	text := latin(t, messyTable(func(i int, c, v string) string {
		if c == "sex" && i == 3 {
			return "männlich"
		} else if c == "sex" {
			return "weiblich"
		}
		return v
	}))
	leveled := strings.Replace(messyStudy, "\n]", "\n { name = \"sex\", levels = [\"männlich\", \"weiblich\"] },\n]", 1)
	boolean := dropping(strings.Replace(messyStudy, "\n]", "\n { name = \"sex\", as = \"boolean\", offset = 0.5, scale = 1 },\n]", 1))
	named := "[dataset.columns]\nsex = { names = { \"männlich\" = \"true\", \"weiblich\" = \"false\" } }\n"
	for _, c := range []struct {
		study, keys string
		want        bool
	}{{boolean, named, true}, {boolean, "encoding = \"latin-1\"\n" + named, false}, {leveled, "", true}, {messyStudy, "", false}, {leveled, "encoding = \"latin-1\"\n", false}} {
		said := false
		for _, f := range CheckStudy(messySite(t, "icu.csv", text, c.keys), []byte(c.study)) {
			said = said || strings.Contains(f.Result, "the file is not UTF-8 and looks like windows-1252")
			if f.Err != nil {
				t.Error(f.Err)
			}
		}
		if said != c.want {
			t.Errorf("with %q and levels %t: said %t", c.keys, c.study == leveled, said)
		}
	}
}

// TestMessyFiles: each table that a site may have is accepted, or refused in a line that names the
// place. A refusal comes with all other faults and with the lines of agent.toml that mend them.
// With those lines the table is accepted.
func TestMessyFiles(t *testing.T) {
	count := 0
	for _, m := range messies(t) {
		count++
		t.Run(m.name, func(t *testing.T) {
			study := m.study
			if study == "" || m.fails != "" && m.accepts && strings.Contains(study, "drop-row") {
				study = messyStudy
			}
			c := messySite(t, "icu.csv", m.text, "")
			if strings.Contains(study, "unit =") {
				c = messySite(t, "icu.csv", m.text, m.keys)
			}
			found := CheckStudy(c, []byte(study))
			var all []string
			failed := ""
			for _, f := range found {
				all = append(all, f.Result, f.Do)
				if f.Err != nil && failed == "" {
					failed = f.Result
				}
			}
			printed := strings.Join(all, "\n")
			if (failed != "") != (m.fails != "") || !strings.Contains(failed, m.fails) {
				t.Errorf("agent check fails with %q, want %q", failed, m.fails)
			}
			for _, want := range m.says {
				if !strings.Contains(printed, want) {
					t.Errorf("agent check does not say %q but\n%s", want, printed)
				}
			}
			for _, value := range m.hides {
				if strings.Contains(printed, value) {
					t.Errorf("agent check prints the value %s:\n%s", value, printed)
				}
			}
			spec, _, err := ReadStudy([]byte(study))
			if err != nil {
				t.Fatal(err)
			}
			d, _ := c.Dataset("icu")
			report, err := profile.Of(c, d, &spec, dataset.ReadOptions{})
			if err == nil {
				for _, want := range m.paste {
					if !strings.Contains("\n"+strings.Join(report.Paste, "\n")+"\n", "\n"+want+"\n") {
						t.Errorf("the profile does not propose %q but\n%s", want, strings.Join(report.Paste, "\n"))
					}
				}
			} else if len(m.paste) > 0 {
				t.Error(err)
			}
			if !m.accepts {
				return
			}
			if study = m.study; study == "" {
				study = messyStudy
			}
			for _, f := range CheckStudy(messySite(t, "icu.csv", m.text, m.keys), []byte(study)) {
				if f.Err != nil {
					t.Errorf("with the lines it is not accepted: %+v", f)
				}
			}
			// packed, it is the same table
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write([]byte(m.text))
			z.Close()
			if found := CheckStudy(messySite(t, "icu.csv.gz", packed.String(), m.keys), []byte(study)); found[0].Err != nil {
				t.Errorf("packed it is not accepted: %+v", found[0])
			}
		})
	}
	t.Logf("figure: %d messy files", count)
	if count < 30 {
		t.Error("fewer than thirty")
	}
}
