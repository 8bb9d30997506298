package secagg

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"
)

// TestGolden: what sites send for fixed secrets has been these bytes since the protocol's first
// version, so that sites of different builds can work together.
func TestGolden(t *testing.T) {
	g := newGroup(t, 5, 2)
	announcements, boxes, uploads, shares := sha256.New(), sha256.New(), sha256.New(), sha256.New()
	for i := range 5 {
		announcements.Write(g.sent[i])
		for _, box := range g.boxes[i] {
			boxes.Write(box)
		}
		for _, width := range Widths {
			v := make([]uint64, 5000)
			for k := range v {
				v[k] = uint64(k*i) << 20 & ringMask(width)
			}
			q := Query{Slot: 1, Context: labelled("golden"), Bits: width, Lanes: len(v)}
			for _, x := range g.upload(t, i, q, v) {
				uploads.Write(binary.LittleEndian.AppendUint64(nil, x))
			}
			u := Survivors{0, 1, 3, 4}
			shares.Write(g.shares(t, i, q, u, g.certificate(t, q, u)))
		}
	}
	for name, got := range map[string]string{
		"announcements": fmt.Sprintf("%.8x", announcements.Sum(nil)), "boxes": fmt.Sprintf("%.8x", boxes.Sum(nil)),
		"uploads": fmt.Sprintf("%.8x", uploads.Sum(nil)), "shares": fmt.Sprintf("%.8x", shares.Sum(nil)),
	} {
		if want := golden[name]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

var golden = map[string]string{
	"announcements": "3f863dc63381472d", "boxes": "fe2a174ad784b76a", "uploads": "34176222cae7624d", "shares": "bb730b30e2945e12",
}
