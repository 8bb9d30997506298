package wire

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"covey/internal/proposal"
	covey "covey/proto/covey/v1"
)

// TestShape: what passes is one body, once, of not too many fields (LIM-5).
func TestShape(t *testing.T) {
	ok := func(m *covey.SiteMessage) []byte {
		raw, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	boxes := func(n int) []byte {
		return ok(&covey.SiteMessage{Body: &covey.SiteMessage_Boxes{Boxes: &covey.Boxes{Study: make([]byte, 32), Boxes: make([][]byte, n)}}})
	}
	survivors := func(n int, v uint32) []byte {
		u := make([]uint32, n)
		for i := range u {
			u[i] = v
		}
		return ok(&covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: make([]byte, 32), Survivors: u}}})
	}
	hello := ok(&covey.SiteMessage{Body: &covey.SiteMessage_Hello{Hello: &covey.Hello{Software: "a"}}})
	for _, c := range []struct {
		name string
		raw  []byte
		pass bool
	}{
		{"a hello", hello, true},
		{"the boxes of the largest roster", boxes(proposal.MaxSites), true},
		{"the survivors of the largest roster", survivors(proposal.MaxSites, proposal.MaxSites-1), true},
		{"too many boxes", boxes(siteShape.fields), false},
		{"too many survivors", survivors(maxPacked+1, 1), false},
		{"two bodies", append(bytes.Clone(hello), hello...), false},
		{"a byte more", append(bytes.Clone(hello), 0), false},
		{"a byte less", hello[:len(hello)-1], false},
		{"a number", []byte{0x08, 1}, false},
		{"nothing", nil, false},
	} {
		if err := siteShape.check(c.raw); (err == nil) != c.pass {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestShapeBoundsLists: each list of small numbers that a message has is bounded before it is
// decoded.
func TestShapeBoundsLists(t *testing.T) {
	for _, side := range []struct {
		m  proto.Message
		of shape
	}{{&covey.SiteMessage{}, siteShape}, {&covey.CoordinatorMessage{}, coordinatorShape}} {
		lists := 0
		for _, body := range bodies(side.m) {
			fields := body.Message().Fields()
			for i := range fields.Len() {
				f := fields.Get(i)
				if !f.IsPacked() || f.Kind() != protoreflect.Uint32Kind {
					continue
				}
				lists++
				if !side.of.packed[[2]protowire.Number{body.Number(), f.Number()}] {
					t.Errorf("%s is not bounded", f.FullName())
				}
			}
		}
		if lists != len(side.of.packed) {
			t.Errorf("%d lists, %d bounds", lists, len(side.of.packed))
		}
	}
}
