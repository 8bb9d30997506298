package proposal

import (
	"strings"
	"testing"
)

// TestNamesWithSpacesAround: no site has such a column, or could show it, so that a proposer hears
// of it before any site does.
func TestNamesWithSpacesAround(t *testing.T) {
	head := "name = \"n\"\ndataset = \"d\"\nepsilon = 1.0\ndelta = 1e-6\nstandardize = \"private\"\n"
	for text, want := range map[string]string{
		`columns = ["age", "age "]`:               "columns[1].name: has spaces around it: \"age \"",
		`columns = ["age", "  "]`:                 "columns[1].name: has spaces around it",
		"columns = [\"age\"]\nunit = \" person\"": "unit: has spaces around it",
	} {
		if _, err := ParseSpec([]byte(head + text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for name, why := range map[string]string{
		"a\u0301\u0301\u0301\u0301\u0301": "more than 4 marks on a letter", "age\u3164": "U+3164: leave it out", "a\u2800ge": "U+2800: leave it out", "a\u200cb": "U+200C: leave it out",
	} {
		if _, err := ParseSpec([]byte(head + `columns = ["` + name + `"]`)); err == nil || !strings.HasSuffix(err.Error(), why) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, columns := range []string{`["blood pressure"]`, `["می\u200cخواهم", "نمونه\u200cها"]`, `["age", {name = "ജില്ല", levels = ["അവന്\u200d", "b"]}]`} {
		if _, err := ParseSpec([]byte(head + "columns = " + columns)); err != nil {
			t.Error(err)
		}
	}
}

// TestAttackAlikeButForJoiners: no study has two names that an approver could take for one.
func TestAttackAlikeButForJoiners(t *testing.T) {
	head := "name = \"n\"\ndataset = \"d\"\nepsilon = 1.0\ndelta = 1e-6\nstandardize = \"private\"\n"
	for text, want := range map[string]string{
		`columns = ["نمونه\u200cها", "نمونهها"]`:                               "looks like",
		`columns = ["क्\u200dष", "क्ष"]`:                                       "differs only by joiners",
		"columns = [\"क्ष\"]\nunit = \"क्\u200dष\"":                            "unit: \"\\u0915\\u094d\\u200d\\u0937\" looks like",
		`columns = ["age", {name = "a", levels = ["क्\u200dष", "क्\u200cष"]}]`: "looks like \"\\u0915\\u094d\\u200d\\u0937\"",
	} {
		if _, err := ParseSpec([]byte(head + text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
