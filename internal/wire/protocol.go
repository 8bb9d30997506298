package wire

// The protocols of a link that this build speaks: Protocol is the newest, and a higher
// number whenever an older end would misunderstand, hang, or make another plan of the same
// proposal (TestRollingUpgrade of test/deploy finds out). An end may go on speaking older
// ones, down to OldestProtocol, so that agents need not change on the day that coordinators do.
const (
	Protocol       = 25
	OldestProtocol = 25
)
