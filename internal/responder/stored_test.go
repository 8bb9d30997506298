package responder

import (
	"bytes"
	"slices"
	"testing"

	"covey/internal/secagg"
	"covey/internal/wire"
)

// FuzzStoredForms: what the ledger's items hold is read as it was written, or not at all.
func FuzzStoredForms(f *testing.F) {
	f.Add(slices.Concat(encodeFinal(wire.Final{Encoded: []byte("{}"), Signature: make([]byte, 64)})...))
	f.Add(secagg.Survivors{0, 2, 5}.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if v, err := decodeFinal(raw); err == nil && !bytes.Equal(slices.Concat(encodeFinal(v)...), raw) {
			t.Fatal("another result")
		}
		if u, err := decodeSurvivors(raw); err == nil && !bytes.Equal(secagg.Survivors(u).Bytes(), raw) {
			t.Fatalf("%x is read as %v", raw, u)
		}
	})
}

// TestSurvivorsForm ties the form read here to the one that secagg writes.
func TestSurvivorsForm(t *testing.T) {
	for _, u := range []secagg.Survivors{{0}, {0, 1, 5}, {63}} {
		if got, err := decodeSurvivors(u.Bytes()); err != nil || !slices.Equal(got, u) {
			t.Errorf("%v reads as %v, %v", u, got, err)
		}
	}
	for _, bad := range [][]byte{nil, {0}, {0, 1}, {0, 1, 0}, {0, 1, 0, 0, 0}} {
		if got, err := decodeSurvivors(bad); err == nil {
			t.Errorf("%x reads as %v", bad, got)
		}
	}
}
