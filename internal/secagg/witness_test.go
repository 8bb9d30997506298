package secagg

import (
	"bytes"
	"reflect"
	"testing"
)

// TestWitness: with only the transcript, anybody checks what the sites signed as they do
// themselves, on both graphs, and a packed list has exactly as many of the committee's signatures
// as are enough.
func TestWitness(t *testing.T) {
	whole, drawn := sharedGroup(t, 5), sharedSparse(t)
	for name, c := range map[string]struct {
		setup *Setup
		cert  func(q Query, u Survivors) Certificate
	}{
		"complete": {whole.setup, func(q Query, u Survivors) Certificate { return whole.certificate(t, q, u) }},
		"sparse":   {drawn.setup, func(q Query, u Survivors) Certificate { return drawn.certificate(t, q, u) }},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := NewWitness(c.setup.Config(), c.setup.Transcript())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(w.Graph(), c.setup.Graph()) {
				t.Fatal("the transcript draws another graph")
			}
			q, u := Query{Slot: 1, Context: labelled("ctx"), Bits: 32, Lanes: 3}, without(c.setup.cfg.sites())
			cert := c.cert(q, u)
			packed := w.Pack(cert)
			if len(packed) != packedSize*c.setup.cfg.threshold() || w.CheckReleased(q, u, packed) != nil {
				t.Fatalf("%d bytes: %v", len(packed), w.CheckReleased(q, u, packed))
			}
			if again := w.Pack(w.Unpacked(packed)); !bytes.Equal(again, packed) || c.setup.CheckCertificate(q, u, w.Unpacked(packed)) != nil {
				t.Error("another certificate comes of the packed one")
			}
			other := q
			other.Slot = 0
			short := packed[:len(packed)-packedSize]
			for what, err := range map[string]error{
				"of another slot": w.CheckReleased(other, u, packed), "of another U": w.CheckReleased(q, without(len(u), 0), packed),
				"short": w.CheckReleased(q, u, short), "one twice": w.CheckReleased(q, u, append(bytes.Clone(short), short[len(short)-packedSize:]...)),
				"one more": w.CheckReleased(q, u, append(bytes.Clone(packed), packed[:packedSize]...)), "cut": w.CheckReleased(q, u, packed[:len(packed)-1]), "empty": w.CheckReleased(q, u, nil),
			} {
				if err == nil {
					t.Errorf("a certificate is good that is %s", what)
				}
			}
			// a valid signature of a site that is not of the committee
			for i := range u {
				if in := c.setup.Graph().Signs(i); in {
					continue
				}
				list := w.Unpacked(packed)
				list[i], err = c.setup.SignRelease(i, drawn.keys[i], q, u)
				if err != nil || !bytes.Equal(w.Pack(list), packed) {
					t.Fatalf("a signature of no member of the committee is packed: %v", err)
				}
				var wrong []byte // in order, and one of the committee's left out
				for j, signature := range append(w.Unpacked(short)[:i:i], list[i:]...) {
					if j > i && !bytes.Contains(short, signature) {
						continue
					}
					if signature != nil {
						wrong = append(append(wrong, byte(j>>8), byte(j)), signature...)
					}
				}
				if len(wrong) != len(packed) || w.CheckReleased(q, u, wrong) == nil {
					t.Fatalf("a signature of no member of the committee counts: %d bytes", len(wrong))
				}
				break
			}
		})
	}
	if _, err := NewWitness(Config{}, [32]byte{}); err == nil {
		t.Error("a witness of no sites")
	}
}
