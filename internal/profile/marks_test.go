package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// looks are the remarks about one kind of thing, each with its column.
func looks(r *Report, about string) string {
	var out []string
	for _, l := range r.Look {
		if l.About == about {
			out = append(out, l.String())
		}
	}
	return strings.Join(out, "\n")
}

// TestMarksBetweenThousands: a decimal mark that always stands before three last digits may be one
// between thousands. Fractions, whole numbers from 1000 on and values where the study has them
// speak against it.
func TestMarksBetweenThousands(t *testing.T) {
	const ask = "is it a mark between thousands?"
	lines := "# decimal = \",\"\n# thousands = \".\"  # both, if \".\" is a mark between thousands"
	where := proposal.Column{Name: "x", Standardize: proposal.StandardizePrivate, Range: []float64{1, 20}}
	for _, c := range []struct {
		x, y  string // cells, in turn
		keys  string
		study *proposal.Column
		said  string // nothing: no remark
		paste string
	}{
		{"4.295 987 12.001 0", "1 2", "", nil, `decimal = "," and thousands = "."`, lines},
		{"252.729 198.000", "1 2", "", nil, `decimal = "," and thousands = "."`, lines},
		{"-252.729 +198.000", "1 2", "", nil, ask, lines},
		{"4.295 987", "1.5 2", "", nil, "write them without it in the export", ""},
		{"4.295 3.875", "1.5 2", "", nil, "", ""},     // three digits of a fraction, as another column has fractions
		{"4.295 99", "1.5 2", "", nil, "", ""},        // and a code
		{"4.295 0.512", "1 2", "", nil, "", ""},       // no mark follows a 0
		{"4.295 1987", "1 2", "", nil, "", ""},        // which would have one
		{"4.295 987 4.3", "1 2", "", nil, "", ""},     // a fraction
		{"4.295 12 8.125", "1 2", "", &where, "", ""}, // where the study has its values
		{"252.729 987", "1 2", "", &where, ask, lines},
		{"4.295 987", "1 2", "thousands = \".\"\ndecimal = \",\"\n", nil, "", ""},
		{"4,295 987", "1 2", "decimal = \",\"\nseparator = \";\"\n", nil, `decimal = "." and thousands = ","`, "# decimal = \".\""},
	} {
		sep := ","
		if strings.Contains(c.keys, "separator") {
			sep = ";"
		}
		var text strings.Builder
		text.WriteString("x" + sep + "y\n")
		x, y := strings.Fields(c.x), strings.Fields(c.y)
		for i := range 60 {
			fmt.Fprintf(&text, "%s%s%s\n", x[i%len(x)], sep, y[i%len(y)])
		}
		var spec *proposal.Spec
		if c.study != nil {
			spec = &proposal.Spec{Missing: proposal.MissingError, Columns: []proposal.Column{*c.study}}
		}
		r := profiled(t, text.String(), c.keys, spec)
		if got := looks(r, AboutMark); (got == "") != (c.said == "") || !strings.Contains(got, c.said) {
			t.Errorf("%s beside %s: %q", c.x, c.y, got)
		}
		if got := strings.Join(r.Paste, "\n"); !strings.Contains(got, c.paste) || c.paste == "" && strings.Contains(got, "thousands") {
			t.Errorf("%s beside %s: paste %q", c.x, c.y, got)
		}
	}
	// Levels such as 1.001 are texts.
	spec := &proposal.Spec{Missing: proposal.MissingError, Columns: []proposal.Column{{Name: "x", Levels: []string{"1.001", "2.001"}}}}
	if got := looks(profiled(t, "x\n"+strings.Repeat("1.001\n2.001\n", 30), "", spec), AboutMark); got != "" {
		t.Error(got)
	}
}

// TestTwins: a column that has the cells of another in every row is pointed out, once, and none
// that differs in one cell or in their order.
func TestTwins(t *testing.T) {
	var text strings.Builder
	text.WriteString("age,word,copy,other,turned,again,words,c1,c2\n")
	const rows = 40
	for i := range rows {
		gap := ""
		if i%7 > 0 {
			gap = fmt.Sprint(i)
		}
		other, turned := gap, ""
		if (rows-1-i)%7 > 0 {
			turned = fmt.Sprint(rows - 1 - i)
		}
		if i == 30 {
			other = "31"
		}
		word := []string{"a", "b"}[i%2]
		fmt.Fprintf(&text, "%s,%s,%s,%s,%s,%s,%s,5,5\n", gap, word, gap, other, turned, gap, word)
	}
	if got, want := looks(profiled(t, text.String(), "", nil), AboutTwin), `column "copy": has the same cells as age in every row: the same information would count twice
column "again": has the same cells as age in every row: the same information would count twice
column "words": has the same cells as word in every row: the same information would count twice`; got != want {
		t.Errorf("%s", got)
	}
	// With a study, of its columns alone.
	spec := &proposal.Spec{Missing: proposal.MissingDropRow, Columns: []proposal.Column{{Name: "copy", Scale: 1}, {Name: "other", Scale: 1}}}
	if got := looks(profiled(t, text.String(), "", spec), AboutTwin); got != "" {
		t.Error(got)
	}
	if got := looks(profiled(t, "a,b\n1,1\n2,2\n", "", nil), AboutTwin); got != "" {
		t.Errorf("of two rows: %s", got)
	}
}

// TestLinesToFillIn: what the operator alone knows has a line to fill in: the unit column's name,
// levels that are written as numbers, and a limit of detection. No half of a limit is computed.
func TestLinesToFillIn(t *testing.T) {
	spec := &proposal.Spec{Unit: "patient_id", Missing: proposal.MissingDropRow, Columns: []proposal.Column{{Name: "crp", Offset: 3, Scale: 2}, {Name: "sex", Levels: []string{"F", "M"}}, {Name: "grade", Levels: []string{"1", "2", "3"}}, {Name: "smoker"}, {Name: "age", Offset: 80, Scale: 12}}}
	spec.Columns[3].As = proposal.AsBoolean
	var text strings.Builder
	text.WriteString("Fall-Nr,Lab CRP,sex,grade,smoker,age\n")
	for i := range 200 {
		crp := fmt.Sprintf("%d.5", i%7)
		switch {
		case i%10 == 0:
			crp = "<0.5"
		case i%20 == 1:
			crp = "99"
		case i == 7:
			crp = "<0.3"
		}
		fmt.Fprintf(&text, "P%d,%s,%d,%d,%d,%d\n", i, crp, 1+i%2, 1+i%3, 1+i%2, 60+i%40)
	}
	r := profiled(t, text.String(), "unit = \"patient_id\"\n[dataset.columns]\ncrp = \"Lab CRP\"\n", spec)
	paste := strings.Join(r.Paste, "\n")
	for _, want := range []string{
		`# patient_id = "Fall-Nr"  # if it says whose a row is`,
		`# crp = { from = "Lab CRP", names = { "99" = "NA", "<0.5" = "?" } }`,
		"# if these stand for a missing value in this column; half the limit, say, in place of ?",
		`# sex = { names = { "1" = "?", "2" = "?" } }  # each one of "F", "M"`,
		`# smoker = { names = { "2" = "?" } }  # each yes or no`,
	} {
		if !strings.Contains(paste, want) {
			t.Errorf("no line %s", want)
		}
	}
	if got := looks(r, AboutID); got != `column "Fall-Nr": looks like an id: 200 different ones in 200 rows. Is it the unit, patient_id?` {
		t.Error(got)
	}
	if crp := r.Columns[0]; !slices.Equal(crp.Levels, []Level{{"<0.5", 20}}) || crp.Rarer != 1 {
		t.Errorf("texts among numbers: %+v", crp)
	}
	for _, never := range []string{"<0.3", "0.25", "grade"} {
		if strings.Contains(paste, never) {
			t.Errorf("a line has %s", never)
		}
	}
	if t.Failed() {
		t.Log(paste)
	}
	alone := strings.Join(profiled(t, strings.ReplaceAll(text.String(), ",99,", ",6.5,"), "[dataset.columns]\ncrp = \"Lab CRP\"\n", spec).Paste, "\n")
	if !strings.Contains(alone, `# crp = { from = "Lab CRP", names = { "<0.5" = "?" } }  # half the limit, say, in place of ?`) {
		t.Error(alone)
	}
	at := map[string]Column{}
	for _, c := range r.Columns {
		at[c.Name] = c
	}
	if got := fmt.Sprint(at["sex"].Levels, at["grade"].Levels); got != "[{1 100} {2 100}] [{1 67} {2 67} {3 66}]" {
		t.Error(got)
	}
	said := ""
	for _, f := range r.Faults {
		said += f.String(true)
	}
	if !strings.Contains(said, `names = { "<0.1" = "0.05" } of the column: half your limit`) || !strings.Contains(said, "Leaving them empty biases") {
		t.Error(said)
	}
}
