package siteconfig

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// A file that was written to, replaced or removed since it was opened is not the one that was read.
func TestFileUnchanged(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	put := func(path, text string) error {
		return errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at))
	}
	for name, c := range map[string]struct {
		change func(path string) error
		same   bool
	}{
		"nothing":  {func(string) error { return nil }, true},
		"longer":   {func(path string) error { return put(path, "abcdefg") }, false},
		"shorter":  {func(path string) error { return put(path, "ab") }, false},
		"written":  {func(path string) error { return os.WriteFile(path, []byte("uvwxyz"), 0o600) }, false},
		"replaced": {func(path string) error { return errors.Join(put(path+".new", "uvwxyz"), os.Rename(path+".new", path)) }, false},
		"removed":  {os.Remove, false},
	} {
		path := filepath.Join(t.TempDir(), File)
		if err := put(path, "abcdef"); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path) // so that its inode is not used again
		if err != nil {
			t.Fatal(err)
		}
		before, err := f.Stat()
		if err := errors.Join(err, c.change(path)); err != nil {
			t.Fatal(name, err)
		}
		if err := unchanged(path, before, 6); (err == nil) != c.same {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

// A diff names every key of a configuration, once.
func TestDiff(t *testing.T) {
	parse := func(text string) *Config {
		t.Helper()
		c, err := Parse([]byte(text), "agent.toml")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	old := parse(goodConfig)
	for _, c := range []struct {
		old, new string
		want     []string
	}{
		{"", "", nil},
		{"c.example", "d.example", []string{"coordinator"}},
		{`site = "alpha"`, "site = \"beta\"\ndata = \"x\"", []string{"data", "site"}},
		{"epsilon = 3.0", "epsilon = 4.0", []string{"population.p.budget"}},
		{"cap_rho = 0.25", "cap_rho = 0.5", []string{"population.q.cap_rho"}},
		{`name = "q"`, `name = "r"`, []string{"+population.r", "-population.q"}},
		{"data/rows.csv", "rows.csv", []string{"dataset.rows.path"}},
		{`name = "rows"`, "name = \"rows\"\nunit = \"u\"\nworkers = 3\ncache = \"keep\"", []string{"dataset.rows.cache", "dataset.rows.unit", "dataset.rows.workers"}},
		{"abcd-efgh", "zbcd-efgh", []string{"policy.peers.beta"}},
		{"beta =", "gamma =", []string{"+policy.peers.gamma", "-policy.peers.beta"}},
		{"max_epsilon = 1.0", "max_epsilon = 1.5\ndataset.rows.max_epsilon = 0.5\ncolumns = [\"a\"]", []string{"+policy.dataset.rows", "policy.columns", "policy.max_epsilon"}},
	} {
		if got := old.Diff(parse(strings.Replace(goodConfig, c.old, c.new, 1))); !slices.Equal(got, c.want) {
			t.Errorf("%q for %q: %q, want %q", c.new, c.old, got, c.want)
		}
	}
}

// What an approval recorded is read again as it was, or not at all.
func TestDatasetRecord(t *testing.T) {
	d := Dataset{Name: "ICU \"é\"", Query: "select 1 -- <&>\norder by 1", Server: "mariadb", DSNEnv: "X", QueryTimeout: "1s", Names: []string{"a", "b"}, Precision: "float32", Cache: "keep", Population: "p", Unit: "u", Workers: 3}
	got, err := ParseDataset(d.Record())
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "{", `{"Name": "a", "Colour": "red"}`, `{"Workers": "x"}`} {
		if got, err := ParseDataset([]byte(text)); err == nil || !reflect.DeepEqual(got, Dataset{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
