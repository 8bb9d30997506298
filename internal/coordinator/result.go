package coordinator

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/proposal"
	"covey/internal/round"
)

// costResult is a read of a result, which computes it anew and signs it: eigenvectors of up to all
// columns.
const costResult = 2000.0

// errNoResult answers what is no digest, an unknown study, one of other sites and one that has no
// result alike, so that a site learns of no study that it is not in.
var errNoResult = status.Error(codes.NotFound, "there is no result of this study for this site")

// Result returns the result file of a completed study to a site of its roster. Every coordinator
// has it that has followed the log so far; one that has not, and does not lead, says who leads.
func (s server) Result(ctx context.Context, raw []byte) ([]byte, error) {
	name, err := s.peerSite(ctx)
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, nil, s.c.paceOf(name).spend(time.Now(), costResult)); err != nil {
		return nil, err
	}
	var digest proposal.Digest
	if len(raw) != len(digest) {
		return nil, errNoResult
	}
	copy(digest[:], raw)
	if !s.c.reads(name, digest) {
		if !s.c.Leading() {
			return nil, s.c.notLeader()
		}
		s.c.log.Warn("a result was not given out", "site", name, "study", digest)
		return nil, errNoResult
	}
	s.c.signing.Lock()
	defer s.c.signing.Unlock()
	r, err := s.c.Result(digest)
	if err != nil {
		s.c.log.Error("a result cannot be signed", "study", digest, "error", err)
		return nil, status.Error(codes.Internal, "the result cannot be signed")
	}
	file, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, status.Error(codes.Internal, "the result cannot be written")
	}
	s.c.log.Info("a result was given out", "site", name, "study", digest, "bytes", len(file))
	return append(file, '\n'), nil
}

// reads reports whether a site may read the result of a study, and there is one: it stands in the
// roster, by its name and by the identity key that it has now, since another party may have joined
// under the name of one that was revoked.
func (c *Coordinator) reads(name string, digest proposal.Digest) bool {
	site, joined := c.machine.Site(name)
	m := c.machine.lock()
	defer c.machine.unlock()
	state := m.studies[digest]
	return joined && state != nil && state.Status == round.StatusCompleted &&
		slices.ContainsFunc(state.Plan().Proposal.Roster, func(member proposal.Member) bool {
			return member.Name == name && slices.Equal(member.Identity, site.Identity)
		})
}
