package egress

import (
	"encoding/binary"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
)

var moment = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestEgressOutlivesACrash cuts the log's last line off, as a crash may.
func TestEgressOutlivesACrash(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	e, err := Open(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	id, query, slot := proposal.Digest{1}, 3, 4
	e.Record(Line{Kind: "upload", Study: &id, Query: &query, Slot: &slot, Bytes: 100}.Of([]byte("masked")), moment)
	e.Record(Line{Kind: "hello", Bytes: 10}, moment)
	e.Record(Line{Kind: "upload", Study: &id, Query: &slot, Slot: &slot, Bytes: 50}, moment)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, File)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "masked") {
		t.Error("the log holds what was sent")
	}
	if err := os.WriteFile(path, text[:len(text)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e, err = Open(dir, log); err != nil {
			t.Fatal(err)
		}
		e.Record(Line{Kind: "refusal", Study: &id, Code: study.CodeHeld, Bytes: 7}, moment)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if e, err = Open(dir, log); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	got := e.Snapshot()
	if len(got.Studies) != 1 || got.Link["hello"] != (Count{1, 10}) ||
		got.Studies[0].Sent["upload"] != (Count{1, 100}) || got.Studies[0].Sent["refusal"] != (Count{2, 14}) {
		t.Errorf("got %+v, want all but the line that was cut off", got)
	}
}

// TestEgressCountsAreBounded: words about ever more studies are counted together at last; what else
// leaves, never.
func TestEgressCountsAreBounded(t *testing.T) {
	e := &Log{link: map[string]Count{}, study: map[proposal.Digest]map[string]Count{}, last: map[proposal.Digest]map[string]Spot{}}
	var first, id proposal.Digest
	for i := range maxCounted + 50 {
		binary.BigEndian.PutUint32(id[:], uint32(i))
		e.add(Line{Kind: "refusal", Study: &id, Bytes: 2})
	}
	e.add(Line{Kind: "refusal", Study: &first, Bytes: 2})
	if len(e.study) != maxCounted || e.link["refusal"] != (Count{50, 100}) || e.study[first]["refusal"].Messages != 2 {
		t.Errorf("%d studies, %+v, %+v", len(e.study), e.link, e.study[first])
	}
	e.add(Line{Kind: "announcement", Study: &id, Bytes: 2})
	if e.study[id]["announcement"].Messages != 1 {
		t.Error("an announcement is not counted under its study")
	}
}

// TestWitness: of each kind that stands for a record of the ledger the latest slot that left is
// known, by itself of each study, and again after a restart; other kinds and lines without a place
// set none.
func TestWitness(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	e, err := Open(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	one, two := proposal.Digest{1}, proposal.Digest{2}
	for _, m := range []struct {
		kind        string
		study       *proposal.Digest
		query, slot int
	}{
		{"upload", &one, 0, 0}, {"upload", &one, 1, 4}, {"upload", &one, 1, 3}, {"signature", &one, 1, 4}, {"signature", &one, 2, 4},
		{"shares", &one, 0, 0}, {"proof", &two, 7, 9}, {"pairkeys", &two, 7, 8}, {"announcement", &two, 7, 20}, {"upload", nil, 7, 30},
	} {
		e.Record(Line{Kind: m.kind, Study: m.study, Query: &m.query, Slot: &m.slot, Bytes: 1}, moment)
	}
	query := 50
	e.Record(Line{Kind: "upload", Study: &one, Query: &query, Bytes: 1}, moment)
	e.Record(Line{Kind: "upload", Study: &one, Slot: &query, Bytes: 1}, moment)
	want := map[proposal.Digest]map[string]Spot{
		one: {"upload": {1, 4}, "signature": {2, 4}, "shares": {0, 0}},
		two: {"proof": {7, 9}, "pairkeys": {7, 8}},
	}
	for _, when := range []string{"now", "after a restart"} {
		got := e.Witness()
		if len(got) != len(want) || got[one].Sent["upload"].Messages != 5 {
			t.Errorf("%s: %+v", when, got)
		}
		for id, last := range want {
			if !maps.Equal(got[id].Last, last) {
				t.Errorf("%s: %v was last, want %v", when, got[id].Last, last)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if e, err = Open(dir, log); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
