package profile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// remedies are for kinds of cells that are no numbers.
var remedies = map[string]string{
	isComma:    `decimal = "," if all numbers are written so`,
	isGrouped:  "thousands = with the mark, if all numbers are written so",
	isStand:    "name it in missing_values",
	isCompared: "write a number, or nothing, in the export",
	isMeasured: "write the number alone in the export",
	isDate:     `ask for as = "days since 2000-01-01" in the study`,
	isTruth:    `names = { ... } of the column, or ask for as = "boolean" in the study`,
	isText:     "names = { ... } of the column, or ask for levels in the study",
}

// report sums up what was seen. said is the mapping of agent.toml, without guesses.
func (s *sight) report(said dataset.Mapping) {
	r := s.r
	if r.Units = len(s.units); s.unit < 0 {
		r.Units = r.Rows
		if r.Unit != "" { // the column that says is not there
			r.Units = 0
		}
	}
	for _, reason := range s.reasons {
		t := s.broken[reason]
		r.Faults = append(r.Faults, Fault{What: reason, Count: t.count, First: t.first})
	}
	if r.Unit != "" && s.unit < 0 {
		r.Faults = append(r.Faults, Fault{Column: r.Unit, What: fmt.Sprintf("the unit: none of the header's %d fields has this name", len(s.header)), Count: 1, First: 1 + s.mapping.SkipRows, Names: s.near(r.Unit), Do: cmp.Or(s.unnamed, fmt.Sprintf("below [dataset.columns]: %s = \"its name in the file\"", key(r.Unit)))})
	}
	if s.nobody.count > 0 {
		r.Faults = append(r.Faults, Fault{Column: r.Unit, What: "the unit is missing", Count: s.nobody.count, First: s.nobody.first, Do: "take these rows out of the export"})
	}
	for _, name := range s.absent {
		r.Faults = append(r.Faults, Fault{Column: name, What: fmt.Sprintf("none of the header's %d fields has this name", len(s.header)), Count: 1, First: 1 + s.mapping.SkipRows, Names: s.near(name), Do: s.unnamed})
	}
	if s.values {
		s.look("", AboutText, "some names of the header are numbers, so that none is shown: is there a header line? Without one the first record is taken for it")
	}
	s.unasked()
	paste := &paste{said: said, guessed: s.mapping, columns: map[string]string{}}
	s.written(paste)
	for j, c := range s.columns {
		if c == nil {
			continue
		}
		s.identifier(j, c)
		if s.label[j] == "" {
			continue
		}
		s.judge(j, c, paste)
	}
	for _, name := range s.absent {
		if _, ok := s.meant[name]; !ok {
			paste.notes = append(paste.notes, fmt.Sprintf(`# %s = "its name in the file"`, key(name)))
		}
	}
	if s.footer && s.footers < r.Rows && s.footers <= 10 {
		s.look("", AboutFooter, fmt.Sprintf("the last %s like sums or notes, and every one counts as a row", map[bool]string{true: "record looks", false: strconv.Itoa(s.footers) + " records look"}[s.footers == 1]))
		paste.lines = append(paste.lines, fmt.Sprintf("skip_last = %d  # if they are not rows", s.footers))
	}
	r.Paste = paste.text()
}

func (s *sight) look(column, about, text string) {
	s.r.Look = append(s.r.Look, Remark{column, about, text})
}

// written says how the file is written, where agent.toml does not.
func (s *sight) written(p *paste) {
	said, m := p.said, p.guessed
	add := func(text, line string) {
		s.look("", AboutText, text+"; agent.toml does not say so, and this profile assumed it")
		p.lines = append(p.lines, line)
	}
	if m.Separator != said.Separator {
		word := m.Separator
		if word == "\t" {
			word = "tab"
		}
		add(fmt.Sprintf("fields are separated by %q", word), fmt.Sprintf("separator = %q", word))
	}
	if m.Decimal != said.Decimal {
		add("numbers have a decimal comma", fmt.Sprintf("decimal = %q", m.Decimal))
	}
	if m.Thousands != said.Thousands {
		add(fmt.Sprintf("thousands are marked by %q", m.Thousands), fmt.Sprintf("thousands = %q", m.Thousands))
	}
	if m.Encoding != said.Encoding {
		add(fmt.Sprintf("the file is not UTF-8 and looks like %s", m.Encoding), fmt.Sprintf("encoding = %q", m.Encoding))
	}
	if m.SkipRows != said.SkipRows {
		add("the header is on line "+strconv.Itoa(m.SkipRows+1), fmt.Sprintf("skip_rows = %d", m.SkipRows))
	}
}

// unasked names the columns of the file that are nobody's, where the study has some that the file
// lacks.
func (s *sight) unasked() {
	if len(s.absent) == len(s.meant) || s.values {
		return
	}
	var names []string
	for j, h := range s.header {
		if s.label[j] == "" && j != s.unit && len(h) <= maxLevel && strings.ContainsFunc(h, unicode.IsLetter) {
			names = append(names, quote(h))
		}
	}
	const most = 20
	if n := len(names) - most; n > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", n))
	}
	if len(names) > 0 {
		s.look("", AboutNames, "these columns of the file are not asked for, by their names: "+strings.Join(names, ", "))
	}
}

// unreadable reports cells with a text that the study does not read.
func (c *column) unreadable(r *Report, name string, reading dataset.Reading, form string, look func(column, about, text string)) {
	t := c.unread
	switch {
	case t.count == 0:
	case len(reading.Levels) > 0:
		look(name, AboutLevels, fmt.Sprintf("%s none of the study's levels, the first at %s %d: the study counts them as other", plural(t.count, "cell holds", "cells hold"), placed(r.Lines), t.first))
	case reading.As == dataset.Boolean:
		r.Faults = append(r.Faults, Fault{Column: name, What: "neither true nor false: taken as missing", Count: t.count, First: t.first, Do: "names = { ... } of the column, with yes and no"})
	default:
		what := "not a date such as 2024-05-31: taken as missing"
		if form != "" {
			what = fmt.Sprintf("not a date of the form %s, which agent.toml has: taken as missing", form)
		}
		r.Faults = append(r.Faults, Fault{Column: name, What: what, Count: t.count, First: t.first, Do: c.datesRemedy()})
	}
}

// datesRemedy is what to do where a column's dates are not read. Forms that differ in which of two
// numbers is the day are never chosen from.
func (c *column) datesRemedy() string {
	switch len(c.dates) {
	case 0:
		return "no form of dates fits all of the column's texts: write them alike in the export"
	case 1:
		return fmt.Sprintf("dates = %q of the column, which all of its texts fit", c.dates[0])
	}
	var forms []string
	for _, f := range c.dates {
		forms = append(forms, quote(f))
	}
	return "dates = of the column, with " + strings.Join(forms, " or ") + ": all of its texts fit both, so ask who exports them which number is the day"
}

// judge reports on one column.
func (s *sight) judge(j int, c *column, p *paste) {
	name, r := s.label[j], s.r
	out := Column{Name: name, Values: c.values, Missing: c.missing, Quantiles: c.quantiles()}
	if s.header[j] != name && !s.values {
		out.From = s.header[j]
	}
	if t, b := c.kinds[isText], c.kinds[isTruth]; t != nil && b != nil { // m and f, say
		t.count, t.first = t.count+b.count, min(t.first, b.first)
		delete(c.kinds, isTruth)
	}
	others, most := 0, ""
	for _, kind := range sorted(c.kinds) {
		if n := c.kinds[kind].count; kind != isStand {
			others += n
			if most == "" || n > c.kinds[most].count {
				most = kind
			}
		}
	}
	numbers := c.values > 0 && c.values >= others
	switch {
	case c.unused != "":
		out.Kind = "no numbers"
	case c.values+others == 0:
		out.Kind = "empty"
	case !numbers:
		out.Kind = most
	case c.whole == c.values:
		out.Kind = "whole numbers"
	default:
		out.Kind = "numbers"
	}
	wanted := s.wanted(name)
	if out.Kind == isText || out.Kind == isTruth || wanted != nil && len(c.levels) > 0 && !wanted.number {
		out.Levels, out.Rarer, out.More = shownLevels(c)
	}
	r.Columns = append(r.Columns, out)
	if c.unused != "" {
		if wanted != nil {
			r.Faults = append(r.Faults, Fault{Column: name, What: c.unused, Count: 1})
		}
		return
	}
	if wanted == nil && numbers || wanted != nil && wanted.number {
		for _, kind := range sorted(c.kinds) {
			t := c.kinds[kind]
			r.Faults = append(r.Faults, Fault{Column: name, What: "not a number: " + kind, Count: t.count, First: t.first, Do: remedies[kind]})
		}
	}
	if wanted != nil && wanted.texts {
		if t := c.kinds[isStand]; t != nil {
			r.Faults = append(r.Faults, Fault{Column: name, What: isStand, Count: t.count, First: t.first, Do: remedies[isStand]})
		}
		c.unreadable(r, name, wanted.reading, s.form(j), s.look)
	}
	if c.missing > 0 && s.spec != nil && s.spec.Missing == proposal.MissingError {
		r.Faults = append(r.Faults, Fault{Column: name, What: "missing value", Count: c.missing, First: c.gap, Do: `ask for missing = "drop-row" in the study`})
	}
	for _, text := range sorted(c.stand) {
		p.missing(text)
	}
	s.suspect(j, c, numbers, wanted, p)
}

// want is what a study asks of a column.
type want struct {
	number        bool // its cells are read as numbers
	constants     bool // offset and scale say where values lie
	offset, scale float64
	plausible     []float64 // the lowest and the highest value, where the constants are learned
	measure       string
	texts         bool // its cells are read as reading says
	reading       dataset.Reading
}

// has reports whether a column's quantiles are where the study has its values: between plausible
// ones, or with the middle within far scales of the offset and a spread of narrow to 1/narrow
// scales.
func (w *want) has(q []float64, far, narrow float64) bool {
	if !w.constants {
		return q[0] >= w.plausible[0] && q[4] <= w.plausible[1]
	}
	off, wide := math.Abs(q[2]-w.offset)/w.scale, (q[3]-q[1])/1.349/w.scale
	return off <= far && wide >= narrow && wide <= 1/narrow
}

// wanted returns what the study asks of a column; nil without a study.
func (s *sight) wanted(name string) *want {
	if s.spec == nil {
		return nil
	}
	i := slices.IndexFunc(s.spec.Columns, func(c proposal.Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	c := s.spec.Columns[i]
	number := len(c.Levels) == 0 && c.As == proposal.AsNumber
	w := &want{number: number, texts: !number, constants: number && c.Standardize != proposal.StandardizePrivate && c.Scale > 0, offset: c.Offset, scale: c.Scale, measure: c.Measure}
	if number && !w.constants && len(c.Range) == 2 {
		w.plausible = c.Range
	}
	if !number {
		w.reading = s.readings[i]
	}
	return w
}

// suspect says what may be wrong with numbers that can be read, and adds the column's line.
func (s *sight) suspect(j int, c *column, numbers bool, wanted *want, p *paste) {
	name := s.label[j]
	look := func(about, format string, args ...any) { s.look(name, about, fmt.Sprintf(format, args...)) }
	_, meant := s.meant[name]
	from, why := s.from[j], ""
	if meant {
		from.Name = s.header[j]
	}
	switch {
	case c.values+c.missing == 0 && len(c.kinds) == 0 && s.r.Rows > 0, c.values == 0 && c.missing > 0 && len(c.kinds) == 0:
		look(AboutConstant, "no cell has a value")
	case numbers && c.least == c.most && c.values > 1 && len(c.kinds) == 0:
		look(AboutConstant, "has the same value in every row")
	case len(c.levels) == 1 && c.values == 0 && !c.more:
		look(AboutConstant, "has the same text in every row")
	}
	for _, i := range c.apart() {
		t := c.coded[i]
		code := strconv.FormatFloat(codes[i], 'f', -1, 64)
		look(AboutCode, "%s far from all others, the first at %s %d: does it stand for a missing value?", plural(t.count, "value is "+code+",", "values are "+code+","), placed(s.r.Lines), t.first)
		p.code(code)
	}
	if n := c.far(); n > 0 {
		look(AboutFar, "%s a hundred spreads from the middle", plural(n, "value lies", "values lie"))
	}
	if q := c.order(); numbers && wanted != nil && (wanted.constants || wanted.plausible != nil) && len(c.sample) >= 20 {
		if !wanted.has(q, 2, 0.2) {
			found := fits(name+" "+s.header[j], q, wanted)
			for _, f := range found {
				look(AboutUnit, "looks like %s where the study expects %s", f.from, f.to)
			}
			if len(found) > 0 && from.Multiply == 0 && from.Add == 0 {
				f := found[0]
				from.Multiply, from.Add, why = f.multiply, f.add, fmt.Sprintf("if it is in %s", f.from)
				meant = true
			}
			switch {
			case len(found) > 0:
			case wanted.constants:
				look(AboutConstants, "its values are not near the study's offset and scale: is it in another unit?")
			default:
				look(AboutConstants, "5%% of its values or more lie outside the study's plausible range, %v to %v: is it in another unit?", wanted.plausible[0], wanted.plausible[1])
			}
		}
	}
	if wanted != nil && wanted.reading.As == dataset.Days && c.unread.count > 0 {
		switch len(c.dates) {
		case 0:
		case 1:
			from.Dates, why, meant = c.dates[0], "if all of the column's dates are written so", true
		default:
			p.notes = append(p.notes, fmt.Sprintf("# dates of %s: say which number is the day: %s", key(name), strings.Join(c.dates, " or ")))
		}
	}
	if names, say := c.renamed(wanted); len(names) > 0 || say != "" {
		from.Names = maps.Clone(from.Names)
		if from.Names == nil {
			from.Names = map[string]string{}
		}
		maps.Copy(from.Names, names)
		if why = say; why == "" {
			why = "if these are the same"
		}
		meant = true
	}
	if meant {
		p.column(name, from, why)
	}
}

// renamed proposes the study's texts for other texts of a column: those that differ
// in letters' case, a level of one letter that a word begins with, and words for yes and no. say
// names the texts for which none is proposed.
func (c *column) renamed(w *want) (names map[string]string, say string) {
	if w == nil || !w.texts || w.reading.As == dataset.Days {
		return nil, ""
	}
	names = map[string]string{}
	var rest []string
	shown, _, _ := shownLevels(c)
	for _, l := range shown {
		if v := w.reading.Of(l.Text); !math.IsNaN(v) && (len(w.reading.Levels) == 0 || int(v) < len(w.reading.Levels)) {
			continue
		}
		if kind, _ := notNumber(l.Text); kind == isStand {
			continue
		}
		lower := strings.ToLower(l.Text)
		i := slices.IndexFunc(w.reading.Levels, func(level string) bool { return strings.EqualFold(level, l.Text) })
		if i < 0 {
			i = slices.IndexFunc(w.reading.Levels, func(level string) bool {
				return len(level) == 1 && strings.HasPrefix(lower, strings.ToLower(level))
			})
		}
		switch {
		case i >= 0:
			names[l.Text] = w.reading.Levels[i]
		case w.reading.As == dataset.Boolean && truths[lower] != "":
			names[l.Text] = truths[lower]
		default:
			rest = append(rest, quote(l.Text))
		}
	}
	if len(rest) > 0 {
		into := "yes or no"
		if w.reading.As != dataset.Boolean {
			var levels []string
			for _, level := range w.reading.Levels[:min(mostShown, len(w.reading.Levels))] {
				levels = append(levels, quote(level))
			}
			into = "one of " + strings.Join(levels, ", ")
		}
		say = fmt.Sprintf("add to names, as %s: %s", into, strings.Join(rest, ", "))
	}
	return names, say
}

// truths are words for true and false that no study reads.
var truths = map[string]string{"ja": "yes", "j": "yes", "oui": "yes", "si": "yes", "sí": "yes", "wahr": "yes", "nein": "no", "nee": "no", "non": "no", "falsch": "no"}

// identifier warns of a column that says whose a row is, where the data set has no unit.
func (s *sight) identifier(j int, c *column) {
	if len(c.ids) < 2 || c.manyIDs {
		return
	}
	name := s.header[j]
	if s.values {
		name = fmt.Sprint("field ", j+1)
	}
	if n := s.r.Rows; len(c.ids) < n && 4*len(c.ids) > n {
		s.look(name, AboutID, fmt.Sprintf("looks like an id, and unit is not set: %d different ones in %d rows. A person with several rows counts as several people", len(c.ids), n))
	}
}

// mostShown is how many texts of a column are printed.
const mostShown = 12

func shownLevels(c *column) (out []Level, rarer int, more bool) {
	for _, text := range sorted(c.levels) {
		l := c.levels[text]
		if len(l.units) < leastUnits {
			rarer++
			continue
		}
		out = append(out, Level{text, l.rows})
	}
	slices.SortStableFunc(out, func(a, b Level) int { return cmp.Compare(b.Rows, a.Rows) })
	if len(out) > mostShown {
		out, more = out[:mostShown], true
	}
	return out, rarer, more || c.more
}

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

func (p *paste) code(text string) {
	if !slices.Contains(p.coded, text) && !slices.Contains(p.said.MissingValues, text) {
		p.coded = append(p.coded, text)
	}
}

// column adds a column's line; why is when it is right.
func (p *paste) column(name string, f dataset.From, why string) {
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
		for _, text := range sorted(f.Names) {
			names = append(names, quote(text)+" = "+quote(f.Names[text]))
		}
		parts = append(parts, "names = { "+strings.Join(names, ", ")+" }")
	}
	if len(parts) == 1 && f.Name != "" {
		line += quote(f.Name)
	} else {
		line += "{ " + strings.Join(parts, ", ") + " }"
	}
	if why != "" {
		line += "  # " + why
	}
	if _, twice := p.columns[name]; !twice {
		p.names = append(p.names, name)
	}
	p.columns[name] = line
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
	if len(p.columns)+len(p.notes) > 0 {
		out = append(out, "[dataset.columns]")
		for _, name := range p.names {
			line := p.columns[name]
			if code, why, ok := strings.Cut(line, "  # "); ok && len([]rune(line)) > 96 {
				out = append(out, "# "+why)
				line = code
			}
			out = append(out, line)
		}
		out = append(out, p.notes...)
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

// quote is a text in TOML's quotes, without what is not printable.
func quote(v string) string {
	v = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, v)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
}
