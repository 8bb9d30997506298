package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/agent"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/test/command"
	"covey/test/site"
)

// export is what "ledger export" wrote of badFolder's ledger, in one line for badExports to change.
const export = `{"populations":[{"name":"patients","cap_rho":1,"spent_rho":0.4,"reserved_rho":0.3,"left_rho":0.3,"declared":true}],"studies":[` +
	`{"digest":"0102030400000000000000000000000000000000000000000000000000000000","name":"blood","state":"approved","population":"patients","rho":0.5,"spent_rho":0.2,"queries":1,"by":"operator","time":"2026-03-01T12:00:00Z"},` +
	`{"digest":"0102030500000000000000000000000000000000000000000000000000000000","name":"bone","state":"finished","code":"completed","population":"patients","rho":0.2,"spent_rho":0.2,"queries":1,"by":"policy","time":"2026-02-01T12:00:00Z"}]}`

// badExports are exports that recover --from refuses: old becomes new.
var badExports = []struct{ name, old, new, says string }{
	{"empty", export, "", "not what \"ledger export\" writes"},
	{"not JSON", export, "populations", "not what \"ledger export\" writes"},
	{"cut off", `"by":"policy"`, `"by`, "not what \"ledger export\" writes"},
	{"unknown key", `"declared":true`, `"declared":true,"colour":1`, `"colour"`},
	{"words for numbers", `"spent_rho":0.4`, `"spent_rho":"much"`, "spent_rho"},
	{"a list", `{"populations"`, `[{"populations"`, "not what"},
	{"digest short", "0102030400000000", "01020304", "digest"},
	{"digest no hexadecimal", "01020304", "zz020304", "digest"},
	{"time", "2026-03-01T12:00:00Z", "yesterday", "time"},
	{"cap negative", `"cap_rho":1`, `"cap_rho":-1`, "population"},
	{"cap beyond float64", `"cap_rho":1`, `"cap_rho":1e999`, "cap_rho"},
	{"spent negative", `"spent_rho":0.4`, `"spent_rho":-0.4`, "population"},
	{"spent less than its studies", `"spent_rho":0.4`, `"spent_rho":0.1`, `"patients" does not add up to its studies`},
	{"spent more than its studies", `"spent_rho":0.4`, `"spent_rho":0.9`, "does not add up"},
	{"reserved negative", `"reserved_rho":0.3`, `"reserved_rho":-0.3`, "population"},
	{"reserved forgotten", `"reserved_rho":0.3`, `"reserved_rho":0`, "does not add up"},
	{"population nameless", `[{"name":"patients"`, `[{"name":""`, "population"},
	{"population unprintable", `[{"name":"patients"`, `[{"name":"pat\u001bients"`, "population"},
	{"population renamed", `[{"name":"patients"`, `[{"name":"others"`, "study 01020304"},
	{"population twice", `],"studies"`, `,{"name":"patients","cap_rho":1}],"studies"`, "is named twice"},
	{"study twice", "01020305", "01020304", "study 01020304"},
	{"study of another population", `"approved","population":"patients"`, `"approved","population":"staff"`, "study 01020304"},
	{"study's state", `"state":"approved"`, `"state":"open"`, "study 01020304"},
	{"study's rho negative", `"rho":0.5`, `"rho":-0.5`, "study 01020304"},
	{"study's charge negative", `"spent_rho":0.2,"queries":1,"by":"operator"`, `"spent_rho":-0.2,"queries":1,"by":"operator"`, "study 01020304"},
	{"study approved by nobody", `"by":"operator"`, `"by":"nobody"`, "study 01020304"},
	{"study's name unprintable", `"name":"blood"`, `"name":"blo\u001bod"`, "study 01020304"},
	{"study left out", `,{"digest":"01020305`, `],"x":[{"digest":"01020305`, `"x"`},
}

// badKeys are faults of a site's keys and certificate, found by check.
var badKeys = []struct {
	name, file string
	spoil      func(f *badFolder, path string) error
	says       string
}{
	{"no identity key", "identity.key", func(_ *badFolder, p string) error { return os.Remove(p) }, "identity.key"},
	{"an empty identity key", "identity.key", func(_ *badFolder, p string) error { return os.Truncate(p, 0) }, "identity.key"},
	{"half an identity key", "identity.key", func(_ *badFolder, p string) error { return os.Truncate(p, 60) }, "identity.key"},
	{"an identity key that is a certificate", "identity.key", (*badFolder).certificateOver, "identity.key"},
	{"an identity key for all to read", "identity.key", func(_ *badFolder, p string) error { return os.Chmod(p, 0o644) }, "identity.key"},
	{"no TLS key", "tls.key", func(_ *badFolder, p string) error { return os.Remove(p) }, "tls.key"},
	{"TLS key of another", "tls.key", func(f *badFolder, p string) error { return f.other(p, "tls.key") }, "tls"},
	{"a TLS key for all to read", "tls.key", func(_ *badFolder, p string) error { return os.Chmod(p, 0o604) }, "tls.key"},
	{"no TLS certificate", "tls.crt", func(_ *badFolder, p string) error { return os.Remove(p) }, "has not joined"},
	{"an empty certificate", "tls.crt", func(_ *badFolder, p string) error { return os.Truncate(p, 0) }, "tls.crt"},
	{"a certificate that is text", "tls.crt", func(_ *badFolder, p string) error { return os.WriteFile(p, []byte("hello"), 0o600) }, "tls.crt"},
	{"a certificate of another site's key", "tls.crt", func(f *badFolder, p string) error { return f.other(p, "tls.crt") }, "tls"},
	{"a certificate that ended", "tls.crt", func(f *badFolder, p string) error { return f.issue(p, f.ca, "north", -3*365*24*time.Hour) }, "ended"},
	{"a certificate that has not begun", "tls.crt", func(f *badFolder, p string) error { return f.issue(p, f.ca, "north", 30*24*time.Hour) }, "clock"},
	{"a certificate of another name", "tls.crt", func(f *badFolder, p string) error { return f.issue(p, f.ca, "south", 0) }, `for site "south", not "north"`},
	{"a certificate of another CA", "tls.crt", func(f *badFolder, p string) error { return f.issue(p, f.stranger, "north", 0) }, "tls.crt"},
	{"no CA", "ca.crt", func(_ *badFolder, p string) error { return os.Remove(p) }, "ca.crt"},
	{"a CA that is text", "ca.crt", func(_ *badFolder, p string) error { return os.WriteFile(p, []byte("hello"), 0o600) }, "ca.crt"},
	{"a CA that is a site's certificate", "ca.crt", (*badFolder).certificateOver, "ca.crt"},
	{"another CA", "ca.crt", func(f *badFolder, p string) error { return os.WriteFile(p, f.stranger.CertificatePEM(), 0o600) }, "tls.crt"},
}

// badFolder is a joined site with a ledger: a study that is over, one that goes on and is charged.
type badFolder struct {
	dir          string
	ca, stranger *pki.Authority
	site         *pki.Holder
	elsewhere    string // another site's folder
}

func newBadFolder(t *testing.T) *badFolder {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	f := &badFolder{dir: filepath.Join(root, "north"), elsewhere: filepath.Join(root, "other")}
	for i, a := range []**pki.Authority{&f.ca, &f.stranger} {
		*a = site.Authority(t, filepath.Join(root, fmt.Sprint("ca", i)), time.Now())
	}
	for _, dir := range []string{f.elsewhere, f.dir} {
		f.site = site.Issue(t, dir, "north", f.ca, time.Now())
	}
	for name, text := range map[string]string{siteconfig.File: strings.Replace(goodConfig, "hub.example:7443", "127.0.0.1:1", 1), "icu.csv": goodData, "export.json": export} {
		check(os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600))
	}
	l, err := ledger.Open(filepath.Join(f.dir, "ledger"))
	check(err)
	for i, name := range []string{"blood", "bone"} {
		id := [32]byte{1, 2, 3, byte(4 + i)}
		check(l.Approve(ledger.Approval{Study: id, Name: name, Population: "patients", Rho: 0.2, CapRho: 1, By: "operator", Time: time.Now()}))
		check(l.Journal(id).PutConfirmation(ledger.Confirmed{Slots: map[int][]byte{0: []byte("secret")}}))
		_, err := l.Journal(id).Upload(0, 0, [32]byte{}, 0.1, func() ([]byte, error) { return nil, nil })
		check(err)
	}
	check(l.Finish([32]byte{1, 2, 3, 5}, "completed"))
	check(l.Close())
	return f
}

func (f *badFolder) other(path, name string) error {
	text, err := os.ReadFile(filepath.Join(f.elsewhere, name))
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	return err
}

func (f *badFolder) certificateOver(path string) error { return f.other(path, "tls.crt") }

// issue writes a certificate for the site's own key.
func (f *badFolder) issue(path string, by *pki.Authority, name string, after time.Duration) error {
	csr, err := f.site.CSR(name)
	if err != nil {
		return err
	}
	certificate, err := by.Issue(pki.RoleSite, name, csr, time.Now().Add(after))
	if err != nil {
		return err
	}
	return os.WriteFile(path, certificate, 0o600)
}

// refused runs a command that must fail as bad input, say so, and leave every file as it is.
func (f *badFolder) refused(t *testing.T, says string, args ...string) {
	t.Helper()
	command.Refused(t, f.dir, []string{says}, func(out, errs io.Writer) int {
		return run(t.Context(), append([]string{"-C", f.dir}, args...), out, errs)
	})
}

// TestBadKeys: a fault of keys, certificate or CA is found by check, named by its file, and changes
// nothing.
func TestBadKeys(t *testing.T) {
	for _, c := range badKeys {
		t.Run(c.name, func(t *testing.T) {
			f := newBadFolder(t)
			if err := c.spoil(f, filepath.Join(f.dir, c.file)); err != nil {
				t.Fatal(err)
			}
			f.refused(t, c.says, "check", "--timeout", "1s")
		})
	}
	t.Logf("figure: %d bad inputs: keys and certificates of a site", len(badKeys))
}

// TestFolderThatCannotBeWritten: it is a fault at this site, and not on the way, to check.
func TestFolderThatCannotBeWritten(t *testing.T) {
	f := newBadFolder(t)
	pending := filepath.Join(f.dir, "pending")
	if err := errors.Join(os.RemoveAll(pending), os.WriteFile(pending, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	f.refused(t, "no file can be written in it", "check", "--timeout", "1s")
}

// TestBadExports: an export that no ledger wrote makes no ledger; and a ledger that is there or in
// order stays.
func TestBadExports(t *testing.T) {
	f := newBadFolder(t)
	f.refused(t, "there is a ledger.db", "ledger", "recover", "--yes", "--from", filepath.Join(f.dir, "export.json"))
	f.refused(t, "its files fit together, so nothing was changed; if they are from a backup", "ledger", "recover", "--yes")
	aside := filepath.Join(t.TempDir(), "ledger")
	if err := os.Rename(filepath.Join(f.dir, "ledger"), aside); err != nil {
		t.Fatal(err)
	}
	for _, c := range badExports {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(export, c.old) {
				t.Fatalf("the export has no %q", c.old)
			}
			path := filepath.Join(f.dir, "export.json")
			if err := os.WriteFile(path, []byte(strings.Replace(export, c.old, c.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			f.refused(t, c.says, "ledger", "recover", "--yes", "--from", path)
			if _, err := os.Stat(filepath.Join(f.dir, "ledger")); err == nil {
				t.Error("there is a ledger")
			}
		})
	}
	// The good one is good.
	var good agent.LedgerReply
	if err := json.Unmarshal([]byte(export), &good); err != nil {
		t.Fatal(err)
	}
	populations, studies := entriesOf(good)
	if err := ledger.Restore(filepath.Join(t.TempDir(), "l"), populations, slices.Clone(studies)); err != nil {
		t.Error(err)
	}
	t.Logf("figure: %d bad inputs: exports of a ledger", 2+len(badExports))
}
