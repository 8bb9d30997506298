package profile

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"covey/internal/dataset"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// Report is what a data set holds, and what of it does not fit.
type Report struct {
	Dataset string `json:"dataset"`
	Rows    int    `json:"rows"` // records that are rows
	Units   int    `json:"units"`
	Unit    string `json:"unit,omitempty"`
	Lines   bool   `json:"counted_in_lines"` // Fault.First is a line of text, not a row
	Header  int    `json:"columns_in_the_source"`
	// Faults lists those of the whole file first, then those of columns in their order.
	Faults  []Fault  `json:"faults,omitempty"`
	Columns []Column `json:"columns,omitempty"`
	// Look are sentences about what may be wrong although it can be read.
	Look []Remark `json:"look_at,omitempty"`
	// Paste are lines for the data set in agent.toml.
	Paste []string `json:"to_paste,omitempty"`
}

// Fault is what cannot be read, all of one kind together.
type Fault struct {
	Column string `json:"column,omitempty"` // the study's name of it, if there is one
	What   string `json:"what"`
	Count  int    `json:"count"`
	First  int    `json:"first"` // line or row; 0 if it is in none
	// Names are names in the header that resemble that of a missing column.
	Names []string `json:"names,omitempty"`
	Do    string   `json:"what_to_do,omitempty"`
}

// What a remark is about.
const (
	AboutText      = "text"      // how the file is written
	AboutEncoding  = "encoding"  // likewise, its letters
	AboutConstant  = "constant"  // one value, or none
	AboutCode      = "code"      // a number that may stand for a missing value
	AboutFar       = "far"       // far values
	AboutUnit      = "unit"      // a unit of measurement
	AboutConstants = "constants" // the study's offset and scale
	AboutID        = "id"
	AboutFooter    = "footer"
	AboutLevels    = "levels"   // texts that the study does not have
	AboutNames     = "names"    // columns of the file that are not asked for
	AboutTwin      = "twin"     // two columns that are the same
	AboutMeasure   = "measure"  // units that no values were held against
	AboutSame      = "same"     // rows that are one row
	AboutMark      = "mark"     // a decimal mark that may be one between thousands
	AboutType      = "type"     // columns of which no number can be read
	AboutNumbered  = "numbered" // numbers that measure nothing
)

// Remark is one sentence, about a column if it names one.
type Remark struct {
	Column string `json:"column,omitempty"`
	About  string `json:"about"`
	Text   string `json:"text"`
}

// Column is one column of the source.
type Column struct {
	Name    string `json:"name"` // the study's, or the source's
	From    string `json:"from,omitempty"`
	Kind    string `json:"kind"`
	Values  int    `json:"values"` // cells that are read; without a study also texts that may be levels
	Missing int    `json:"missing"`
	// Quantiles are the 5th, 25th, 50th, 75th and 95th in the study's unit of measurement.
	Quantiles []float64 `json:"quantiles,omitempty"`
	Sample    int       `json:"sample,omitempty"` // random ones of the values, that quantiles are of; 0: all
	Levels    []Level   `json:"texts,omitempty"`  // the most frequent first
	Rarer     int       `json:"rarer_texts,omitempty"`
	More      bool      `json:"more_texts,omitempty"` // than are counted
}

// Level is a text that at least ten units have.
type Level struct {
	Text string `json:"text"`
	Rows int    `json:"rows"`
}

// Of reads a data set once and reports on it; with a study, on the columns that it asks for. The
// error is a *dataset.Error, or a *siteconfig.Error.
func Of(c *siteconfig.Config, d siteconfig.Dataset, spec *proposal.Spec, o dataset.ReadOptions) (*Report, error) {
	source := c.Source(d)
	said := source.Mapping
	guessed, err := guess(source)
	if err != nil {
		return nil, err
	}
	source.Mapping = guessed
	s := &sight{r: &Report{Dataset: d.Name, Unit: d.Unit, Lines: textual(source)}, spec: spec, mapping: guessed, random: rand.New(rand.NewPCG(1, 2)), units: map[int]bool{}, kin: kin{seen: map[uint64]bool{}}, unnamed: d.Unnamed()}
	if spec != nil {
		s.readings = d.Request(*spec).Readings
		if spec.Unit != d.Unit {
			s.r.Faults = append(s.r.Faults, otherUnit(d.Unit, spec.Unit))
		}
	}
	if err := dataset.Survey(source, d.Unit, o, s); err != nil {
		return nil, err
	}
	if !s.r.Lines {
		if err := s.typed(source, o); err != nil {
			return nil, err
		}
	}
	s.report(said)
	return s.r, nil
}

func textual(s dataset.Source) bool {
	return s.Query == nil && s.Kind().Text()
}

// sight sees a data set's rows.
type sight struct {
	r        *Report
	spec     *proposal.Spec
	asked    map[string]int    // places of the study's columns
	readings []dataset.Reading // of the study's columns
	mapping  dataset.Mapping
	random   *rand.Rand
	seed     maphash.Seed
	room     int
	cell     func(string) (float64, string)
	plain    func(string) (float64, string) // the same without missing_values

	header   []string
	values   bool // the header may be a row's values: none of it is said
	unit     int  // its column; -1 if there is none
	columns  []*column
	from     []dataset.From            // of columns
	numbers  []func(float64) float64   // of columns, what their numbers are to the study
	label    []string                  // the study's names of columns, or the source's; empty: not asked for
	reads    []*dataset.Reading        // of columns that the study reads as text
	dateless []func(string, bool) bool // of columns of dates
	absent   []string                  // columns of the study that the header lacks
	meant    map[string]int            // columns taken for absent ones
	likely   map[string][]string       // near names of absent ones
	compared int                       // pairs of names
	whose    []string                  // columns that may be the unit, where that is absent

	at, of     int
	unnamed    string       // what may help where the header lacks a column
	units      map[int]bool // that were seen, where there is a unit column
	kin        kin
	again      again
	nobody     tally
	broken     map[string]*tally
	reasons    []string
	numberless numberless
	unchecked  []string // columns whose unit no values were held against
	footers    int      // records at the end that look like no rows
	footer     bool     // the last one does
	blank      int      // how many of them have no value in any field
	held       bool     // the record under way has one

	plainly [len(codes)][]int // columns that have a code as a value like others
}

// Header implements dataset.Surveyor.
func (s *sight) Header(names []string, unit int) {
	s.header, s.unit, s.r.Header = slices.Clone(names), unit, len(names)
	s.room = min(sampleMost, max(sampleLeast, sampleAll/max(1, len(names))))
	s.cell, s.seed = s.mapping.Cell(), maphash.MakeSeed()
	s.plain = dataset.Mapping{Decimal: s.mapping.Decimal, Thousands: s.mapping.Thousands}.Cell()
	s.values = s.r.Lines && slices.ContainsFunc(names, func(name string) bool {
		v, reason := s.cell(name)
		return reason == "" && !math.IsNaN(v)
	})
	s.broken, s.meant, s.likely = map[string]*tally{}, map[string]int{}, map[string][]string{}
	s.columns, s.from, s.label = make([]*column, len(names)), make([]dataset.From, len(names)), make([]string, len(names))
	s.reads, s.numbers = make([]*dataset.Reading, len(names)), make([]func(float64) float64, len(names))
	s.dateless = make([]func(string, bool) bool, len(names))
	at := map[string]int{}
	for j, name := range names {
		at[name] = j
	}
	if s.spec == nil {
		for j, name := range names {
			if s.label[j] = name; s.values {
				s.label[j] = fmt.Sprint("field ", j+1)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.mapping.Columns)) {
			if j, ok := at[s.mapping.Source(name)]; ok {
				s.label[j], s.from[j] = name, s.mapping.Columns[name]
			}
		}
	} else {
		s.asked = map[string]int{}
		for i, c := range s.spec.Columns {
			s.asked[c.Name] = i
			j, ok := at[s.mapping.Source(c.Name)]
			if !ok {
				s.absent = append(s.absent, c.Name)
				continue
			}
			s.label[j], s.from[j] = c.Name, s.mapping.Columns[c.Name]
		}
		s.takeNearest()
	}
	for j, name := range names {
		identifier := s.unit < 0 && identifies(name)
		if j != unit && (s.label[j] != "" || identifier) {
			c := newColumn(identifier)
			c.from, s.columns[j] = s.from[j], c
			w := s.wanted(s.label[j])
			if w != nil {
				c.within = w.within
			}
			if s.numbers[j] = s.mapping.Numbers(s.renames(j, w)); w != nil && w.texts {
				s.reads[j] = &w.reading
				c.from.Multiply, c.from.Add = 0, 0 // which change nothing there
				if w.reading.As == dataset.Days {
					s.dateless[j] = s.mapping.Dateless(s.label[j])
				}
			}
		}
	}
}

// renames returns what names make of column j's numbers: without a study, and of one that the study
// reads as text, only what is a number, or none. Others may be levels.
func (s *sight) renames(j int, w *want) dataset.From {
	f := s.from[j]
	if w == nil || w.texts {
		f.Names = maps.Clone(f.Names)
		maps.DeleteFunc(f.Names, func(_, to string) bool {
			_, reason := s.cell(to)
			return reason != ""
		})
	}
	return f
}

// otherUnit is the fault of a data set whose unit has another name than the study's.
func otherUnit(own, asked string) Fault {
	f := Fault{What: fmt.Sprintf("the study's unit is %q, and this data set's %q", asked, own), Count: 1}
	switch {
	case asked == "":
		f.What, f.Do = fmt.Sprintf("the study counts rows, and this data set units (%q)", own), "ask the analyst for unit in the study"
	case own == "":
		f.What, f.Do = fmt.Sprintf("the study's unit is %q, and this data set has none", asked), fmt.Sprintf("unit = %q in agent.toml", asked)
	default:
		f.Do = fmt.Sprintf("if both are the same: unit = %q, and below [dataset.columns] %s = %s", asked, key(asked), quote(own))
	}
	return f
}

// takeNearest takes columns with near names for those that are missing, so that what they hold can
// be compared with what the study expects.
func (s *sight) takeNearest() {
	for _, name := range s.absent {
		for _, h := range s.near(name) {
			if j := slices.Index(s.header, h); s.label[j] == "" && j != s.unit {
				s.label[j], s.meant[name] = name, j
				s.from[j] = s.mapping.Columns[name]
				break
			}
		}
	}
}

// Unused implements dataset.Surveyor.
func (s *sight) Unused(j int, reason string) {
	if s.columns[j] != nil {
		s.columns[j].unused = reason
	}
}

// Row implements dataset.Surveyor.
func (s *sight) Row(at, unit int) {
	s.at, s.of = at, unit
	s.r.Rows++
	s.again.next(at)
	s.begin()
	if s.unit < 0 {
		return
	}
	if unit < 0 {
		s.nobody.add(at)
		return
	}
	s.kin.fresh = !s.units[unit]
	s.units[unit] = true
}

// Text implements dataset.Surveyor.
func (s *sight) Text(j int, field string) {
	if sums(field) {
		s.foot()
	}
	if s.held = s.held || dataset.Trim(field) != ""; !s.held && j == len(s.header)-1 {
		s.blank++
		s.foot()
	}
	if j == s.unit && s.of >= 0 {
		s.kin.add(field, s.seed)
	}
	c := s.columns[j]
	if c == nil {
		return
	}
	field = strings.Trim(field, " \t")
	c.id(field)
	s.hashed(j, maphash.String(s.seed, field))
	field, v, reason, named := s.read(j, field, false)
	if reason != "" || !math.IsNaN(v) {
		s.texted(j, field, reason, named)
	}
	switch {
	case reason != "":
		c.other(field, s.isLevel(j, field), s.at, s.of)
	case math.IsNaN(v):
		s.without(j)
	default:
		if s.number(j, v, field); !named {
			c.grouped.add(field, cmp.Or(s.mapping.Decimal, "."))
		}
	}
}

// read returns a field of a column in the study's words, and its number: NaN of one that stands for
// a missing value, or why it is neither. named says that agent.toml has a name for it, and date
// that the source's type is a date.
func (s *sight) read(j int, field string, date bool) (word string, v float64, reason string, named bool) {
	name, named := s.from[j].Names[field]
	if named {
		field = name
	}
	v, reason = s.cell(field)
	if !named && s.reads[j] == nil && len(s.from[j].Names) > 0 {
		if plain, why := s.plain(field); why == "" && !math.IsNaN(plain) {
			v, reason = s.numbers[j](plain), ""
			named = v != plain
		}
	}
	if lost := s.dateless[j]; lost != nil && !named && lost(field, date) {
		v, reason = math.NaN(), ""
	}
	if r := s.reads[j]; r != nil && len(r.Levels) > 0 && math.IsNaN(v) && dataset.Padded(field) && !slices.Contains(s.mapping.MissingValues, field) {
		v, reason = dataset.Mapping{}.Cell()(field) // as the study reads it: 09, where 9 is missing
	}
	return field, v, reason, named
}

// Number implements dataset.Surveyor.
func (s *sight) Number(j int, v float64) {
	c := s.columns[j]
	if c == nil {
		return
	}
	v = s.numbers[j](v)
	switch {
	case math.IsNaN(v):
		s.without(j)
	case math.IsInf(v, 0):
		c.other("infinity", false, s.at, s.of)
	default:
		c.id(strconv.FormatFloat(v, 'g', -1, 64))
		s.number(j, v, "")
	}
	if math.IsNaN(v) {
		v = math.Inf(1) // one of many
	}
	s.hashed(j, maphash.Comparable(s.seed, v))
}

// hashed takes the hash of a cell into its column's and, of a column that is looked at, its row's.
func (s *sight) hashed(j int, h uint64) {
	c := s.columns[j]
	c.hash = c.hash*mixing + h
	if s.label[j] != "" {
		s.again.row = s.again.row*mixing + h
	}
}

// without takes a missing cell.
func (s *sight) without(j int) {
	s.columns[j].without(s.at)
	s.again.gap = s.again.gap || s.label[j] != ""
}

func (s *sight) number(j int, v float64, field string) {
	s.columns[j].number(v, field, s.at, s.of, s.room, s.random)
}

// Broken implements dataset.Surveyor.
func (s *sight) Broken(at int, reason string, over bool) {
	if s.broken[reason] == nil {
		s.reasons = append(s.reasons, reason)
	}
	count(s.broken, reason, at)
	if s.begin(); !over {
		s.foot()
	}
}

// begin begins a record.
func (s *sight) begin() {
	if !s.footer {
		s.footers, s.blank = 0, 0
	}
	s.footer, s.held = false, false
}

// foot takes the record for one that may be no row.
func (s *sight) foot() {
	if !s.footer {
		s.footer = true
		s.footers++
	}
}

// totals are words of a line that sums others up.
var totals = map[string]bool{
	"total": true, "totals": true, "grand total": true, "subtotal": true, "sum": true, "summe": true, "gesamt": true, "insgesamt": true,
	"mean": true, "average": true, "mittelwert": true, "median": true, "somme": true, "moyenne": true, "totale": true, "suma": true,
}

// sums reports whether a text is such a word, or begins with one and has a number: "Total 18 rows".
func sums(field string) bool {
	field = strings.ToLower(strings.Trim(field, " \t:.*"))
	first, rest, _ := strings.Cut(field, " ")
	return totals[field] || totals[strings.TrimRight(first, ":")] && strings.ContainsAny(rest, "0123456789")
}

// identifies reports whether a column's name is that of an identifier.
func identifies(name string) bool {
	parts := words(name)
	for i, w := range parts {
		if slices.Contains([]string{"id", "pid", "pat", "patient", "patientid", "patid", "patnr", "mrn", "subject", "subjectid", "person", "personid", "identifier", "nhs", "ssn"}, w) ||
			i > 0 && slices.Contains([]string{"nr", "no", "num", "number", "nummer"}, w) {
			return true
		}
	}
	return false
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// String is a fault in a sentence.
func (f Fault) String(lines bool) string {
	text := f.What
	if f.Column != "" {
		text = fmt.Sprintf("column %q: %s", f.Column, f.What)
	}
	if len(f.Names) > 0 {
		var names []string
		for _, n := range f.Names {
			names = append(names, quote(n))
		}
		return text + "; near: " + strings.Join(names, ", ")
	}
	if f.First > 0 {
		text += fmt.Sprintf(", %s, first at %s %d", plural(f.Count, "time", "times"), placed(lines), f.First)
	}
	if f.Do != "" {
		text += "; " + f.Do
	}
	return text
}

// String is the remark with its column.
func (r Remark) String() string {
	if r.Column == "" {
		return r.Text
	}
	return fmt.Sprintf("column %q: %s", r.Column, r.Text)
}

// placed is what places are counted in.
func placed(lines bool) string {
	if lines {
		return "line"
	}
	return "row"
}
