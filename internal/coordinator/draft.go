package coordinator

import (
	"log/slog"
	"slices"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

// draft makes the result of all releases and proposes its draft: what sites sign is in the log
// before one is asked, since a result that is computed again on another processor may differ in its
// last digits, and a site signs no second. A result that cannot be made is logged; the next leader
// tries again.
func (m *leader) draft(digest proposal.Digest, s *memory) {
	c, state, term := m.core, s.State, m.term
	evidence := evidence(state.Durable, m.approvals(s))
	var signed []result.SignedRelease
	for _, r := range state.Releases {
		signed, evidence.Certificates = append(signed, signedRelease(r)), append(evidence.Certificates, r.Certificate)
	}
	evidence.Transcript, evidence.ChainHead = s.Transcript(), m.chainOf(digest)
	plan, body := s.Plan, state.Body
	c.background(func() {
		var draft result.Draft
		r, err := result.Sign(plan, body, signed, evidence, c.authority.SigningKey())
		if err == nil {
			draft, err = r.Draft()
		}
		if err != nil {
			c.log.Error("the result cannot be made", "study", digest, "error", err)
			return
		}
		c.inTerm(term, func(m *leader) {
			if state.Status == round.StatusSigning && state.Draft == nil {
				m.propose(state.NewDrafted(draft))
			}
		})
	})
}

// evidence is what the sites have signed of a study, but for its transcript and its chain's head,
// which its draft has, and the certificates of its releases.
func evidence(d round.Durable, approvals []result.Blob) result.Evidence {
	return result.Evidence{Proposer: d.Signature, Approvals: approvals, Confirmations: result.Blobs(d.Confirmations)}
}

// approvals are those of a study under way.
func (m *leader) approvals(s *memory) []result.Blob {
	return approvals(s.Plan.Proposal.Roster, m.words[s.Plan.Digest])
}

func signedRelease(r round.Released) result.SignedRelease {
	return result.SignedRelease{Encoded: r.Encoded, Signature: r.Signature}
}

// whole adds to a question for a signature what the state machine does not hold.
func (m *leader) whole(s *memory, w wire.Message) wire.Message {
	ask, ok := w.(wire.Attest)
	if !ok {
		return w
	}
	for _, b := range m.approvals(s) {
		ask.Approvals = append(ask.Approvals, b)
	}
	ask.Proposer = s.State.Signature
	return ask
}

// attested takes a site's signature on the committed draft if it is one.
func (s *memory) attested(site int, signature []byte, log *slog.Logger) round.Event {
	if s.State.Status != round.StatusSigning || s.State.Draft == nil {
		return nil
	}
	if s.fits == nil {
		fits, err := result.Draft(s.State.Draft).Attested()
		if err != nil {
			log.Error("the draft in the log is not that of a result", "study", s.Plan.Digest, "error", err)
			return nil
		}
		s.fits = fits
	}
	if !s.fits(s.Plan.Proposal.Roster[site].Identity, signature) {
		s.Fault(site, study.CodeBadResult)
		return nil
	}
	return round.Attested{Site: site, Signature: slices.Clone(signature)}
}
