package egress

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// disk has room for so many bytes, and may not let go of what it holds.
type disk struct {
	file
	room  int
	stuck bool
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(b []byte) (int, error) {
	if len(b) <= d.room {
		return d.file.Write(b)
	}
	n, err := d.file.Write(b[:d.room])
	return n, errors.Join(err, errFull)
}

func (d *disk) Truncate(size int64) error {
	if d.stuck {
		return errFull
	}
	return d.file.Truncate(size)
}

// A message that a full disk does not record is an error, so that it is not sent, and is not
// counted; once there is room, the record goes on, and its chain is whole.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 40} {
		dir := t.TempDir()
		var logged strings.Builder
		e, err := Open(dir, slog.New(slog.NewTextHandler(&logged, nil)))
		if err != nil {
			t.Fatal(err)
		}
		d := &disk{file: e.file, room: 1 << 20}
		e.file = d
		upload := Line{Kind: "upload", Study: &proposal.Digest{1}, Bytes: 100}.Of([]byte("masked"))
		for _, d.room = range []int{1 << 20, room, room, 1 << 20} {
			if err := e.Record(upload, moment); (err == nil) != (d.room == 1<<20) || err != nil && !errors.Is(err, errFull) {
				t.Fatalf("room for %d: %v", d.room, err)
			}
		}
		if n := strings.Count(logged.String(), "cannot be written"); n != 1 {
			t.Errorf("logged %d times", n)
		}
		if got := e.Snapshot().Studies[0].Sent["upload"]; got != (Count{2, 200}) {
			t.Errorf("%+v", got)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, File))
		if err != nil || strings.Count(string(text), "\n") != 2 || !strings.HasSuffix(string(text), "\n") {
			t.Errorf("%q, %v", text, err)
		}
		if again, err := Open(dir, slog.New(slog.DiscardHandler)); err != nil || again.prev != e.prev {
			t.Errorf("the chain is not what was written: %v", err)
		}
	}
}

// Behind a part of a line that stays, nothing is written: it would be a part of that line.
func TestTornLine(t *testing.T) {
	e, err := Open(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	d := &disk{file: e.file, room: 40, stuck: true}
	e.file = d
	for _, d.room = range []int{40, 1 << 20} {
		if err := e.Record(Line{Kind: "decision", Study: &proposal.Digest{1}, Code: study.CodeData, Bytes: 1}, moment); !errors.Is(err, errFull) {
			t.Errorf("room for %d: %v", d.room, err)
		}
	}
}

// forced is a file that counts how often it was forced to the disk, unless that fails.
type forced struct {
	file
	times int
	fails error
}

func (f *forced) Sync() error {
	f.times++
	return f.fails
}

// TestFirstLineOutlastsPowerCut: before a study's first message leaves, its line is on the disk, so
// that a power cut leaves no record that looks cut. If it is not, there is no line.
func TestFirstLineOutlastsPowerCut(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	f := &forced{file: e.file}
	e.file = f
	a, b := proposal.Digest{1}, proposal.Digest{2}
	for i, c := range []struct {
		line  Line
		times int
	}{
		{Line{Kind: "hello"}, 0},
		{Line{Kind: KindLocal, Study: &a}, 0},
		{Line{Kind: "announcement", Study: &a}, 1},
		{Line{Kind: "upload", Study: &a}, 1},
		{Line{Kind: "decision", Study: &b}, 2},
		{Line{Kind: "announcement", Study: &b}, 2},
	} {
		if err := e.Record(c.line, moment); err != nil || f.times != c.times {
			t.Errorf("line %d: forced %d times, want %d: %v", i+1, f.times, c.times, err)
		}
	}
	f.fails = errFull
	other := proposal.Digest{3}
	if err := e.Record(Line{Kind: "announcement", Study: &other}, moment); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := e.Record(Line{Kind: "upload", Study: &a}, moment); err != nil {
		t.Fatal(err)
	}
	if c, err := Verify(dir, "", nil); err != nil || c.Lines != 7 || e.Witness()[other].Sent != nil {
		t.Errorf("%+v, %v", c, err)
	}
}
