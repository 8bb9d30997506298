package secagg

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"
)

// A parsed head is canonical, as an announcement is; and a nonce is the one that it commits to. The
// group is the 70 sites' of the sparse graph, and the head site 1's.
func FuzzHead(f *testing.F) {
	g := sharedSparse(f)
	header, raw := g.cfg.header(1), g.sent[1]
	f.Add(raw, g.nonces[1], false)
	f.Add(g.sent[2], g.nonces[2], true)
	f.Add(raw[:len(raw)-1], []byte{}, true)
	at := len(header) + 32 + nonceSize
	f.Add(slices.Concat(raw[:at], make([]byte, 32), raw[at+32:]), g.nonces[1], true)
	f.Fuzz(func(t *testing.T, raw, nonce []byte, sign bool) {
		if sign && len(raw) > ed25519.SignatureSize {
			signed := bytes.Clone(raw[:len(raw)-ed25519.SignatureSize])
			raw = append(signed, ed25519.Sign(g.keys[1], signed)...)
		}
		if g.board.CheckNonce(1, nonce) == nil && !bytes.Equal(nonce, g.nonces[1]) {
			t.Fatal("another nonce opens the commitment")
		}
		a, commitment, err := g.cfg.parseHead(1, header, raw)
		if err != nil {
			return
		}
		again := slices.Concat(header, a.transport.Bytes(), commitment)
		for slot := range g.cfg.Slots {
			again = append(append(again, a.m[slot][0].Bytes()...), a.b[slot][0].Bytes()...)
		}
		again = append(again, a.body[:]...)
		if !bytes.Equal(again, raw[:len(raw)-ed25519.SignatureSize]) || !ed25519.Verify(g.cfg.Identity[1], again, raw[len(again):]) {
			t.Fatal("a head of other bytes than its parts, or one that its site did not sign")
		}
	})
}
