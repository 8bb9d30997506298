package wire

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"covey/internal/proposal"
)

var errShape = errors.New("wire: not one message of bounded shape")

// maxTags bounds each list of tags of a hello, in bytes: what a site in no study may send.
const maxTags = 64 << 10

// shape bounds a serialized message before it is decoded. It keeps what a message takes in memory
// near what it is on the wire: an empty entry of a list takes two bytes there and many when
// decoded, and a packed number of one byte becomes eight.
type shape struct {
	fields int
	// packed are the lists of many small numbers, by the numbers of body and field: each of at most
	// maxPacked bytes.
	packed map[[2]protowire.Number]bool
}

// maxPacked bounds a survivor set on the wire, whose numbers take up to five bytes.
const maxPacked = 5 * proposal.MaxSites

var (
	// The boxes of the largest roster, and some more; a refusal's survivors.
	siteShape = shape{proposal.MaxSites + 100, map[[2]protowire.Number]bool{{9, 8}: true}}
	// Two entries for each site of the largest roster, and some more; the survivors of a release,
	// of an open, and of what asks for proofs and for keys.
	coordinatorShape = shape{2*proposal.MaxSites + 100, map[[2]protowire.Number]bool{{6, 4}: true, {7, 4}: true, {12, 4}: true, {13, 4}: true}}
)

// check reports what is not one body, once, of at most the shape's fields.
func (s shape) check(raw []byte) error {
	of, kind, n := protowire.ConsumeTag(raw)
	if n < 0 || kind != protowire.BytesType {
		return errShape
	}
	body, k := protowire.ConsumeBytes(raw[n:])
	if k < 0 || n+k != len(raw) {
		return errShape
	}
	for seen := 0; len(body) > 0; seen++ {
		number, kind, n := protowire.ConsumeTag(body)
		if n < 0 || seen >= s.fields {
			return errShape
		}
		k := protowire.ConsumeFieldValue(number, kind, body[n:])
		if k < 0 || s.packed[[2]protowire.Number{of, number}] && k > maxPacked {
			return errShape
		}
		body = body[n+k:]
	}
	return nil
}
