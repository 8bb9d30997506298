package sitedata

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// Where a person is asked whether a column is in the unit of measurement that a study expects, in
// the study's scales.
const (
	middleScales  = 2    // farthest of the column's middle from the offset
	leastSpread   = 0.2  // of the column
	mostSpread    = 5.0  // likewise
	extremeScales = 100  // farthest of one value
	manyDropped   = 0.05 // share of rows left out
	fewRows       = 50   // of which no outer quantile is shown: it would be one of them
	manyEmpty     = 0.3  // share of rows without a value in a column, where a study keeps them
	manyOther     = 0.05 // share of rows with a text that is no level
	mostSame      = 0.95 // share of rows with one value, with central noise
	mostFrequent  = 0.9  // share of rows with one value, where a study learns the scale
	mostAway      = 500  // distance of the middle from 0, in spreads, where it does
	farDates      = 10   // distance of a date from the middle half of a column's, in lengths of that, or in years
)

// Figures are what a site's operator is shown of its own rows before approving a study. They are
// computed from the rows without noise: they MUST stay at the site, and nothing that leaves it may
// depend on them. Whoever proposes chooses offsets and scales, and would learn a site's mean from
// what the site refuses.
type Figures struct {
	Rows    int    `json:"rows"`
	Units   int    `json:"units"`
	Dropped int    `json:"rows_left_out"`         // for a value missing or at fault
	Faulty  int    `json:"rows_faulty,omitempty"` // of those, for one at fault
	Fault   string `json:"first_fault,omitempty"`
	// missing = "error": a missing value is a fault, too
	Refused bool           `json:"missing_refused,omitempty"`
	Columns []ColumnFigure `json:"columns,omitempty"`
	// Central is set where the study's noise is central: the coordinator's leader reads exact sums.
	Central bool `json:"central_noise,omitempty"`
	// Changed is set where the study was approved with other rows than these.
	Changed bool     `json:"changed,omitempty"`
	SHA256  [32]byte `json:"-"` // of what was read
}

// ColumnFigure is one column of this site's kept rows, in the column's own unit.
type ColumnFigure struct {
	Name   string  `json:"name"`
	Offset float64 `json:"offset"` // the study's
	Scale  float64 `json:"scale"`
	Median float64 `json:"median"`
	// Spread is a normal law's standard deviation that has the column's interquartile range, or the
	// standard deviation where most values are equal.
	Spread float64 `json:"spread"`
	// Low and High are the quantiles 0.05 and 0.95; nil of fewer than fewRows values.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Measure and Range are the proposer's words.
	Measure string    `json:"measure,omitempty"`
	Range   []float64 `json:"range,omitempty"`
	// Levels is how many levels the study has of the column, 0 of a column of numbers, and Other
	// the share of kept rows with any other text. Median and Spread are then 0.
	Levels int     `json:"levels,omitempty"`
	Other  float64 `json:"other,omitempty"`
	// Empty is the share of rows without a value, where a study keeps them.
	Empty float64 `json:"empty,omitempty"`
	// Unread reports that no row here has a value that could be read: Median and Spread are then 0
	// and say nothing.
	Unread bool `json:"unread,omitempty"`
	// Same is the share of rows that have the column's most common value.
	Same     float64  `json:"same"`
	Learned  bool     `json:"learned,omitempty"` // offset and scale, by the study
	Boolean  bool     `json:"boolean,omitempty"`
	Since    string   `json:"days_since,omitempty"` // of a column of dates, the day that figures count from
	Warnings []string `json:"warnings,omitempty"`
}

// Text is a value of the column for people: a date where it counts days.
func (f ColumnFigure) Text(v float64) string {
	if since, err := time.Parse(time.DateOnly, f.Since); err == nil && math.Abs(v) < mostDays {
		return since.AddDate(0, 0, int(math.Round(v))).Format(time.DateOnly)
	}
	return fmt.Sprintf("%.6g", v)
}

// RangeText is a range of the column's values that its proposer states, for people: all digits, or
// dates; empty where none is stated.
func (f ColumnFigure) RangeText(stated []float64) string {
	if len(stated) != 2 {
		return ""
	}
	return f.exact(stated[0]) + " to " + f.exact(stated[1])
}

func (f ColumnFigure) exact(v float64) string {
	if f.Since != "" {
		return f.Text(v)
	}
	return fmt.Sprintf("%g", v)
}

// LengthText is a difference of two of the column's values for people: days where it counts days.
func (f ColumnFigure) LengthText(v float64) string {
	text := fmt.Sprintf("%.6g", v)
	switch {
	case f.Since == "":
	case text == "1":
		text += " day"
	default:
		text += " days"
	}
	return text
}

// mostDays bounds what is shown as a date: two dates of four digits of a year are nearer.
const mostDays = 10_000 * 366

// Look reads the rows once, faults of values and all, and keeps a sample of them. The error is a
// *dataset.Error.
func Look(s dataset.Source, q dataset.Request) (Figures, error) {
	refused := q.Missing == dataset.MissingError
	if q.Missing != dataset.MissingGaps {
		q.Missing = dataset.MissingDropFaulty
	}
	q.Strict = false
	l := newLook(q.Width())
	rows, err := dataset.Look(s, q, dataset.ReadOptions{}, l.see)
	if err != nil {
		return Figures{}, err
	}
	f := l.figures(rows, q)
	f.Refused = refused
	return f, nil
}

// LookAt is Look at rows that were read, of columns with those readings; none where all are of
// numbers.
func LookAt(rows *dataset.Rows, columns []dataset.Column, readings ...dataset.Reading) Figures {
	l := newLook(rows.D)
	rows.Visit(l.see)
	return l.figures(rows, dataset.Request{Columns: columns, Readings: readings})
}

func (l *look) figures(rows *dataset.Rows, q dataset.Request) Figures {
	f := Figures{SHA256: rows.SHA256, Rows: rows.Rows, Units: rows.Units, Dropped: rows.Dropped, Faulty: rows.Faulty}
	if rows.Fault != nil {
		f.Fault = rows.Fault.Error()
	}
	f.Columns = slices.Grow(f.Columns, len(q.Columns))
	first := 0
	for j, c := range q.Columns {
		var r dataset.Reading
		if len(q.Readings) > 0 {
			r = q.Readings[j]
		}
		if levels := len(r.Levels); levels > 0 {
			f.Columns = append(f.Columns, l.leveled(first, c.Name, r.Levels))
			first += levels + 1
		} else {
			l.learned[first] = r.Learned
			figure := l.column(first, c, r.As)
			if r.As == dataset.Days {
				figure.Since = time.Unix(int64(r.Epoch)*86400, 0).UTC().Format(time.DateOnly)
			}
			f.Columns = append(f.Columns, figure)
			first++
		}
		if r.Indicator {
			first++
		}
	}
	return f
}

// Shown returns the figures for a screen that others may pass: without those of columns of which
// fewer than fewRows values were read, where a figure is nearly a person's value.
func (f Figures) Shown() Figures {
	f.Columns = slices.Clone(f.Columns)
	for j, c := range f.Columns {
		if values := float64(f.Rows-f.Dropped) * (1 - c.Empty); math.Round(values) < fewRows {
			f.Columns[j] = ColumnFigure{Name: c.Name, Offset: c.Offset, Scale: c.Scale, Measure: c.Measure, Range: c.Range, Levels: c.Levels, Learned: c.Learned, Unread: true,
				Warnings: []string{fmt.Sprintf("has fewer than %d values here, and no figures on this page: \"agent study show\" has them", fewRows)}}
		}
	}
	return f
}

// Warnings are what the operator should look at: rows left out first, then columns.
func (f Figures) Warnings() []string {
	var out []string
	if f.Changed {
		out = append(out, "the data set is not what was approved: these figures describe it as it is now, but no sum of the study uses it")
	}
	if f.Faulty > 0 {
		out = append(out, fmt.Sprintf("%d of this site's %d rows have a value at fault, the first: %s", f.Faulty, f.Rows, f.Fault))
	}
	if missing := f.Dropped - f.Faulty; missing > 0 && f.Refused {
		out = append(out, fmt.Sprintf("%d of this site's %d rows have a missing value, and the study has missing = \"error\": an operator's approval is refused, and a policy's leaves them out", missing, f.Rows))
	}
	if gaps := f.Gaps(); gaps != "" {
		out = append(out, gaps)
	}
	for _, c := range f.Columns {
		if f.Central && c.Same > mostSame {
			out = append(out, fmt.Sprintf("column %q has one value on %.3g%% of the rows here: if that sets this site's rows, or a few of them, apart from all others, central noise lets the coordinator's leader read their exact sums", c.Name, 100*c.Same))
		}
		for _, w := range c.Warnings {
			out = append(out, fmt.Sprintf("column %q %s", c.Name, w))
		}
	}
	return out
}

// Unchecked says for how many columns nothing checks the unit of measurement, where the absence of
// a warning means nothing. It is empty if all are checked.
func (f Figures) Unchecked() string {
	n, why := 0, "its proposer gives no range"
	for _, c := range f.Columns {
		if c.Learned && !c.Boolean && c.Since == "" && !c.Unread && (len(c.Range) != 2 || c.Low == nil) {
			if n++; len(c.Range) == 2 {
				why = fmt.Sprintf("its proposer gives no range, or this site has fewer than %d values", fewRows)
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Of %d of these %d columns nothing checks the unit of measurement, since the study learns their constants and %s: compare the medians with what you expect.", n, len(f.Columns), why)
}

// unitQuestion ends a warning that another unit of measurement may explain.
const unitQuestion = "is it in the unit of measurement that the study expects?"

// AsksUnit reports whether a warning asks for a column's unit of measurement.
func AsksUnit(warning string) bool { return strings.HasSuffix(warning, unitQuestion) }

// Gaps says how many rows are left out; empty where they are few.
func (f Figures) Gaps() string {
	share := float64(f.Dropped) / float64(max(1, f.Rows))
	if share <= manyDropped {
		return ""
	}
	return fmt.Sprintf("%d of this site's %d rows (%.0f%%) are left out: a value of theirs is missing or at fault, and the study's result will not be about them", f.Dropped, f.Rows, 100*share)
}

// Beside adds what the study says of its columns, and warns of a column of which more than 5% lies
// on one side of the range that the proposer calls plausible.
func (f *Figures) Beside(columns []proposal.Column) {
	for j := range f.Columns {
		at, c := &f.Columns[j], columns[j]
		if at.Measure, at.Range = c.Measure, c.Range; len(c.Range) != 2 || at.Low == nil {
			continue
		}
		const side = "has more than 5%% of its values %s %s, which the proposer calls the %s plausible one: " + unitQuestion
		if *at.Low < c.Range[0] {
			at.Warnings = append(at.Warnings, fmt.Sprintf(side, "below", at.exact(c.Range[0]), "lowest"))
		}
		if *at.High > c.Range[1] {
			at.Warnings = append(at.Warnings, fmt.Sprintf(side, "above", at.exact(c.Range[1]), "highest"))
		}
	}
}

// look gathers figures about columns, in memory that does not grow with the number of rows.
type look struct {
	d, kept int
	random  *rand.Rand
	room    int       // rows of the sample
	sample  []float32 // row by row, of rows drawn at random, each as likely as the others
	sums    []columnSums
	learned map[int]bool // columns whose constants the study learns
}

// columnSums sums all values of kept rows, in scales from the offset.
type columnSums struct {
	values       int
	least, most  float64
	mean, square float64 // of values brought to extremeScales, and of their squares about it
	extreme      int
}

// sampleValues bounds the sample, but for the rows without which it says nothing.
const (
	sampleValues = 1 << 20
	sampleLeast  = 64
	sampleMost   = 4096
	sampleDigits = 1e-6 // of an offset, which a float32 keeps
)

func newLook(d int) *look {
	l := &look{d: d, random: rand.New(rand.NewPCG(1, 2)), room: min(sampleMost, max(sampleLeast, sampleValues/max(1, d))), sums: make([]columnSums, d), learned: map[int]bool{}}
	for j := range l.sums {
		l.sums[j].least, l.sums[j].most = math.Inf(1), math.Inf(-1)
	}
	return l
}

func (l *look) see(row []float64, dropped bool) {
	if dropped {
		return
	}
	l.kept++
	for j, v := range row {
		s := &l.sums[j]
		if math.IsNaN(v) {
			continue
		}
		s.values++
		s.least, s.most = min(s.least, v), max(s.most, v)
		near := max(-extremeScales, min(extremeScales, v))
		if near != v {
			s.extreme++
		}
		step := near - s.mean
		s.mean += step / float64(s.values)
		s.square += step * (near - s.mean)
	}
	at := l.kept - 1
	if at >= l.room {
		if at = l.random.IntN(l.kept); at >= l.room {
			return
		}
	}
	if at*l.d == len(l.sample) {
		l.sample = slices.Grow(l.sample, l.d)[:len(l.sample)+l.d]
	}
	for j, v := range row {
		// a far one is an infinity, which has its place in the order
		l.sample[at*l.d+j] = float32(v)
	}
}

// leveled sums a column with levels up, whose numbers in a row begin at first.
func (l *look) leveled(first int, name string, levels []string) ColumnFigure {
	f := ColumnFigure{Name: name, Scale: 1, Levels: len(levels)}
	if l.empty(first, &f) {
		return f
	}
	f.Other = l.sums[first+len(levels)].mean // of zeros and ones: their share
	if f.Other > manyOther {
		f.Warnings = append(f.Warnings, fmt.Sprintf("has a text that is not one of the study's %d levels in %.3g%% of rows: are levels written another way here, or is the file in another encoding?", len(levels), 100*f.Other))
	}
	for _, s := range l.sums[first : first+len(levels)+1] {
		f.Same = max(f.Same, s.mean)
	}
	return f
}

// empty says how many rows have no value in a column, and reports whether none has.
func (l *look) empty(j int, f *ColumnFigure) bool {
	n := l.sums[j].values
	switch f.Empty = 1 - float64(n)/float64(max(1, l.kept)); {
	case l.kept == 0:
		f.Warnings, f.Empty = []string{"has no values here: every row is left out"}, 0
	case n == 0:
		f.Warnings = []string{"has no value in any row here: all of its cells are missing or at fault"}
	case f.Empty > manyEmpty:
		f.Warnings = append(f.Warnings, fmt.Sprintf("has no value in %.0f%% of the rows here: missing, or at fault", 100*f.Empty))
	}
	f.Unread = n == 0
	return f.Unread
}

// column sums one column up, whose cells are read so.
func (l *look) column(j int, c dataset.Column, as dataset.As) ColumnFigure {
	f := ColumnFigure{Name: c.Name, Offset: c.Offset, Scale: c.Scale, Learned: l.learned[j], Boolean: as == dataset.Boolean}
	if l.empty(j, &f) {
		return f
	}
	var values []float64
	for at := j; at < len(l.sample); at += l.d {
		if v := float64(l.sample[at]); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 { // of the sample
		return f
	}
	slices.Sort(values)
	quantile := func(q float64) float64 { return max(-math.MaxFloat32, min(math.MaxFloat32, rank(values, q))) }
	f.Same = commonest(values)
	s := l.sums[j]
	q := quarters{quantile(0.25), quantile(0.5), quantile(0.75), 0}
	q.spread = (q.upper - q.lower) / 1.349
	switch {
	case q.spread == 0 && f.Learned: // its values are not in scales
		q.spread = deviation(values)
	case q.spread == 0:
		q.spread = math.Sqrt(s.square / float64(s.values))
	}
	value := func(scaled float64) float64 {
		v := c.Offset + c.Scale*scaled
		if math.Abs(v) < sampleDigits*math.Abs(c.Offset) { // what the sample's rounding left of 0
			return 0
		}
		return v
	}
	f.Median, f.Spread = value(q.middle), c.Scale*q.spread
	if s.values >= fewRows {
		low, high := value(quantile(0.05)), value(quantile(0.95))
		f.Low, f.High = &low, &high
	}
	if s.least == s.most {
		f.warn("has the same value in every row")
		return f
	}
	if as == dataset.Number { // dates and truth values are in no unit
		for i, v := range values {
			values[i] = value(v)
		}
		if low, high, share, ok := groups(values); ok {
			f.warn("has two groups of values, %.0f%% of them near %.3g and the others near %.3g: %s", 100*share, high, low, unitQuestion)
		}
	}
	// 9999-12-31 is a date like any other to a study
	if wide := farDates * max(q.upper-q.lower, 365/c.Scale); as == dataset.Days && (f.Learned || s.extreme == 0) && (s.least < q.lower-wide || s.most > q.upper+wide) {
		f.warn("has dates far from most others, as 1900-01-01 or 9999-12-31 would be: do they stand for missing ones? missing_values in agent.toml names such dates")
	}
	if f.Learned {
		f.learnable(q)
	} else {
		f.compare(s, q)
	}
	return f
}

// quarters are a column's quartiles and its spread, in scales from the offset.
type quarters struct{ lower, middle, upper, spread float64 }

func (f *ColumnFigure) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

// learnable warns of values whose scale a study may learn badly.
func (f *ColumnFigure) learnable(q quarters) {
	switch {
	case f.Same > mostFrequent:
		f.warn("has one value on %.3g%% of the rows here, and the study learns its scale: if that is so at all sites, the column may be left out, or divided by another's scale. Its proposer can give it a scale, or levels", 100*f.Same)
	case q.spread > 0 && math.Abs(q.middle) > mostAway*q.spread:
		f.warn("lies more than %d of its spreads from 0, as years do, and the study learns its scale: it may be left out as if it had one value. Its proposer can give it a scale, or all sites add the same number", mostAway)
	}
}

// compare warns of values that are not where the study's constants have them.
func (f *ColumnFigure) compare(s columnSums, q quarters) {
	far := q.middle
	// a few far values say nothing of the rest
	if s.extreme == 0 && math.Abs(s.mean) > math.Abs(far) {
		far = s.mean
	}
	if math.Abs(far) > middleScales {
		way := "above"
		if far < 0 {
			way = "below"
		}
		f.warn("lies %.3g scales %s the study's offset: %s", math.Abs(far), way, unitQuestion)
	}
	switch zero := max(math.Abs(f.Offset+f.Scale*s.least), math.Abs(f.Offset+f.Scale*s.most)); {
	case q.spread < leastSpread && zero < leastSpread*f.Scale:
		f.warn("is near zero everywhere, at most %.2g scales: %s", zero/f.Scale, unitQuestion)
	case q.spread < leastSpread, q.spread > mostSpread:
		f.warn("spreads over %.2g of the study's scales: %s", q.spread, unitQuestion)
	}
	switch {
	case math.Abs(q.middle) > extremeScales:
	case s.extreme == 1:
		f.warn("has one value more than %d scales away from the offset: does it stand for a missing one?", extremeScales)
	case s.extreme > 1:
		f.warn("has %d values more than %d scales away from the offset: do they stand for missing ones?", s.extreme, extremeScales)
	}
}

// commonest is the share of sorted values that are the most common one.
func commonest(values []float64) float64 {
	run, most := 0, 0
	for i, v := range values {
		if i == 0 || v != values[i-1] {
			run = 0
		}
		run++
		most = max(most, run)
	}
	return float64(most) / float64(len(values))
}

// deviation is the standard deviation of values.
func deviation(values []float64) float64 {
	mean, square := 0.0, 0.0
	for i, v := range values {
		step := v - mean
		mean += step / float64(i+1)
		square += step * (v - mean)
	}
	return math.Sqrt(square / float64(len(values)))
}
