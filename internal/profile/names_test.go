package profile

import (
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// levelsOf is the paste of a study's one column with levels, of texts that ten rows have each.
func levelsOf(t *testing.T, levels, texts string) []string {
	t.Helper()
	spec := &proposal.Spec{Missing: proposal.MissingError, Columns: []proposal.Column{{Name: "a", Levels: strings.Split(levels, "|")}}}
	var text strings.Builder
	text.WriteString("a,n\n")
	for i := range 10 {
		for _, cell := range strings.Split(texts, "|") {
			fmt.Fprintf(&text, "%s,%d\n", cell, i)
		}
	}
	return profiled(t, text.String(), "", spec).Paste
}

// TestNamesAreNotGuessed: a text is proposed to be a level only where it can be no other. What is
// open is listed.
func TestNamesAreNotGuessed(t *testing.T) {
	for _, c := range []struct{ levels, texts, names, open string }{
		{"F|M", "Mujer|Hombre", `"Hombre" = "M", "Mujer" = "F"`, ""},
		{"F|M", "Frau|Mann|divers", `"Frau" = "F", "Mann" = "M"`, `"F", "M": "divers"`},
		{"F|M", "Medio|f|m", `"f" = "F", "m" = "M"`, `"F", "M": "Medio"`},
		{"H|M", "Male|Female", "", `"H", "M": "Female", "Male"`}, // hombre, mujer
		{"female|male", "Mujer|Hombre", `"Hombre" = "male", "Mujer" = "female"`, ""},
		{"female|male", "F|M", "", `"female", "male": "F", "M"`},
		{"A|B|AB|O", "A+|AB+|O+", `"AB+" = "AB"`, `"A", "B", "AB", "O": "A+", "O+"`},
		{"A|AB", "AB+|AB-", `"AB+" = "AB"`, `"A", "AB": "AB-"`},
		{"icu|ward", "ICU (new)|ICU (old)", "", `"icu", "ward": "ICU (new)", "ICU (old)"`},
		{"HIV|healthy", "HIV-|Healthy", `"Healthy" = "healthy"`, `"HIV", "healthy": "HIV-"`},
		{"N|E|F", "Nunca|Fumador|Exfumador", "", `"N", "E", "F": "Exfumador", "Fumador", "Nunca"`},
		{"type 1|type 2", "Type 1 (new)|Type 12|type 2.5|TYPE2", `"TYPE2" = "type 2", "Type 1 (new)" = "type 1"`, `"type 1", "type 2": "Type 12", "type 2.5"`},
		{"stroke|stroke left", "Stroke left?", `"Stroke left?" = "stroke left"`, ""},
		{"icu|ICU", "Icu|ICU 2", "", `"icu", "ICU": "ICU 2", "Icu"`},
		{"thé|café", "the\u0301|Caf\u00e9\u200b", `"Café\U0000200B" = "café", "the\U00000301" = "thé"`, ""},
		{"1|2|-1", "1.0|2.00|-1.0|2.000|3.0|1.5", `"-1.0" = "-1", "1.0" = "1", "2.00" = "2"`, `"1", "2", "-1": "1.5", "2.000", "3.0"`},
		{"1|1.0", "1.00", `"1.00" = "1"`, ""},
		{"ex|never", "Exfumador", "", `"ex", "never": "Exfumador"`},
	} {
		var want []string
		if c.names != "" {
			want = append(want, "a = { names = { "+c.names+" } }  # if these are the same")
		}
		into, texts, _ := strings.Cut(c.open, ": ")
		switch note := "# a = { names = { " + strings.ReplaceAll(texts, ",", ` = "?",`) + ` = "?" } }`; {
		case c.open == "":
		case c.names != "":
			want = append(want, "# add to names of a, as one of "+c.open)
		case len(note+into) < 83:
			want = append(want, note+"  # each one of "+into)
		default:
			want = append(want, "# each one of "+into, note)
		}
		got := levelsOf(t, c.levels, c.texts)
		if strings.Join(got, "\n") != "[dataset.columns]\n"+strings.Join(want, "\n") {
			t.Errorf("%s for levels %s:\n%s", c.texts, c.levels, strings.Join(got, "\n"))
		}
	}
}

// TestWholeNumbersOfBooleans: 1.0 is yes, and no other number is proposed to be.
func TestWholeNumbersOfBooleans(t *testing.T) {
	spec := &proposal.Spec{Missing: proposal.MissingFill, Columns: []proposal.Column{{Name: "a", As: proposal.AsBoolean, Offset: 0.5, Scale: 0.5}}}
	r := profiled(t, "a,n\n"+strings.Repeat("1.0,1\n0.0,2\n2.0,3\n", 10), "", spec)
	if got := strings.Join(r.Paste, "\n"); !strings.Contains(got, `a = { names = { "0.0" = "0", "1.0" = "1" } }`) || !strings.Contains(got, `yes or no: "2.0"`) {
		t.Error(got)
	}
}

// TestMissingInOneColumn: what another column has as a value is not proposed for missing_values,
// which would empty that column's cells.
func TestMissingInOneColumn(t *testing.T) {
	table := func(ages int) string {
		var text strings.Builder
		text.WriteString("age,pain,smoking,ward\n")
		for i := range 400 {
			age, pain, smoking := fmt.Sprint(20+i%70), fmt.Sprint(i%10), []string{"none", "some"}[i%2]
			if i < ages {
				age = "99"
			}
			if i%16 == 5 {
				pain = []string{"99", "99.0"}[i/16%2]
			}
			fmt.Fprintf(&text, "%s,%s,%s,%s\n", age, pain, smoking, []string{"icu", "none", "-"}[i%3])
		}
		return text.String()
	}
	columns := func(levels ...string) *proposal.Spec {
		return &proposal.Spec{Missing: proposal.MissingDropRow, Columns: []proposal.Column{
			{Name: "age", Offset: 55, Scale: 20}, {Name: "pain", Offset: 5, Scale: 3}, {Name: "smoking", Levels: levels}, {Name: "ward", Levels: []string{"icu"}},
		}}
	}
	said := func(r *Report) string { return fmt.Sprintln(r.Look, strings.Join(r.Paste, "\n")) }
	for _, c := range []struct {
		ages        int
		want, never []string
	}{
		{49, []string{"missing_values holds in every column: it is also a value in age (49 cells)", `# pain = { names = { "99" = "NA", "99.0" = "NA" } }`}, []string{`"99"]`}},
		{2, []string{"also a value in age (fewer than 10 cells)"}, []string{`"99"]`, "(2 cells)"}},
		{0, []string{`# missing_values = ["-", "99"]`, "missing_values holds in every column"}, []string{"also a value", "pain = "}},
	} {
		text := said(profiled(t, table(c.ages), "", columns("none", "some")))
		for _, want := range append(c.want, `missing_values = ["-"]`, `# ward = { names = { "none" = "NA" } }`, "it is a level of smoking") {
			if !strings.Contains(text, want) {
				t.Errorf("%d ages: nothing says %s:\n%s", c.ages, want, text)
			}
		}
		for _, never := range append(c.never, "smoking = ") {
			if strings.Contains(text, never) {
				t.Errorf("%d ages: it says %s:\n%s", c.ages, never, text)
			}
		}
	}
	// A level is a level, whatever stands for a missing value elsewhere.
	if text := said(profiled(t, table(0), "", columns("light", "some"))); !strings.Contains(text, `missing_values = ["-", "none"]`) {
		t.Error(text)
	}
	// The proposed line empties that column's cells alone.
	r := profiled(t, table(49), "[dataset.columns]\npain = { names = { \"99\" = \"NA\", \"99.0\" = \"NA\" } }\n", columns("none", "some"))
	if r.Columns[0].Missing != 0 || r.Columns[1].Missing != 25 || strings.Contains(fmt.Sprint(r.Look), "99,") {
		t.Errorf("%+v", r)
	}
}

// TestAbsentColumns: a site without a column can take part where the study keeps gaps, and is told
// how; elsewhere an empty column would leave all its rows out.
func TestAbsentColumns(t *testing.T) {
	for missing, want := range map[string]bool{proposal.MissingFill: true, proposal.MissingZero: true, proposal.MissingDropRow: false, proposal.MissingError: false} {
		spec := &proposal.Spec{Missing: missing, Columns: []proposal.Column{{Name: "x", Scale: 1}, {Name: "hour", Scale: 1}}}
		r := profiled(t, "x\n"+strings.Repeat("1\n2\n", 30), "", spec)
		if len(r.Faults) != 1 || r.Faults[0].Column != "hour" || strings.Contains(r.Faults[0].Do, "an empty column") != want {
			t.Errorf("%s: %+v", missing, r.Faults)
		}
	}
}
