package sitedata

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"covey/internal/dataset"
)

// Where a person is asked whether a column is in the unit of measurement that a study expects, in
// the study's scales.
const (
	middleScales  = 2    // farthest of the column's middle from the offset
	leastSpread   = 0.2  // of the column
	mostSpread    = 5.0  // likewise
	extremeScales = 100  // farthest of one value
	manyDropped   = 0.05 // share of rows left out
)

// Figures are what a site's operator is shown of its own rows before approving a study. They are
// computed from the rows without noise: they MUST stay at the site, and nothing that leaves it may
// depend on them. Whoever proposes chooses offsets and scales, and would learn a site's mean from
// what the site refuses.
type Figures struct {
	Rows    int            `json:"rows"`
	Units   int            `json:"units"`
	Dropped int            `json:"rows_left_out"`         // for a value missing or at fault
	Faulty  int            `json:"rows_faulty,omitempty"` // of those, for one at fault
	Fault   string         `json:"first_fault,omitempty"`
	Refused bool           `json:"missing_refused,omitempty"` // missing = "error": a missing value is a fault, too
	Columns []ColumnFigure `json:"columns,omitempty"`
}

// ColumnFigure is one column of this site's kept rows, in the column's own unit.
type ColumnFigure struct {
	Name   string  `json:"name"`
	Offset float64 `json:"offset"` // the study's
	Scale  float64 `json:"scale"`
	Median float64 `json:"median"`
	// Spread is a normal law's standard deviation that has the column's interquartile range, or the
	// standard deviation where most values are equal.
	Spread   float64  `json:"spread"`
	Warnings []string `json:"warnings,omitempty"`
}

// Look reads the rows once, faults of values and all, and keeps a sample of them. The error is a
// *dataset.Error.
func Look(s dataset.Source, q dataset.Request) (Figures, error) {
	refused := q.Missing == dataset.MissingError
	q.Missing = dataset.MissingDropFaulty
	l := newLook(len(q.Columns))
	rows, err := dataset.Look(s, q, dataset.ReadOptions{}, l.see)
	if err != nil {
		return Figures{}, err
	}
	f := l.figures(rows, q.Columns)
	f.Refused = refused
	return f, nil
}

// LookAt is Look at rows that were read.
func LookAt(rows *dataset.Rows, columns []dataset.Column) Figures {
	l, row, gone := newLook(rows.D), make([]float64, rows.D), 0
	for i := range rows.Rows {
		for j := range row {
			if rows.Values32 != nil {
				row[j] = float64(rows.Values32[i*rows.D+j])
			} else {
				row[j] = rows.Values[i*rows.D+j]
			}
		}
		dropped := gone < len(rows.Absent) && rows.Absent[gone] == i
		if dropped {
			gone++
		}
		l.see(row, dropped)
	}
	return l.figures(rows, columns)
}

func (l *look) figures(rows *dataset.Rows, columns []dataset.Column) Figures {
	f := Figures{Rows: rows.Rows, Units: rows.Units, Dropped: rows.Dropped, Faulty: rows.Faulty}
	if rows.Fault != nil {
		f.Fault = rows.Fault.Error()
	}
	for j, c := range columns {
		f.Columns = append(f.Columns, l.column(j, c))
	}
	return f
}

// Warnings are what the operator should look at: rows left out first, then columns.
func (f Figures) Warnings() []string {
	var out []string
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
		for _, w := range c.Warnings {
			out = append(out, fmt.Sprintf("column %q %s", c.Name, w))
		}
	}
	return out
}

// Gaps says how many rows are left out; empty where they are few.
func (f Figures) Gaps() string {
	share := float64(f.Dropped) / float64(max(1, f.Rows))
	if share <= manyDropped {
		return ""
	}
	return fmt.Sprintf("%d of this site's %d rows (%.0f%%) are left out: a value of theirs is missing or at fault, and the study's result will not be about them", f.Dropped, f.Rows, 100*share)
}

// look gathers what is said of columns in memory that the number of rows does not change.
type look struct {
	d, kept int
	random  *rand.Rand
	room    int       // rows of the sample
	sample  []float32 // row by row, of rows drawn at random, each as likely as the others
	sums    []columnSums
}

// columnSums are of all kept rows, in scales from the offset.
type columnSums struct {
	least, most  float64
	mean, square float64 // of values brought to extremeScales, and of their squares about it
	extreme      int
}

// sampleValues bounds the sample, but for the rows without which it says nothing.
const (
	sampleValues = 1 << 20
	sampleLeast  = 64
	sampleMost   = 4096
)

func newLook(d int) *look {
	l := &look{d: d, random: rand.New(rand.NewPCG(1, 2)), room: min(sampleMost, max(sampleLeast, sampleValues/max(1, d))), sums: make([]columnSums, d)}
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
		s.least, s.most = min(s.least, v), max(s.most, v)
		near := max(-extremeScales, min(extremeScales, v))
		if near != v {
			s.extreme++
		}
		step := near - s.mean
		s.mean += step / float64(l.kept)
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
		l.sample[at*l.d+j] = float32(v) // a far one is an infinity, which has its place in the order
	}
}

// column sums one column up.
func (l *look) column(j int, c dataset.Column) ColumnFigure {
	f := ColumnFigure{Name: c.Name, Offset: c.Offset, Scale: c.Scale}
	if l.kept == 0 {
		f.Warnings = []string{"has no values here: every row is left out"}
		return f
	}
	var values []float64
	for at := j; at < len(l.sample); at += l.d {
		values = append(values, float64(l.sample[at]))
	}
	slices.Sort(values)
	quantile := func(q float64) float64 {
		v := values[int(q*float64(len(values)-1)+0.5)]
		return max(-math.MaxFloat32, min(math.MaxFloat32, v))
	}
	s := l.sums[j]
	middle, spread := quantile(0.5), (quantile(0.75)-quantile(0.25))/1.349
	if spread == 0 {
		spread = math.Sqrt(s.square / float64(l.kept))
	}
	f.Median, f.Spread = c.Offset+c.Scale*middle, c.Scale*spread
	far := middle
	if s.extreme == 0 && math.Abs(s.mean) > math.Abs(far) { // a few far values say nothing of the rest
		far = s.mean
	}
	add := func(format string, args ...any) { f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...)) }
	const unit = "is it in the unit of measurement that the study expects?"
	if s.least == s.most {
		add("has the same value in every row")
		return f
	}
	if math.Abs(far) > middleScales {
		way := "above"
		if far < 0 {
			way = "below"
		}
		add("lies %.3g scales %s the study's offset: %s", math.Abs(far), way, unit)
	}
	switch zero := max(math.Abs(c.Offset+c.Scale*s.least), math.Abs(c.Offset+c.Scale*s.most)); {
	case spread < leastSpread && zero < leastSpread*c.Scale:
		add("is near zero everywhere, at most %.2g scales: %s", zero/c.Scale, unit)
	case spread < leastSpread, spread > mostSpread:
		add("spreads over %.2g of the study's scales: %s", spread, unit)
	}
	switch {
	case math.Abs(middle) > extremeScales:
	case s.extreme == 1:
		add("has one value more than %d scales away from the offset: does it stand for a missing one?", extremeScales)
	case s.extreme > 1:
		add("has %d values more than %d scales away from the offset: do they stand for missing ones?", s.extreme, extremeScales)
	}
	return f
}
