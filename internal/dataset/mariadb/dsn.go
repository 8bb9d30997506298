package mariadb

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"covey/internal/dataset"
)

const (
	connectTimeout = 20 * time.Second
	maxTimeout     = 10 * time.Minute
	maxCA          = 1 << 20
)

const example = `is not a connection string, such as "covey:PASSWORD@tcp(db.example:3306)/clinic?ca=/etc/ssl/db.pem" or "covey:PASSWORD@unix(/run/mysqld/mysqld.sock)/clinic"`

// config reads the connection string. Its text is in no error.
//
// Only the options here are taken, and each switches nothing off: over TCP the server's certificate
// is verified for its host's name, always. No file is loaded: AllowAllFiles is false and this
// process registers no file and no reader, so that a server that asks for one is refused; nor is a
// server told that it could ask.
func config(q dataset.Query) (*mysql.Config, error) {
	text, err := q.DSN()
	if err != nil {
		return nil, err
	}
	bad := func(reason string) error { return &dataset.Error{File: q.Name(), Reason: reason} }
	// An option is behind the last ")/": a password may hold anything.
	at := strings.LastIndex(text, ")/")
	if at < 0 {
		return nil, bad(example)
	}
	name, options, _ := strings.Cut(text[at+2:], "?")
	c, err := mysql.ParseDSN(text[:at+2] + name)
	if err != nil || c.Net != "tcp" && c.Net != "unix" || c.User == "" || c.Addr == "" || strings.ContainsAny(c.Addr, "()?&") || strings.ContainsAny(name, "/\x00") {
		return nil, bad(example)
	}
	c.Timeout = connectTimeout
	roots := (*x509.CertPool)(nil) // the system's
	for option := range strings.SplitSeq(options, "&") {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "":
			if options != "" {
				return nil, bad("the connection string has an empty option")
			}
		case "ca":
			if roots, err = authority(value); err != nil {
				return nil, bad("ca names no file of certificates that can be read")
			}
		case "timeout":
			if c.Timeout, err = time.ParseDuration(value); err != nil || c.Timeout <= 0 || c.Timeout > maxTimeout {
				return nil, bad(`timeout must be above 0 and at most 10m, such as "20s"`)
			}
		default:
			return nil, bad("the connection string has an option other than ca and timeout")
		}
	}
	if c.Net == "tcp" {
		// the driver adds the host's name
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	c.DialFunc, c.Logger = dial, &mysql.NopLogger{}
	c.ConnectionAttributes = "program_name:covey-agent"
	c.CheckConnLiveness = false // one connection, used once
	return c, nil
}

// authority reads the certificates under which a server's is verified.
func authority(path string) (*x509.CertPool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCA || !filepath.IsAbs(path) {
		return nil, os.ErrInvalid
	}
	text, err := os.ReadFile(path)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(text) {
		return nil, os.ErrInvalid
	}
	return pool, nil
}
