package dataset

import (
	"strings"
	"testing"
)

func TestCheckQuery(t *testing.T) {
	for sql, want := range map[string]string{
		"select a, b from t order by id":                           "",
		"SELECT a\nFROM (select * from t) q\nORDER\tBY id -- all":  "",
		"with q as (select 1) select a from q order by id limit 5": "",
		"select a from t order by f(id), (x)":                      "",
		"":                                                         "is empty",
		" -- order by id":                                          "is empty",
		"select a from t":                                          "must end in ORDER BY",
		"select a from t -- order by id":                           "must end in ORDER BY",
		"select a from t /* order /* by */ by id */":               "must end in ORDER BY",
		"select a from (select * from t order by id) q":            "must end in ORDER BY",
		"select a, 'x order by y' from t":                          "must end in ORDER BY",
		"select a as \"order by\" from t":                          "must end in ORDER BY",
		"select $q$ order by $q$ from t":                           "must end in ORDER BY",
		"select row_number() over (order by id) from t":            "must end in ORDER BY",
		"select border, bystander from t":                          "must end in ORDER BY",
		"select a from t where x = 'it''s' order by id":            "",
		"/* never closed order by":                                 "is empty",
		"select 'never closed order by":                            "must end in ORDER BY",
	} {
		err := checkQuery(sql)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", sql, err, want)
		}
	}
}

// MariaDB's comments and quotes are its own.
func TestCheckMariaDBQuery(t *testing.T) {
	for sql, want := range map[string]string{
		"select a, b from t order by id":                   "",
		"select a from t order by binary f(id), (x) # all": "",
		"select a from t # order by id":                    "must end in ORDER BY",
		"select a from t -- order by id":                   "must end in ORDER BY",
		"select a from t where b = 5--1 order by id":       "",
		"select a from t /* /* */ order by id":             "",
		"select a from t /* order by id */":                "must end in ORDER BY",
		"select a from t /*!50000 order by id */":          "",
		"select a from t /*M! order by id */":              "",
		"select a as `order by` from t":                    "must end in ORDER BY",
		`select 'it\' order by x' from t`:                  "must end in ORDER BY",
		"select `a\\` from t order by id":                  "",
		"select $q$ from t order by id -- $q$":             "",
		"select row_number() over (order by id) from t":    "must end in ORDER BY",
		"select a from (select * from t order by id) q":    "must end in ORDER BY",
		"":                                    "is empty",
		"# order by id":                       "is empty",
		`select 'never closed \' order by id`: "must end in ORDER BY",
		"select a from t /* never closed order by":           "must end in ORDER BY",
		"select a from t where x = 'it''s' order\tBY   id\n": "",
	} {
		err := Query{Server: MariaDB, SQL: sql}.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", sql, err, want)
		}
	}
	if err := (Query{Server: "oracle", SQL: "select a order by a"}).Check(); err == nil {
		t.Error("another server")
	}
}

func FuzzOutermost(f *testing.F) {
	for _, s := range []string{"select 'a' order by \"b\"", "/* /* */ */ ( $x$ $x$ ) -- \n $1 $"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if top := outermost(sql); len(top) > len(sql) {
			t.Fatalf("%q of %q", top, sql)
		}
		if top := outermostMariaDB(sql); len(top) > len(sql) {
			t.Fatalf("%q of %q", top, sql)
		}
	})
}
