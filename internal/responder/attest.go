package responder

import (
	"bytes"
	"crypto/sha256"
	"errors"

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
	signature, err := t.s.journal.SignResult(sha256.Sum256(r.Draft), func() ([]byte, error) {
		whole, err := t.whole(r, h.queries)
		if err != nil {
			return nil, err
		}
		last, err := whole.Releases[len(whole.Releases)-1].Encode()
		if err != nil {
			return nil, err
		}
		if !t.s.chain.Holds(whole.ChainHead, chain.Released(t.s.plan.Digest, last)) {
			return nil, errOffChain
		}
		return whole.Attest(t.s.plan, t.s.ring.Setup.Config(), t.s.identity, func(query int, of result.Checked) bool {
			return t.checked[query] == checkedOf(t.s.ring.Setup, of)
		})
	})
	if err == nil {
		return wire.Attestation{Header: r.Header, Signature: signature}
	}
	return t.unattested(r, err)
}

// errOffChain is a result that names another head than that of the study's last release in the
// chain that this site was shown.
var errOffChain = errors.New("the head of the chain in the result is not the one at the study's last release")

// whole returns the result of a draft with what this site holds: of the setup that it confirmed, of
// the releases that it followed.
func (t *attestation) whole(r wire.Attest, queries []int) (*result.Result, error) {
	confirmations, err := t.s.ring.Confirmations()
	if err != nil {
		return nil, err
	}
	e := result.Evidence{Proposer: r.Proposer, Approvals: result.Blobs(r.Approvals), Confirmations: result.Blobs(confirmations)}
	e.Certificates = make([]result.Blob, len(queries)) // of each release, once it is read
	lost := false
	whole, err := result.Draft(r.Draft).Whole(t.s.body, func(yield func(result.SignedRelease) bool) {
		for i, query := range queries {
			held, ok := t.s.results.final(query)
			if lost = !ok; lost {
				return
			}
			// copies: both lie in the bytes of the release, which are not kept
			e.Certificates[i] = bytes.Clone(held.Certificate)
			if !yield(result.SignedRelease{Encoded: held.Encoded, Signature: bytes.Clone(held.Signature)}) {
				return
			}
		}
	}, e)
	if lost {
		return nil, errStored
	}
	if err == nil && whole.Transcript != t.s.ring.Setup.Transcript() {
		err = &result.VerifyError{What: "transcript", Query: -1, Reason: "belongs to another setup than the one that this site confirmed"}
	}
	return whole, err
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
