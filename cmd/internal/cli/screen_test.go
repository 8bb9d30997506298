package cli

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

// hostile is what another party may put into a name or a reason.
const hostile = "x\x1b[2K\r\n\u202e\u009b31m\U000e0041  approved  "

// TestScreen: what is written in pieces comes out printable, as text and as JSON.
func TestScreen(t *testing.T) {
	for size := 1; size < 8; size++ {
		var out bytes.Buffer
		s := &screen{to: &out}
		raw, err := json.Marshal(hostile + "größe")
		if err != nil {
			t.Fatal(err)
		}
		for text := append(raw, "\x1b\t\n"...); len(text) > 0; {
			n := min(size, len(text))
			s.Write(text[:n])
			text = text[n:]
		}
		if got := out.String(); strings.ContainsAny(got, "\x1b\r\u202e\u009b\U000e0041") || !strings.HasSuffix(got, "größe\"\\u001b\t\n") {
			t.Errorf("pieces of %d: %q", size, got)
		}
		var back string
		if err := json.Unmarshal(bytes.TrimSuffix(out.Bytes(), []byte("\\u001b\t\n")), &back); err != nil || back != hostile+"größe" {
			t.Errorf("pieces of %d: it reads back as %q, %v", size, back, err)
		}
	}
}

// TestLogFormat: JSON wherever no person reads.
func TestLogFormat(t *testing.T) {
	for format, want := range map[string]string{"auto": `{"time":`, "json": `{"time":`, "text": "time="} {
		var b bytes.Buffer
		NewLogger(&b, format, slog.LevelInfo).Info("x")
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("%s: %s", format, b.String())
		}
	}
}
