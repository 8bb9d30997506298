package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"covey/internal/doctor"
	"covey/internal/holding"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/wire"
)

// configured replaces words of a site's configuration and starts it again.
func (s *testSite) configured(old, new string) {
	s.t.Helper()
	path := filepath.Join(s.dir, siteconfig.File)
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		s.t.Fatalf("%q is not in the configuration: %v", old, err)
	}
	s.write(siteconfig.File, strings.Replace(string(text), old, new, 1))
	s.restart()
}

// cacheFiles lists the files of a site's cache.
func (s *testSite) cacheFiles() []string {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.config.CacheDir(), "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

const atPath = "path = \"rows.csv\"\n"

// A study whose rows lie in a cache file computes what one in memory computes, goes on
// from the same file after a restart, makes it again when it is damaged, and removes it at
// its end.
func TestStudyFromCache(t *testing.T) {
	t.Run("csv", func(t *testing.T) { studyFromCache(t, atPath) })
	t.Run("parquet", func(t *testing.T) { studyFromCache(t, "path = \"rows.parquet\"\n") })
}

// parquet writes the site's rows as Parquet, beside the CSV file that holds them.
func (s *testSite) parquet() {
	s.t.Helper()
	type row struct {
		C0 float64 `parquet:"c0"`
		C1 float64 `parquet:"c1"`
		C2 float64 `parquet:"c2"`
	}
	var rows []row
	for v := s.values; len(v) > 0; v = v[3:] {
		rows = append(rows, row{v[0], v[1], v[2]})
	}
	if err := parquet.WriteFile(filepath.Join(s.dir, "rows.parquet"), rows); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.dir, "rows.csv")); err != nil {
		s.t.Fatal(err)
	}
}

func studyFromCache(t *testing.T, path string) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	if path != atPath {
		s.parquet()
	}
	s.configured(atPath, path+"cache = \"study\"\n")
	for _, f := range doctor.Check(t.Context(), s.config, testNow) {
		if f.Check == "data set rows" && (!f.OK || !strings.HasPrefix(f.Result, "40 rows, 3 columns")) {
			t.Errorf("%+v", f)
		}
	}
	if f := doctor.CheckStudy(s.config, c.body); len(f) != 3 || !f[0].OK || !strings.Contains(f[0].Result, "40 rows, 3 columns, 0 rows dropped") ||
		!f[1].OK || f[1].Warning || !strings.Contains(f[1].Result, "MB free") || !f[2].OK || !strings.Contains(f[2].Result, "Nothing was sent") {
		t.Errorf("%+v", f)
	}
	if len(s.cacheFiles()) > 0 {
		t.Error("a check made a cache file")
	}
	c.ready()
	made := s.cacheFiles()
	if len(made) != 1 {
		t.Fatalf("cache %v", made)
	}
	inode, err := os.Stat(made[0])
	if err != nil {
		t.Fatal(err)
	}
	q := c.query(0, 0, c.plan.Start().X)
	if got, plain := c.open(q, c.everyone()), c.plain(q, c.everyone()); !slices.Equal(got, plain) {
		t.Fatalf("opened %v, plain %v", got, plain)
	}
	// The sum is of the file: it is the only thing that is read again.
	s.restart()
	c.confirm()
	sent := want[wire.Upload](s, q)
	again, err := s.remade(c, q)
	if err != nil || !bytes.Equal(again, sent.Masked) {
		t.Errorf("after a restart other bytes: %v", err)
	}
	if now, err := os.Stat(made[0]); err != nil || !os.SameFile(inode, now) {
		t.Errorf("the cache file was made again: %v", err)
	}

	// Written to while it is open: found before a value is touched.
	if err := os.Chmod(made[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(made[0], 4096); err != nil {
		t.Fatal(err)
	}
	want[wire.Upload](s, q)
	again, err = s.remade(c, q)
	if err != nil || !bytes.Equal(again, sent.Masked) {
		t.Errorf("after the file was cut: other bytes, %v", err)
	}
	if !strings.Contains(s.log.String(), "was written to after it was opened") {
		t.Error("the log does not say so")
	}

	// Damaged while the agent was away.
	made = s.cacheFiles()
	raw, err := os.ReadFile(made[0])
	if err != nil {
		t.Fatal(err)
	}
	raw[4096+7] ^= 0x40 // of an exponent
	if err := os.Remove(made[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(made[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	s.restart()
	c.confirm()
	want[wire.Upload](s, q)
	again, err = s.remade(c, q)
	if err != nil || !bytes.Equal(again, sent.Masked) {
		t.Errorf("after damage other bytes: %v", err)
	}
	if !strings.Contains(s.log.String(), "is damaged") {
		t.Error("the log does not say so")
	}

	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
	if left := s.cacheFiles(); len(left) > 0 {
		t.Errorf("after the study's end: %v", left)
	}
}

// A page that is gone in the middle of a sum is an error on the goroutine that adds, and the
// sum is made again.
func TestCacheFaultsInASum(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	s.configured(atPath, atPath+"cache = \"study\"\nworkers = 1\n")
	c.ready()
	ask := c.query(0, 0, c.plan.Start().X).Ask
	at := s.session(c)
	at.mu.Lock()
	defer at.mu.Unlock()
	want, err := at.rows.Answer(at.plan, ask)
	if err != nil {
		t.Fatal(err)
	}
	cut := s.cacheFiles()[0]
	if err := os.Chmod(cut, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(cut, 4096); err != nil {
		t.Fatal(err)
	}
	if got, err := at.rows.Answer(at.plan, ask); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}

	// The data set is not what it was: no sum.
	s.write("rows.csv", "c0,c1,c2\n"+strings.Repeat("1,2,3\n", testUnits))
	if err := os.Chmod(cut, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(cut, 4096); err != nil {
		t.Fatal(err)
	}
	if got, err := at.rows.Answer(at.plan, ask); err != holding.ErrChanged || got != nil {
		t.Errorf("of other rows: %v, %v", got, err)
	}
}

// What the operator kept stays; what he keeps no more goes with the next start, and so do rows
// of a study that ended while nobody looked.
func TestCacheWords(t *testing.T) {
	c := newStandIn(t, 2, autoPolicy+"min_sites = 2\n", nil)
	kept, none := c.sites[0], c.sites[1]
	kept.configured(atPath, atPath+"cache = \"keep\"\n")
	none.configured(atPath, atPath+"cache = \"memory\"\n")
	c.approve()
	if n := len(none.cacheFiles()); n > 0 {
		t.Errorf(`"memory" made %d files`, n)
	}
	if err := kept.agent.Decisions.Reject(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if n := len(kept.cacheFiles()); n != 1 {
		t.Errorf(`"keep" kept %d files`, n)
	}
	stray := filepath.Join(kept.config.CacheDir(), "0.0."+holding.Owner(proposal.Digest{7})+".rows")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	kept.restart()
	if left := kept.cacheFiles(); len(left) != 1 || left[0] == stray {
		t.Errorf("after a start: %v", left)
	}
	kept.configured("\"keep\"", "\"study\"")
	if left := kept.cacheFiles(); len(left) > 0 {
		t.Errorf("kept no more: %v", left)
	}
}

// A study that is under way is of the values that were approved: numbers of another
// precision are other values of the same bytes, and are not taken for them.
func TestPrecisionIsPinned(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
	s.configured(atPath, atPath+"precision = \"float32\"\n")
	c.confirm()
	want[wire.Upload](s, q) // as the approval recorded it
	in := s.session(c)
	in.rows.Release()
	in.use(s.config.Datasets[0], in.under)
	if code := in.pinnedNow(t); code != study.CodeDataChanged {
		t.Errorf("in float32: %q", code)
	}
}

// A study of float32 is the study of those numbers.
func TestStudyOfFloat32(t *testing.T) {
	for _, words := range []string{"precision = \"float32\"\n", "precision = \"float32\"\ncache = \"study\"\n"} {
		c := newStandIn(t, 3, autoPolicy, nil)
		for _, s := range c.sites {
			s.configured(atPath, atPath+words)
			for i, v := range s.values {
				s.values[i] = float64(float32(v))
			}
		}
		c.ready()
		q := c.query(0, 0, c.plan.Start().X)
		if got, plain := c.open(q, c.everyone()), c.plain(q, c.everyone()); !slices.Equal(got, plain) {
			t.Fatalf("opened %v, plain %v", got, plain)
		}
	}
}

func (s *session) pinnedNow(t *testing.T) study.Code {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	approval, ok := s.agent.ledger.Approved(s.plan.Digest)
	if !ok {
		t.Fatal("not approved")
	}
	return s.pinned(approval)
}
