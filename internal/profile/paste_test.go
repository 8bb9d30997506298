package profile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// TestQuotedTextsReadBack: a pasted line names the very text that is in the file, also what no
// terminal shows.
func TestQuotedTextsReadBack(t *testing.T) {
	for _, text := range []string{"Größe\n[m]", "Größe\u00a0cm", `a "b" \c`, "tab\there", "\u200e\U000e0041", ""} {
		var got struct{ From string }
		if err := toml.Unmarshal([]byte("from = "+quote(text)), &got); err != nil || got.From != text {
			t.Errorf("%q is pasted as %s: %q, %v", text, quote(text), got.From, err)
		}
	}
}

// TestPastedLinesAreTaken: agent.toml takes the lines, names blanks that no terminal shows, and is
// not given what it cannot name, such as a text with a line break.
func TestPastedLinesAreTaken(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte(`
name = "s"
dataset = "icu"
epsilon = 1
delta = 1e-6
standardize = "private"
missing = "fill"
columns = [{ name = "sex", levels = ["F", "M"] }, { name = "ward", levels = ["icu"] }, "height cm", "weight kg", "age"]
`))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("sex,ward,height\u00a0cm,weight\x01kg,age\n")
	for i := range 400 {
		fmt.Fprintf(&text, "%s,%s,%d,60,%s\n", []string{"\"f\n\"", "m\u00a0", "F", "M"}[i%4], []string{"icu", "\"in\nner\"", "ICU\t2", "Innere\u00a0"}[i%4], 150+i%40,
			[]string{"50", "61", "n/a\u00a0", "\"n/a\n\"", "\"<5\n\""}[i%5])
	}
	r := profiled(t, text.String(), "", &spec)
	for _, want := range []string{
		`"height cm" = "height\U000000A0cm"`, `missing_values = ["n/a\U000000A0"]`, `sex = { names = { "m\U000000A0" = "M" } }  # if these are the same`,
		`# change in the export, since agent.toml cannot name it: sex: "f\U0000000A"`, `cannot name it: age: "n/a\U0000000A"`, `cannot name it: "weight kg": "weight\U00000001kg"`, `cannot name it: age: "<5\U0000000A"`,
	} {
		if !slices.ContainsFunc(r.Paste, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("no %s in\n%s", want, strings.Join(r.Paste, "\n"))
		}
	}
	dir := t.TempDir()
	site(t, dir, "icu.csv", "", strings.Join(r.Paste, "\n")+"\n") // or it fails
	var notes strings.Builder
	for _, line := range r.Paste {
		if note, ok := strings.CutPrefix(line, "# "); ok && strings.Contains(note, " = {") {
			notes.WriteString(note + "\n")
		}
	}
	if _, err := siteconfig.Parse([]byte(config("icu.csv", "[dataset.columns]\n"+notes.String())), filepath.Join(dir, siteconfig.File)); err != nil || notes.Len() == 0 {
		t.Errorf("%v\n%s", err, notes.String())
	}
}

// TestPastedBesideWhatIsThere: a table that agent.toml has is not printed again, which TOML would
// refuse, and other keys would be a column's below it.
func TestPastedBesideWhatIsThere(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"icu\"\nepsilon = 1\ndelta = 1e-6\nstandardize = \"private\"\ncolumns = [\"age\", \"height cm\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	text := "Alter;height\u00a0cm\n" + strings.Repeat("50;160\n61;171\n", 100)
	alone := profiled(t, text, "", &spec).Paste
	got := profiled(t, text, "[dataset.columns]\nage = \"Alter\"\n", &spec).Paste
	if !slices.Contains(alone, "[dataset.columns]") || slices.Contains(got, "[dataset.columns]") {
		t.Errorf("alone:\n%s\nbeside a table:\n%s", strings.Join(alone, "\n"), strings.Join(got, "\n"))
	}
	if len(got) != 4 || !strings.HasPrefix(got[0], "# above its [dataset.columns]") || got[1] != `separator = ";"` || !strings.HasPrefix(got[2], "# below its [dataset.columns]") || got[3] != `"height cm" = "height\U000000A0cm"` {
		t.Errorf("%q", got)
	}
}
