//go:build postgres

package agent

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"covey/internal/doctor"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/pgtest"
)

// A study of a query's answer goes on with the rows that were approved while the table changes,
// also after a restart; without its cache file the table that changed is another data set.
func TestStudyFromPostgres(t *testing.T) {
	admin, dsn := pgtest.Server(t)
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	var rows strings.Builder
	for i := range testUnits {
		v := s.values[i*testColumns:]
		fmt.Fprintf(&rows, "insert into t values (%d, %g, %g, %g);\n", i, v[0], v[1], v[2])
	}
	pgtest.Do(t, admin, "create table t (id int primary key, c0 float8, c1 float8, c2 float8); grant select on t to reader; "+rows.String())
	s.write("db.dsn", dsn)
	s.configured(atPath, "query = \"select c0, c1, c2 from t order by id\"\ndsn_file = \"db.dsn\"\n")
	if err := os.Remove(s.dir + "/rows.csv"); err != nil {
		t.Fatal(err)
	}
	if h := s.agent.hello(); len(h.Datasets) != 1 || h.Datasets[0].Units != testUnits {
		t.Fatalf("%+v", h)
	}
	for _, f := range doctor.Check(t.Context(), s.config, testNow) {
		if f.Check == "data set rows" && (!f.OK || !strings.HasPrefix(f.Result, "40 rows, 3 columns")) {
			t.Errorf("%+v", f)
		}
	}
	c.ready()
	q := c.query(0, 0, c.plan.Start().X)
	if got, plain := c.open(q, c.everyone()), c.plain(q, c.everyone()); !slices.Equal(got, plain) {
		t.Fatalf("opened %v, plain %v", got, plain)
	}
	sent := want[wire.Upload](s, q)
	pgtest.Do(t, admin, "create table kept as select * from t; update t set c0 = c0 + 1 where id = 7")
	s.restart()
	c.confirm()
	want[wire.Upload](s, q)
	again, err := s.remade(c, q)
	if err != nil || !bytes.Equal(again, sent.Masked) {
		t.Errorf("after a restart other bytes: %v", err)
	}
	for _, file := range s.cacheFiles() {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	s.restart()
	code := s.session(c).pinnedNow(t)
	if code != study.CodeDataChanged {
		t.Errorf("without the cache file: %q", code)
	}
	if v := s.agent.Views.Datasets(false)[0]; !strings.HasPrefix(v.Fault, "not what an approved study pinned when last asked: the query's answer") {
		t.Errorf("the operator is not told: %+v", v)
	}
	pgtest.Do(t, admin, "update t set c0 = kept.c0 from kept where kept.id = t.id")
	if code := s.session(c).pinnedNow(t); code != "" {
		t.Errorf("with the table as it was approved: %q", code)
	}
	if v := s.agent.Views.Datasets(false)[0]; v.Fault != "" {
		t.Errorf("the operator is told of a fault that is over: %+v", v)
	}
}
