package egress

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// FuzzEgress: whatever egress.jsonl holds, an agent opens it and goes on with its chain or refuses
// it, and the chain is whole up to the line that is named.
func FuzzEgress(f *testing.F) {
	dir := f.TempDir()
	log := slog.New(slog.DiscardHandler)
	e, err := Open(dir, log)
	if err != nil {
		f.Fatal(err)
	}
	id, one := proposal.Digest{1}, 1
	for _, s := range []Line{{Kind: "hello", Bytes: 7}, {Kind: "upload", Study: &id, Query: &one, Slot: &one, Bytes: 9}, {Kind: "refusal", Study: &id, Code: study.CodeFinal}} {
		e.Record(s.Of([]byte("x")), moment)
	}
	e.file.Close()
	path := filepath.Join(dir, File)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-5])
	f.Add(bytes.Replace(whole, []byte("upload"), []byte("signed"), 1))
	f.Add([]byte("{\"kind\":\"upload\",\"study\":null,\"bytes\":-1}\n\n\x00\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := Verify(dir, "", func(SentMessage) {})
		bad, isChain := errors.AsType[*ChainError](err)
		if isChain && (bad.Line < 1 || bad.Line > bytes.Count(raw, []byte("\n"))) {
			t.Fatal(bad)
		}
		e, err2 := Open(dir, log)
		if err2 != nil {
			return
		}
		e.Record(Line{Kind: "hello", Bytes: 1}.Of([]byte("y")), moment)
		e.file.Close()
		after, err3 := Verify(dir, "", nil)
		// Of a last line without an end nothing is known before it is ended; a CR is nothing that
		// is written.
		whole := len(raw) == 0 || raw[len(raw)-1] == '\n'
		if err == nil && whole && !bytes.Contains(raw, []byte("\r")) && (err3 != nil || after.Lines != before.Lines+1) {
			t.Fatalf("a line after %+v: %+v, %v", before, after, err3)
		}
	})
}
