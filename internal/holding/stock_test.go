package holding

import (
	"testing"
	"time"

	"covey/internal/dataset"
	"covey/internal/siteconfig"
)

// asked is a server whose answer has as many rows as a query's first digit says, and that answer.
type asked struct {
	during func()
	rows   int
}

func (a asked) Ask(q dataset.Query) (dataset.Answer, error) {
	a.during()
	a.rows = int(q.SQL[0] - '0')
	return a, nil
}
func (asked) Describe(dataset.Query, func(string)) {}
func (asked) Header() []string                     { return []string{"a"} }
func (asked) Pin() (none [32]byte)                 { return none }
func (asked) Close()                               {}
func (a asked) Rows(b dataset.Builder) error {
	for range a.rows {
		b.Begin()
		if err := b.End(); err != nil {
			return err
		}
	}
	return nil
}

// TestQueryChangesWhileItIsAsked: what an earlier query counted is not the count of the one that
// took its place meanwhile.
func TestQueryChangesWhileItIsAsked(t *testing.T) {
	s := NewStock(nil)
	server := asked{during: s.Forget}
	dataset.RegisterQuery(dataset.Postgres, &server)
	count := func(sql string, want int) {
		t.Helper()
		n, err := s.Count(dataset.Source{Query: &dataset.Query{SQL: sql, DSNEnv: "NONE"}}, siteconfig.Dataset{Name: "rows", Query: sql}, time.Now)
		if err != nil || n != want {
			t.Errorf("%d units of %d, %v", n, want, err)
		}
	}
	count("4 ORDER BY key", 4)
	server.during = func() {}
	count("6 ORDER BY key", 6)
	count("7 ORDER BY key", 6) // within a minute of the last
}
