package hostile

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	covey "covey/proto/covey/v1"
)

// TestAttackAlteredProposal: R14. An analyst signed a proposal that the site's policy lets in. What
// the coordinator makes of it, signed as it was, is refused by the agent, whatever it changed;
// signed by a key of its own, or by nobody, it is let in by no policy that lists analysts.
func TestAttackAlteredProposal(t *testing.T) {
	ada := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	own := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	public := func(key ed25519.PrivateKey) proposal.Key { return proposal.Key(key.Public().(ed25519.PublicKey)) }
	w := newWorld(t, options{sites: 3, corrupt: []int{1, 2}})
	site := w.agent(0)
	site.config.Policy.Analysts = map[string]siteconfig.Analyst{"ada": {Key: pki.Fingerprint([]byte(public(ada)))}}
	w.start()
	p := w.plan.Proposal
	write := func(by *proposal.Party, spec proposal.Spec, roster []proposal.Member, readers ...proposal.Party) []byte {
		t.Helper()
		for _, r := range readers {
			spec.Readers = append(spec.Readers, r.Name)
		}
		body, err := proposal.ProposeAs(by, spec, roster, readers, w.key.Public().(ed25519.PublicKey), [32]byte{9})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	ask := func(body, signature []byte) *covey.Decision {
		t.Helper()
		return answerTo(w.ask(0, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body, Signature: signature}}}),
			(*covey.SiteMessage).GetDecision)
	}
	by := &proposal.Party{Name: "ada", Identity: public(ada)}
	signature := proposal.SignProposal(ada, proposal.DigestOf(write(by, p.Spec, p.Roster)))
	dearer, again := p.Spec, p.Spec
	dearer.Epsilon /= 2 // even to the better
	again.Name = "hostile again"
	roster := append([]proposal.Member(nil), p.Roster...)
	roster[2].Identity = public(own)
	for name, body := range map[string][]byte{
		"another ε":        write(by, dearer, p.Roster),
		"another name":     write(by, again, p.Roster),
		"another site":     write(by, p.Spec, roster),
		"a reader more":    write(by, p.Spec, p.Roster, proposal.Party{Name: "eve", Identity: public(own)}),
		"a site less":      write(by, p.Spec, p.Roster[:2]),
		"another proposer": write(&proposal.Party{Name: "eve", Identity: public(ada)}, p.Spec, p.Roster),
		"another key":      write(&proposal.Party{Name: "ada", Identity: public(own)}, p.Spec, p.Roster),
		"no proposer":      write(nil, p.Spec, p.Roster),
		"a space more":     append(write(by, p.Spec, p.Roster), '\n'),
	} {
		if d := ask(body, signature); d.GetVerdict() != covey.Verdict_VERDICT_REJECTED || d.GetCode() != covey.Code_CODE_BAD_SIGNATURE {
			t.Errorf("with %s the agent decides %v", name, d)
		}
	}
	for name, c := range map[string]struct {
		by  *proposal.Party
		key ed25519.PrivateKey
	}{
		"a key of its own, by ada's name": {&proposal.Party{Name: "ada", Identity: public(own)}, own},
		"a key of its own":                {&proposal.Party{Name: "eve", Identity: public(own)}, own},
		"nobody":                          {nil, nil},
	} {
		spec := p.Spec
		spec.Name = "by " + name
		body, signed := write(c.by, spec, p.Roster), []byte(nil)
		if c.key != nil {
			signed = proposal.SignProposal(c.key, proposal.DigestOf(body))
		}
		if d := ask(body, signed); d.GetVerdict() != covey.Verdict_VERDICT_PENDING {
			t.Errorf("signed by %s the agent decides %v", name, d)
		}
	}
}
