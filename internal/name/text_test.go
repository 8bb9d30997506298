package name

import (
	"strings"
	"testing"
)

// TestReadable: languages are read as they are written; what shows nothing, turns text around or is
// drawn over other lines is not.
func TestReadable(t *testing.T) {
	for _, s := range []string{
		"", "age", "Größe der Stichprobe", "blood pressure", "体重", "µg/L", "e\u0301", "ệ", "e\u0323\u0302", "မြွှေ့", "བསྒྲུབས", "น้ำ", "בְּרֵאשִׁ֖ית",
		"क्ष्म्य", "می\u200cخواهم", "نمونه\u200cها", "v1.می\u200cخواهم", "അവന്\u200d", "क्\u200dष", "ශ්\u200dරී", "مِ\u200cّن", "क्\u200cष", "a" + strings.Repeat("\u0301", MostMarks) + "b" + strings.Repeat("\u0301", MostMarks),
	} {
		if !Readable(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{
		"a\n", "a\tb", "a\x1b[2J", "a\x00", "a\u00a0b", "a\u200bb", "a\u202eb", "a\u2066b", "a\u2028b", "\ufeffa", "bad\xff", "a\ufffd",
		"a\u200cb", "a\u200db", "\u200c", "\u200dक", "می\u200c", "می\u200c\u200cخواهم", "می\u200dخواهم", "دا\u200cرو", "क\u200dष", "می\u200cخواهم a\u200cb",
		"می\u200cخواهم\u200b", "👩\u200d🔬", "❤\ufe0f", "می\u200c.خواهم", "می\u200c خواهم", "می\u200cab", "شی\u200cء", "xn--\u200c", "ᠠ\u200cᠠ",
		"a\u115f", "\u3164", "a\uffa0", "a\u034fb", "a\ufe0f", "a\U000e0100", "a\u2800b",
		"a" + strings.Repeat("\u0301", MostMarks+1), "a" + strings.Repeat("\u0301\u0323\u20dd", 2), strings.Repeat("\u0336", 100),
	} {
		if Readable(s) {
			t.Errorf("%q is taken", s)
		}
	}
	for s, want := range map[string]string{
		"a\u00a0b": "holds the unprintable character U+00A0: leave it out", "a\u200cb": "holds the unprintable character U+200C: leave it out", "a\nb": "holds a line end",
		"\xff": "holds the unprintable character U+FFFD: leave it out", strings.Repeat("\u0336", 5): "holds more than 4 marks on a letter", "ab": "",
	} {
		if got := Fault(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// TestPlain: names that differ only by joiners are found to be alike.
func TestPlain(t *testing.T) {
	for s, want := range map[string]string{"می\u200cخواهم": "میخواهم", "क्\u200dष": "क्ष", "age": "age", "": ""} {
		if got := Plain(s); got != want {
			t.Errorf("%q: %q", s, got)
		}
	}
}
