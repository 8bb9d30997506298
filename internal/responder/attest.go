package responder

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"iter"

	"covey/internal/chain"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// attestation is this site's part in the study's result: what it checked of each release, and its
// signature on the whole.
type attestation struct {
	s       *Responder
	checked map[int]checkedRelease // by query, what was last checked of its release
}

// attest answers with this site's signature on the study's result, if it verifies as a whole: the
// draft is filled with the releases, certificates and confirmations that this site holds itself, so
// that a result of others gets no signature. One result of a study, ever.
func (t *attestation) attest(r wire.Attest) wire.Message {
	if ready, err := t.s.ring.Ready(); err != nil {
		return wire.Refuse(r, t.s.owner.Store(err))
	} else if !ready {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	h, err := t.s.follow()
	switch {
	case errors.Is(err, errForked):
		return wire.Refuse(r, study.CodeForked)
	case err != nil:
		return wire.Refuse(r, t.s.ring.Internal(err))
	case h.course.End != "" || h.course.Query < len(t.s.plan.Queries):
		no := wire.Refuse(r, study.CodeOutOfOrder)
		no.Lacks = 1 + h.releases // a coordinator tells the next one
		return no
	}
	if no, ok := t.s.chained(r); !ok {
		return no
	}
	// the result of a wide study takes as much memory as rows
	t.s.owner.Answered()
	t.s.results.latest = nil
	signature, err := t.s.journal.SignResult(sha256.Sum256(r.Draft), func() ([]byte, error) {
		confirmations, err := t.s.ring.Confirmations()
		if err != nil {
			return nil, err
		}
		e := result.Evidence{Proposer: r.Proposer, Approvals: result.Blobs(r.Approvals), Confirmations: result.Blobs(confirmations)}
		e.Certificates = make([]result.Blob, len(h.queries)) // of each release, once it is read
		bare, err := t.bare(&r, e)
		if err != nil {
			return nil, err
		}
		if bare.Transcript != t.s.ring.Setup.Transcript() {
			return nil, &result.VerifyError{What: "transcript", Query: -1, Reason: "belongs to another setup than the one that this site confirmed"}
		}
		last, ok := t.s.results.final(h.queries[len(h.queries)-1])
		if !ok {
			return nil, errStored
		}
		if !t.s.chain.Holds(bare.ChainHead, chain.Released(t.s.plan.Digest, last.Encoded)) {
			return nil, errOffChain
		}
		lost := false
		signature, err := bare.Attest(t.s.plan, t.s.ring.Setup.Config(), t.s.identity, t.signed(h.queries, e.Certificates, &lost), func(query int, of result.Checked) bool {
			return t.checked[query] == checkedOf(t.s.ring.Setup, of)
		})
		if lost {
			return nil, errStored
		}
		return signature, err
	})
	if err == nil {
		return wire.Attestation{Header: r.Header, Signature: signature}
	}
	return t.unattested(r, err)
}

// bare reads the draft that is asked about, and lets go of its text: nobody else holds that, and
// the check takes as much memory.
func (t *attestation) bare(r *wire.Attest, e result.Evidence) (*result.Result, error) {
	draft := result.Draft(r.Draft)
	r.Draft = nil
	return draft.Bare(t.s.body, e)
}

// errOffChain is a result that names another head than that of the study's last release in the
// chain that this site was shown.
var errOffChain = errors.New("the head of the chain in the result is not the one at the study's last release")

// signed returns the releases that this site followed, each as it is read, which puts its
// certificate among the others. It ends early, and sets lost, if one cannot be read.
func (t *attestation) signed(queries []int, certificates []result.Blob, lost *bool) iter.Seq[result.SignedRelease] {
	return func(yield func(result.SignedRelease) bool) {
		for i, query := range queries {
			held, ok := t.s.results.final(query)
			if !ok {
				*lost = true
				return
			}
			// copies: both lie in the bytes of the release, which are not kept
			certificates[i] = bytes.Clone(held.Certificate)
			if !yield(result.SignedRelease{Encoded: held.Encoded, Signature: bytes.Clone(held.Signature)}) {
				return
			}
		}
	}
}

// unattested refuses to sign a result.
func (t *attestation) unattested(r wire.Attest, err error) wire.Message {
	log := t.s.log.With("study", t.s.plan.Digest)
	if _, ok := errors.AsType[*ledger.ConflictError](err); ok {
		log.Error("THE COORDINATOR SHOWS A SECOND RESULT OF THE STUDY: this site has signed another; it is refused")
		return wire.Refuse(r, study.CodeSecondResult)
	}
	if bad, ok := errors.AsType[*result.VerifyError](err); ok {
		log.Error("the result does not verify; it is not signed", "error", bad)
		return wire.Refuse(r, study.CodeBadResult)
	}
	if errors.Is(err, errOffChain) {
		log.Error("the result is not signed", "why", err)
		return wire.Refuse(r, study.CodeBrokenChain)
	}
	if _, ok := errors.AsType[*ledger.StateError](err); ok {
		return wire.Refuse(r, study.CodeLeft)
	}
	if t.s.ledger.Err() != nil {
		return wire.Refuse(r, t.s.owner.Store(err))
	}
	return wire.Refuse(r, t.s.ring.Internal(err))
}

// certified checks the certificate of a release whose signature was checked: that the sites signed
// its survivors, as this site did before it sent shares. Both are remembered for the result, which
// holds them again. The error is about the release.
func (t *attestation) certified(setup *secagg.Setup, r wire.Final, release study.Release) error {
	q, u := t.s.plan.Summed(setup.Transcript(), release.Ask()), secagg.Survivors(release.Survivors)
	on := t.s.answers.open
	if on == nil || on.query.Slot != q.Slot || on.query.Context != q.Context || on.certified == "" ||
		on.certified != string(u.Bytes())+string(r.Certificate) {
		if err := setup.CheckReleased(q, u, r.Certificate); err != nil {
			return err
		}
	}
	if t.checked == nil {
		t.checked = map[int]checkedRelease{}
	}
	t.checked[release.Query] = checkedOf(setup, result.Checked{Release: proposal.DigestOf(r.Encoded), Signature: r.Signature, Certificate: r.Certificate})
	return nil
}

// checkedRelease is a release whose signature and certificate this process checked for a setup.
type checkedRelease struct {
	transcript                      [32]byte
	release, signature, certificate proposal.Digest // SHA-256
}

func checkedOf(setup *secagg.Setup, of result.Checked) checkedRelease {
	return checkedRelease{setup.Transcript(), of.Release, sha256.Sum256(of.Signature), sha256.Sum256(of.Certificate)}
}
