// Package draft writes a first study.toml from what a header or a data dictionary says about a
// table. It sees no value of a row.
package draft

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"covey/internal/proposal"
	"covey/internal/studyfile"
)

// Column is one column of the draft.
type Column struct {
	Name    string
	Measure string
	Range   []float64 // of plausible values; nil where it is not known
	Levels  []string
	As      string
	About   string // for people
}

// Draft is what a source says of a table's columns.
type Draft struct {
	Source  string // what was read, in words
	Columns []Column
	// Notes say what was understood, and what was left out and why, for the person who finishes the
	// file.
	Notes []string
}

// Blanks are what no source says. Those that are empty are for a person to fill in.
type Blanks struct {
	Name, Dataset, Unit string
	Epsilon, Delta      float64
	// Public takes offset and scale from ranges, where there are any, instead of learning them.
	Public bool
}

// Shown returns the notes as a terminal can take them.
func (d Draft) Shown() []string {
	var out []string
	for _, note := range d.Notes {
		out = append(out, clean(note))
	}
	return out
}

// Text returns the draft as a commented study.toml. The error is that of a study which it cannot
// be, as for a name that appears twice.
func (d Draft) Text(b Blanks) ([]byte, error) {
	d = d.without(b.Unit)
	if len(d.Columns) == 0 {
		return nil, errors.New(strings.Join(append([]string{"no column is left for a study."}, d.Shown()...), " "))
	}
	text := d.text(b)
	if b.Name == "" {
		b.Name = "draft"
	}
	if b.Dataset == "" {
		b.Dataset = "draft"
	}
	if b.Epsilon == 0 {
		b.Epsilon = 1
	}
	if _, err := proposal.ParseSpec(d.text(b)); err != nil {
		return nil, err
	}
	return text, nil
}

// without returns the draft less the column that says which rows are one unit.
func (d Draft) without(unit string) Draft {
	var columns []Column
	for _, c := range d.Columns {
		if c.Name != unit {
			columns = append(columns, c)
		}
	}
	d.Columns = columns
	return d
}

func (d Draft) text(b Blanks) []byte {
	var out bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, note := range append([]string{"A first study.toml, from " + d.Source + "."}, d.Notes...) {
		for _, text := range wrapped(clean(note)) {
			line("# %s", text)
		}
	}
	line("# Fill in what is marked below, then check it with the number of units of each site:")
	line("#   analyst validate study.toml --units 3000,2200,1700 (at the coordinator: coordinator study validate)")
	line("# docs/study.md has every key.\n")
	line("# What people call the study.")
	line("name = %s%s", studyfile.Quote(b.Name), mark(b.Name == ""))
	line("# The name under which every site's agent offers this table.")
	line("dataset = %s%s", studyfile.Quote(b.Dataset), mark(b.Dataset == ""))
	line("# The privacy of everything that the study releases: 1 is usual, above 4 is hardly a promise.")
	line("epsilon = %s%s", number(b.Epsilon), mark(b.Epsilon == 0))
	line("# Well below one over the number of units of all sites together.")
	line("delta = %s", number(b.Delta))
	if b.Unit != "" {
		line("# All rows with one value of this column at one site are one unit, such as a person.")
		line("unit = %s", studyfile.Quote(b.Unit))
	} else {
		line("# A row is one unit. Where a person may have several rows: unit = \"the column of their ids\".")
	}
	line("# Sites refuse cells without a value. To fill them from the rest of their row: missing = \"fill\"")
	line("# How many principal components.")
	line("components = %d\n", min(2, d.coordinates()))
	if d.learns(b.Public) {
		line("# Columns come in any unit of measurement: their means and spreads are learned, for a part of the")
		line("# budget, and the components are those of the correlations.")
		line("standardize = \"private\"\n")
	}
	if b.Public {
		line("# offset is the middle of a range and scale a sixth of it: guesses, to replace with a usual value")
		line("# and a usual spread of what each column measures.")
	}
	d.columns(&out, b.Public)
	line("")
	line("# For the people who approve the study at each site. It is shown to them, and decides nothing.")
	line("[about]")
	line("purpose = \"\" # what the study is for")
	line("contact = \"\" # who answers questions")
	line("ethics = \"\"  # reference of the ethics board's decision")
	return out.Bytes()
}

func mark(blank bool) string {
	if blank {
		return " # FILL IN"
	}
	return ""
}

// width is how long a line of names grows.
const width = 98

// columns writes the list: names in as few lines as they take, a line for each column that has
// more to say.
func (d Draft) columns(out *bytes.Buffer, public bool) {
	out.WriteString("columns = [\n")
	var names []string
	flush := func() {
		at := ""
		for _, item := range studyfile.Shorten(names) {
			if at != "" && utf8.RuneCountInString(at)+len(" ,")+utf8.RuneCountInString(item) > width {
				fmt.Fprintf(out, " %s\n", at)
				at = ""
			}
			at += " " + item + ","
		}
		if at != "" {
			fmt.Fprintf(out, " %s\n", at)
		}
		names = nil
	}
	for _, c := range d.Columns {
		keys := c.keys(public)
		if keys == "" && c.About == "" {
			names = append(names, c.Name)
			continue
		}
		flush()
		item := studyfile.Shorten([]string{c.Name})[0]
		if keys != "" {
			item = "{ name = " + studyfile.Quote(c.Name) + keys + " }"
		}
		if c.About != "" {
			fmt.Fprintf(out, "  %s, # %s\n", item, clean(c.About))
		} else {
			fmt.Fprintf(out, "  %s,\n", item)
		}
	}
	flush()
	out.WriteString("]\n")
}

// keys returns what a column's table has after its name.
func (c Column) keys(public bool) string {
	var out strings.Builder
	add := func(key, value string) { out.WriteString(", " + key + " = " + value) }
	if len(c.Levels) > 0 {
		var texts []string
		for _, l := range c.Levels {
			texts = append(texts, studyfile.Quote(l))
		}
		add("levels", "["+strings.Join(texts, ", ")+"]")
	}
	if c.As != "" {
		add("as", studyfile.Quote(c.As))
	}
	if public && c.constant() {
		low, high := c.Range[0], c.Range[1]
		add("offset", fmt.Sprintf("%.4g", low+(high-low)/2))
		add("scale", fmt.Sprintf("%.4g", (high-low)/6))
	}
	if c.Measure != "" {
		add("measure", studyfile.Quote(c.Measure))
	}
	if c.Range != nil {
		add("range", "["+number(c.Range[0])+", "+number(c.Range[1])+"]")
	}
	return out.String()
}

// constant reports whether a column's range can stand for its offset and scale.
func (c Column) constant() bool { return c.Range != nil && c.As == "" && len(c.Levels) == 0 }

// learns reports whether the study has to learn the constants of a column.
func (d Draft) learns(public bool) bool {
	for _, c := range d.Columns {
		if len(c.Levels) == 0 && !(public && c.constant()) {
			return true
		}
	}
	return false
}

func (d Draft) coordinates() (n int) {
	for _, c := range d.Columns {
		n += proposal.Column{Levels: c.Levels}.Width()
	}
	return n
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// longest is how many characters of another's text a comment has.
const longest = 2000

// wrapped parts a text at spaces into lines of at most width characters, where it has some.
func wrapped(text string) (lines []string) {
	at := ""
	for word := range strings.FieldsSeq(text) {
		if at != "" && utf8.RuneCountInString(at)+1+utf8.RuneCountInString(word) > width {
			lines, at = append(lines, at), ""
		}
		at = strings.TrimSpace(at + " " + word)
	}
	return append(lines, at)
}

// clean returns a text as one comment can hold it: whatever is not printed as itself would end the
// comment, or be no TOML.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > longest {
		text = string(r[:longest]) + "…"
	}
	return strings.TrimSpace(text)
}
