package dataset

import "strings"

// Typed is a cell, as text, of a column that is read as text and that a source may hold as another
// type.
type Typed struct {
	Text string // empty: the cell has no value
	// Date says that the source's type is a date: Text is YYYY-MM-DD, whatever form a mapping says
	// that dates in text have.
	Date bool
}

// SurveyTexts shows the cells of q's columns, each of which is read as text, of a source that is no
// text itself: row by row, with the row's number and its unit as [Surveyor] has them. see must not
// keep cells. Nothing of the source's mapping is applied to them. The error is an *[Error], of a
// column that cannot be read so before any row is shown.
func SurveyTexts(s Source, q Request, o ReadOptions, see func(at, unit int, cells []Typed)) error {
	s.Mapping.MissingValues = nil
	cells := make([]Typed, len(q.Columns))
	_, _, err := s.scan(q, o, func(b *builder) {
		b.kept = &texts{at: map[Typed]int{}}
		b.survey = func(row []float64) error {
			for j, v := range row {
				cells[j] = Typed{}
				if v == v { // no NaN
					cells[j] = b.kept.all[int(v)]
				}
			}
			see(b.row.at, b.unitAt(), cells)
			return nil
		}
	}, nil)
	return err
}

// texts are those of the cells of rows under way: a driver hands on rows of numbers, which are
// indices of texts here.
type texts struct {
	all []Typed
	at  map[Typed]int
}

// mostText is how many bytes of a text are kept, more than a level or a date has: a block of long
// ones must not fill the memory.
const mostText = 1024

// index returns the place of a cell's text. A cell that a driver gives no text has NaN instead.
func (t *texts) index(cell Typed) float64 {
	cell.Text = trim(cell.Text)
	cell.Text = cell.Text[:min(len(cell.Text), mostText)]
	i, ok := t.at[cell]
	if !ok {
		own := Typed{strings.Clone(cell.Text), cell.Date} // which a driver's bytes need not outlive
		i = len(t.all)
		t.all, t.at[own] = append(t.all, own), i
	}
	return float64(i)
}

// forget ends the rows under way.
func (t *texts) forget() {
	if t != nil {
		t.all = t.all[:0]
		clear(t.at)
	}
}

// cell is [layout.cell], or the place of the cell's text where texts are shown.
func (b *builder) cell(j int, field string) float64 {
	if b.kept != nil {
		return b.kept.index(Typed{Text: field})
	}
	return b.layout.cell(j, field)
}
