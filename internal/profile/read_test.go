package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestProfileOfReadings: what a study would take for another level or for a missing value is said,
// although no cell of it is a fault, and the lines to paste have the names that are plain.
func TestProfileOfReadings(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte(`
name = "s"
dataset = "icu"
epsilon = 1
delta = 1e-6
unit = "person"
standardize = "private"
missing = "fill"
columns = [
  { name = "sex", levels = ["F", "M"] }, { name = "ward", levels = ["icu", "surgery"] },
  { name = "diabetes", as = "boolean" }, { name = "smoker", as = "boolean" },
  { name = "admitted", as = "days since 2000-01-01" }, { name = "seen", as = "days since 2000-01-01" },
  { name = "creatinine", measure = "µmol/L", range = [20, 1500] },
  { name = "sodium", measure = "mmol/L", range = [110, 175] }, { name = "stay", range = [0, 200] },
  { name = "sbp" },
]
`))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("mrn,sex,ward,diabetes,smoker,admitted,seen,crea,sodium,age,dbp\n")
	for i := range 200 {
		fmt.Fprintf(&text, "M%d,%s,%s,%s,%s,%02[6]d.12.2024,2024-12-%02[6]d,%.2[7]f,%[8]d,%[9]d,%[10]d\n", i, []string{"Female", "Male"}[i%2], []string{"ICU", "Innere", "surgery", "n/a"}[i%4],
			[]string{"ja", "nein"}[i%2], []string{"Y", "0"}[i%2], 1+i%28, 0.5+0.01*float64(i%100), 135+i%9, 20+i%70, 60+i%30)
	}
	text.WriteString("TOTAL 200 rows,,,,,,,,,,\n")
	r := profiled(t, text.String(), `unit = "mrn"`, &spec)
	var said strings.Builder
	for _, f := range r.Faults {
		fmt.Fprintf(&said, "fault %s %d (%s)\n", f.String(true), f.Count, f.Do)
	}
	for _, l := range r.Look {
		said.WriteString("look " + l.String() + "\n")
	}
	for _, line := range r.Paste {
		said.WriteString("paste " + line + "\n")
	}
	for _, want := range []string{
		`the study's unit is "person", and this data set's "mrn"`, `person = "mrn"`,
		`look column "sex": 200 cells hold none of the study's levels, the first at line 2`,
		`look column "ward": 100 cells hold none of the study's levels, the first at line 2`,
		`fault column "ward": stands for a missing value, 50 times, first at line 5`,
		`fault column "diabetes": neither true nor false: taken as missing, 200 times, first at line 2`,
		`fault column "admitted": not a date such as 2024-05-31: taken as missing, 200 times, first at line 2; dates = "DD.MM.YYYY" of the column, which all of its texts fit`,
		`paste admitted = { dates = "DD.MM.YYYY" }  # if all of the column's dates are written so`,
		`look column "creatinine": looks like mg/dL where the study expects µmol/L`,
		`look the last record looks like sums or notes`,
		`the study does not ask for these columns of the file: "age", "dbp"`,
		`paste sex = { names = { "Female" = "F", "Male" = "M" } }  # if these are the same`,
		`paste ward = { names = { "ICU" = "icu" } }  # if these are the same`,
		`paste # add to names of ward, as one of "icu", "surgery": "Innere"`,
		`paste diabetes = { names = { "ja" = "yes", "nein" = "no" } }  # if these are the same`,
		`paste creatinine = { from = "crea", multiply = 88.4 }  # if it is in mg/dL`,
		`paste # stay = "its name in the file"`, `paste # sbp = "its name in the file"`,
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("nothing says %s", want)
		}
	}
	// Columns that can be read, and others that are only measured alike, are left alone.
	for _, lie := range []string{`"smoker"`, `"seen"`, `column "sodium"`, `= "age"`, `= "dbp"`, "offset and scale"} {
		if strings.Contains(said.String(), lie) {
			t.Errorf("it speaks of %s", lie)
		}
	}
	if t.Failed() {
		t.Log(said.String())
	}
}

// TestNearIsTheSame: what is measured in the same units is not therefore the same column.
func TestNearIsTheSame(t *testing.T) {
	for name, header := range map[string][]string{"sbp": {"dbp", "map"}, "stay": {"age", "Alter"}, "hdl": {"chol", "ldl_c"}, "height": {"waist"}} {
		if got := near(name, header); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, h := range map[string]string{"sbp": "RR syst", "stay": "Verweildauer", "creatinine": "Kreatinin [mg/dL]", "hb": "Hemoglobin"} {
		if got := near(name, []string{"x", h}); !slices.Contains(got, h) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestProfileOfDates: a form of dates is proposed where every text fits it and no other, and of
// forms that differ in which number is the day none is chosen.
func TestProfileOfDates(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte(`
name = "s"
dataset = "icu"
epsilon = 1
delta = 1e-6
standardize = "private"
missing = "fill"
columns = [ { name = "a", as = "days since 2000-01-01" }, { name = "n" } ]
`))
	if err != nil {
		t.Fatal(err)
	}
	const both = `"DD/MM/YYYY" or "MM/DD/YYYY": all of its texts fit both, so ask the person who exports them`
	for _, c := range []struct{ keys, texts, fault, paste string }{
		{"", "31.05.2024 NA 1.2.2024", `dates = "DD.MM.YYYY" of the column`, `a = { dates = "DD.MM.YYYY" }`},
		{"", "05/31/2024 1/2/2024", `dates = "MM/DD/YYYY" of the column`, `a = { dates = "MM/DD/YYYY" }`},
		{"", "31/05/2024 1/2/2024", `dates = "DD/MM/YYYY" of the column`, `a = { dates = "DD/MM/YYYY" }`},
		{"", "2024/05/31 2024/1/2", `dates = "YYYY/MM/DD" of the column`, `a = { dates = "YYYY/MM/DD" }`},
		{"", "01/02/2024 03/04/2024", both, `# dates of a: say which number is the day: DD/MM/YYYY or MM/DD/YYYY`},
		{"", "31/05/2024 05/31/2024", "no form of dates fits all", ""},
		{"", "31.05.24 01.06.24", "no form of dates fits all", ""},
		{"", "2024-05-31 NULL", "", ""},
		{"", "31.05.2024 -9 1.2.2024 999", `dates = "DD.MM.YYYY" of the column, which all of its texts fit except 2, the first at line 3, which are no dates`, `a = { dates = "DD.MM.YYYY" }`},
		{"", "31/05/2024 05/31/2024 -9", "no form of dates fits all", ""},
		{"", "31.05.2024 -9 -9", "no form of dates fits all", ""},
		{"", "2024-05-31 2024-06-01 -9", "not a date such as 2024-05-31: taken as missing, 1 time, first at line 4; missing_values, if these stand", `missing_values = ["-9"]`},
		{"", "2024-5-31 2024-6-1", `dates = "YYYY-MM-DD" of the column`, `a = { dates = "YYYY-MM-DD" }`},
		{`dates = "DD.MM.YYYY"`, "31.05.2024 1.2.2024 -9", "taken as missing, 1 time, first at line 4; missing_values, if these stand", `missing_values = ["-9"]`},
		{`dates = "DD.MM.YYYY"`, "31.05.2024 1.2.2024", "", ""},
		{`dates = "DD.MM.YYYY"`, "31/05/2024", `not a date of the form DD.MM.YYYY, which agent.toml has: taken as missing, 1 time, first at line 2; dates = "DD/MM/YYYY"`, `a = { dates = "DD/MM/YYYY" }`},
		{"[dataset.columns]\na = { dates = \"MM/DD/YYYY\", names = { \"never\" = \"2000-01-01\" } }", "05/31/2024 never", "", ""},
	} {
		var text strings.Builder
		text.WriteString("a,n\n")
		for i, cell := range strings.Fields(c.texts) {
			fmt.Fprintf(&text, "%s,%d\n", cell, i)
		}
		r := profiled(t, text.String(), c.keys, &spec)
		fault := ""
		for _, f := range r.Faults {
			if !strings.Contains(f.What, isStand) {
				fault += f.String(true)
			}
		}
		paste := strings.Join(r.Paste, "\n")
		if (c.fault == "") != (fault == "") || !strings.Contains(fault, c.fault) || !strings.Contains(paste, c.paste) || c.paste == "" && strings.Contains(paste, "dates") {
			t.Errorf("of %s with %q: %q, %q", c.texts, c.keys, fault, paste)
		}
	}
}

// TestProfileOfNoDate: the date that stands for none is found in a column of dates in whatever form
// it is written, with and without a study, and not where agent.toml already names it or a study
// reads levels.
func TestProfileOfNoDate(t *testing.T) {
	for _, c := range []struct{ keys, read, texts, said string }{
		{"", "as = \"days since 2000-01-01\"", "2024-05-31 9999-12-31 2024-06-01 9999-12-31", "2 dates are 9999-12-31, the first at line 3"},
		{"", "as = \"days since 2000-01-01\"", "31.05.2024 31.12.9999", "1 date is 9999-12-31, the first at line 3"},
		{"", "", "2024-05-31 9999-12-31", "1 date is 9999-12-31"},
		{`missing_values = ["9999-12-31"]`, "as = \"days since 2000-01-01\"", "2024-05-31 9999-12-31", ""},
		{"", "levels = [\"9999-12-31\", \"2024-05-31\"]", "2024-05-31 9999-12-31", ""},
		{"", "as = \"days since 2000-01-01\"", "2024-05-31 9999-12-30", ""},
	} {
		var spec *proposal.Spec
		if c.read != "" {
			s, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"icu\"\nepsilon = 1\ndelta = 1e-6\nstandardize = \"private\"\nmissing = \"fill\"\ncolumns = [ { name = \"a\", " + c.read + " }, { name = \"n\" } ]\n"))
			if err != nil {
				t.Fatal(err)
			}
			spec = &s
		}
		var text strings.Builder
		text.WriteString("a,n\n")
		for i, cell := range strings.Fields(c.texts) {
			fmt.Fprintf(&text, "%s,%d\n", cell, i)
		}
		r := profiled(t, text.String(), c.keys, spec)
		said := ""
		for _, l := range r.Look {
			if l.About == AboutCode {
				said += l.Text
			}
		}
		if paste := strings.Join(r.Paste, "\n"); (said == "") != (c.said == "") || !strings.Contains(said, c.said) || strings.Contains(paste, `missing_values = ["9999-12-31"]`) != (c.said != "") {
			t.Errorf("of %s as %q with %q: %q, %q", c.texts, c.read, c.keys, said, paste)
		}
	}
}

// TestNotConverted: what converts numbers is said to change nothing where the study reads no
// numbers, and the column's figures are those of its cells.
func TestNotConverted(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"icu\"\nepsilon = 1\ndelta = 1e-6\nmissing = \"fill\"\ncolumns = [{ name = \"a\", scale = 1 }, { name = \"b\", as = \"boolean\", scale = 1 }, { name = \"d\", as = \"days since 2000-01-01\", scale = 1 }, { name = \"l\", levels = [\"1\", \"2\"] }]\n"))
	if err != nil {
		t.Fatal(err)
	}
	text := "a,b,d,l\n" + strings.Repeat("5,1,2000-01-03,1\n6,0,2000-01-04,2\n", 30)
	for keys, want := range map[string]int{
		"":                         0,
		"a = { multiply = 100 }\n": 0,
		"a = { add = 1 }\nb = { add = 1 }\nd = { add = 17 }\nl = { multiply = 2 }\n": 3,
	} {
		r := profiled(t, text, "[dataset.columns]\n"+keys, &spec)
		got := 0
		for _, l := range r.Look {
			if strings.Contains(l.Text, "they change nothing") && l.Column != "a" {
				got++
			}
		}
		if q := r.Columns[3].Quantiles; got != want || len(q) != 5 || q[0] != 1 || q[4] != 2 {
			t.Errorf("%q: %d remarks, want %d; levels %v", keys, got, want, q)
		}
	}
}

// TestEmptyRecordsAtTheEnd: a spreadsheet writes lines of separators below its table, which a study
// that keeps gaps takes for units.
func TestEmptyRecordsAtTheEnd(t *testing.T) {
	rows := "a,b\n" + strings.Repeat("1,2\n3,4\n", 30)
	for _, c := range []struct{ end, keys, look, paste string }{
		{",\n", "", "the last record has no value in any column, and every one counts as a row", "skip_last = 1  # if they are not rows"},
		{strings.Repeat(" ,\n", 12), "", "the last 12 records have no value in any column, and every one counts as a row", "skip_last = 12  # if they are not rows"},
		{",\n,\nTotal,9\n", "", "the last 3 records look like sums or notes, and every one counts as a row", "skip_last = 3  # if they are not rows"},
		{",\n,\nTotal,9\n", "skip_last = 1\n", "the last 2 records have no value in any column, and every one counts as a row", "# each in place of the line of that key, if there is one:\nskip_last = 3  # if they are not rows"},
		{",\n1,\n", "", "", ""},
		{",\n5,6\n", "", "", ""},
	} {
		r := profiled(t, rows+c.end, c.keys, nil)
		if look, paste := looks(r, AboutFooter), strings.Join(r.Paste, "\n"); look != c.look || paste != c.paste {
			t.Errorf("%q, %q: %q, %q", c.end, c.keys, look, paste)
		}
	}
}
