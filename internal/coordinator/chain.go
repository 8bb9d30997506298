package coordinator

import (
	"crypto/ed25519"
	"crypto/sha256"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/stream"
	"covey/internal/wire"
)

// What of the log goes into its chain (internal/chain): sites that join and are revoked, proposals,
// releases, drafts of results and the ends of studies, each where it is applied and changed
// something. So the chain is a function of the log, the same at every coordinator.

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

// sign signs with the key that signs releases. Most sites are shown the same.
func (m *leader) sign(base, head chain.Head) []byte {
	s := chain.Signed{Head: head, Base: base}
	if m.signed.Signature == nil || m.signed.Head != head || m.signed.Base != base {
		s.Signature = ed25519.Sign(m.authority.SigningKey(), s.SigningInput())
		m.signed = s
	}
	return m.signed.Signature
}

// follow begins a link's place in the chain, with the head that the site says it kept. That it is
// not of this chain is for the site to find, and for the operator here to read.
func (m *leader) follow(l *link, kept chain.Head) {
	now := m.chain.Head()
	l.shown = min(kept.Number, now.Number)
	if kept.Number > 0 && (kept.Number > now.Number || m.chain.At(kept.Number) != kept) {
		m.log.Error("a site kept a head that is not in this coordinator's chain: was the coordinators' log restored from a backup, or is there another coordinator? "+
			"The site answers no queries until the chain goes on from there, or its operator runs \"agent chain accept\"", "site", l.site, "kept", kept, "head", now)
	}
}

// show tells a site the chain since it was shown it last, up to the present head. What waits to be
// sent of it already is sent in one with the rest, so that no queue grows with the chain.
func (m *leader) show(l *link) {
	if err := l.SendHeads(l.shown, m.pieces); err != nil {
		m.log.Error("a message does not encode", "site", l.site, "error", err)
		return
	}
	l.shown = m.chain.Head().Number
}

// pieces are the messages that show the chain from a base on.
func (m *leader) pieces(base uint64) (out []stream.Outgoing, err error) {
	for {
		steps := m.chain.Since(base)
		next := m.chain.At(base + uint64(len(steps)))
		from := m.chain.At(base)
		head := wire.Head{Shown: chain.Shown{Base: from, Steps: steps, Signature: m.sign(from, next)}}
		o := stream.Outgoing{Head: true, Base: base}
		if len(steps) > fewSteps { // for one site alone
			o.Encode = func() ([]byte, error) { return wire.Encode(head) }
		} else if o.Raw, err = wire.Encode(head); err != nil {
			return nil, err
		}
		out, base = append(out, o), next.Number
		if base == m.chain.Head().Number {
			return out, nil
		}
	}
}

// fewSteps are serialized at once.
const fewSteps = 1 << 10
