package wire

import (
	"google.golang.org/protobuf/proto"

	"covey/internal/chain"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

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

// About returns the zero Header: a hello is about no study.
func (Hello) About() Header { return Header{} }

// Refuse returns the refusal of a request.
func Refuse(r Message, code study.Code) Refusal { return Refusal{Header: r.About(), Code: code} }

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

// siteMessageOf is the decoder of a SiteMessage.
func siteMessageOf(r *reader, h Header, body proto.Message) (Message, error) {
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
	case *covey.Attestation:
		return Attestation{h, b.GetSignature()}, nil
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
