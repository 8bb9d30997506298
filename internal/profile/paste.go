package profile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"covey/internal/dataset"
)

// paste gathers lines for agent.toml.
type paste struct {
	said, guessed dataset.Mapping
	lines         []string
	stands, coded []string
	columns       map[string]string
	names         []string
	notes         []string
}

func (p *paste) missing(text string) {
	if !slices.Contains(p.stands, text) && !slices.Contains(p.said.MissingValues, text) {
		p.stands = append(p.stands, text)
	}
}

// nameable returns the texts that agent.toml can name, and adds a note of the others.
func (p *paste) nameable(name string, texts []string) []string {
	texts, unnamed := slices.Clone(texts), []string(nil)
	texts = slices.DeleteFunc(texts, func(text string) bool {
		if dataset.Nameable(text) {
			return false
		}
		unnamed = append(unnamed, quote(text))
		return true
	})
	if len(unnamed) > 0 {
		p.notes = append(p.notes, fmt.Sprintf("# change in the export, since agent.toml cannot name it: %s: %s", key(name), strings.Join(unnamed, ", ")))
	}
	return texts
}

func (p *paste) code(text string) {
	if !slices.Contains(p.coded, text) && !slices.Contains(p.said.MissingValues, text) {
		p.coded = append(p.coded, text)
	}
}

// column adds a column's line; why is when it is right.
func (p *paste) column(name string, f dataset.From, why string) {
	line := columnLine(name, f)
	if why != "" {
		line += "  # " + why
	}
	if _, twice := p.columns[name]; !twice {
		p.names = append(p.names, name)
	}
	p.columns[name] = line
}

// alone adds a note: texts that may stand for a missing value in one column, and comparisons with a
// limit, where f is what else its line has.
func (p *paste) alone(name string, f dataset.From, texts, limits []string) {
	why := "if these stand for a missing value in this column"
	switch {
	case len(texts)+len(limits) == 0:
		return
	case len(texts) == 0:
		why = "half the limit, say, in place of ?"
	case len(limits) > 0:
		why += "; half the limit, say, in place of ?"
	}
	f.Names = maps.Clone(f.Names)
	if f.Names == nil {
		f.Names = map[string]string{}
	}
	for _, text := range texts {
		f.Names[text] = "NA"
	}
	for _, text := range limits {
		f.Names[text] = "?"
	}
	p.notes = append(p.notes, "# "+columnLine(name, f)+"  # "+why)
}

// open adds a note: texts of a column that the operator alone can name, and into what. names are
// those that the column's line has.
func (p *paste) open(name string, f dataset.From, names map[string]string, texts []string, into string) {
	if len(texts) == 0 {
		return
	}
	if len(names)+len(f.Names) > 0 {
		var quoted []string
		for _, text := range texts {
			quoted = append(quoted, quote(text))
		}
		p.notes = append(p.notes, fmt.Sprintf("# add to names of %s, as %s: %s", key(name), into, strings.Join(quoted, ", ")))
		return
	}
	f.Names = map[string]string{}
	for _, text := range texts {
		f.Names[text] = "?"
	}
	p.notes = append(p.notes, "# "+columnLine(name, f)+"  # each "+into)
}

// whose adds notes: the unit's name in the file, one of those that may be it.
func (p *paste) whose(unit string, names []string) {
	if len(names) == 0 {
		p.notes = append(p.notes, fmt.Sprintf(`# %s = "its name in the file"`, key(unit)))
	}
	for _, name := range names {
		p.notes = append(p.notes, fmt.Sprintf("# %s = %s  # if it says whose a row is", key(unit), quote(name)))
	}
}

// columnLine is a column's line of agent.toml.
func columnLine(name string, f dataset.From) string {
	if f.Name == name {
		f.Name = ""
	}
	line := key(name) + " = "
	var parts []string
	if f.Name != "" {
		parts = append(parts, "from = "+quote(f.Name))
	}
	if f.Multiply != 0 {
		parts = append(parts, "multiply = "+strconv.FormatFloat(f.Multiply, 'g', -1, 64))
	}
	if f.Add != 0 {
		parts = append(parts, "add = "+strconv.FormatFloat(f.Add, 'g', -1, 64))
	}
	if f.Dates != "" {
		parts = append(parts, "dates = "+quote(f.Dates))
	}
	if len(f.Names) > 0 {
		var names []string
		for _, text := range slices.Sorted(maps.Keys(f.Names)) {
			names = append(names, quote(text)+" = "+quote(f.Names[text]))
		}
		parts = append(parts, "names = { "+strings.Join(names, ", ")+" }")
	}
	if len(parts) == 1 && f.Name != "" {
		return line + quote(f.Name)
	}
	return line + "{ " + strings.Join(parts, ", ") + " }"
}

// text returns the lines, or nothing without one.
func (p *paste) text() []string {
	out := slices.Clone(p.lines)
	list := func(values []string) string {
		var quoted []string
		for _, v := range slices.Concat(p.said.MissingValues, values) {
			quoted = append(quoted, quote(v))
		}
		return "missing_values = [" + strings.Join(quoted, ", ") + "]"
	}
	slices.Sort(p.stands)
	if len(p.stands) > 0 {
		out = append(out, list(p.stands))
	}
	if len(p.coded) > 0 {
		out = append(out, "# "+list(slices.Concat(p.stands, p.coded))+"  # if these numbers stand for one")
	}
	there := len(p.said.Columns) > 0 // and TOML refuses a table, or a key, twice
	again := p.said.Encoding != "" || p.said.SkipLast > 0 || len(p.said.MissingValues) > 0
	if head := "each in place of the line of that key, if there is one:"; there && len(out) > 0 {
		out = slices.Insert(out, 0, "# above its [dataset.columns], "+head)
	} else if again && len(out) > 0 {
		out = slices.Insert(out, 0, "# "+head)
	}
	if len(p.columns)+len(p.notes) > 0 {
		head := "[dataset.columns]"
		if there {
			head = "# below its [dataset.columns], each in place of the column's line, if there is one:"
		}
		out = append(out, head)
		lines := make([]string, 0, len(p.names)+len(p.notes))
		for _, name := range p.names {
			lines = append(lines, p.columns[name])
		}
		for _, line := range slices.Concat(lines, p.notes) {
			if code, why, ok := strings.Cut(line, "  # "); ok && len([]rune(line)) > 96 {
				out = append(out, "# "+why)
				line = code
			}
			out = append(out, line)
		}
	}
	return out
}

// key is a name as a key of TOML.
func key(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return name
	}
	return quote(name)
}

// quote is a text in TOML's quotes, with escapes for what is not printable, such as a line break in
// a header, and for accents that could be one character with their letter, as they look.
func quote(v string) string {
	var out strings.Builder
	apart := !norm.NFC.IsNormalString(v)
	for _, r := range v {
		switch {
		case r == '\\' || r == '"':
			out.WriteString(`\` + string(r))
		case unicode.IsPrint(r) && !(apart && unicode.IsMark(r)):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, `\U%08X`, r)
		}
	}
	return `"` + out.String() + `"`
}
