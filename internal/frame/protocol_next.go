//go:build covey_next_protocol

package frame

// A build from after the next change of the protocol, for tests of the refusal.
const (
	Protocol       = 4
	OldestProtocol = 4
)
