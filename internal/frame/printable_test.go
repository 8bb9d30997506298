package frame

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"covey/internal/name"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"Größe der Stichprobe 3", "Größe der Stichprobe 3"},
		{`say "yes"`, `say "yes"`},
		{"\x1b[2Kok\r\n", `\x1b[2Kok\r\n`},
		{"a\tb\x00\u007f\u0085", `a\tb\x00\x7f\u0085`},
		{"\u202eevil\u2066\u200f\u061c", `\u202eevil\u2066\u200f\u061c`},
		{"\u00a0\u2028\u200b\ufeff", `\u00a0\u2028\u200b\ufeff`},
		{"a\u115f\u1160\u3164\uffa0\u034f\ufe0f\U000e0100b", `a\u115f\u1160\u3164\uffa0\u034f\ufe0f\U000e0100b`},
		{"\xff\xc3(", `\xff\xc3(`},
		{"e\u0301\u0323\u2800", "e\u0301\u0323" + `\u2800`},
		{"e" + strings.Repeat("\u0301", 6) + "e\u0301", "e" + strings.Repeat("\u0301", 4) + `\u0301\u0301` + "e\u0301"},
		{`\x1b`, `\\x1b`},
		{"\U000e0041", `\U000e0041`},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"می\u200cخواهم a\u200cb", `می\u200cخواهم a\u200cb`},
		{strings.Repeat("é", maxPrintable), strings.Repeat("é", maxPrintable)},
		{strings.Repeat("é", maxPrintable+1), strings.Repeat("é", maxPrintable) + "..."},
	} {
		if got := Printable(c.in); got != c.want {
			t.Errorf("Printable(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("\x1b]0;title\x07\u202e\xff")
	f.Add("می\u200cخواهم")
	f.Fuzz(func(t *testing.T, s string) {
		out := Printable(s)
		if !utf8.ValidString(out) {
			t.Fatalf("%q: not UTF-8", s)
		}
		for _, r := range out {
			if r != ' ' && !strconv.IsPrint(r) && !(name.Joiner(r) && name.Joined(s)) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q: %q holds %q", s, out, r)
			}
		}
	})
}

// TestCell: a long name is cut between letters, and says so.
func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"weights-2026":            "weights-2026",
		strings.Repeat("ö", 40):   strings.Repeat("ö", 40),
		strings.Repeat("ö", 41):   `"` + strings.Repeat("ö", 39) + `…"`,
		strings.Repeat("a b", 40): `"` + strings.Repeat("a b", 13) + `…"`,
	} {
		if got := Cell(in); got != want {
			t.Errorf("Cell(%q) = %s, want %s", in, got, want)
		}
	}
}

// TestWord: what could pass for more than one word of ours is quoted.
func TestWord(t *testing.T) {
	for in, want := range map[string]string{
		"weights-2026": "weights-2026", "größe_1.2": "größe_1.2",
		"":                       `""`,
		"a  approved  p":         `"a  approved  p"`,
		"a, b":                   `"a, b"`,
		`x" approved by "y`:      `"x' approved by 'y"`,
		"a\x1b[2K":               `"a\x1b[2K"`,
		"a\u202eb":               `"a\u202eb"`,
		"a\u115f":                `"a\u115f"`,
		"\u3164b":                `"\u3164b"`,
		strings.Repeat("a", 201): `"` + strings.Repeat("a", 200) + `..."`,
	} {
		if got := Word(in); got != want {
			t.Errorf("Word(%q) = %s, want %s", in, got, want)
		}
	}
}
