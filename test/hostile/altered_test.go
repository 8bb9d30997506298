package hostile

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"covey/internal/proposal"
	covey "covey/proto/covey/v1"
)

// TestAlteredAfterSigning: a coordinator that changes anything of a proposal after its analyst
// signed it has made another digest, which nobody signed: every site refuses it, within-limits
// policies included, and approves what was signed. (That no result is made of the altered one, nor
// verifies, is internal/result's TestVerifyProposer.)
func TestAlteredAfterSigning(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
	ada := newParty(t, "ada")
	by := proposal.Party{Name: "ada", Identity: proposal.Key(ada.public())}
	write := func(change func(*proposal.Spec, *[]proposal.Member, *[]proposal.Party)) []byte {
		spec, roster, readers := w.plan.Proposal.Spec, slices.Clone(w.plan.Proposal.Roster), []proposal.Party(nil)
		if change != nil {
			change(&spec, &roster, &readers)
		}
		for _, r := range readers {
			spec.Readers = append(spec.Readers, r.Name)
		}
		body, err := proposal.ProposeAs(&by, spec, roster, readers, w.key.Public().(ed25519.PublicKey), [32]byte{9})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	signed := write(nil)
	signature := proposal.SignProposal(ada.identity, proposal.DigestOf(signed))
	w.start()
	offer := func(i int, body, signature []byte) *covey.Decision {
		m := &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body, Signature: signature}}}
		d := answerTo(w.ask(i, m), (*covey.SiteMessage).GetDecision)
		if d == nil {
			t.Fatal("no decision")
		}
		return d
	}
	mallory := newParty(t, "mallory")
	altered := map[string][]byte{
		"a smaller ε":     write(func(s *proposal.Spec, _ *[]proposal.Member, _ *[]proposal.Party) { s.Epsilon /= 2 }),
		"more rounds":     write(func(s *proposal.Spec, _ *[]proposal.Member, _ *[]proposal.Party) { s.Rounds++ }),
		"another purpose": write(func(s *proposal.Spec, _ *[]proposal.Member, _ *[]proposal.Party) { s.Name = "other" }),
		"a later expiry":  write(func(s *proposal.Spec, _ *[]proposal.Member, _ *[]proposal.Party) { s.Expires = "2099-01-01T00:00:00Z" }),
		"a site less":     write(func(_ *proposal.Spec, r *[]proposal.Member, _ *[]proposal.Party) { *r = (*r)[:3] }),
		"a false site": write(func(_ *proposal.Spec, r *[]proposal.Member, _ *[]proposal.Party) {
			(*r)[3].Identity = proposal.Key(mallory.public())
		}),
		"a reader more": write(func(_ *proposal.Spec, _ *[]proposal.Member, p *[]proposal.Party) {
			*p = append(*p, proposal.Party{Name: "mallory", Identity: proposal.Key(mallory.public())})
		}),
		"a byte at the end":  append(slices.Clone(signed), '\n'),
		"one count of units": write(func(_ *proposal.Spec, r *[]proposal.Member, _ *[]proposal.Party) { (*r)[3].Units++ }),
	}
	for _, i := range w.real() {
		for name, body := range altered {
			digest := proposal.DigestOf(body)
			for by, s := range map[string][]byte{"the analyst's": signature, "the coordinator's": proposal.SignProposal(w.key, digest), "no": nil} {
				if d := offer(i, body, s); d.GetVerdict() != covey.Verdict_VERDICT_REJECTED || d.GetCode() != covey.Code_CODE_BAD_SIGNATURE {
					t.Errorf("site %d decides on %s with %s signature: %v %v", i, name, by, d.GetVerdict(), d.GetCode())
				}
			}
		}
	}
	if i := w.real()[0]; offer(i, signed, signature).GetCode() == covey.Code_CODE_BAD_SIGNATURE {
		t.Errorf("site %d refuses what was signed", i)
	}
}
