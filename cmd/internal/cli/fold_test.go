package cli

import (
	"bytes"
	"strings"
	"testing"
	"text/tabwriter"

	"pgregory.net/rapid"
)

// TestFold: lines end between words where they can, and no letter is lost.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		text   string
		room   int
		begun  int
		indent string
		want   string
	}{
		{"weights of adults", 20, 0, "  ", "weights of adults"},
		{"weights of adults", 12, 0, "  ", "weights of \n  adults"},
		{"weights of adults", 12, 2, "  ", "weights \n  of adults"},
		{"a antidisestablishment", 12, 0, "  ", "a antidisest\n  ablishment"},
		{"体重体重", 6, 0, "  ", "体重体\n  重"},
		{"", 6, 0, "  ", ""},
	} {
		if got := Fold(c.text, c.room, c.begun, c.indent); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.room, got, c.want)
		}
	}
}

// TestAttackFold: whatever another party wrote, no line is wider than the terminal, each but the
// first is indented, and without its line ends the text is what it was.
func TestAttackFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab体 \u0301,")), 0, 200, -1).Draw(t, "text")
		indent := strings.Repeat(" ", rapid.IntRange(1, 9).Draw(t, "indent"))
		begun := rapid.IntRange(0, 9).Draw(t, "begun")
		room := rapid.IntRange(2+max(len(indent), begun), 40).Draw(t, "room")
		got := Fold(text, room, begun, indent)
		for i, line := range strings.Split(got, "\n") {
			columns := len([]rune(line)) + strings.Count(line, "体")
			if i == 0 {
				columns += begun
			} else if !strings.HasPrefix(line, indent) {
				t.Errorf("a line at the left edge: %q", line)
			}
			if columns > room {
				t.Errorf("%q has %d columns of %d", line, columns, room)
			}
		}
		if strings.ReplaceAll(got, "\n"+indent, "") != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// TestCells: a table's columns stand below one another where characters take two columns.
func TestCells(t *testing.T) {
	var out bytes.Buffer
	w := tabwriter.NewWriter(Unfilled(&out), 0, 8, 2, ' ', 0)
	for _, line := range []string{"体重\t1", "age\t2", "Größe\t3"} {
		if _, err := w.Write([]byte(Cells(line) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	if got := out.String(); got != "体重   1\nage    2\nGröße  3\n" {
		t.Errorf("%q", got)
	}
}

// TestPrintKnowsTheTerminal: what Print gives to write to leads to the terminal itself, whose width
// lines are folded for.
func TestPrintKnowsTheTerminal(t *testing.T) {
	var terminal bytes.Buffer
	if Raw(&firstError{to: &screen{to: &terminal}}) != &terminal {
		t.Error("the terminal's width is not known")
	}
}
