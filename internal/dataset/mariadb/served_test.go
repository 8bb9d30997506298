//go:build mariadb

package mariadb

import (
	"slices"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
	"covey/test/mariatest"
)

// Columns of a server's types are read as levels, booleans and dates, as in a file.
func TestMariaDBReadings(t *testing.T) {
	server := mariatest.Start(t)
	mariatest.Do(t, server.Admin, `create table r (id int primary key, color varchar(9), code int, sold tinyint(1), day date, at datetime(3), small float, kind enum('E', 'F')) engine InnoDB;
insert into r values (1, 'E', 7, 1, '2000-01-01', '2000-01-02 23:30:00', 0.1, 'E'), (2, ' F', 1000000, 0, '1999-12-31', null, 2, 'F'), (3, 'e', -7, null, null, '2000-01-01', 7, null)`)
	s := dataset.Source{Query: &dataset.Query{Server: dataset.MariaDB, SQL: "select id, color, code, sold, day, at, small, kind from r order by id", DSNFile: cost.File(t, "db.dsn", []byte(server.Socket+"\n"))}}
	days := dataset.Reading{As: dataset.Days, Epoch: 10957}
	for _, c := range []struct {
		column  string
		reading dataset.Reading
		want    []float64
	}{
		{"color", dataset.Reading{Levels: []string{"E", "F"}}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}}, // by bytes: e is another
		{"code", dataset.Reading{Levels: []string{"7", "1000000"}}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		{"small", dataset.Reading{Levels: []string{"0.1", "7"}}, []float64{1, 0, 0, 0, 0, 1, 0, 1, 0}},
		{"kind", dataset.Reading{Levels: []string{"F"}}, []float64{0, 1, 1, 0, 0, 0}},
		{"sold", dataset.Reading{As: dataset.Boolean}, []float64{1, 0, 0}},
		{"day", days, []float64{0, -1, 0}},
		{"at", days, []float64{1, 0, 0}},
	} {
		q := dataset.Request{Columns: []dataset.Column{{Name: c.column, Scale: 1}}, Readings: []dataset.Reading{c.reading}, Missing: dataset.MissingDropRow}
		if r, err := dataset.Read(s, q, dataset.ReadOptions{}); err != nil || !slices.Equal(r.Values, c.want) {
			t.Errorf("%s as %v: %v, %v, want %v", c.column, c.reading, r, err, c.want)
		}
	}
}
