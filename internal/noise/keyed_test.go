package noise

import (
	"bytes"
	"crypto/aes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestKeyedIsAESInCounterMode compares with the block cipher on counters 0, 1, 2, …,
// read in uneven pieces.
func TestKeyedIsAESInCounterMode(t *testing.T) {
	key := [32]byte{3, 1, 4}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for counter := range 300 {
		in, out := make([]byte, 16), make([]byte, 16)
		in[14], in[15] = byte(counter>>8), byte(counter)
		block.Encrypt(out, in)
		want = append(want, out...)
	}
	got := bytes.Repeat([]byte{0xff}, len(want)) // what was there must not show
	r := NewKeyed(key)
	for rest, n := got, 1; len(rest) > 0; n = n*2 + 1 {
		n = min(n, len(rest))
		if _, err := io.ReadFull(r, rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if !bytes.Equal(got, want) {
		t.Fatal("the generator is not AES-256 in counter mode from zero")
	}
}

// TestKeyIsPinned: the hash of the documented bytes, computed elsewhere. A restored
// coordinator of another version must find the same key.
func TestKeyIsPinned(t *testing.T) {
	key := Key([]uint64{1, 2, 3, 4, 5, 6, 7}, 40, [32]byte{1}, [32]byte{2})
	if got := hex.EncodeToString(key[:]); got != "403d6e10989e93152888168a2a927bbdc5d9afeabe5aa18da9f5b36c4f91eedc" {
		t.Fatalf("the key is %s", got)
	}
}

func TestKeyBindsEverything(t *testing.T) {
	lanes := []uint64{1, 2, 3, 4}
	base := Key(lanes, 56, [32]byte{1}, [32]byte{2})
	for name, other := range map[string][32]byte{
		"lanes":     Key([]uint64{1, 2, 3, 5}, 56, [32]byte{1}, [32]byte{2}),
		"count":     Key(lanes[:3], 56, [32]byte{1}, [32]byte{2}),
		"bits":      Key(lanes, 64, [32]byte{1}, [32]byte{2}),
		"top bits":  Key([]uint64{1, 2, 3, 4 | 1<<55}, 56, [32]byte{1}, [32]byte{2}),
		"context":   Key(lanes, 56, [32]byte{3}, [32]byte{2}),
		"survivors": Key(lanes, 56, [32]byte{1}, [32]byte{3}),
	} {
		if other == base {
			t.Errorf("the key does not depend on %s", name)
		}
	}
	// A lane is an element of Z_2^b: which of its representatives an opening holds
	// must not make a second noise.
	if Key([]uint64{1, 2, 3, 4 | 1<<56}, 56, [32]byte{1}, [32]byte{2}) != base {
		t.Error("the key depends on bits above the ring")
	}
}

func TestGeneratorIsRedacted(t *testing.T) {
	r := NewKeyed([32]byte{1})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		if got := fmt.Sprintf(verb, r); got != "[redacted]" {
			t.Errorf("%s prints %s", verb, got)
		}
		if got := fmt.Sprintf(verb, struct{ R io.Reader }{r}); !strings.Contains(got, "[redacted]") {
			t.Errorf("%s of a struct prints %s", verb, got)
		}
	}
	if b, err := json.Marshal(r); err != nil || string(b) != "{}" {
		t.Errorf("as JSON it is %s (%v)", b, err)
	}
}
