package frame

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrShape is a message that is not one body of a bounded number of fields.
var ErrShape = errors.New("frame: not one message of bounded shape")

// CheckShape looks at a serialized message before it is decoded: it is one body, once, of at most
// fields fields, and none of these is longer than longest says of the body's and the field's
// number, in bytes; a negative number is no bound. It keeps what a message takes in memory near
// what it is on the wire: an empty entry of a list is of two bytes there and of many decoded, and a
// packed number of one byte becomes eight.
func CheckShape(raw []byte, fields int, longest func(body, field protowire.Number) int) error {
	of, kind, n := protowire.ConsumeTag(raw)
	if n < 0 || kind != protowire.BytesType {
		return ErrShape
	}
	body, k := protowire.ConsumeBytes(raw[n:])
	if k < 0 || n+k != len(raw) {
		return ErrShape
	}
	for seen := 0; len(body) > 0; seen++ {
		number, kind, n := protowire.ConsumeTag(body)
		if n < 0 || seen >= fields {
			return ErrShape
		}
		k := protowire.ConsumeFieldValue(number, kind, body[n:])
		if most := longest(of, number); k < 0 || most >= 0 && k > most {
			return ErrShape
		}
		body = body[n+k:]
	}
	return nil
}
