package wire

import (
	"google.golang.org/protobuf/proto"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// Header is what a message is about. A message carries the fields that its text in the proto file
// has; the others are zero.
type Header struct {
	Study       proposal.Digest
	Query, Slot int // query: index into Plan.Queries
}

// About returns the header.
func (h Header) About() Header { return h }

// Message is one message of a link, either way.
type Message interface {
	About() Header
	// body returns the generated message, without its header.
	body() proto.Message
}

// What a site sends.
type (
	// Hello opens a link: what this site offers, and which studies it knows.
	Hello struct {
		Software string
		Datasets []Dataset
		Open     []Tag // pending, or approved and not over there
		AllOpen  bool  // Open holds all of them
		Over     []Tag // on the ledger, and over there
		// Chain is the head of the coordinators' chain that the site kept.
		Chain chain.Head
	}
	// Dataset is the public face of one data set.
	Dataset struct {
		Name  string
		Units uint64
	}
	// Decision answers a proposal.
	Decision struct {
		Header
		Verdict study.Verdict
		Code    study.Code // why, when rejected
		// Signature is the identity key's over the rest; none when pending.
		Signature []byte
	}
	// Announcement is a site's keys and commitments, signed.
	Announcement struct {
		Header
		Signed []byte
	}
	// Nonce is what the site's announcement commits to, on the sparse graph.
	Nonce struct {
		Header
		Nonce []byte
	}
	// Boxes are sealed shares and keys, in the order of the graph's recipients of the site's.
	Boxes struct {
		Header
		Boxes [][]byte
	}
	// Confirmation signs the setup's transcript. Deposits hold the keys of pairs that others own,
	// and Statement is a signature over them and over the tags that the site checked. There are
	// none if every site is waited for.
	Confirmation struct {
		Header
		Signature, Deposits, Statement []byte
	}
	// Recalled holds the tags of the boxes that the site sent, and its deposits.
	Recalled struct {
		Header
		Tags, Deposits []byte
	}
	// Upload is a masked sum, bits/8 bytes a lane, little-endian.
	Upload struct {
		Header
		Masked []byte
	}
	// Signature is a release signature on a survivor set.
	Signature struct {
		Header
		Signature []byte
	}
	// Shares open one sum.
	Shares struct {
		Header
		Shares []byte
	}
	// Attestation is a site's signature on a result.
	Attestation struct {
		Header
		Signature []byte
	}
	// Proof shows that the site's share of one dealer's secret is the one that it was sent.
	Proof struct {
		Header
		Dealer study.Seat // as asked
		Proof  []byte
	}
	// PairKeys are the keys of the site's pairs with those outside of the survivors.
	PairKeys struct {
		Header
		Keys []byte
	}
	// Refusal is a no, with what the site holds.
	Refusal struct {
		Header
		Code      study.Code
		Culprit   study.Seat
		Context   []byte
		Survivors []int
		Signature []byte
		Final     *Final
		Shared    bool // with study.CodeHeld: shares were sent in that slot
		// Announcement is, with study.CodeBadAnnouncement, the culprit's that is on record where
		// another was shown.
		Announcement []byte
		// Lacks is, with study.CodeOutOfOrder, 1 + how many of the study's releases, from the first
		// on, the site has followed; 0 if it is not about them.
		Lacks int
		// Evidence convicts the culprit: with study.CodeBadShare the seeds of the setup, which
		// the site has closed, and the culprit's box; with study.CodeBadBox what is on record of
		// the culprit's first box, where another was shown.
		Evidence []byte
	}
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

// About returns the zero Header: a hello is about no study.
func (Hello) About() Header { return Header{} }

// About returns the zero Header: the chain is about no study.
func (Head) About() Header { return Header{} }

// About returns the digest of the proposal's bytes.
func (m Proposal) About() Header { return Header{Study: proposal.DigestOf(m.Body)} }

func (m Hello) body() proto.Message {
	b := &covey.Hello{Software: m.Software, Open: joined(m.Open), AllOpen: m.AllOpen, Over: joined(m.Over)}
	for _, d := range m.Datasets {
		b.Datasets = append(b.Datasets, &covey.Dataset{Name: d.Name, Units: d.Units})
	}
	if m.Chain.Number > 0 {
		b.Chain, b.ChainHead = m.Chain.Number, m.Chain.Link[:]
	}
	return b
}

func (m Decision) body() proto.Message {
	return &covey.Decision{Verdict: wireVerdict(m.Verdict), Code: wireCode(m.Code), Signature: m.Signature}
}

func (m Announcement) body() proto.Message { return &covey.Announcement{Signed: m.Signed} }
func (m Nonce) body() proto.Message        { return &covey.Nonce{Nonce: m.Nonce} }
func (m Boxes) body() proto.Message        { return &covey.Boxes{Boxes: m.Boxes} }
func (m Confirmation) body() proto.Message {
	return &covey.Confirmation{Signature: m.Signature, Deposits: m.Deposits, Statement: m.Statement}
}
func (m Recalled) body() proto.Message {
	return &covey.Recalled{Tags: m.Tags, Deposits: m.Deposits}
}
func (m Upload) body() proto.Message    { return &covey.Upload{Masked: m.Masked} }
func (m Signature) body() proto.Message { return &covey.ReleaseSignature{Signature: m.Signature} }
func (m Shares) body() proto.Message    { return &covey.Shares{Shares: m.Shares} }
func (m Proof) body() proto.Message {
	return &covey.Proof{Dealer: uint32(m.Dealer), Proof: m.Proof}
}
func (m PairKeys) body() proto.Message    { return &covey.PairKeys{Keys: m.Keys} }
func (m Attestation) body() proto.Message { return &covey.Attestation{Signature: m.Signature} }

func (m Refusal) body() proto.Message {
	b := &covey.Refusal{
		Code: wireCode(m.Code), Culprit: uint32(m.Culprit), Context: m.Context, Survivors: uints(m.Survivors),
		Signature: m.Signature, Shared: m.Shared, Announcement: m.Announcement, Lacks: uint32(m.Lacks), Evidence: m.Evidence,
	}
	if m.Final != nil {
		b.Final = m.Final.body().(*covey.Final)
	}
	return b
}

// Refuse returns the refusal of a request.
func Refuse(r Message, code study.Code) Refusal { return Refusal{Header: r.About(), Code: code} }

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

// decode turns a body into its message. Numbers that do not fit are r's to remember.
func decode(r *reader, h Header, body proto.Message) (Message, error) {
	switch b := body.(type) {
	case *covey.Hello:
		return helloOf(b)
	case *covey.Decision:
		return Decision{h, verdictOf(b.GetVerdict()), codeOf(b.GetCode()), b.GetSignature()}, nil
	case *covey.Announcement:
		return Announcement{h, b.GetSigned()}, nil
	case *covey.Nonce:
		return Nonce{h, b.GetNonce()}, nil
	case *covey.Boxes:
		return Boxes{h, b.GetBoxes()}, nil
	case *covey.Confirmation:
		return Confirmation{h, b.GetSignature(), b.GetDeposits(), b.GetStatement()}, nil
	case *covey.Recalled:
		return Recalled{h, b.GetTags(), b.GetDeposits()}, nil
	case *covey.Upload:
		return Upload{h, b.GetMasked()}, nil
	case *covey.ReleaseSignature:
		return Signature{h, b.GetSignature()}, nil
	case *covey.Shares:
		return Shares{h, b.GetShares()}, nil
	case *covey.Proof:
		return Proof{h, study.Seat(r.int(b.GetDealer())), b.GetProof()}, nil
	case *covey.PairKeys:
		return PairKeys{h, b.GetKeys()}, nil
	case *covey.Refusal:
		return refusalOf(r, h, b), nil
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
	case *covey.Attestation:
		return Attestation{h, b.GetSignature()}, nil
	case *covey.Ended:
		return Ended{h, codeOf(b.GetCode())}, nil
	case *covey.Head:
		return headOf(b)
	}
	return nil, errUnknown
}

func helloOf(b *covey.Hello) (Message, error) {
	open, err := split(b.GetOpen())
	if err != nil {
		return nil, err
	}
	over, err := split(b.GetOver())
	if err != nil {
		return nil, err
	}
	m := Hello{Software: b.GetSoftware(), Open: open, AllOpen: b.GetAllOpen(), Over: over}
	if b.GetChain() > 0 {
		if m.Chain, err = head(b.GetChain(), b.GetChainHead()); err != nil {
			return nil, err
		}
	}
	for _, d := range b.GetDatasets() {
		m.Datasets = append(m.Datasets, Dataset{d.GetName(), d.GetUnits()})
	}
	return m, nil
}

func refusalOf(r *reader, h Header, b *covey.Refusal) Message {
	m := Refusal{h, codeOf(b.GetCode()), study.Seat(r.int(b.GetCulprit())), b.GetContext(), r.ints(b.GetSurvivors()), b.GetSignature(), nil,
		b.GetShared(), b.GetAnnouncement(), r.int(b.GetLacks()), b.GetEvidence()}
	if f := b.GetFinal(); f != nil {
		m.Final = &Final{Encoded: f.GetReleased(), Signature: f.GetSignature(), Certificate: f.GetCertificate()}
	}
	return m
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

// head reads a head of the chain.
func head(number uint64, link []byte) (chain.Head, error) {
	if len(link) != len(chain.Link{}) {
		return chain.Head{}, ErrHead
	}
	return chain.Head{Number: number, Link: chain.Link(link)}, nil
}
