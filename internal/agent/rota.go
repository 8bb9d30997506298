package agent

import "errors"

// rota says which coordinator to try next: the configured addresses in turn, and
// between them those that one of them named as the leader's.
type rota struct {
	configured []string
	try        int
	hints      []string
	hinted     bool // the last one given was a hint
}

func (r *rota) next() string {
	if r.hinted = len(r.hints) > 0; r.hinted {
		address := r.hints[0]
		r.hints = r.hints[1:]
		return address
	}
	r.try++
	return r.configured[(r.try-1)%len(r.configured)]
}

// heard takes what the last address answered. A hint is believed once: who answers
// there must show the same CA's certificate for that host, and is not sent on again,
// or two coordinators that each take the other for the leader would send an agent round
// and round.
func (r *rota) heard(err error) {
	if follows, ok := errors.AsType[*notLeaderError](err); ok && !r.hinted {
		r.hints = follows.addresses
	}
}

// atOnce says that the next address need not be waited for.
func (r *rota) atOnce() bool { return len(r.hints) > 0 }
