//go:build !covey_next_protocol

package frame

// The protocols of a link that this build speaks: Protocol is the newest, and a higher
// number whenever an older end would misunderstand or hang. An end may go on speaking older
// ones, down to OldestProtocol, so that agents need not change on the day that coordinators do.
//
//	1  as it was before versions were said
//	2  decisions are signed
const (
	Protocol       = 2
	OldestProtocol = 2
)
