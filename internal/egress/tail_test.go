package egress

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTail: pages from the end hold every whole line once, the newest first, over pieces of the
// file that cut lines; a damaged line is left out, and a place beyond the file is its end.
func TestTail(t *testing.T) {
	dir := t.TempDir()
	if lines, next, err := Tail(dir, 0, 10); lines != nil || next != 0 || err != nil {
		t.Errorf("without a file: %v, %d, %v", lines, next, err)
	}
	l, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const all = 1000 // over tailBytes
	for i := range all {
		l.Record(Line{Kind: "upload", Bytes: i}, time.Unix(int64(i), 0))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, File)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "{cut off\n%s\n{being written", strings.Repeat("x", 2*tailBytes)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, most := range []int{7, 50, 100_000} {
		want, before := all-1, int64(1<<40)
		for pages := 0; ; pages++ {
			lines, next, err := Tail(dir, before, most)
			if err != nil || len(lines) > most || pages > all {
				t.Fatalf("%d lines, %v", len(lines), err)
			}
			for _, line := range lines {
				if line.Bytes != want {
					t.Fatalf("line %d, want %d", line.Bytes, want)
				}
				want--
			}
			if before = next; next == 0 {
				break
			}
		}
		if want != -1 {
			t.Errorf("%d at a time: %d lines are missing", most, want+1)
		}
	}
}

// TestGroup: messages alike are one line, and all bytes are counted.
func TestGroup(t *testing.T) {
	groups, total := Group([]Planned{{Kind: "upload", What: "a", Bytes: 10}, {Kind: "shares", What: "a", Bytes: 1}, {Kind: "upload", What: "a", Bytes: 12}, {Kind: "upload", What: "b", Bytes: 5}})
	if total != 28 || len(groups) != 3 || groups[0] != (Alike{"upload", "a", 2, 10, 12}) || groups[0].Size() != "10-12" || groups[1].Size() != "1" {
		t.Errorf("%+v, %d", groups, total)
	}
}
