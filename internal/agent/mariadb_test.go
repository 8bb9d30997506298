//go:build mariadb

package agent

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"covey/internal/wire"
	"covey/test/mariatest"
)

// A study of a query's answer goes on with the rows that were approved while the table changes,
// also after a restart.
func TestStudyFromMariaDB(t *testing.T) {
	server := mariatest.Start(t)
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	var rows []string
	for i := range testUnits {
		v := s.values[i*testColumns:]
		rows = append(rows, fmt.Sprintf("(%d, %g, %g, %g)", i, v[0], v[1], v[2]))
	}
	mariatest.Do(t, server.Admin, "create table t (id int primary key, c0 double, c1 double, c2 double) engine InnoDB; insert into t values "+strings.Join(rows, ", "))
	s.write("db.dsn", server.TCP+"?ca="+server.CA)
	s.configured(atPath, "query = \"select c0, c1, c2 from t order by id\"\nserver = \"mariadb\"\ndsn_file = \"db.dsn\"\n")
	if err := os.Remove(s.dir + "/rows.csv"); err != nil {
		t.Fatal(err)
	}
	if h := s.agent.hello(); len(h.Datasets) != 1 || h.Datasets[0].Units != testUnits {
		t.Fatalf("%+v", h)
	}
	c.ready()
	q := c.query(0, 0, c.plan.Start().X)
	if got, plain := c.open(q, c.everyone()), c.plain(q, c.everyone()); !slices.Equal(got, plain) {
		t.Fatalf("opened %v, plain %v", got, plain)
	}
	sent := want[wire.Upload](s, q)
	mariatest.Do(t, server.Admin, "update t set c0 = c0 + 1 where id = 7")
	s.restart()
	c.confirm()
	want[wire.Upload](s, q)
	again, err := s.remade(c, q)
	if err != nil || !bytes.Equal(again, sent.Masked) {
		t.Errorf("after a restart other bytes: %v", err)
	}
}
