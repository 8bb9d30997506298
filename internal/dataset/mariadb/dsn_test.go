package mariadb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/dataset"
)

// A connection string is taken by a list of options: none switches anything off.
func TestDSN(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	const other = "the connection string has an option other than ca and timeout"
	for dsn, want := range map[string]string{
		"u:p@tcp(db.example:3306)/clinic":                               "",
		"u:p@tcp(db.example)/clinic?timeout=5s":                         "",
		"u:p@tcp([::1]:3306)/clinic":                                    "",
		"u@unix(/run/mysqld/mysqld.sock)/clinic":                        "",
		"u:a/b?c@d)/e@unix(/s)/clinic":                                  "",
		"u:p@tcp(db:1)/clinic?tls=skip-verify":                          other,
		"u:p@tcp(db:1)/clinic?tls=preferred":                            other,
		"u:p@tcp(db:1)/clinic?tls=false":                                other,
		"u:p@tcp(db:1)/clinic?timeout=5s&allowAllFiles=true":            other,
		"u:p@tcp(db:1)/clinic?allowCleartextPasswords=1":                other,
		"u:p@tcp(db:1)/clinic?allowOldPasswords=1":                      other,
		"u:p@tcp(db:1)/clinic?multiStatements=true":                     other,
		"u:p@tcp(db:1)/clinic?allowFallbackToPlaintext=true":            other,
		"u:p@tcp(db:1)/clinic?interpolateParams=true":                   other,
		"u:p@tcp(db:1)/clinic?charset=latin1":                           other,
		"u:p@tcp(db:1)/clinic?sql_mode=x":                               other,
		"u:p@tcp(db:1)/clinic?AllowAllFiles=true":                       other,
		"u:p@tcp(db:1)/clinic?timeout=5s&":                              "an empty option",
		"u:p@tcp(db:1)/clinic?timeout=0s":                               "timeout must be above 0",
		"u:p@tcp(db:1)/clinic?timeout=1h":                               "timeout must be above 0",
		"u:p@tcp(db:1)/clinic?ca=" + ca:                                 "ca names no file of certificates",
		"u:p@tcp(db:1)/clinic?ca=/none":                                 "ca names no file of certificates",
		"u:p@tcp(db:1)/clinic?ca=relative":                              "ca names no file of certificates",
		"u:p@udp(db:1)/clinic":                                          "is not a connection string",
		"u:p@/clinic":                                                   "is not a connection string",
		"@unix(/s)/clinic":                                              "is not a connection string",
		"mysql://u:p@db:3306/clinic":                                    "is not a connection string",
		"host=db user=covey":                                            "is not a connection string",
		"u:p@tcp(db:1)/a/b?tls=false":                                   "is not a connection string",
		"u:p@unix(/s)/%zz":                                              "is not a connection string",
		"u:swordfish@tcp(db:1)/x?swordfish=1":                           other,
		"u:swordfish@tcp(db:1)/x?timeout=swordfish":                     "timeout must be above 0",
		"u:p@tcp(db:1)/x)/y?allowAllFiles=true&x=)/clinic?timeout=1s":   "is not a connection string",
		"u:p@tcp(db:1)/x?allowAllFiles=true&connectionAttributes=a)/db": "is not a connection string",
	} {
		s := source(t, dsn)
		c, err := config(*s.Query)
		if want != "" {
			e, ok := errors.AsType[*dataset.Error](err)
			if c != nil || !ok || !strings.Contains(e.Reason, want) || strings.Contains(e.Reason, "swordfish") {
				t.Errorf("%s: %v", dsn, err)
			}
			continue
		}
		if err != nil || c.DBName != "clinic" {
			t.Errorf("%s: %+v, %v", dsn, c, err)
			continue
		}
		if c.AllowAllFiles || c.AllowCleartextPasswords || c.AllowFallbackToPlaintext || c.AllowOldPasswords || c.MultiStatements || c.InterpolateParams || len(c.Params) > 0 ||
			(c.TLS == nil) != (c.Net == "unix") || c.TLS != nil && c.TLS.InsecureSkipVerify {
			t.Errorf("%s: %+v", dsn, c)
		}
	}
}

// Whatever the connection string: nothing of it in an error, nothing switched off, and no panic.
func FuzzDSN(f *testing.F) {
	for _, s := range []string{"u:swordfish@tcp(h:1)/d?timeout=1s", "u@unix(/s)/d", "u:p@tcp(h)/d?allowAllFiles=true", ")/", "u:)/@tcp()/?tls=false"} {
		f.Add(s)
	}
	path := filepath.Join(f.TempDir(), "x.dsn")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		q := dataset.Query{Server: dataset.MariaDB, DSNFile: path, SQL: "SELECT 1"}
		c, err := config(q)
		if err != nil {
			if e, ok := errors.AsType[*dataset.Error](err); !ok || e.File != path || c != nil {
				t.Fatalf("%#v", err)
			}
			return
		}
		if c.AllowAllFiles || c.AllowCleartextPasswords || c.AllowFallbackToPlaintext || c.AllowOldPasswords || c.MultiStatements || len(c.Params) > 0 ||
			c.Net != "unix" && (c.Net != "tcp" || c.TLS == nil || c.TLS.InsecureSkipVerify) {
			t.Fatalf("%q: %+v", text, c)
		}
		asker{}.Describe(q, func(string) {})
	})
}
