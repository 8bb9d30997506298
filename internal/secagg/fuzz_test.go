package secagg

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"
	"testing"
)

// A parsed announcement is canonical: its parts written again are its bytes. With sign
// the site signs what the fuzzer made, so that the points behind the signature are reached.
func FuzzAnnouncement(f *testing.F) {
	g := sharedGroup(f, 3)
	raw, points := g.sent[1], len(g.cfg.header(1))+32
	resigned := func(at int, part []byte) []byte {
		return g.resign(1, func(b []byte) { copy(b[at:], part) })[1]
	}
	f.Add(raw, false)
	f.Add(g.sent[0], true)
	f.Add(raw[:len(raw)-1], true)
	f.Add([]byte{}, false)
	f.Add(resigned(points, torsion(f).Bytes()), false)
	f.Add(resigned(points-32, make([]byte, 32)), false)
	f.Add(resigned(points, g.sent[2][points:points+64]), false)
	f.Fuzz(func(t *testing.T, raw []byte, sign bool) {
		if sign && len(raw) > ed25519.SignatureSize {
			signed := bytes.Clone(raw[:len(raw)-ed25519.SignatureSize])
			raw = append(signed, ed25519.Sign(g.keys[1], signed)...)
		}
		a, err := g.cfg.parse(1, raw)
		if err != nil {
			return
		}
		again := append(g.cfg.header(1), a.transport.Bytes()...)
		for slot := range g.cfg.Slots {
			for _, p := range slices.Concat(a.m[slot], a.b[slot]) {
				again = append(again, p.Bytes()...)
			}
		}
		if !bytes.Equal(again, raw[:len(raw)-ed25519.SignatureSize]) {
			t.Fatal("an announcement of other bytes than its parts")
		}
		if !ed25519.Verify(g.cfg.Identity[1], again, raw[len(again):]) {
			t.Fatal("an announcement that its site did not sign")
		}
	})
}

func FuzzBox(f *testing.F) {
	g := sharedGroup(f, 3)
	var plain []byte
	for _, h := range g.held[0] {
		plain = append(append(plain, h.m[1].Bytes()...), h.b[1].Bytes()...)
	}
	f.Add(plain)
	f.Add(plain[:64])
	f.Add(plain[:63])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, plain []byte) {
		held, err := parseBox(plain)
		if err != nil {
			return
		}
		var again []byte
		for _, h := range held {
			if len(h.m) != 1 || len(h.b) != 1 {
				t.Fatal("a box of more than one dealer")
			}
			again = append(append(again, h.m[0].Bytes()...), h.b[0].Bytes()...)
		}
		if !bytes.Equal(again, plain) {
			t.Fatal("other bytes the second time")
		}
	})
}

// Whoever the box is from, only the dealer's own opens.
func FuzzSealedBox(f *testing.F) {
	g := sharedGroup(f, 3)
	f.Add(g.boxes[1][0])
	f.Add(g.boxes[1][2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, box []byte) {
		boxes := g.boxesFor(0)
		boxes[1] = box
		_, err := g.setup.Receive(0, g.secrets[0], boxes, nil)
		if bytes.Equal(box, g.boxes[1][0]) {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 1 {
			t.Fatalf("%v, want an error of site 1", err)
		}
	})
}

func FuzzSlotHeld(f *testing.F) {
	raw, err := sharedGroup(f, 3).held[0][0].MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:64])
	f.Add(raw[1:])
	f.Add(bytes.Repeat([]byte{0xff}, 128))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := UnmarshalSlotHeld(raw)
		if err != nil {
			if _, ok := errors.AsType[*ConfigError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		again, err := h.MarshalBinary()
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatal("other bytes the second time")
		}
	})
}

// A helper's shares are accepted only if they are the right ones.
func FuzzShares(f *testing.F) {
	g := sharedGroup(f, 3)
	q, u := Query{Context: labelled("fuzz"), Bits: 64, Lanes: 1}, Survivors{0, 2}
	message, err := g.setup.OpenShares(1, g.held[1][0], q, u, g.certificate(f, q, u))
	if err != nil {
		f.Fatal(err)
	}
	header := g.setup.sharesHeader(1, q, u)
	f.Add(message, false)
	f.Add(message[len(header):], true)
	f.Add(make([]byte, 96), true)
	f.Add(bytes.Repeat([]byte{0xff}, 96), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, raw []byte, headed bool) {
		if headed {
			raw = append(slices.Clone(header), raw...)
		}
		o, err := g.setup.NewOpening(q, u)
		if err != nil {
			t.Fatal(err)
		}
		err = o.Add(1, raw)
		if bytes.Equal(raw, message) {
			if err != nil || o.Helpers() != 1 {
				t.Fatalf("%d helpers: %v", o.Helpers(), err)
			}
			return
		}
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 1 {
			t.Fatalf("%v, want an error of site 1", err)
		}
		if o.Helpers() != 0 {
			t.Fatal("wrong shares were kept")
		}
	})
}

// Ed25519 as checked has one signature for its own signer's bytes, so anything else fails,
// whatever U is asked about.
func FuzzSignatures(f *testing.F) {
	g := sharedGroup(f, 5)
	q, u := Query{Slot: 1, Context: labelled("fuzz"), Bits: 64, Lanes: 2}, Survivors{0, 1, 3, 4}
	cert := g.certificate(f, q, u)
	confirmation := g.setup.Confirm(g.keys[1], 1)
	f.Add(1, cert[1], []byte{0, 1, 3, 4}, 1, uint(64), 2)
	f.Add(1, confirmation, []byte{0, 1, 2, 3, 4}, 0, uint(32), 1)
	f.Add(-1, []byte{}, []byte{}, -1, uint(0), 0)
	f.Add(5, make([]byte, 64), []byte{9, 9, 9, 9}, 2, uint(33), -1)
	f.Fuzz(func(t *testing.T, site int, signature, set []byte, slot int, bits uint, lanes int) {
		if err := g.setup.CheckConfirmation(site, signature); err == nil && !bytes.Equal(signature, g.setup.Confirm(g.keys[site], site)) {
			t.Fatal("a confirmation that its site did not sign")
		}
		asked := Query{Slot: slot, Context: q.Context, Bits: bits, Lanes: lanes}
		var survivors Survivors
		for _, i := range set {
			survivors = append(survivors, int(int8(i)))
		}
		err := g.setup.CheckRelease(site, asked, survivors, signature)
		if err == nil {
			want, err := g.setup.SignRelease(site, g.keys[site], asked, survivors)
			if err != nil || !bytes.Equal(signature, want) {
				t.Fatalf("a release that its site did not sign: %v", err)
			}
		}
		if g.setup.CheckCertificate(asked, survivors, Certificate{signature, signature, signature, signature, signature}) == nil {
			t.Fatal("one signature made a certificate")
		}
		if g.setup.CheckRelease(1, q, u, signature) == nil && !bytes.Equal(signature, cert[1]) {
			t.Fatal("a release that its site did not sign")
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, uint(32), 1)
	f.Add(make([]byte, 35), uint(56), 5)
	f.Add([]byte{}, uint(64), 0)
	f.Add([]byte{1}, uint(8), -1)
	f.Add([]byte{1}, uint(0), 1<<62)
	f.Fuzz(func(t *testing.T, raw []byte, bits uint, lanes int) {
		v, err := Unpack(raw, bits, lanes)
		if err != nil {
			if _, ok := errors.AsType[*ConfigError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		if len(v) != lanes || !bytes.Equal(Pack(v, bits), raw) {
			t.Fatal("other bytes the second time")
		}
		sum := make([]uint64, lanes)
		if err := SumPacked(sum, raw, bits); err != nil || !slices.Equal(sum, v) {
			t.Fatalf("another vector in the sum: %v", err)
		}
	})
}
