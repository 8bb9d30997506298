package profile

import (
	"cmp"
	"errors"
	"hash/maphash"
	"math"

	"covey/internal/dataset"
)

// typed looks at the columns of a source that is no text which the study reads as levels, as true
// or false, or as dates: at their cells' texts, as of a text file. Of a column whose type cannot be
// read so there is the reason. The error is of rows that cannot be read.
func (s *sight) typed(source dataset.Source, o dataset.ReadOptions) error {
	var q dataset.Request
	var at []int
	for j, c := range s.columns {
		if c != nil && s.reads[j] != nil {
			r := *s.reads[j]
			r.Indicator = false
			at, q.Readings = append(at, j), append(q.Readings, r)
			q.Columns = append(q.Columns, dataset.Column{Name: dataset.Trim(s.header[j]), Scale: 1})
		}
	}
	if s.unit >= 0 {
		q.Unit = dataset.Trim(s.header[s.unit])
	}
	source.Mapping.Columns = nil // by the source's own names
	q.Missing = dataset.MissingDropFaulty
	for len(at) > 0 {
		shown := false
		err := dataset.SurveyTexts(source, q, o, func(row, unit int, cells []dataset.Typed) {
			shown = true
			s.at, s.of = row, unit
			for i, cell := range cells {
				s.typedCell(at[i], cell)
			}
		})
		e, ok := errors.AsType[*dataset.Error](err)
		reasons := map[string]string{}
		if ok && e.Schema == dataset.SchemaFormat && !shown {
			for _, e := range append([]*dataset.Error{e}, e.Others...) {
				reasons[e.Column] = e.Reason
			}
		}
		left, asked := at[:0:0], q
		q.Columns, q.Readings = nil, nil
		for i, c := range asked.Columns {
			if reason, bad := reasons[c.Name]; bad {
				s.columns[at[i]].unused = reason
				continue
			}
			left, q.Columns, q.Readings = append(left, at[i]), append(q.Columns, c), append(q.Readings, asked.Readings[i])
		}
		if len(left) == len(at) {
			if err != nil && s.r.Rows > 0 {
				return err
			}
			break
		}
		at = left
	}
	for _, j := range at {
		s.columns[j].fits = true
	}
	return nil
}

// typedCell takes a cell of a column that the study reads as text. Of one whose type is a number's
// [sight.Number] took the number.
func (s *sight) typedCell(j int, cell dataset.Typed) {
	c := s.columns[j]
	field, v, reason, named := s.read(j, cell.Text, cell.Date)
	gone := reason == "" && math.IsNaN(v)
	if !gone {
		s.texted(j, field, reason, named || cell.Date)
		if cell.Date && s.reads[j] != nil && !math.IsNaN(s.reads[j].Of(field)) {
			c.dates.typed()
		}
	}
	if c.unused != "" {
		c.hash = c.hash*mixing + maphash.String(s.seed, cell.Text)
	}
	switch {
	case c.unused == "":
		if reason != "" { // what names make of a number
			c.text(field, s.of)
		}
	case reason != "":
		c.other(field, s.isLevel(j, field), s.at, s.of)
	case gone:
		c.without(s.at)
	default:
		s.number(j, v, field)
	}
}

// texted counts a field of a column that the study reads as text, in levels, booleans or dates.
// reason is why it is no number, and named whether agent.toml has a name for it.
func (s *sight) texted(j int, field, reason string, named bool) {
	r, c := s.reads[j], s.columns[j]
	if r == nil {
		return
	}
	if kind, _ := notNumber(field); reason != "" && kind == isStand {
		return
	}
	v := r.Of(field)
	if r.As == dataset.Days && !named {
		v = c.dates.read(v, field, s.form(j), s.at)
	}
	if math.IsNaN(v) || len(r.Levels) > 0 && int(v) == len(r.Levels) {
		c.unread.add(s.at)
	}
	if reason == "" && r.As != dataset.Days { // a level, or none, that is written as a number
		c.text(field, s.of)
	}
}

// form is that of a column's dates in text which agent.toml says; empty: YYYY-MM-DD.
func (s *sight) form(j int) string { return cmp.Or(s.from[j].Dates, s.mapping.Dates) }
