//go:build postgres

package postgres

import (
	"errors"
	"slices"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
	"covey/test/pgtest"
)

// Columns of the server's types are read as levels, booleans and dates.
func TestPostgresReadings(t *testing.T) {
	_, dsn := pgtest.Server(t)
	file := cost.File(t, "db.dsn", []byte(dsn+"\n"))
	s := dataset.Source{Query: &dataset.Query{DSNFile: file, SQL: `select id, color, code, sold, day, at, small, exact, double from (values
 (1, 'E', 7, true, date '2000-01-01', timestamptz '2000-01-02 00:30:00+02', 1.5::real, 7.00, '-0'::float8),
 (2, ' F', 8, false, date '1999-12-31', timestamptz '2000-01-02 00:30:00+00', 1000000::real, -0.50, 1e15),
 (3, '', 9, null, date 'infinity', null, 7::real, 70, 1e-5)) v(id, color, code, sold, day, at, small, exact, double) order by id`}}
	days := dataset.Reading{As: dataset.Days, Epoch: 10957}
	for _, c := range []struct {
		column  string
		reading dataset.Reading
		want    []float64 // nil: its type is refused
	}{
		{"color", dataset.Reading{Levels: []string{"F"}}, []float64{0, 1, 1, 0, 0, 0}},
		{"code", dataset.Reading{Levels: []string{"7"}}, []float64{1, 0, 0, 1, 0, 1}},
		{"small", dataset.Reading{Levels: []string{"1.5", "1000000"}}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		{"sold", dataset.Reading{As: dataset.Boolean}, []float64{1, 0, 0}},
		{"sold", dataset.Reading{Levels: []string{"true", "false"}}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 0}},
		{"exact", dataset.Reading{Levels: []string{"7", "-0.5"}}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		{"double", dataset.Reading{Levels: []string{"0", "1e+15", "1e-05"}}, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}},
		{"day", days, []float64{0, -1, 0}},
		{"at", days, []float64{0, 1, 0}},
		{"color", dataset.Reading{}, nil},
		{"code", days, nil},
	} {
		q := dataset.Request{Columns: []dataset.Column{{Name: c.column, Scale: 1}}, Readings: []dataset.Reading{c.reading}, Missing: dataset.MissingDropRow}
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		if c.want == nil {
			if bad, ok := errors.AsType[*dataset.Error](err); !ok || bad.Schema != dataset.SchemaFormat {
				t.Errorf("%s as %v: %v", c.column, c.reading, err)
			}
			continue
		}
		if err != nil || !slices.Equal(r.Values, c.want) {
			t.Errorf("%s as %v: %v, %v, want %v", c.column, c.reading, r, err, c.want)
		}
	}
	// The form of dates in text is none of a date's.
	s.Mapping.Dates = "DD.MM.YYYY"
	s.Query.SQL = "select * from (values (1, '03.01.2000', date '2000-01-02', timestamp '2000-01-01 10:00', timestamptz '2000-01-02 23:30:00+00')) v(id, text, day, time, at) order by id"
	q := dataset.Request{Missing: dataset.MissingError}
	for _, name := range []string{"text", "day", "time", "at"} {
		q.Columns, q.Readings = append(q.Columns, dataset.Column{Name: name, Scale: 1}), append(q.Readings, days)
	}
	if r, err := dataset.Read(s, q, dataset.ReadOptions{}); err != nil || !slices.Equal(r.Values, []float64{2, 1, 0, 1}) {
		t.Errorf("with a form: %v, %v", r, err)
	}
}
