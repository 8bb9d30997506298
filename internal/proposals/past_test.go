package proposals

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/frame"
	"covey/internal/proposal"
	"covey/internal/study"
)

// TestPastIsBounded: the oldest records go first, by number and by length, and what was kept last
// stays.
func TestPastIsBounded(t *testing.T) {
	dir := t.TempDir()
	p, err := OpenPast(dir)
	if err != nil {
		t.Fatal(err)
	}
	one := func(i, length int) Past {
		body := fmt.Appendf(bytes.Repeat([]byte{' '}, length), "proposal %d", i)
		return Past{Digest: proposal.DigestOf(body), State: "refused", Code: study.CodeUnit, Time: moment.Add(time.Duration(i) * time.Second), Proposal: body}
	}
	for i := range maxPast + 20 {
		if err := p.Put(one(i, 0)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, number int, newest Past) {
		t.Helper()
		all := p.List()
		files, total := 0, int64(0)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", e.Name(), info, err)
			}
			files, total = files+1, total+info.Size()
		}
		if len(all) != number || files != number || total > maxPastBytes || all[0] != newest.Digest {
			t.Errorf("%s: %d records in %d files of %d bytes, want %d", when, len(all), files, total, number)
		}
	}
	check("many", maxPast, one(maxPast+19, 0))
	if _, ok := p.Get(one(19, 0).Digest); ok {
		t.Error("an old one stays")
	}
	if p, err = OpenPast(dir); err != nil {
		t.Fatal(err)
	}
	check("after a restart", maxPast, one(maxPast+19, 0))
	if got := p.Proposal(one(50, 0).Digest); string(got) != "proposal 50" {
		t.Errorf("kept %q", got)
	}
	const long = 3 << 20 // 4 MiB in a file
	for i := range 20 {
		if err := p.Put(one(1000+i, long)); err != nil {
			t.Fatal(err)
		}
	}
	check("long ones", 15, one(1019, long))
	whole := one(2000, maxPastBody)
	if err := p.Put(whole); err != nil {
		t.Fatal(err)
	}
	if got := p.Proposal(whole.Digest); got != nil {
		t.Errorf("%d bytes are kept of a proposal that is too long", len(got))
	}
}

// TestPastFilesAreWhatTheirNamesSay: what a crash or anybody else left there is removed, and stops
// no start.
func TestPastFilesAreWhatTheirNamesSay(t *testing.T) {
	dir := t.TempDir()
	id := proposal.DigestOf([]byte("proposal"))
	for name, text := range map[string]string{
		"x.json": "{}", id.String() + ".json": `{"digest":"` + proposal.DigestOf(nil).String() + `"}`, id.String() + ".json.1.tmp": "{",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := OpenPast(dir)
	if err != nil || len(p.List()) != 0 {
		t.Errorf("%v, %v", p.List(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestWhyIsCleaned: words that may be another party's do not reach a terminal raw, nor without end.
func TestWhyIsCleaned(t *testing.T) {
	p, err := OpenPast(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	id := proposal.DigestOf(nil)
	if err := p.Put(Past{Digest: id, State: "refused", Code: study.CodeUnit, Why: "a\x1b[2Kb\nc\xff" + strings.Repeat("é", 10000)}); err != nil {
		t.Fatal(err)
	}
	if one, _ := p.Get(id); !strings.HasPrefix(one.Why, "a [2Kb c é") || len(one.Why) > frame.MaxCleaned+3 {
		t.Errorf("%q", one.Why)
	}
}
