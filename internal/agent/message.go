package agent

import "covey/internal/study"

// request is one message of the coordinator; wire.go makes it. Its fields are
// as they came: nothing is checked but their lengths as numbers.
type request interface{ about() study.Digest }

type (
	// askDecision offers a proposal's exact bytes.
	askDecision struct{ Body []byte }
	// askAnnouncement begins a setup attempt.
	askAnnouncement struct {
		Study   study.Digest
		Attempt uint32
	}
	// askNonce carries the heads of all announcements, by roster index.
	askNonce struct {
		Study         study.Digest
		Attempt       uint32
		Announcements [][]byte
	}
	// askBoxes carries all announcements, by roster index, or all nonces after askNonce.
	askBoxes struct {
		Study         study.Digest
		Attempt       uint32
		Announcements [][]byte
		Nonces        [][]byte
	}
	// askConfirmation carries the boxes for this site, by dealer, after askNonce those of
	// the dealers whose shares it holds, with the bodies of their announcements.
	askConfirmation struct {
		Study   study.Digest
		Attempt uint32
		Boxes   [][]byte
		Bodies  [][]byte
	}
	// tellConfirmed carries all confirmations, by roster index.
	tellConfirmed struct {
		Study      study.Digest
		Attempt    uint32
		Signatures [][]byte
	}
	// askUpload is one query.
	askUpload struct {
		Study study.Digest
		Ask   study.Ask
	}
	// askSignature asks for a release signature on a survivor set.
	askSignature struct {
		Study       study.Digest
		Query, Slot int
		Survivors   []int
	}
	// askShares shows a certificate, by roster index.
	askShares struct {
		Study       study.Digest
		Query, Slot int
		Survivors   []int
		Certificate [][]byte
	}
	// tellFinal is a query's signed release.
	tellFinal struct {
		Study       study.Digest
		Query, Slot int
		Final       final
	}
	// tellEnded is the end of a study.
	tellEnded struct {
		Study study.Digest
		Code  study.Code
	}
)

func (r askDecision) about() study.Digest     { return study.DigestOf(r.Body) }
func (r askAnnouncement) about() study.Digest { return r.Study }
func (r askNonce) about() study.Digest        { return r.Study }
func (r askBoxes) about() study.Digest        { return r.Study }
func (r askConfirmation) about() study.Digest { return r.Study }
func (r tellConfirmed) about() study.Digest   { return r.Study }
func (r askUpload) about() study.Digest       { return r.Study }
func (r askSignature) about() study.Digest    { return r.Study }
func (r askShares) about() study.Digest       { return r.Study }
func (r tellFinal) about() study.Digest       { return r.Study }
func (r tellEnded) about() study.Digest       { return r.Study }

// final is a release as the coordinator signed it.
type final struct{ Encoded, Signature []byte }

// answer is one message to the coordinator. Together these are everything that
// an agent can send on a link.
type answer interface{ kind() string }

type (
	// hello opens a link.
	hello struct {
		Software string
		Datasets []offer
		Open     []study.Digest // pending, or approved and not over here
		AllOpen  bool           // Open holds all of them
		Over     []study.Digest // on the ledger, and over here
	}
	offer struct {
		Name  string
		Units int
	}
	decision struct {
		Study   study.Digest
		Verdict Verdict
		Code    study.Code // why, when rejected
		// Signature is the identity key's over the rest; none when pending.
		Signature []byte
	}
	announcement struct {
		Study   study.Digest
		Attempt uint32
		Signed  []byte
	}
	nonce struct {
		Study   study.Digest
		Attempt uint32
		Nonce   []byte
	}
	boxes struct {
		Study   study.Digest
		Attempt uint32
		Boxes   [][]byte // by recipient, or in the order of the site's holders
	}
	confirmation struct {
		Study     study.Digest
		Attempt   uint32
		Signature []byte
	}
	upload struct {
		Study       study.Digest
		Query, Slot int
		Masked      []byte
	}
	signature struct {
		Study       study.Digest
		Query, Slot int
		Signature   []byte
	}
	shares struct {
		Study       study.Digest
		Query, Slot int
		Shares      []byte
	}
	// refusal is a no, with what the site holds.
	refusal struct {
		Study       study.Digest
		Attempt     uint32
		Query, Slot int
		Code        study.Code
		Culprit     int // 1 + roster index, 0 for none
		Context     []byte
		Survivors   []int
		Signature   []byte
		Final       *final
		Shared      bool // with study.CodeHeld: shares were sent in that slot
		// Announcement is, with study.CodeBadAnnouncement, the culprit's that is on record where
		// another was shown.
		Announcement []byte
		// Lacks is, with study.CodeOutOfOrder, 1 + how many of the study's releases, from the first
		// on, this site has followed; 0 if it is not about them.
		Lacks int
	}
)

// pair is two messages, in this order.
type pair struct{ first, second answer }

func (pair) kind() string         { return "pair" }
func (hello) kind() string        { return "hello" }
func (decision) kind() string     { return "decision" }
func (announcement) kind() string { return "announcement" }
func (nonce) kind() string        { return "nonce" }
func (boxes) kind() string        { return "boxes" }
func (confirmation) kind() string { return "confirmation" }
func (upload) kind() string       { return "upload" }
func (signature) kind() string    { return "signature" }
func (shares) kind() string       { return "shares" }
func (refusal) kind() string      { return "refusal" }

// Verdict is a site's answer to a proposal.
type Verdict string

// The verdicts.
const (
	VerdictPending  Verdict = "pending"
	VerdictApproved Verdict = "approved"
	VerdictRejected Verdict = "rejected"
)

// refuse makes the refusal of a request.
func refuse(r request, code study.Code) refusal {
	no := refusal{Study: r.about(), Code: code}
	switch r := r.(type) {
	case askAnnouncement:
		no.Attempt = r.Attempt
	case askNonce:
		no.Attempt = r.Attempt
	case askBoxes:
		no.Attempt = r.Attempt
	case askConfirmation:
		no.Attempt = r.Attempt
	case tellConfirmed:
		no.Attempt = r.Attempt
	case askUpload:
		no.Attempt, no.Query, no.Slot = r.Ask.Attempt, r.Ask.Query, r.Ask.Slot
	case askSignature:
		no.Query, no.Slot = r.Query, r.Slot
	case askShares:
		no.Query, no.Slot = r.Query, r.Slot
	case tellFinal:
		no.Query, no.Slot = r.Query, r.Slot
	}
	return no
}
