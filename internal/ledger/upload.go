package ledger

import (
	"bytes"
	"errors"
)

// uploadRecord is the stored form of an upload, by its slot.
type uploadRecord struct {
	Query   int    `json:"query"`
	Context []byte `json:"context"`
}

// uploadFits is nil unless this site uploaded in the slot for another query or context: a leader
// that says two things about one slot gets no further answer.
func (r *record) uploadFits(query, slot int, context *[32]byte) error {
	var u uploadRecord
	ok, err := r.load(uploadBucket, index(slot), &u)
	if err != nil || !ok || u.Query == query && bytes.Equal(u.Context, context[:]) {
		return err
	}
	return &ConflictError{Study: r.id, What: "upload", Query: u.Query, Slot: slot}
}

// Opening is what a site puts on record with an upload whose survivor set is known before: its
// signature on that set, if Sign is not nil, and its shares for it.
type Opening struct {
	Survivors    []byte
	Sign, Shares func() ([]byte, error)
}

// Upload returns the site's upload for a slot, computing it at most once: two
// different vectors under one mask reveal their difference. The query's charge
// is put on record with the first of its uploads, in one transaction: none of
// them leaves without it. The same query, slot and context return the bytes on
// record; another query or context is a *ConflictError. A new upload needs a slot
// with a secret, later than every slot on record, a query not earlier
// (*RuleError), and no shares sent for the query, whose opening then only has to
// be finished (*HeldError). Another charge of the query on record is a
// *ConflictError, charges beyond the approved ρ a *ChargeError, before anything
// is computed. An error of compute is returned and leaves no trace, nor charge.
//
// With an Opening, a new upload is recorded together with the signature and the shares, which Sign
// and OpenShares then return: two fsyncs less. The query is thereby bound to this slot and set, as
// by shares that were sent. Nothing is on record of a slot that is later than every slot on record,
// nor shares of the query, so what Sign and OpenShares would check holds.
func (j *Journal) Upload(query, slot int, context [32]byte, rho float64, compute func() ([]byte, error), with ...Opening) ([]byte, error) {
	if err := checkRho(rho); err != nil {
		return nil, err
	}
	find := func(r *record) ([]byte, error) { return r.uploaded(query, slot, &context, rho) }
	var signature, shares []byte
	whole := func() ([]byte, error) {
		value, err := compute()
		for _, o := range with {
			if err == nil && o.Sign != nil {
				signature, err = o.Sign()
			}
			if err == nil {
				shares, err = o.Shares()
			}
		}
		return value, err
	}
	return j.onlyOnce("upload", query, slot, find, whole, func(r *record, value []byte) error {
		return r.advance(query, slot, func(p *progress) error {
			return first(
				func() error { return r.charge(query, rho, true) },
				func() error { return r.save(uploadBucket, index(slot), uploadRecord{query, context[:]}) },
				func() error { return r.keepWith(spot{slotBucket, index(slot)}, uploadBytes, index(slot), value) },
				func() error {
					if signature == nil {
						return nil
					}
					r.mark(place{"sign", r.id, query, slot})
					return r.sign(p, &signedRecord{query, slot, context[:], with[0].Survivors, signature})
				},
				func() error {
					if len(with) == 0 {
						return nil
					}
					r.mark(place{"shares", r.id, query, slot})
					return r.share(query, slot, &context, with[0].Survivors, shares)
				},
			)
		})
	})
}

// uploaded returns the upload on record for a slot, errNothing if a new one may be made, and
// otherwise why not.
func (r *record) uploaded(query, slot int, context *[32]byte, rho float64) ([]byte, error) {
	p, err := r.open(query, slot)
	if err != nil {
		return nil, err
	}
	if r.get(uploadBucket, index(slot)) != nil {
		if err := r.uploadFits(query, slot, context); err != nil {
			return nil, err
		}
		return r.secret(uploadBytes, index(slot))
	}
	if s, ok, err := r.sent(query); err != nil {
		return nil, err
	} else if ok {
		return nil, &HeldError{s.signed()}
	}
	if err := r.refuse(&p, query, slot); err != nil {
		return nil, err
	}
	if slot <= p.Slot {
		return nil, r.rule(SlotOrder, &p, query, slot)
	}
	if err := r.charge(query, rho, false); err != nil {
		return nil, err
	}
	return nil, errNothing
}

// MayUpload reports whether Upload would compute something new for a slot, as things stand: a
// caller that computes ahead does so for nothing that is refused, whose time would tell of it.
func (j *Journal) MayUpload(query, slot int, context [32]byte, rho float64) bool {
	if errors.Join(checkPlace(query, slot), checkRho(rho)) != nil {
		return false
	}
	return j.view(func(r *record) error {
		_, err := r.uploaded(query, slot, &context, rho)
		return err
	}) == errNothing
}

// UploadedIn returns the query that this site uploaded for in a slot; false if
// it did not. The record outlives the upload's bytes, and the study.
func (j *Journal) UploadedIn(slot int) (query int, ok bool, err error) {
	if err := checkIndex("slot", slot); err != nil {
		return 0, false, err
	}
	var u uploadRecord
	err = j.view(func(r *record) (err error) {
		ok, err = r.load(uploadBucket, index(slot), &u)
		return err
	})
	return u.Query, ok && err == nil, err
}
