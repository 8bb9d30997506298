package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/dataset"
	_ "covey/internal/dataset/npy"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
)

// TestHints: a column of another name and a missing value have a remedy of their own, which is not
// in the message that goes into logs.
func TestHints(t *testing.T) {
	for want, fault := range map[string]*dataset.Error{
		`has ["Age (years)"]`:     {Schema: dataset.SchemaColumns, Column: "age", Reason: "none of the header's 2 fields has this name", Near: []string{"Age (years)"}},
		"under another name":      {Schema: dataset.SchemaColumns, Column: "sex", Reason: "none of the header's 2 fields has this name"},
		`missing = "fill"`:        {Row: 3, Column: "age", Reason: "the value is missing", Value: true},
		"fix the file at the nam": {Row: 3, Column: "age", Reason: "not a number", Value: true},
	} {
		f := found(CheckColumns, "study s", "", &sitedata.DataError{Dataset: "icu", Err: fault})
		if !strings.Contains(f.Do, want) || strings.Contains(f.Result, "years") || strings.Contains(f.Err.Error(), "years") {
			t.Errorf("%q: %q, want %q", f.Result, f.Do, want)
		}
	}
}

// TestHintsOfAccess: what cannot be read for want of permission is not to be put back from a
// backup, and a file that is not there has no line to fix.
func TestHintsOfAccess(t *testing.T) {
	at := func(err error) error { return &fs.PathError{Op: "open", Path: "x", Err: err} }
	of := func(err error) error {
		return &sitedata.DataError{Dataset: "icu", Err: dataset.Unreadable("icu.csv", at(err))}
	}
	for name, c := range map[string]struct {
		code Code
		err  error
		want string
	}{
		"keys of another user":     {CheckKeys, &pki.FileError{Path: "identity.key", Reason: "permission denied", Err: at(fs.ErrPermission)}, "as the agent's user"},
		"keys for all":             {CheckKeys, &pki.ModeError{Path: "identity.key", Mode: 0o644}, "chmod 600"},
		"no keys":                  {CheckKeys, &pki.FileError{Path: "identity.key", Reason: "no such file", Err: at(fs.ErrNotExist)}, "from a backup"},
		"no file":                  {CheckData, of(fs.ErrNotExist), "correct path"},
		"cut in the dry run":       {CheckDryRun, of(errors.New("cut off")), "fix the file"},
		"no file for a study":      {CheckColumns, of(fs.ErrNotExist), "correct path"},
		"a file of another user":   {CheckData, of(fs.ErrPermission), "let the agent's user read it"},
		"rows of another user":     {CheckColumns, of(fs.ErrPermission), "let the agent's user read it"},
		"a folder of somebody's":   {CheckFolder, fmt.Errorf("x: no file can be made in it: %w", fs.ErrPermission), "chown -R"},
		"a disk that fails":        {CheckData, of(errors.New("input/output error")), "agent data profile"},
		"a notice's key is not it": {CheckNotify, at(fs.ErrPermission), "make the key"},
	} {
		f := found(c.code, "x", "", c.err)
		if !strings.Contains(f.Do, c.want) {
			t.Errorf("%s: %q, want %q", name, f.Do, c.want)
		}
		if name != "no keys" && strings.Contains(f.Do, "backup") {
			t.Errorf("%s: %q", name, f.Do)
		}
	}
	// As the operating system says it.
	_, err := dataset.Inspect(dataset.Source{Path: filepath.Join(t.TempDir(), "no.csv")}, "", dataset.ReadOptions{})
	if f := found(CheckData, "x", "", err); !strings.Contains(f.Do, "correct path") {
		t.Errorf("%q", f.Do)
	}
}

// TestHintOfQueries: what is wrong with a query's answer has no line in a file.
func TestHintOfQueries(t *testing.T) {
	for _, c := range []struct {
		query string
		err   error
		want  string
	}{
		{"select age from icu order by id", &dataset.Error{File: "icu.dsn", Reason: "has no rows"}, "correct query"},
		{"select age from icu order by id", &dataset.Error{File: "icu.dsn", Reason: "the query failed", Remedy: dataset.AskServer}, dataset.AskServer},
		{"select age from icu order by id", dataset.Unreadable("icu.dsn", fs.ErrNotExist), "or dsn_file"},
		{"", &dataset.Error{File: "icu.csv", Reason: "has no rows"}, "fix the file"},
	} {
		if f := found(CheckData, "x", "", asked(siteconfig.Dataset{Query: c.query}, c.err)); !strings.Contains(f.Do, c.want) {
			t.Errorf("%q, %v: %q, want %q", c.query, c.err, f.Do, c.want)
		}
	}
}

// TestFolderIsWritten: a folder in which no file can be made is a fault, which nothing else of the
// check would see, and so is one that the agent made there; one that it will make is none. Nothing
// is left in it.
func TestFolderIsWritten(t *testing.T) {
	file := func(name string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), nil, 0o600) }
	}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		bad   string // the folder
	}{
		"in order":          {func(string) error { return nil }, ""},
		"with its folders":  {func(dir string) error { return os.Mkdir(filepath.Join(dir, "ledger"), 0o700) }, ""},
		"no folder":         {os.RemoveAll, "data"},
		"no ledger's":       {file("ledger"), "ledger"},
		"no cache's":        {file("cache"), "cache"},
		"none of proposals": {file("pending"), "pending"},
		"none of the past":  {file("past"), "past"},
		"no egress log's":   {func(dir string) error { return os.Mkdir(filepath.Join(dir, "egress.jsonl"), 0o700) }, "egress.jsonl"},
		// Opening it fails for every user, root too.
		"no file of the ledger's": {func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "ledger"), 0o700), os.Symlink(dir, filepath.Join(dir, "ledger", "log")))
		}, "log"},
	} {
		t.Run(name, func(t *testing.T) {
			config := messySite(t, "icu.csv", "age\n1\n", "")
			config.Data = "data"
			dir := config.DataDir()
			if err := errors.Join(os.Mkdir(dir, 0o700), c.spoil(dir)); err != nil {
				t.Fatal(err)
			}
			var line Finding
			for _, f := range Check(t.Context(), config, time.Now()) {
				if f.Code == CheckFolder {
					line = f
				}
			}
			if c.bad == "" && !line.OK || c.bad != "" && (line.OK || !strings.Contains(line.Result, c.bad+": ") || strings.Contains(line.Result, ".tmp") || line.Do == "") {
				t.Errorf("%+v", line)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "check*")); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// TestHintOfNames: a matrix without names has no column of a study's, and agent.toml can name them;
// one with names has not that remedy.
func TestHintOfNames(t *testing.T) {
	raw := numpy(t)
	for keys, want := range map[string]bool{"": true, "names = [\"a\", \"b\"]\n": false} {
		config := messySite(t, "icu.npy", raw, keys)
		spec, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"icu\"\nepsilon = 1\ndelta = 1e-6\nstandardize = \"private\"\ncolumns = [\"age\", \"lab\"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = checkRows(config, spec)
		f := found(CheckColumns, "study s", "", err)
		if err == nil || strings.Contains(f.Do, "names = [") != want {
			t.Errorf("%q: %v, %q", keys, err, f.Do)
		}
		config.Datasets[0].Unit = "person"
		for _, f := range Local(config) {
			if f.Code == CheckData && (f.OK || strings.Contains(f.Do, "names = [") != want) {
				t.Errorf("%q: %+v", keys, f)
			}
		}
	}
}

// numpy is an NPY file of three rows of two columns.
func numpy(t *testing.T) string {
	t.Helper()
	head := "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"
	return "\x93NUMPY\x01\x00\x76\x00" + head + strings.Repeat(" ", 117-len(head)) + "\n" + strings.Repeat("\x00\x00\x00\x00\x00\x00\xf0\x3f", 6)
}
