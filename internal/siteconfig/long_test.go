package siteconfig

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"covey/internal/strict"
)

// Long lists of columns are what they are when all is decoded at once, and so is what is wrong.
func TestLongColumns(t *testing.T) {
	var lines []string
	for i := range 3*fewLines + 7 {
		switch i % 5 {
		case 0:
			lines = append(lines, fmt.Sprintf(`c%d = { from = "x%d", multiply = 2, names = { "[a]" = "b # c" } } # as it is`, i, i))
		case 1:
			lines = append(lines, "", fmt.Sprintf("\"c %d\" = '''x\n[dataset.columns]\n%d'''", i, i))
		case 2:
			lines = append(lines, fmt.Sprintf("  c%d.from = \"x%d\"", i, i), fmt.Sprintf("  c%d.add = 1.5", i))
		default:
			lines = append(lines, fmt.Sprintf("c%d = \"größe %d\"", i, i))
		}
	}
	table := func(name string, extra ...string) string {
		return fmt.Sprintf("\n[[dataset]]\nname = %q\npath = \"x.csv\"\npopulation = \"p\"\n[dataset.columns]\n", name) + strings.Join(append(lines, extra...), "\n") + "\n"
	}
	head := "site = \"a\"\ncoordinator = [\"x:1\"]\n[[population]]\nname = \"p\"\ncap_rho = 1.0\n"
	for name, text := range map[string]string{
		"two":            head + table("d") + "[[dataset]]\nname = \"short\"\npath = \"x.csv\"\npopulation = \"p\"\n" + table("e") + "[policy]\n",
		"twice, far":     head + table("d", `c3 = "again"`),
		"twice, dotted":  head + table("d", `c2.dates = "again"`),
		"two headers":    head + table("d") + "[dataset.columns.c3]\nadd = 1\n",
		"no TOML":        head + table("d", `c9999 = `),
		"no data set":    head + "[dataset.columns]\n" + strings.Join(lines, "\n"),
		"before its own": head + "[dataset.columns]\n" + strings.Join(lines, "\n") + "\n[dataset]\nname = \"d\"\n",
		"unknown":        head + table("d") + "[policy]\nunknown = 1\n",
	} {
		var want, got Config
		wrong, err := strict.Decode([]byte(text), &want), got.decode([]byte(text))
		if fmt.Sprint(wrong) != fmt.Sprint(err) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, err, wrong)
		}
		var anew Config
		if rest, parts := apart([]byte(text)); name == "two" && (wrong != nil || len(parts) < 6 || !anew.decodeParts(rest, parts)) {
			t.Errorf("it is not decoded by parts: %d, %v", len(parts), wrong)
		}
	}
}
