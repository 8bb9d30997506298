package wire

import (
	"google.golang.org/protobuf/proto"

	"covey/internal/chain"
	"covey/internal/proposal"
)

// Header is what a message is about. A message carries the fields that its text in the proto file
// has; the others are zero.
type Header struct {
	Study       proposal.Digest
	Query, Slot int // query: index into Plan.Queries
}

// About returns the header.
func (h Header) About() Header { return h }

// Message is one message of a link, either way.
type Message interface {
	About() Header
	// body returns the generated message, without its header.
	body() proto.Message
}

// head reads a head of the chain.
func head(number uint64, link []byte) (chain.Head, error) {
	if len(link) != len(chain.Link{}) {
		return chain.Head{}, ErrHead
	}
	return chain.Head{Number: number, Link: chain.Link(link)}, nil
}
