//go:build !covey_next_protocol

package frame

// The protocols of a link that this build speaks: Protocol is the newest, and a higher
// number whenever an older end would misunderstand, hang, or make another plan of the same
// proposal (TestRollingUpgrade of test/deploy finds out). An end may go on speaking older
// ones, down to OldestProtocol, so that agents need not change on the day that coordinators do.
//
//	1  as it was before versions were said
//	2  decisions are signed
//	3  a plan in which sites wait has no spare slots
const (
	Protocol       = 3
	OldestProtocol = 3
)
