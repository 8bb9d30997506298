package secagg

import (
	"bytes"
	"testing"
)

// Nothing a peer sends may panic, and nothing but the good bytes may pass.

func FuzzAnnouncement(f *testing.F) {
	g := newGroup(f, 2, 1)
	f.Add(g.sent[1])
	f.Add(flip(g.sent[1], 200))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := Verify(g.cfg, [][]byte{g.sent[0], raw}); err == nil && !bytes.Equal(raw, g.sent[1]) {
			t.Fatal("another announcement passed")
		}
	})
}

func FuzzBox(f *testing.F) {
	g := newGroup(f, 2, 1)
	f.Add(g.boxes[1][0], []byte("plain"))
	f.Add([]byte{}, bytes.Repeat([]byte{1}, 64))
	f.Fuzz(func(t *testing.T, box, plain []byte) {
		if _, err := g.setup.Receive(0, g.secrets[0], [][]byte{nil, box}); err == nil && !bytes.Equal(box, g.boxes[1][0]) {
			t.Fatal("another box passed")
		}
		if held, err := parseBox(plain); err == nil && len(held)*64 != len(plain) {
			t.Fatal("a plaintext lost bytes")
		}
		if held, err := UnmarshalSlotHeld(plain); err == nil {
			if back, _ := held.MarshalBinary(); !bytes.Equal(back, plain) {
				t.Fatal("held shares are not canonical")
			}
		}
	})
}

func FuzzShares(f *testing.F) {
	g := newGroup(f, 3, 1)
	q := Query{Bits: 32, Lanes: 1}
	u := Survivors{0, 1, 2}
	good := g.shares(f, 1, q, u, g.certificate(f, q, u))
	f.Add(good)
	f.Add(flip(good, len(good)-3))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := g.setup.NewOpening(q, u)
		if err != nil {
			t.Fatal(err)
		}
		if o.Add(1, raw) == nil && !bytes.Equal(raw, good) {
			t.Fatal("other shares passed")
		}
	})
}

func FuzzSignatures(f *testing.F) {
	g := newGroup(f, 3, 1)
	q := Query{Bits: 32, Lanes: 1}
	u := Survivors{0, 1, 2}
	good := g.certificate(f, q, u)[0]
	confirmed := g.setup.Confirm(g.keys[0], 0)
	f.Add(good)
	f.Add(confirmed)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if g.setup.CheckRelease(0, q, u, raw) == nil && !bytes.Equal(raw, good) {
			t.Fatal("another release signature passed")
		}
		if g.setup.CheckConfirmation(0, raw) == nil && !bytes.Equal(raw, confirmed) {
			t.Fatal("another confirmation passed")
		}
		for _, width := range Widths {
			if v, err := Unpack(raw, width, len(raw)*8/int(width)); err == nil && !bytes.Equal(Pack(v, width), raw) {
				t.Fatal("a vector lost bytes")
			}
		}
	})
}
