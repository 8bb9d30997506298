package agent

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/responder"
	"covey/internal/study"
	"covey/internal/wire"
)

// strangers answer requests about studies that this site takes no part in: ones that are not on
// record, wait for the operator, or are over.
type strangers struct {
	a          *Agent
	unrecorded pace // of answers about studies that are not on record
	idle       pace // and about those that are, and not approved

	mu   sync.Mutex
	told map[proposal.Digest]bool // the unknown studies that the log told about
}

// ignores reports whether a request is one too many about a study that this site takes no part in.
func (g *strangers) ignores(r wire.Message) bool {
	switch r.(type) {
	case wire.Final, wire.Confirmed, wire.Ended: // are not answered
		return false
	}
	id := r.About().Study
	state, known := g.a.ledger.State(id)
	if state == ledger.Approved {
		return false
	}
	if known || g.a.pending.Has(id) {
		return !g.idle.take(time.Now())
	}
	return !g.unrecorded.take(time.Now())
}

// answer answers a request about a study that is neither pending nor approved.
// One that is over here answers a query with its final result, which a
// coordinator that lost its place adopts.
func (g *strangers) answer(r wire.Message, code study.Code) wire.Message {
	if said, ok := g.withdrawn(r); ok {
		return said
	}
	switch r := r.(type) {
	case wire.Final, wire.Confirmed:
		if _, known := g.a.ledger.Study(r.About().Study); !known && code == study.CodeUnknownStudy {
			g.log(r.About().Study, askedBeyond)
		}
		return nil
	case wire.Ended:
		return nil
	case wire.Query, wire.Release, wire.Open, wire.Prove, wire.Keys:
		if no, ok := responder.FinalRefusal(g.a.ledger, r); ok {
			return no
		}
	case wire.Attest:
		if said, ok := g.attested(r); ok {
			return said
		}
	}
	if e, ok := g.a.ledger.Study(r.About().Study); ok {
		switch e.State {
		case ledger.Finished:
			if code = study.CodeLeft; e.Code == string(study.CodeRolledBack) {
				code = study.CodeRolledBack
			}
		case ledger.Rejected:
			code = study.CodeNotApproved
		}
	} else if code == study.CodeUnknownStudy {
		g.log(r.About().Study, askedBeyond)
	}
	return wire.Refuse(r, code)
}

// idles answers a request about a study that is not approved here, but for its end, without its
// session: a coordinator can ask without end, and must not have a long proposal's made each time.
func (g *strangers) idles(r wire.Message) (wire.Message, bool) {
	id := r.About().Study
	if state, _ := g.a.ledger.State(id); state == ledger.Approved {
		return nil, false
	}
	switch r.(type) {
	case wire.Ended:
		return nil, false
	case wire.Final, wire.Confirmed: // are not answered, and so not paced
		return g.answer(r, study.CodeUnknownStudy), true
	}
	at, _ := g.a.sessions.placed(id)
	if at == nil {
		return nil, false
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if state, _ := g.a.ledger.State(id); state == ledger.Approved { // meanwhile
		return nil, false
	}
	return at.unapproved(r), true
}

// withdrawn answers what a setup asks of a site that withdrew before, or whose approval expired:
// the last approval was on its way to the log then.
func (g *strangers) withdrawn(r wire.Message) (wire.Message, bool) {
	switch r.(type) {
	case wire.Announce, wire.Reveal, wire.Deal, wire.Confirm:
	default:
		return nil, false
	}
	e, ok := g.a.ledger.Study(r.About().Study)
	if !ok || !withdrew(e) {
		return nil, false
	}
	return g.a.Decisions.withdrawal(r.About().Study, study.Code(e.Code)), true
}

// attested answers who asks for the signature of a study that is over here: with the one on record,
// a coordinator that lost it makes the same result.
func (g *strangers) attested(r wire.Attest) (wire.Message, bool) {
	signature, err := g.a.ledger.Journal(r.Study).SignResult(sha256.Sum256(r.Draft), func() ([]byte, error) { return nil, ledger.ErrAbsent })
	if _, ok := errors.AsType[*ledger.ConflictError](err); ok {
		g.a.log.Error("THE COORDINATOR SHOWS A SECOND RESULT OF THE STUDY: this site has signed another; it is refused", "study", r.Study)
		return wire.Refuse(r, study.CodeSecondResult), true
	}
	return wire.Attestation{Header: r.Header, Signature: signature}, err == nil
}

const askedBeyond = "the coordinator continues a study whose approval is not on this ledger; it is refused"

// maxStrangers bounds the studies that the log tells about.
const maxStrangers = 100

// beyond returns the studies that the log told about and that the ledger does not have.
func (g *strangers) beyond() (out []proposal.Digest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.told {
		if _, known := g.a.ledger.Study(id); !known {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b proposal.Digest) int { return bytes.Compare(a[:], b[:]) })
	return out
}

// log logs, once a study, a sign that the ledger lost the study as a whole.
func (g *strangers) log(id proposal.Digest, sign string) {
	if g.a.ledger.Err() != nil {
		return // a failed ledger knows no study
	}
	g.mu.Lock()
	said := g.told[id] || len(g.told) >= maxStrangers
	if !said {
		g.told[id] = true
	}
	g.mu.Unlock()
	if said {
		return
	}
	g.a.log.Error(sign+". Is the ledger a restored backup, or a snapshot, from before the approval? Compare \"agent ledger show\" with your last "+
		"\"agent ledger export\". If the ledger is older, stop the agent, move its directory \"ledger\" away and run \"agent ledger recover --from EXPORT\"; "+
		"without an export that holds the study, lower the population's budget by what the study was worth", "study", id)
}
