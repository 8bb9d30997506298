//go:build mariadb

// Package mariatest starts a MariaDB server for tests under the build tag mariadb. They need
// Debian's mariadb-server, or any whose mariadbd and mariadb-install-db are in PATH.
package mariatest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"covey/test/dbtest"
	"covey/test/must"
	"covey/test/network"
)

// Server is a server of the test's own in a folder of its own.
type Server struct {
	Admin  *sql.DB // of the database clinic
	Socket string  // a connection string of a user who may only read, by the socket
	TCP    string  // the same by TCP to localhost, without options
	CA     string  // file of the certificate of its CA
}

func program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if _, err := os.Stat("/usr/sbin/" + name); err == nil {
		return "/usr/sbin/" + name
	}
	t.Fatalf("no %s: install mariadb-server", name)
	return ""
}

// Start starts a server whose settings are other than those that the agent sets, with a user reader
// who may read the database clinic.
func Start(t testing.TB) *Server {
	t.Helper()
	server := dbtest.New(t, "mysql")
	dir := server.Dir
	s := &Server{CA: filepath.Join(dir, "ca.pem")}
	certify(t, dir)
	server.Own(filepath.Join(dir, "key.pem"))
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	// A server that starts removes the temporary tables of every other in its tmpdir, so each needs
	// its own.
	small := []string{"--tmpdir=" + dir, "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--aria-pagecache-buffer-size=1M", "--key-buffer-size=64K", "--skip-log-bin", "--performance-schema=0"}
	server.Run(program(t, "mariadb-install-db"), append([]string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"}, small...)...)
	free := must.Get(network.Free(1))(t)
	_, port, err := net.SplitHostPort(free[0])
	if err != nil {
		t.Fatal(err)
	}
	server.Serve(syscall.SIGTERM, program(t, "mariadbd"), append([]string{"--no-defaults", "--datadir=" + data, "--socket=" + socket, "--bind-address=127.0.0.1", "--port=" + port,
		"--ssl-cert=" + filepath.Join(dir, "cert.pem"), "--ssl-key=" + filepath.Join(dir, "key.pem"), "--pid-file=" + filepath.Join(dir, "pid"), "--default-time-zone=+09:00",
		"--sql-mode=ANSI_QUOTES,PIPES_AS_CONCAT", "--character-set-server=latin1", "--div-precision-increment=9", "--transaction-isolation=READ-COMMITTED", "--default-storage-engine=MyISAM"}, small...)...)
	root, err := sql.Open("mysql", "root@unix("+socket+")/?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	server.Await(root.PingContext)
	password := "r" + rand.Text()
	Do(t, root, "create database clinic character set utf8mb4; create user reader identified by '"+password+"'; grant select on clinic.* to reader")
	if s.Admin, err = sql.Open("mysql", "root@unix("+socket+")/clinic?multiStatements=true"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Admin.Close() })
	s.Socket = "reader:" + password + "@unix(" + socket + ")/clinic"
	s.TCP = fmt.Sprintf("reader:%s@tcp(localhost:%s)/clinic", password, port)
	return s
}

// Do runs statements.
func Do(t testing.TB, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// certify writes ca.pem, and cert.pem and key.pem for localhost under it.
func certify(t testing.TB, dir string) {
	t.Helper()
	made := func(name string, of, by *x509.Certificate, key, signer *ecdsa.PrivateKey) {
		raw, err := x509.CreateCertificate(rand.Reader, of, by, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "CERTIFICATE", raw)
	}
	keys := [2]*ecdsa.PrivateKey{}
	for i := range keys {
		var err error
		if keys[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	from, to := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, NotBefore: from, NotAfter: to, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	made("ca.pem", ca, ca, keys[0], keys[0])
	made("cert.pem", leaf, ca, keys[1], keys[0])
	raw, err := x509.MarshalPKCS8PrivateKey(keys[1])
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "key.pem"), "PRIVATE KEY", raw)
	if err := os.Chmod(filepath.Join(dir, "key.pem"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, kind string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o644); err != nil {
		t.Fatal(err)
	}
}
