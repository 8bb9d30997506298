package coordinator

import (
	"crypto/sha256"
	"fmt"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/stream"
)

// What of the log goes into its chain (internal/chain): sites that join and are revoked, proposals,
// releases, drafts of results and the ends of studies, each where it is applied and changed
// something. So the chain is a function of the log, the same at every coordinator.

// DivergedError is an entry by a leader that decided another past than this coordinator, in terms
// and places that raft takes for the same. Its coordinator must end, unless it is of a snapshot of
// an older state of this past.
type DivergedError struct {
	Theirs, Ours chain.Head
	older        bool
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the coordinator that leads has decided another past (chain %v) than this one (%v): were coordinators restored from an older backup, or a snapshot of a machine? This log now ends with that one's entries, and no copy of it starts. Stop all coordinators, keep this one's folder raft/ elsewhere, and put a copy of the leading one's there: operations.md, what to back up. If none was restored, or this is the only one, its log was applied otherwise by another version of this program: delete nothing, start that version, and report it", e.Theirs, e.Ours)
}

// Diverged marks it for internal/replica.
func (e *DivergedError) Diverged() (older bool) { return e.older }

// joins extends the chain by a site's join. One that was taken before, whose reply was lost, is
// none.
func (m *replicated) joins(e membership.JoinEntry) {
	if h, ok := m.who.Sites[e.Name]; ok {
		m.chain.Append(chain.Joined(h.Name, h.Token, h.Identity, h.TLS))
	}
}

// revokes extends the chain by the end of a site's membership.
func (m *replicated) revokes(e membership.ClientEntry) {
	if h, ok := m.who.Sites[e.Name]; ok && e.Role == pki.RoleSite {
		m.chain.Append(chain.Revoked(h.Name, h.Token))
	}
}

// proposes extends the chain by a proposal.
func (m *replicated) proposes(study proposal.Digest) { m.chain.Append(chain.Proposed(study)) }

// steps extends the chain by an entry about a study that changed its state; over reports whether
// the study was over before.
func (m *replicated) steps(e round.Entry, s *round.State, over bool) {
	switch e.Kind {
	case round.EntryReleased:
		m.chain.Append(chain.Released(e.Study, e.Released.Encoded))
		m.chained[e.Study] = m.chain.Head().Number
	case round.EntryDrafted:
		m.chain.Append(chain.Drafted(e.Study, sha256.Sum256(e.Draft)))
	}
	if !over && s.Terminal() {
		m.chain.Append(chain.Ended(e.Study, string(s.Code)))
	}
}

// chainOf returns the head of the chain as of a study's last release, which its result holds: the
// start's before the first.
func (m *replicated) chainOf(study proposal.Digest) chain.Head { return m.chain.At(m.chained[study]) }

// follow begins a link's place in the chain. A kept head that is not of it both operators read.
func (m *leader) follow(l *link, kept chain.Head) {
	now := m.chain.Head()
	l.kept, l.shown = kept, min(kept.Number, now.Number)
	if m.astray(l) {
		m.log.Error("a site kept a head that is not in this coordinator's chain: was the coordinators' log restored from a backup, or is there another coordinator? "+
			"The site answers no queries until the chain goes on from there, or its operator runs \"agent chain accept\"", "site", l.site, "kept", kept, "head", now)
		m.show(l)
	}
}

// astray reports whether a site with a link refuses this chain, or will at the next query.
func (m *leader) astray(l *link) bool {
	return l != nil && (l.broken || l.kept.Number > m.chain.Head().Number || l.kept.Number > 0 && m.chain.At(l.kept.Number) != l.kept)
}

// show tells a site the chain since it was shown it last, up to the present head. What waits to be
// sent of it already is sent in one with the rest, so that no queue grows with the chain.
func (m *leader) show(l *link) {
	since := func(base uint64) ([]stream.Outgoing, error) {
		return m.heads.Since(base, &m.chain, m.authority.SigningKey())
	}
	if err := l.SendHeads(l.shown, since); err != nil {
		m.log.Error("a message does not encode", "site", l.site, "error", err)
		return
	}
	l.shown = m.chain.Head().Number
}
