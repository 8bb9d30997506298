package packed

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestZip(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("[[columns]]\nscale = 1.0\n", 100_000)} {
		zipped := Zip([]byte(text))
		got, err := Unzip(zipped, len(text))
		if err != nil || string(got) != text || Length(zipped) != len(text) {
			t.Errorf("%d bytes come back as %d, %v", len(text), len(got), err)
		}
		if len(text) > 1000 && len(zipped) > len(text)/20 {
			t.Errorf("%d bytes take %d", len(text), len(zipped))
		}
		if _, err := Unzip(zipped, len(text)-1); err == nil {
			t.Errorf("%d bytes are more than one less", len(text))
		}
	}
	good := Zip(bytes.Repeat([]byte("0123456789"), 100_000))
	lies := func(size uint32) []byte {
		out := slices.Clone(good)
		binary.LittleEndian.PutUint32(out[len(out)-4:], size)
		return out
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "cut": good[:len(good)-1], "no gzip": bytes.Repeat([]byte{7}, 30), "changed": append(slices.Clone(good[:20]), append([]byte{good[20] ^ 1}, good[21:]...)...),
		"shorter than it says": lies(1 << 20), "longer than it says": lies(10), "two": append(slices.Clone(good), good...),
	} {
		if text, err := Unzip(bad, 1<<21); err == nil {
			t.Errorf("%s is read as %d bytes", name, len(text))
		}
	}
}

// TestZipTakesNoMemory: a length that a file cannot have costs no memory, and neither does a text
// that goes on beyond it.
func TestZipTakesNoMemory(t *testing.T) {
	lies := func(text []byte, size uint32) []byte {
		zipped := Zip(text)
		binary.LittleEndian.PutUint32(zipped[len(zipped)-4:], size)
		return zipped
	}
	for name, zipped := range map[string][]byte{"short": lies([]byte("a"), 1<<30), "long": lies(make([]byte, 32<<20), 10)} {
		var began, ended runtime.MemStats
		runtime.ReadMemStats(&began)
		if text, err := Unzip(zipped, 1<<30); err == nil {
			t.Errorf("%s: it is read as %d bytes", name, len(text))
		}
		runtime.ReadMemStats(&ended)
		if n := int(ended.TotalAlloc - began.TotalAlloc); n > 1<<20 {
			t.Errorf("%s: %d bytes are allocated for %d", name, n, len(zipped))
		}
	}
}

func FuzzUnzip(f *testing.F) {
	f.Add(Zip([]byte("name = 'a'\n")))
	f.Fuzz(func(t *testing.T, zipped []byte) {
		text, err := Unzip(zipped, 1000)
		if err != nil {
			return
		}
		if again, err := Unzip(Zip(text), 1000); err != nil || !bytes.Equal(again, text) || len(text) > 1000 {
			t.Errorf("%q comes back as %q, %v", text, again, err)
		}
	})
}
