package history

import (
	"errors"
	"strings"

	"google.golang.org/protobuf/proto"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// This file alone knows the generated messages.

// message is one message of a link, either way. Only the fields of its kind are set.
type message struct {
	kind        string // of the oneof: "upload", "release", ...
	study       proposal.Digest
	query, slot int
	approved    bool     // of a decision
	body        []byte   // what the message is about
	list        [][]byte // announcements, boxes, a certificate
	nonces      [][]byte // of the sparse graph
	rest        [][]byte // what else a confirmation has: deposits, statement
	accuses     bool     // a refusal with what proves it
	survivors   []int
	code        study.Code
	final       *final
	ask         study.Ask
}

// final is a release as signed.
type final struct{ encoded, signature []byte }

var errMessage = errors.New("not a message of the protocol")

func readSite(raw []byte) (message, error) {
	var m covey.SiteMessage
	if err := proto.Unmarshal(raw, &m); err != nil {
		return message{}, err
	}
	switch b := m.GetBody().(type) {
	case *covey.SiteMessage_Hello:
		return message{kind: "hello"}, nil
	case *covey.SiteMessage_Decision:
		return about(b.Decision.GetStudy(), message{kind: "decision", approved: b.Decision.GetVerdict() == covey.Verdict_VERDICT_APPROVED})
	case *covey.SiteMessage_Announcement:
		a := b.Announcement
		return about(a.GetStudy(), message{kind: "announcement", body: a.GetSigned()})
	case *covey.SiteMessage_Nonce:
		n := b.Nonce
		return about(n.GetStudy(), message{kind: "nonce", body: n.GetNonce()})
	case *covey.SiteMessage_Boxes:
		return about(b.Boxes.GetStudy(), message{kind: "boxes", list: b.Boxes.GetBoxes()})
	case *covey.SiteMessage_Confirmation:
		c := b.Confirmation
		return about(c.GetStudy(), message{kind: "confirmation", body: c.GetSignature(), rest: [][]byte{c.GetDeposits(), c.GetStatement()}})
	case *covey.SiteMessage_Recalled:
		r := b.Recalled
		return about(r.GetStudy(), message{kind: "recalled", rest: [][]byte{r.GetTags(), r.GetDeposits()}})
	case *covey.SiteMessage_Upload:
		u := b.Upload
		return about(u.GetStudy(), message{kind: "upload", query: int(u.GetQuery()), slot: int(u.GetSlot()), body: u.GetMasked()})
	case *covey.SiteMessage_ReleaseSignature:
		r := b.ReleaseSignature
		return about(r.GetStudy(), message{kind: "signature", query: int(r.GetQuery()), slot: int(r.GetSlot()), body: r.GetSignature()})
	case *covey.SiteMessage_Shares:
		s := b.Shares
		return about(s.GetStudy(), message{kind: "shares", query: int(s.GetQuery()), slot: int(s.GetSlot()), body: s.GetShares()})
	case *covey.SiteMessage_Attestation:
		return about(b.Attestation.GetStudy(), message{kind: "attestation", body: b.Attestation.GetSignature()})
	case *covey.SiteMessage_Proof:
		p := b.Proof
		return about(p.GetStudy(), message{kind: "proof", query: int(p.GetQuery()), slot: int(p.GetSlot()), body: p.GetProof()})
	case *covey.SiteMessage_PairKeys:
		k := b.PairKeys
		return about(k.GetStudy(), message{kind: "pairkeys", query: int(k.GetQuery()), slot: int(k.GetSlot()), body: k.GetKeys()})
	case *covey.SiteMessage_Refusal:
		r := b.Refusal
		return about(r.GetStudy(), message{kind: "refusal", accuses: r.GetCode() == covey.Code_CODE_BAD_SHARE, query: int(r.GetQuery()), slot: int(r.GetSlot()), body: r.GetSignature(),
			survivors: ints(r.GetSurvivors()), code: codeOf(r.GetCode()), final: finalOf(r.GetFinal())})
	}
	return message{}, errMessage
}

func readCoordinator(raw []byte) (message, error) {
	var m covey.CoordinatorMessage
	if err := proto.Unmarshal(raw, &m); err != nil {
		return message{}, err
	}
	switch b := m.GetBody().(type) {
	case *covey.CoordinatorMessage_Proposal:
		return message{kind: "proposal", study: proposal.DigestOf(b.Proposal.GetBody()), body: b.Proposal.GetBody()}, nil
	case *covey.CoordinatorMessage_Announce:
		return about(b.Announce.GetStudy(), message{kind: "announce"})
	case *covey.CoordinatorMessage_Reveal:
		r := b.Reveal
		return about(r.GetStudy(), message{kind: "reveal", list: r.GetAnnouncements()})
	case *covey.CoordinatorMessage_Deal:
		d := b.Deal
		return about(d.GetStudy(), message{kind: "deal", list: d.GetAnnouncements(), nonces: d.GetNonces()})
	case *covey.CoordinatorMessage_Confirm:
		return about(b.Confirm.GetStudy(), message{kind: "confirm", list: b.Confirm.GetBoxes()})
	case *covey.CoordinatorMessage_Confirmed:
		c := b.Confirmed
		return about(c.GetStudy(), message{kind: "confirmed", list: c.GetSignatures()})
	case *covey.CoordinatorMessage_Recall:
		return about(b.Recall.GetStudy(), message{kind: "recall"})
	case *covey.CoordinatorMessage_Query:
		q := b.Query
		out := message{kind: "query", query: int(q.GetQuery()), slot: int(q.GetSlot())}
		out.ask = study.Ask{
			Query: out.query, Slot: out.slot,
			X: q.GetX(), Center: q.GetCenter(), Found: q.GetFound(), Scale: q.GetScale(), Fill: q.GetFill(), Deviations: q.GetDeviations(), Radius: q.GetRadius(), Grid: q.GetGrid(), Sigma: noise.Sigma(q.GetSigma()),
		}
		if len(q.GetHistory()) != len(out.ask.History) {
			return message{}, errMessage
		}
		copy(out.ask.History[:], q.GetHistory())
		return about(q.GetStudy(), out)
	case *covey.CoordinatorMessage_Release:
		r := b.Release
		return about(r.GetStudy(), message{kind: "release", query: int(r.GetQuery()), slot: int(r.GetSlot()), survivors: ints(r.GetSurvivors())})
	case *covey.CoordinatorMessage_Open:
		o := b.Open
		return about(o.GetStudy(), message{kind: "open", query: int(o.GetQuery()), slot: int(o.GetSlot()),
			survivors: ints(o.GetSurvivors()), list: o.GetCertificate()})
	case *covey.CoordinatorMessage_Prove:
		p := b.Prove
		return about(p.GetStudy(), message{kind: "prove", query: int(p.GetQuery()), slot: int(p.GetSlot()), survivors: ints(p.GetSurvivors())})
	case *covey.CoordinatorMessage_Keys:
		k := b.Keys
		return about(k.GetStudy(), message{kind: "keys", query: int(k.GetQuery()), slot: int(k.GetSlot()), survivors: ints(k.GetSurvivors())})
	case *covey.CoordinatorMessage_Final:
		f := b.Final
		return about(f.GetStudy(), message{kind: "final", query: int(f.GetQuery()), slot: int(f.GetSlot()), final: finalOf(f)})
	case *covey.CoordinatorMessage_Head:
		return message{kind: "head"}, nil
	case *covey.CoordinatorMessage_Attest:
		return about(b.Attest.GetStudy(), message{kind: "attest", body: b.Attest.GetDraft()})
	case *covey.CoordinatorMessage_Ended:
		return about(b.Ended.GetStudy(), message{kind: "ended", code: codeOf(b.Ended.GetCode())})
	}
	return message{}, errMessage
}

func about(digest []byte, m message) (message, error) {
	if len(digest) != len(m.study) {
		return message{}, errMessage
	}
	m.study = proposal.Digest(digest)
	return m, nil
}

func finalOf(f *covey.Final) *final {
	if f == nil {
		return nil
	}
	return &final{f.GetReleased(), f.GetSignature()}
}

func codeOf(c covey.Code) study.Code {
	return study.Code(strings.ToLower(strings.TrimPrefix(c.String(), "CODE_")))
}

func ints(v []uint32) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}
