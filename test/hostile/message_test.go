package hostile

import (
	"crypto/sha256"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// The coordinator's messages.

func proposed(body []byte) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body}}}
}

func announce(id proposal.Digest) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: id[:]}}}
}

func reveal(id proposal.Digest, heads [][]byte) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Reveal{Reveal: &covey.Reveal{Study: id[:], Announcements: heads}}}
}

func deal(id proposal.Digest, announcements, nonces [][]byte, seals ...[]byte) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{
		Study: id[:], Announcements: announcements, Nonces: nonces, Keys: seals}}}
}

func confirm(id proposal.Digest, boxes, bodies [][]byte) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirm{Confirm: &covey.Confirm{
		Study: id[:], Boxes: boxes, Bodies: bodies}}}
}

func confirmed(id proposal.Digest, signatures [][]byte) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirmed{Confirmed: &covey.Confirmed{
		Study: id[:], Signatures: signatures}}}
}

func query(id proposal.Digest, a study.Ask) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Query{Query: &covey.Query{
		Study: id[:], Query: uint32(a.Query), Slot: uint32(a.Slot), History: a.History[:],
		X: a.X, Radius: a.Radius, Grid: a.Grid, Sigma: uint64(a.Sigma), Center: a.Center, Found: a.Found, Scale: a.Scale, Fill: a.Fill, Deviations: a.Deviations}}}
}

func release(id proposal.Digest, query, slot int, u []int) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{
		Study: id[:], Query: uint32(query), Slot: uint32(slot), Survivors: indices(u)}}}
}

func open(id proposal.Digest, query, slot int, u []int, certificate [][]byte) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Open{Open: &covey.Open{
		Study: id[:], Query: uint32(query), Slot: uint32(slot), Survivors: indices(u), Certificate: certificate}}}
}

// prove asks about a dealer, by its roster index.
func prove(id proposal.Digest, query, slot int, u []int, dealer int) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Prove{Prove: &covey.Prove{
		Study: id[:], Query: uint32(query), Slot: uint32(slot), Survivors: indices(u), Dealer: uint32(1 + dealer)}}}
}

func keys(id proposal.Digest, query, slot int, u []int) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Keys{Keys: &covey.Keys{
		Study: id[:], Query: uint32(query), Slot: uint32(slot), Survivors: indices(u)}}}
}

func recall(id proposal.Digest) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Recall{Recall: &covey.Recall{Study: id[:]}}}
}

func final(id proposal.Digest, query, slot int, encoded, signature []byte) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Final{Final: &covey.Final{
		Study: id[:], Query: uint32(query), Slot: uint32(slot), Released: encoded, Signature: signature}}}
}

func indices(u []int) []uint32 {
	out := make([]uint32, len(u))
	for i, v := range u {
		out[i] = uint32(v) // a negative one becomes a number over 2^31-1, which the agent refuses
	}
	return out
}

// studyOf is the study that a message is about.
func studyOf(m *covey.CoordinatorMessage) []byte {
	switch b := m.GetBody().(type) {
	case *covey.CoordinatorMessage_Proposal:
		id := sha256.Sum256(b.Proposal.GetBody())
		return id[:]
	case *covey.CoordinatorMessage_Announce:
		return b.Announce.GetStudy()
	case *covey.CoordinatorMessage_Reveal:
		return b.Reveal.GetStudy()
	case *covey.CoordinatorMessage_Deal:
		return b.Deal.GetStudy()
	case *covey.CoordinatorMessage_Confirm:
		return b.Confirm.GetStudy()
	case *covey.CoordinatorMessage_Confirmed:
		return b.Confirmed.GetStudy()
	case *covey.CoordinatorMessage_Query:
		return b.Query.GetStudy()
	case *covey.CoordinatorMessage_Release:
		return b.Release.GetStudy()
	case *covey.CoordinatorMessage_Open:
		return b.Open.GetStudy()
	case *covey.CoordinatorMessage_Prove:
		return b.Prove.GetStudy()
	case *covey.CoordinatorMessage_Keys:
		return b.Keys.GetStudy()
	case *covey.CoordinatorMessage_Recall:
		return b.Recall.GetStudy()
	case *covey.CoordinatorMessage_Final:
		return b.Final.GetStudy()
	case *covey.CoordinatorMessage_Ended:
		return b.Ended.GetStudy()
	}
	return make([]byte, 32)
}

func ended(id proposal.Digest, code covey.Code) *covey.CoordinatorMessage {
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{Study: id[:], Code: code}}}
}
