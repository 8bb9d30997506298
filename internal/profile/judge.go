package profile

import (
	"cmp"
	"fmt"
	"maps"
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
	isPoint:    `decimal = "." if all numbers are written so; in a file with decimal commas the values of names = { ... } have them, too`,
	isEither:   `thousands = "," if 1,234 means more than a thousand; decimal = "," if it means little more than one, and all numbers are written so`,
	isSigned:   "write -5, not (5), 5- or a longer dash, in the export",
	isPadded:   "take it, such as a no-break space, out in the export",
	isStand:    "name it in missing_values",
	isCompared: `names = { "<0.1" = "0.05" } of the column: half your limit, say, as the file writes numbers. Leaving them empty biases results, since these are missing because they are small. Of groups such as <18 ask for levels in the study`,
	isMeasured: "write the number alone in the export, or ask for levels in the study if these are groups",
	isDate:     `ask for as = "days since 2000-01-01" in the study`,
	isTruth:    `names = { ... } of the column, or ask for as = "boolean" in the study`,
	isText:     "names = { ... } of the column, missing_values for a text that stands for a missing value, or ask for levels in the study",
	isInfinite: "leave such cells empty in the export",
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
		r.Faults = append(r.Faults, Fault{What: reason, Count: t.count, First: t.first, Do: ragged(reason)})
	}
	if r.Rows == 0 && len(r.Faults) == 0 {
		r.Faults = append(r.Faults, Fault{What: "no rows follow the header", Count: 1, First: 1 + s.mapping.SkipRows, Do: "see whether the export wrote any"})
	}
	if r.Unit != "" && s.unit < 0 {
		r.Faults = append(r.Faults, Fault{Column: r.Unit, What: fmt.Sprintf("the unit: none of the header's %d fields has this name", len(s.header)), Count: 1, First: 1 + s.mapping.SkipRows, Names: s.near(r.Unit), Do: cmp.Or(s.unnamed, fmt.Sprintf("below [dataset.columns]: %s = \"its name in the file\"", key(r.Unit)))})
	}
	if s.nobody.count > 0 {
		r.Faults = append(r.Faults, Fault{Column: r.Unit, What: "the unit is missing", Count: s.nobody.count, First: s.nobody.first, Do: "take these rows out of the export"})
	}
	do := s.unnamed
	if do == "" && s.spec != nil && s.spec.KeepsGaps() {
		do = "if this site does not have it, tell the analyst, as components of such columns come out wrong; with an empty column of this name in the export, the study keeps the rows"
	}
	for _, name := range s.absent {
		r.Faults = append(r.Faults, Fault{Column: name, What: fmt.Sprintf("none of the header's %d fields has this name", len(s.header)), Count: 1, First: 1 + s.mapping.SkipRows, Names: s.near(name), Do: do})
	}
	if s.values {
		s.look("", AboutText, "some names in the header are numbers, so none is shown: is there a header line? Without one the first record is taken for it")
	}
	s.unasked()
	s.ordinary()
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
	s.numberless.report(s.look)
	if len(s.unchecked) > 0 {
		s.look("", AboutMeasure, "units of measurement are not checked against values, since the study gives no range: "+strings.Join(s.unchecked, ", "))
	}
	s.twins()
	s.kindred()
	s.repeats()
	s.same()
	s.marks(paste)
	if r.Unit != "" && s.unit < 0 && s.unnamed == "" {
		paste.whose(r.Unit, s.whose)
	}
	for _, name := range s.absent {
		if _, ok := s.meant[name]; !ok {
			paste.notes = append(paste.notes, fmt.Sprintf(`# %s = "its name in the file"`, key(name)))
		}
	}
	s.footed(paste)
	r.Paste = paste.text()
}

// ragged is what to do about records of more or fewer fields than the header, where that is why
// they are not read.
func ragged(reason string) string {
	fields, header := 0, 0
	if n, _ := fmt.Sscanf(reason, "%d fields, the header has %d", &fields, &header); n != 2 {
		return ""
	}
	if fields < header {
		return "see whether these lines are cut off, or the header ends with a separator that they lack, and write the file anew without that"
	}
	return "see whether these lines end with a separator that the header lacks, or have one in a text or a number without quotes, and write the file anew without that"
}

// footed reports records at the end that may be no rows. A spreadsheet writes any number of empty
// ones.
func (s *sight) footed(p *paste) {
	if !s.footer || s.footers >= s.r.Rows || s.footers > 10 && s.blank < s.footers {
		return
	}
	what := plural(s.footers, "record looks", "records look") + " like sums or notes"
	if s.blank == s.footers {
		what = plural(s.footers, "record has", "records have") + " no value in any column"
	}
	s.look("", AboutFooter, "the last "+strings.TrimPrefix(what, "1 ")+", and every one counts as a row")
	p.lines = append(p.lines, fmt.Sprintf("skip_last = %d  # if they are not rows", p.said.SkipLast+s.footers))
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
		// Where few numbers have the mark, a study may read the others, and drops rows unseen.
		s.look("", AboutMark, fmt.Sprintf("thousands are marked by %q; agent.toml does not say so, and this profile assumed it", m.Thousands))
		p.lines = append(p.lines, fmt.Sprintf("thousands = %q", m.Thousands))
	}
	if m.Encoding != said.Encoding {
		looks := cmp.Or(m.Encoding, dataset.UTF8)
		text := fmt.Sprintf("the file is not UTF-8 and looks like %s; agent.toml does not say so, and this profile assumed it", looks)
		if said.Encoding != "" {
			text = fmt.Sprintf("the file looks like %s, and agent.toml says %s, as which a study reads it; this profile assumed %[1]s", looks, said.Encoding)
		}
		s.look("", AboutEncoding, text)
		p.lines = append(p.lines, fmt.Sprintf("encoding = %q", looks))
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
	if len(names) > 0 {
		s.look("", AboutNames, "the study does not ask for these columns of the file: "+some(names))
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
		r.Faults = append(r.Faults, Fault{Column: name, What: what, Count: t.count, First: t.first, Do: c.dates.remedy(placed(r.Lines))})
	}
}

// judge reports on one column.
func (s *sight) judge(j int, c *column, p *paste) {
	name := s.label[j]
	wanted := s.wanted(name)
	kind, numbers := c.kind()
	s.r.Columns = append(s.r.Columns, s.shown(j, c, kind, numbers, wanted))
	if f := s.from[j]; wanted != nil && wanted.texts && (f.Multiply != 0 || f.Add != 0) {
		s.look(name, AboutUnit, "multiply and add are of columns of numbers: the study reads this one as "+wanted.words()+", and they change nothing")
	}
	if c.unused != "" && !c.fits {
		if wanted != nil {
			s.r.Faults = append(s.r.Faults, Fault{Column: name, What: c.unused, Count: 1})
		} else {
			s.numberless.add(c.unused, key(name))
		}
		return
	}
	s.unread(j, c, numbers || misread(kind), wanted)
	if line := `# thousands = ","  # if "," is a mark between thousands`; c.kinds[isEither] != nil && (wanted == nil || wanted.number) && !slices.Contains(p.lines, line) {
		p.lines = append(p.lines, line)
	}
	s.suspect(j, c, numbers, wanted, s.standing(name, c, p), p)
}

// kind is what most of a column's cells are, and whether at least half of those with a value are
// numbers.
func (c *column) kind() (kind string, numbers bool) {
	if t, b := c.kinds[isText], c.kinds[isTruth]; t != nil && b != nil { // m and f, say
		t.count, t.first = t.count+b.count, min(t.first, b.first)
		delete(c.kinds, isTruth)
	}
	for _, sure := range []string{isComma, isGrouped} { // others say which of the two it is
		if t, either := c.kinds[sure], c.kinds[isEither]; t != nil && either != nil {
			t.count, t.first = t.count+either.count, min(t.first, either.first)
			delete(c.kinds, isEither)
		}
	}
	others, most := 0, ""
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		if n := c.kinds[kind].count; kind != isStand {
			others += n
			if most == "" || n > c.kinds[most].count {
				most = kind
			}
		}
	}
	numbers = c.values > 0 && c.values >= others
	switch {
	case c.unused != "" && !c.fits:
		return "no numbers", numbers
	case c.values+others == 0:
		return "empty", numbers
	case !numbers:
		return most, numbers
	case c.whole == c.values:
		return "whole numbers", numbers
	}
	return "numbers", numbers
}

// shown is what a report shows of a column.
func (s *sight) shown(j int, c *column, kind string, numbers bool, wanted *want) Column {
	asked := wanted != nil && !wanted.number
	out := Column{Name: s.label[j], Kind: kind, Values: c.values, Missing: c.missing}
	if asked || wanted == nil && !numbers && !misread(kind) { // else they are at fault
		out.Values += c.texts()
	}
	if asked && len(wanted.reading.Levels) == 0 {
		out.Values -= c.unread.count
	}
	if numbers || out.Values == c.values {
		if out.Quantiles = c.quantiles(); out.Quantiles != nil {
			out.Sample = c.sampled()
		}
	}
	if s.header[j] != out.Name && !s.values {
		out.From = s.header[j]
	}
	if kind == isText || kind == isTruth || len(c.levels) > 0 && (asked || numbers) {
		out.Levels, out.Rarer, out.More = shownLevels(c)
	}
	if numbers && !asked && len(out.Levels) == 0 { // the faults count texts that are few
		out.Rarer, out.More = 0, false
	}
	return out
}

// unread reports the cells that the study, or whoever asks for numbers, does not read.
func (s *sight) unread(j int, c *column, numbers bool, wanted *want) {
	name, r := s.label[j], s.r
	if wanted == nil && numbers || wanted != nil && wanted.number {
		for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
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
}

// standing proposes a column's texts that may stand for a missing value, and returns those that may
// in this column alone.
func (s *sight) standing(name string, c *column, p *paste) (alone []string) {
	for _, text := range p.nameable(name, slices.Sorted(maps.Keys(c.stand))) {
		if own := s.levelOf(text); own == "" {
			p.missing(text)
		} else {
			s.look(name, AboutCode, fmt.Sprintf("%s may stand for a missing value; missing_values holds in every column, and it is a level of %s", quote(text), own))
			alone = append(alone, text)
		}
	}
	return alone
}

// suspect says what may be wrong with numbers that can be read, and adds the column's line.
func (s *sight) suspect(j int, c *column, numbers bool, wanted *want, alone []string, p *paste) {
	name := s.label[j]
	l := proposedLine{from: s.from[j]}
	if _, l.meant = s.meant[name]; l.meant {
		l.from.Name = s.header[j]
	}
	s.unvaried(name, c, numbers)
	if numbers && (wanted == nil || wanted.number) {
		s.numbered(name, c)
	}
	if n := c.far(); n > 0 {
		of := ""
		if c.sampled() > 0 {
			of = fmt.Sprintf(" of %d that were looked at", c.sampled())
		}
		s.look(name, AboutFar, fmt.Sprintf("%s a hundred spreads from the middle", plural(n, "value"+of+" lies", "values"+of+" lie")))
	}
	if numbers && wanted != nil && (wanted.constants || wanted.plausible != nil) && len(c.sample) >= 20 {
		s.inUnit(j, c, wanted, &l)
	}
	s.headed(j, wanted, p)
	if wanted != nil && wanted.reading.As == dataset.Days && c.unread.count > 0 && !c.dates.agree() {
		l.dated(name, c.dates.forms(), p)
	}
	if n := c.endless.count; n > 0 && n < c.texts() && (wanted == nil || wanted.reading.As == dataset.Days) {
		s.look(name, AboutCode, fmt.Sprintf("%s, the first at %s %d: does it stand for a missing value? missing_values holds in every column", plural(n, "date is "+dataset.NoDate, "dates are "+dataset.NoDate), placed(s.r.Lines), c.endless.first))
		p.missing(dataset.NoDate)
	}
	l.renamed(name, c, wanted, p)
	if l.meant && (l.from.Name == "" || len(p.nameable(name, []string{l.from.Name})) > 0) {
		p.column(name, l.from, l.why)
	}
	var limits []string
	if wanted != nil && wanted.number {
		limits = p.nameable(name, c.compared())
	}
	p.alone(name, l.from, slices.Concat(alone, s.codes(j, c, p)), limits)
}

// unvaried says of a column that no two of its rows differ.
func (s *sight) unvaried(name string, c *column, numbers bool) {
	switch {
	case c.values+c.missing == 0 && len(c.kinds) == 0 && s.r.Rows > 0, c.values == 0 && c.missing > 0 && len(c.kinds) == 0:
		s.look(name, AboutConstant, "no cell has a value")
	case numbers && c.least == c.most && c.values > 1 && len(c.kinds) == 0:
		s.look(name, AboutConstant, "has the same value in every row")
	case len(c.levels) == 1 && c.values == 0 && !c.more:
		s.look(name, AboutConstant, "has the same text in every row")
	}
}

// inUnit says of numbers that are not where the study has them which unit of measurement may be
// theirs.
func (s *sight) inUnit(j int, c *column, wanted *want, l *proposedLine) {
	name, q := s.label[j], c.order()
	if wanted.has(q, 2, 0.2) && (wanted.plausible == nil || 20*c.outside < c.values) {
		return
	}
	found := fits(name+" "+s.header[j], q, wanted)
	for _, f := range found {
		s.look(name, AboutUnit, fmt.Sprintf("looks like %s where the study expects %s", spoken(f.from), spoken(f.to)))
	}
	if len(found) > 0 && l.from.Multiply == 0 && l.from.Add == 0 {
		f := found[0]
		l.from.Multiply, l.from.Add, l.why = f.multiply, f.add, "if it is in "+spoken(f.from)
		l.meant = true
	}
	switch {
	case len(found) > 0 || wanted.plausible != nil && 20*s.unexplained(j) < c.values:
	case wanted.constants:
		s.look(name, AboutConstants, "its values are not near the study's offset and scale: is it in another unit?")
	default:
		s.look(name, AboutConstants, fmt.Sprintf("%d of its %d values lie outside the study's plausible range, %v to %v: is it in another unit?", c.outside, c.values, wanted.plausible[0], wanted.plausible[1]))
	}
}

// proposedLine is a column's line for agent.toml.
type proposedLine struct {
	from  dataset.From
	why   string // when it is right
	meant bool   // there is something to propose
}

// renamed proposes the study's texts for those of the column.
func (l *proposedLine) renamed(name string, c *column, wanted *want, p *paste) {
	names, open, into := c.renamed(wanted)
	same := p.nameable(name, slices.Sorted(maps.Keys(names)))
	maps.DeleteFunc(names, func(text, _ string) bool { return !slices.Contains(same, text) })
	p.open(name, l.from, names, p.nameable(name, open), into)
	if len(names) == 0 {
		return
	}
	l.from.Names = maps.Clone(l.from.Names)
	if l.from.Names == nil {
		l.from.Names = map[string]string{}
	}
	maps.Copy(l.from.Names, names)
	l.why, l.meant = "if these are the same", true
}

// leastIDs is from how many values on a column that is named like an id is taken for one, whatever
// the number of rows: fewer may be wards or devices, with many rows each.
const leastIDs = 20

// identifier warns of a column that says whose a row is, where the data set has no unit, or has it
// under another name.
func (s *sight) identifier(j int, c *column) {
	if len(c.ids) < 2 || c.manyIDs {
		return
	}
	name, n := s.header[j], s.r.Rows
	if s.values {
		name = fmt.Sprint("field ", j+1)
	}
	text := fmt.Sprintf("looks like an id%%s: %d different ones in %d rows", len(c.ids), n)
	switch {
	case s.r.Unit != "" && (len(c.ids) >= leastIDs || 4*len(c.ids) > n):
		s.look(name, AboutID, fmt.Sprintf(text, "")+fmt.Sprintf(". Is it the unit, %s?", key(s.r.Unit)))
		if !s.values && dataset.Nameable(name) {
			s.whose = append(s.whose, name)
		}
	case len(c.ids) < n && (len(c.ids) >= leastIDs || 4*len(c.ids) > n):
		s.look(name, AboutID, fmt.Sprintf(text, ", and unit is not set")+". "+severalText)
	}
}

// mostShown is how many texts of a column are printed.
const mostShown = 12

func shownLevels(c *column) (out []Level, rarer int, more bool) {
	for _, text := range slices.Sorted(maps.Keys(c.levels)) {
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
