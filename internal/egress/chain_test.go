package egress

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"covey/internal/proposal"
)

// TestEgressChain writes a log over two runs with a crash between, and finds every change to it:
// a byte of any line, a line taken out, put in, or moved.
func TestEgressChain(t *testing.T) {
	count := 0
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	path := filepath.Join(dir, File)
	write := func(n int) {
		t.Helper()
		e, err := Open(dir, log)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			raw := []byte{byte(i)}
			e.Record(Line{Kind: "upload", Study: &proposal.Digest{1}, Query: &i, Slot: &i, Bytes: len(raw)}.Of(raw), moment)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read := func() []byte {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	put := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if chain, err := Verify(dir, "", nil); err != nil || chain.Lines != 0 {
		t.Fatalf("no file: %+v, %v", chain, err)
	}
	// A first line without a link is no start of a chain.
	put([]byte(`{"time":"2026-01-01T00:00:00Z","kind":"hello","bytes":10}` + "\n"))
	if _, err := Verify(dir, "", nil); err == nil {
		t.Error("a line without a link: not found")
	}
	put(nil)
	write(6)
	whole := read()
	put(whole[:len(whole)-9]) // a crash
	if chain, err := Verify(dir, "", nil); err != nil || chain.Lines != 5 {
		t.Errorf("with the last line half written: %+v, %v", chain, err)
	}
	write(3)
	whole = read()
	var seen []SentMessage
	chain, err := Verify(dir, "", func(m SentMessage) { seen = append(seen, m) })
	if err != nil || chain.Lines != 9 || chain.Cut != 1 || chain.Messages != 8 || len(seen) != 8 ||
		seen[2].SHA256 != hashOf([]byte{2}) || seen[2].Line != 3 || *seen[7].Query != 2 {
		t.Fatalf("%+v, %v, %+v", chain, err, seen)
	}
	for link, holds := range map[string]bool{chain.Last: true, startOfChain: true, "": true, hashOf(nil): false} {
		if got, err := Verify(dir, link, nil); err != nil || got.Holds != holds {
			t.Errorf("link %q: %v, %v", link, got.Holds, err)
		}
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(lines ...[]byte) []byte { return bytes.Join(lines, nil) }
	for i := range len(lines) - 1 {
		count++
		changed := bytes.Clone(whole)
		at := len(join(lines[:i]...)) + 9 // inside the time
		changed[at] ^= 1
		put(changed)
		_, err := Verify(dir, "", nil)
		bad, ok := errors.AsType[*ChainError](err)
		// The sixth is cut off and holds no link: the next line shows it.
		want := i + 2
		if i == 4 {
			want = 7
		}
		if !ok || bad.Line != want {
			t.Errorf("a byte of line %d changed: %v", i+1, err)
		}
	}
	for name, text := range map[string][]byte{
		"taken out": join(append(append([][]byte{}, lines[:4]...), lines[5:]...)...),
		"put in":    join(append(append(append([][]byte{}, lines[:4]...), []byte(`{"kind":"hello","bytes":1}`+"\n")), lines[4:]...)...),
		"moved":     join(lines[0], lines[1], lines[3], lines[2], lines[4]),
	} {
		count++
		put(text)
		if _, err := Verify(dir, "", nil); err == nil {
			t.Errorf("a line %s: not found", name)
		}
	}
	put(join(lines[:7]...))
	short, err := Verify(dir, "", nil)
	if err != nil || short.Last == chain.Last {
		t.Errorf("cut short: %+v, %v, and the last hash does not tell", short, err)
	}
	t.Logf("figure: %d bad inputs: edited logs of what left", count)
}
