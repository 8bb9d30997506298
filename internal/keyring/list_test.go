package keyring

import (
	"bytes"
	"testing"
)

func FuzzDecodeList(f *testing.F) {
	f.Add(encodeList(nil))
	f.Add(encodeList([][]byte{{}, {1, 2}, nil}))
	f.Add([]byte{0, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := decodeList(raw)
		if err == nil && !bytes.Equal(encodeList(list), raw) {
			t.Fatalf("%x reads as %x, which is written otherwise", raw, list)
		}
	})
}
