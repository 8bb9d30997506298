package name

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCell: neither a field nor what a semicolon parts of it begins as a formula does, also where a
// writer's quotes around the field fall away; what begins as none is as it was, and no two texts
// become one.
func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "age": "age", "a=b": "a=b", "a;b": "a;b", "\"a\"": "\"a\"",
		"=1": "'=1", "'=1": "''=1", "a;-1;b": "a;'-1;b", "a;\"=1": "a;'\"=1", "a; \"\"＝1": "a;' \"\"＝1", "\t=1": "'\t=1",
	} {
		if got := Cell(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab;\"' =+-@＝"))).Draw(r, "text")
		got := Cell(text)
		field := strings.ReplaceAll(got, "\"", "\"\"")
		for cell := range strings.SplitSeq(field+";\""+field+"\"", ";") {
			if strings.IndexAny(strings.TrimLeft(cell, "\" "), "=+-@＝") == 0 {
				r.Errorf("%q has the cell %q", text, cell)
			}
		}
		back := strings.Split(got, ";")
		for i, cell := range back {
			back[i] = strings.TrimPrefix(cell, "'")
		}
		if strings.Join(back, ";") != text {
			r.Errorf("%q is %q, which is another text's, too", text, got)
		}
	})
}
