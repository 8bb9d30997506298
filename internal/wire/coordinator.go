package wire

import (
	"google.golang.org/protobuf/proto"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// What a coordinator sends.
type (
	// Proposal asks for a decision. It carries the proposal's exact bytes, and its proposer's
	// signature on their digest where it has a proposer.
	Proposal struct{ Body, Signature []byte }
	// Announce begins the setup.
	Announce struct{ Header }
	// Reveal carries the heads of all announcements, by roster index, and asks for the nonce that
	// the site's commits to.
	Reveal struct {
		Header
		Announcements [][]byte
	}
	// Deal carries all announcements, by roster index, or after Reveal all nonces, and the ML-KEM
	// keys of those that the site seals to, in their order. It asks for sealed shares and keys.
	Deal struct {
		Header
		Announcements [][]byte
		Nonces        [][]byte
		Keys          [][]byte
	}
	// Confirm carries the boxes for one site, in the order of the graph's senders to it, and after
	// Reveal the bodies of the announcements of the dealers whose shares it holds, in their order.
	Confirm struct {
		Header
		Boxes  [][]byte
		Bodies [][]byte
	}
	// Confirmed carries all confirmations, by roster index: without it no agent uploads.
	Confirmed struct {
		Header
		Signatures [][]byte
	}
	// Recall asks for a site's tags and deposits, of which the log holds hashes alone.
	Recall struct{ Header }
	// Release asks for a signature on a survivor set.
	Release struct {
		Header
		Survivors []int
	}
	// Open shows a certificate, by roster index, and asks for shares.
	Open struct {
		Header
		Survivors   []int
		Certificate [][]byte
	}
	// Prove asks for the proof that the site's share of one dealer's secret is the one that it was
	// sent.
	Prove struct {
		Header
		Survivors []int
		Dealer    study.Seat
	}
	// Keys asks for the keys of the site's pairs with those outside of the survivors.
	Keys struct {
		Header
		Survivors []int
	}
	// Final is a query's release: its exact signed bytes, the coordinator's signature, and the
	// packed certificate that opened its sum.
	Final struct {
		Header
		Encoded, Signature, Certificate []byte
	}
	// Attest asks for a signature on the study's result: its draft, all sites' approvals, and the
	// proposer's signature where there is one.
	Attest struct {
		Header
		Draft     []byte
		Approvals [][]byte
		Proposer  []byte
	}
	// Ended is the end of a study.
	Ended struct {
		Header
		Code study.Code
	}
	// Head shows the chain of the coordinators' log.
	Head struct{ chain.Shown }
)

// About returns the zero Header: the chain is about no study.
func (Head) About() Header { return Header{} }

// About returns the digest of the proposal's bytes.
func (m Proposal) About() Header { return Header{Study: proposal.DigestOf(m.Body)} }

func (m Proposal) body() proto.Message { return &covey.Proposal{Body: m.Body, Signature: m.Signature} }
func (m Announce) body() proto.Message { return &covey.Announce{} }
func (m Reveal) body() proto.Message   { return &covey.Reveal{Announcements: m.Announcements} }
func (m Deal) body() proto.Message {
	return &covey.Deal{Announcements: m.Announcements, Nonces: m.Nonces, Keys: m.Keys}
}
func (m Confirm) body() proto.Message   { return &covey.Confirm{Boxes: m.Boxes, Bodies: m.Bodies} }
func (m Confirmed) body() proto.Message { return &covey.Confirmed{Signatures: m.Signatures} }
func (m Recall) body() proto.Message    { return &covey.Recall{} }
func (m Release) body() proto.Message   { return &covey.Release{Survivors: uints(m.Survivors)} }
func (m Open) body() proto.Message {
	return &covey.Open{Survivors: uints(m.Survivors), Certificate: m.Certificate}
}
func (m Prove) body() proto.Message {
	return &covey.Prove{Survivors: uints(m.Survivors), Dealer: uint32(m.Dealer)}
}
func (m Keys) body() proto.Message { return &covey.Keys{Survivors: uints(m.Survivors)} }
func (m Final) body() proto.Message {
	return &covey.Final{Released: m.Encoded, Signature: m.Signature, Certificate: m.Certificate}
}
func (m Attest) body() proto.Message {
	return &covey.Attest{Draft: m.Draft, Approvals: m.Approvals, Proposer: m.Proposer}
}
func (m Ended) body() proto.Message { return &covey.Ended{Code: wireCode(m.Code)} }
func (m Head) body() proto.Message {
	return &covey.Head{Base: m.Base.Number, BaseHead: m.Base.Link[:], Steps: chain.Join(m.Steps), Signature: m.Signature}
}

// coordinatorMessageOf is the decoder of a CoordinatorMessage.
func coordinatorMessageOf(r *reader, h Header, body proto.Message) (Message, error) {
	switch b := body.(type) {
	case *covey.Proposal:
		return Proposal{b.GetBody(), b.GetSignature()}, nil
	case *covey.Announce:
		return Announce{h}, nil
	case *covey.Reveal:
		return Reveal{h, b.GetAnnouncements()}, nil
	case *covey.Deal:
		return Deal{h, b.GetAnnouncements(), b.GetNonces(), b.GetKeys()}, nil
	case *covey.Confirm:
		return Confirm{h, b.GetBoxes(), b.GetBodies()}, nil
	case *covey.Confirmed:
		return Confirmed{h, b.GetSignatures()}, nil
	case *covey.Recall:
		return Recall{h}, nil
	case *covey.Query:
		return queryOf(r, h, b), nil
	case *covey.Release:
		return Release{h, r.ints(b.GetSurvivors())}, nil
	case *covey.Open:
		return Open{h, r.ints(b.GetSurvivors()), b.GetCertificate()}, nil
	case *covey.Prove:
		return Prove{h, r.ints(b.GetSurvivors()), study.Seat(r.int(b.GetDealer()))}, nil
	case *covey.Keys:
		return Keys{h, r.ints(b.GetSurvivors())}, nil
	case *covey.Final:
		return Final{h, b.GetReleased(), b.GetSignature(), b.GetCertificate()}, nil
	case *covey.Attest:
		return Attest{h, b.GetDraft(), b.GetApprovals(), b.GetProposer()}, nil
	case *covey.Ended:
		return Ended{h, codeOf(b.GetCode())}, nil
	case *covey.Head:
		return headOf(b)
	}
	return nil, errUnknown
}

func headOf(b *covey.Head) (Message, error) {
	base, err := head(b.GetBase(), b.GetBaseHead())
	if err != nil {
		return nil, err
	}
	steps, err := chain.Split(b.GetSteps())
	if err != nil || len(steps) > chain.MaxSteps {
		return nil, ErrHead
	}
	return Head{chain.Shown{Base: base, Steps: steps, Signature: b.GetSignature()}}, nil
}
