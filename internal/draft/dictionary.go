package draft

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"covey/internal/proposal"
)

// maxDictionary bounds a data dictionary.
const maxDictionary = 32 << 20

// What a dictionary says of a column, and the headers under which dictionaries say it. Those of
// REDCap's are among them.
const (
	partName = iota
	partMeasure
	partLow
	partHigh
	partLevels
	partType
	partCheck
	partIdentifier
	partAbout
	parts
)

var headers = [parts][]string{
	partName:       {"name", "variable", "variable name", "variable / field name", "field", "field name", "column", "column name", "varname", "item"},
	partMeasure:    {"measure", "unit", "units", "unit of measurement", "unit of measure", "uom"},
	partLow:        {"min", "minimum", "low", "lower", "lowest", "lower limit", "min value", "text validation min"},
	partHigh:       {"max", "maximum", "high", "upper", "highest", "upper limit", "max value", "text validation max"},
	partLevels:     {"levels", "choices", "categories", "codes", "allowed values", "permitted values", "permissible values", "values", "choices, calculations, or slider labels"},
	partType:       {"type", "data type", "datatype", "field type", "variable type", "class"},
	partCheck:      {"text validation type or show slider number", "validation"},
	partIdentifier: {"identifier?", "identifier"},
	partAbout:      {"description", "label", "field label", "variable label", "definition"},
}

// called names each part in notes.
var called = [parts]string{"the name", "the unit of measurement", "the lowest value", "the highest value", "the levels", "the type", "the validation", "identifiers", "the description"}

// kind is what a column's values are.
type kind int

const (
	unsaid kind = iota
	aNumber
	aBoolean
	aDate
	aLevel
	manyLevels // a column of its own for each
	noColumn   // has no values
	otherText
)

// kinds are types and validations as dictionaries write them.
var kinds = map[string]kind{
	"integer": aNumber, "int": aNumber, "number": aNumber, "numeric": aNumber, "float": aNumber, "double": aNumber, "decimal": aNumber,
	"real": aNumber, "continuous": aNumber, "calc": aNumber, "slider": aNumber, "count": aNumber,
	"boolean": aBoolean, "bool": aBoolean, "logical": aBoolean, "yesno": aBoolean, "truefalse": aBoolean, "yes/no": aBoolean,
	"date": aDate, "datetime": aDate,
	"categorical": aLevel, "category": aLevel, "factor": aLevel, "nominal": aLevel, "ordinal": aLevel, "enum": aLevel, "radio": aLevel, "dropdown": aLevel, "select": aLevel,
	"checkbox":    manyLevels,
	"descriptive": noColumn, "section": noColumn, "file": noColumn,
	"notes": otherText, "string": otherText, "char": otherText, "character": otherText, "varchar": otherText, "free text": otherText, "sql": otherText,
	"email": otherText, "phone": otherText, "zipcode": otherText, "time": otherText, "signature": otherText,
}

// day is what dates are counted from.
const day = "days since 2000-01-01"

// kindOf returns what a type or a validation is.
func kindOf(text string) kind {
	text = strings.ToLower(strings.TrimSpace(text))
	switch {
	case strings.HasPrefix(text, "date_"), strings.HasPrefix(text, "datetime_"):
		return aDate
	case strings.HasPrefix(text, "number"), strings.HasPrefix(text, "integer"):
		return aNumber
	}
	return kinds[text]
}

// Dictionary reads a CSV with a line for each column of a table. what names the file in words.
func Dictionary(r io.Reader, what string) (Draft, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxDictionary+1))
	if err != nil {
		return Draft{}, err
	}
	if len(raw) > maxDictionary {
		return Draft{}, fmt.Errorf("is longer than %d bytes", maxDictionary)
	}
	if raw, err = text(raw); err != nil {
		return Draft{}, err
	}
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	_, comma, err := fields(first)
	if err != nil {
		return Draft{}, err
	}
	rows := csv.NewReader(bytes.NewReader(raw))
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord = comma, true, -1
	header, err := rows.Read()
	if err != nil {
		return Draft{}, errors.New("the first line is not the header of a CSV")
	}
	b := &book{draft: Draft{Source: "the data dictionary " + what + ", and no value of a row"}, seen: map[string]int{}, left: map[string][]string{}}
	if err := b.header(header); err != nil {
		return Draft{}, err
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Draft{}, errors.New("is not a CSV: " + strings.TrimPrefix(err.Error(), "parse error on "))
		}
		n, _ := rows.FieldPos(0)
		if err := b.row(n, row); err != nil {
			return Draft{}, err
		}
	}
	return b.done(), nil
}

// book is a dictionary as it is read.
type book struct {
	draft Draft
	at    [parts]int // of each part's column, -1 where there is none
	seen  map[string]int
	why   []string            // columns are left out, in order
	left  map[string][]string // the columns, by why
}

// header finds the parts.
func (b *book) header(header []string) error {
	var understood, unread []string
	for part := range b.at {
		b.at[part] = slices.IndexFunc(header, func(text string) bool {
			return slices.Contains(headers[part], strings.ToLower(strings.TrimSpace(text)))
		})
		if at := b.at[part]; at >= 0 {
			understood = append(understood, fmt.Sprintf("%s in %q", called[part], strings.TrimSpace(header[at])))
		}
	}
	for i, text := range header {
		if !slices.Contains(b.at[:], i) && strings.TrimSpace(text) != "" {
			unread = append(unread, strconv.Quote(strings.TrimSpace(text)))
		}
	}
	if b.at[partName] < 0 {
		return fmt.Errorf("the header has no column of names, such as \"name\" or \"Variable / Field Name\"; it has %.300s", strings.Join(unread, ", "))
	}
	b.draft.Notes = append(b.draft.Notes, "Understood: "+strings.Join(understood, ", ")+".")
	if len(unread) > 0 {
		b.draft.Notes = append(b.draft.Notes, "Not used: "+strings.Join(unread, ", ")+".")
	}
	return nil
}

// leave leaves a column out.
func (b *book) leave(name, why string) {
	if b.left[why] == nil {
		b.why = append(b.why, why)
	}
	b.left[why] = append(b.left[why], strconv.Quote(name))
}

func (b *book) note(format string, args ...any) {
	b.draft.Notes = append(b.draft.Notes, fmt.Sprintf(format, args...))
}

// line is one line of a dictionary: a column of the table.
type line struct {
	*book
	cells []string
}

// get returns the text of a part, empty where the line has none.
func (l line) get(part int) string {
	if at := l.at[part]; at >= 0 && at < len(l.cells) {
		return strings.TrimSpace(l.cells[at])
	}
	return ""
}

// row reads the line numbered n.
func (b *book) row(n int, cells []string) error {
	l := line{b, cells}
	name := l.get(partName)
	if name == "" {
		return nil
	}
	if at := b.seen[name]; at > 0 {
		return fmt.Errorf("line %d: %.100q is also on line %d", n, name, at)
	}
	b.seen[name] = n
	levels := levelsOf(l.get(partLevels))
	what := l.kind(levels)
	switch {
	case !printable(name):
		b.leave(name, "its name has over 200 bytes, or characters that are not printed")
	case l.identifies(what == aLevel):
		b.leave(name, "it is, or looks like, an identifier")
	default:
		l.add(Column{Name: name, About: l.get(partAbout)}, what, levels)
	}
	return nil
}

// kind returns what the column's values are, by all that the line says.
func (l line) kind(levels []string) kind {
	what := kindOf(l.get(partType))
	if check := kindOf(l.get(partCheck)); what == unsaid && check != unsaid {
		what = check // the type was a text box
	}
	if what != aNumber && what != aBoolean && what != manyLevels && len(levels) > 0 || what == aNumber && len(levels) > 1 && !formula(l.get(partType)) {
		what = aLevel
	}
	_, low := bound(l.get(partLow))
	_, high := bound(l.get(partHigh))
	if what == unsaid && (low || high || l.get(partMeasure) != "" || l.at[partType] < 0) {
		what = aNumber
	}
	return what
}

// identifies reports whether the column says whose a row is. Where the dictionary does not say so,
// the name does, but not that of a column with levels.
func (l line) identifies(hasLevels bool) bool {
	switch strings.ToLower(l.get(partIdentifier)) {
	case "y", "yes", "true", "1", "x":
		return true
	case "":
		return !hasLevels && likeID(l.get(partName))
	}
	return false
}

// add adds the column to the draft, or leaves it out.
func (l line) add(c Column, what kind, levels []string) {
	switch what {
	case aNumber:
		c.Measure = l.measure(c.Name, l.get(partMeasure))
		c.Range = l.limits(c.Name)
	case aBoolean:
		c.As = proposal.AsBoolean
	case aDate:
		c.As = day
	case aLevel:
		var why string
		if c.Levels, why = usable(levels); why != "" {
			l.leave(c.Name, why)
			return
		}
	case manyLevels:
		for _, level := range levels {
			l.draft.Columns = append(l.draft.Columns, Column{Name: c.Name + "___" + level, As: proposal.AsBoolean, About: c.About})
		}
		if len(levels) == 0 {
			l.leave(c.Name, "its choices are not given")
		}
		return
	case noColumn:
		return
	default:
		l.leave(c.Name, "it is text without levels, or its type is unknown")
		return
	}
	l.draft.Columns = append(l.draft.Columns, c)
}

// limits returns the lowest and the highest value of a column of numbers, nil where they are not
// two numbers.
func (l line) limits(name string) []float64 {
	low, lowOK := bound(l.get(partLow))
	high, highOK := bound(l.get(partHigh))
	switch {
	case lowOK && highOK && low < high:
		return []float64{low, high}
	case l.get(partLow) != "" || l.get(partHigh) != "":
		l.note("%q has no range: it needs a lowest and a highest number, got %q and %q.", name, l.get(partLow), l.get(partHigh))
	}
	return nil
}

// measure returns a unit of measurement that a study can have.
func (b *book) measure(name, text string) string {
	if len([]rune(text)) > proposal.MaxMeasure || !printable(text) {
		b.note("%q has no measure: it must be at most %d printed characters.", name, proposal.MaxMeasure)
		return ""
	}
	return text
}

// done adds what was left out.
func (b *book) done() Draft {
	for _, why := range b.why {
		b.note("Left out, because %s: %s.", why, strings.Join(b.left[why], ", "))
	}
	levels, days, several := false, false, false
	for _, c := range b.draft.Columns {
		levels, days = levels || len(c.Levels) > 0, days || c.As == day
		several = several || strings.Contains(c.Name, "___")
	}
	if levels {
		b.note("Levels are the codes as the dictionary writes them: rows must hold the codes, not their labels.")
	}
	if several {
		b.note("A field of check boxes becomes a column for each choice, named FIELD___CODE.")
	}
	if days {
		b.note("Dates are counted in days since 2000-01-01.")
	}
	return b.draft
}

// formula reports whether a type's choices are no choices.
func formula(kind string) bool {
	kind = strings.ToLower(kind)
	return kind == "calc" || kind == "slider"
}

// bound reads one end of a range.
func bound(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && math.Abs(v) <= 1e100
}

// levelsOf returns the codes of a list of levels: "1, Male | 2, Female", "m=male; f=female" or
// "m, f".
func levelsOf(text string) (out []string) {
	by := ","
	for _, c := range []string{"|", ";", "\n"} {
		if strings.Contains(text, c) {
			by = c
			break
		}
	}
	for part := range strings.SplitSeq(strings.Trim(text, "[]{} "), by) {
		code, _, _ := strings.Cut(part, "=")
		if by != "," {
			code, _, _ = strings.Cut(code, ",")
		}
		if code = strings.Trim(code, " \t\r\"'"); code != "" {
			out = append(out, code)
		}
	}
	return out
}

// usable returns levels that a study can have, or why it cannot.
func usable(levels []string) (out []string, why string) {
	for _, l := range levels {
		if l == proposal.OtherLevel || l == "NA" || strings.EqualFold(l, "nan") || slices.Contains(out, l) {
			continue // other and missing have places of their own
		}
		if !printable(l) {
			return nil, "a level has characters that are not printed"
		}
		out = append(out, l)
	}
	switch {
	case len(out) == 0:
		return nil, "its levels are not given"
	case len(out) > proposal.MaxLevels:
		return nil, fmt.Sprintf("it has more than %d levels", proposal.MaxLevels)
	}
	return out, ""
}
