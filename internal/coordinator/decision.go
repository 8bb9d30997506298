package coordinator

import (
	"fmt"
	"time"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
)

// decided takes a site's word only if its identity key signed it: a certificate alone, which
// whoever holds the CA's key can make, approves nothing.
func (s *memory) decided(site int, verdict study.Verdict, code study.Code, signature []byte) round.Event {
	if verdict == study.VerdictPending {
		return round.Decided{Site: site, Verdict: verdict, Code: code}
	}
	if verdict == study.VerdictApproved {
		code = "" // a reason is a rejection's
	}
	if !study.CheckDecision(s.Plan.Proposal.Roster[site], s.Plan.Digest, verdict, code, signature) {
		s.Fault(site, study.CodeNotApproved)
		return nil
	}
	if s.words == nil {
		s.words = map[int][]byte{}
	}
	s.words[site] = signature
	return round.Decided{Site: site, Verdict: verdict, Code: code}
}

// word returns the signature that goes into the log with a decision.
func (m *leader) word(e round.Entry) []byte {
	s := m.sessions[e.Study]
	if e.Kind != round.EntryDecided || s == nil {
		return nil
	}
	return s.words[e.Site]
}

// decide is commit with the signature of a decision: one that is wrong or missing changes nothing.
func (m *leader) decide(e round.Entry, signature []byte, at time.Time) error {
	s := m.studies[e.Study]
	if e.Kind != round.EntryDecided || s == nil {
		return m.commit(e, at)
	}
	roster := s.Plan().Proposal.Roster
	if e.Site < 0 || e.Site >= len(roster) || !study.CheckDecision(roster[e.Site], e.Study, e.Verdict, e.Code, signature) {
		return fmt.Errorf("study %s: the decision in the log is not signed by its site", e.Study)
	}
	if err := m.commit(e, at); err != nil {
		return err
	}
	if m.words[e.Study] == nil {
		m.words[e.Study] = map[int]outline.Word{}
	}
	m.words[e.Study][e.Site] = outline.Word{Verdict: e.Verdict, Code: e.Code, Signature: signature, At: at}
	return nil
}

// approvals returns the sites' signed approvals by roster index, or nil if one is missing.
func approvals(roster []proposal.Member, words map[int]outline.Word) []result.Blob {
	out := make([]result.Blob, len(roster))
	for i := range out {
		word, ok := words[i]
		if !ok || word.Verdict != study.VerdictApproved {
			return nil
		}
		out[i] = word.Signature
	}
	return out
}

// Decisions returns a study's decisions so far, in the roster's order.
func (c *Coordinator) Decisions(digest proposal.Digest) ([]outline.SignedDecision, error) {
	w, err := c.whole(digest)
	if err != nil {
		return nil, err
	}
	out := []outline.SignedDecision{}
	for i, site := range w.roster {
		if word, ok := w.words[i]; ok {
			out = append(out, outline.SignedDecision{Site: site.Name, Identity: site.Identity, Fingerprint: pki.Fingerprint([]byte(site.Identity)), Word: word})
		}
	}
	return out, nil
}
