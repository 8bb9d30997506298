package enroll

import (
	"fmt"

	"covey/internal/siteconfig"
	"covey/internal/wire"
)

// NotLeaderError is a coordinator that is not the leader.
type NotLeaderError struct {
	Addresses []string // of the one that does, if known
}

func (e *NotLeaderError) Error() string {
	if len(e.Addresses) == 0 {
		return "this coordinator is not the leader"
	}
	return fmt.Sprintf("this coordinator is not the leader, and names %q", e.Addresses)
}

// ExplainLeader returns a *NotLeaderError for a status that says so. Addresses that
// make no sense are dropped.
func ExplainLeader(err error) error {
	addresses, ok := wire.LeaderOf(err)
	if !ok {
		return err
	}
	e := &NotLeaderError{}
	for _, a := range addresses {
		if siteconfig.CheckAddress(a) == nil && len(e.Addresses) < maxHints {
			e.Addresses = append(e.Addresses, a)
		}
	}
	return e
}

// maxHints bounds the addresses that a coordinator can name to an agent.
const maxHints = 16
