package uplink

import (
	"errors"
	"slices"

	"covey/internal/enroll"
)

// rota says which coordinator to try next: the configured addresses in turn, and between them those
// that one of them named as the leader's. All are configured: every coordinator holds the CA's key,
// so nothing that one says, signed or not, may send this site to a host that its operator did not
// name.
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

// again makes next return the address that it returned last, if that was no hint.
func (r *rota) again() {
	if !r.hinted {
		r.try--
	}
}

// heard takes what the last address answered, and reports whether it named none but addresses that
// are not configured. A hint is believed once: from there the agent is not sent on again, or two
// coordinators that each take the other for the leader would send it back and forth.
func (r *rota) heard(err error) (elsewhere bool) {
	follows, ok := errors.AsType[*enroll.NotLeaderError](err)
	if !ok || r.hinted {
		return false
	}
	r.hints = nil
	for _, address := range r.configured {
		if slices.Contains(follows.Addresses, address) && !slices.Contains(r.hints, address) {
			r.hints = append(r.hints, address)
		}
	}
	return len(r.hints) == 0 && len(follows.Addresses) > 0
}

// atOnce reports whether the next address need not be waited for.
func (r *rota) atOnce() bool { return len(r.hints) > 0 }
