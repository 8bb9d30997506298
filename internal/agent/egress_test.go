package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/study"
)

// TestEgressOutlivesACrash cuts the log's last line off, as a crash may.
func TestEgressOutlivesACrash(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	e, err := openEgress(dir, log)
	if err != nil {
		t.Fatal(err)
	}
	id := study.Digest{1}
	e.record(describe(upload{id, 3, 4, []byte("masked")}, 100), testNow)
	e.record(describe(hello{}, 10), testNow)
	e.record(describe(upload{id, 4, 5, nil}, 50), testNow)
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, EgressFile)
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
		if e, err = openEgress(dir, log); err != nil {
			t.Fatal(err)
		}
		e.record(describe(refusal{Study: id, Code: study.CodeHeld}, 7), testNow)
		if err := e.close(); err != nil {
			t.Fatal(err)
		}
	}
	if e, err = openEgress(dir, log); err != nil {
		t.Fatal(err)
	}
	defer e.close()
	got := e.snapshot()
	if len(got.Studies) != 1 || got.Link["hello"] != (Count{1, 10}) ||
		got.Studies[0].Sent["upload"] != (Count{1, 100}) || got.Studies[0].Sent["refusal"] != (Count{2, 14}) {
		t.Errorf("got %+v, want all but the line that was cut off", got)
	}
}
