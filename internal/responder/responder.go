package responder

import (
	"crypto/ed25519"
	"log/slog"
	"sync"
	"time"

	"covey/internal/chainwatch"
	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// Options of a study's responder; all are required.
type Options struct {
	Body     []byte // of the proposal
	Plan     *study.Plan
	Self     int // roster index
	Identity ed25519.PrivateKey
	Ledger   *ledger.Ledger
	Ring     *keyring.Ring
	Chain    *chainwatch.Watch
	Log      *slog.Logger
	Now      func() time.Time
	Work     *sync.WaitGroup // everything that the agent waits for before it closes the ledger
	Owner    Owner
}

// Owner is the study at this site, whose queries are answered.
type Owner interface {
	// Store returns the code of a ledger's error, which may end the agent.
	Store(error) study.Code
	// RolledBack leaves the study, since the ledger is older than what this site has sent, and
	// returns the refusal.
	RolledBack(r wire.Message, evidence string) wire.Message
	// Pinned loads the study's rows and returns why no query can be answered of them: they are not
	// those that were approved, or cannot be had.
	Pinned(ledger.Approval) study.Code
	// Sum returns the exact sum over the rows that Pinned has loaded. It is called by one goroutine
	// at a time.
	Sum(study.Ask) ([]int64, error)
	// Answered lets go of the rows, at the latest once the request is answered: no query is left.
	// Nobody is in Sum.
	Answered()
}

// Responder is this process's memory of the queries of one approved study. Everything in it can be
// made again from the ledger and the rows. It is not safe for use by several goroutines.
type Responder struct {
	body     []byte
	plan     *study.Plan
	self     int
	identity ed25519.PrivateKey
	ledger   *ledger.Ledger
	journal  *ledger.Journal
	ring     *keyring.Ring
	chain    *chainwatch.Watch
	log      *slog.Logger
	now      func() time.Time
	work     *sync.WaitGroup
	owner    Owner

	history     *history // nil until a query, or a result, needs it
	results     results
	answers     answers
	attestation attestation
	evidence    evidence
}

// New returns the responder of a study that its site is in.
func New(o Options) *Responder {
	s := &Responder{body: o.Body, plan: o.Plan, self: o.Self, identity: o.Identity, ledger: o.Ledger, journal: o.Ledger.Journal(o.Plan.Digest),
		ring: o.Ring, chain: o.Chain, log: o.Log, now: o.Now, work: o.Work, owner: o.Owner}
	s.results.s, s.answers.s, s.attestation.s, s.evidence.s = s, s, s, s
	return s
}

// Handle answers one request about the queries of the study, or takes a release; nil for silence.
func (s *Responder) Handle(r wire.Message, approval ledger.Approval) wire.Message {
	if _, ok := r.(wire.Query); !ok { // which makes its sum meanwhile
		if err := s.results.erased(); err != nil {
			return wire.Refuse(r, s.owner.Store(err))
		}
	}
	switch r := r.(type) {
	case wire.Query:
		said := s.answers.upload(r, approval)
		s.tell(r, said)
		return said
	case wire.Release:
		return s.answers.sign(r)
	case wire.Open:
		return s.answers.openShares(r)
	case wire.Prove:
		return s.answers.prove(r)
	case wire.Keys:
		return s.answers.keys(r)
	case wire.Final:
		return s.final(r)
	case wire.Attest:
		return s.attestation.attest(r)
	}
	return nil
}

// Erased waits until the secrets of the last result's slot are erased, if one is being written.
func (s *Responder) Erased() error { return s.results.erased() }

// answers are this site's to the queries of a study, of which one is open at a time.
type answers struct {
	s      *Responder
	open   *openQuery // nil until a query is answered
	adding *adding    // of the query under way; nil if none was begun
}

// openQuery is the last query that was answered.
type openQuery struct {
	ask   study.Ask
	query secagg.Query
	// certified is the survivors and the packed certificate that this site checked; empty before
	certified string
	checked   bool // whether it checked one at all
}

// chained has the ledger keep the chain that the coordinator shows, with its next transaction, or
// returns the refusal of a query.
func (s *Responder) chained(r wire.Message) (wire.Refusal, bool) {
	err := s.chain.Extend(s.plan, s.results.lastStep)
	switch {
	case err == nil:
		return wire.Refusal{}, true
	case s.ledger.Err() != nil:
		return wire.Refuse(r, s.owner.Store(err)), false
	}
	return wire.Refuse(r, study.CodeBrokenChain), false
}
