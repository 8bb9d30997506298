package ledger

import (
	"bytes"
)

// sent returns the record of shares sent for a query, with this site's own
// signature on that survivor set if it has one.
func (r *record) sent(query int) (s signedRecord, ok bool, err error) {
	if ok, err = r.load(shareBucket, index(query), &s); !ok {
		return s, false, err
	}
	var own signedRecord
	if found, err := r.load(signedBucket, index(s.Slot), &own); err != nil {
		return s, false, err
	} else if found && own.Query == s.Query && bytes.Equal(own.Context, s.Context) && bytes.Equal(own.Survivors, s.Survivors) {
		s.Signature = own.Signature
	}
	return s, true, nil
}

// OpenShares returns the shares this site sends to open a survivor set, for at
// most one slot and set per query, ever. The same slot, context and set again
// return the bytes on record; any other is a *HeldError. New shares, and old
// ones too, are refused for a slot earlier than the latest one signed; new
// ones need a query not earlier than any on record, and the context that the
// site signed or uploaded in the slot if it did (*HeldError, *ConflictError).
// The caller has checked the release certificate: it alone decides between two
// sets of one slot, so a site that signed a set that did not win may help to
// open the one that did.
func (j *Journal) OpenShares(query, slot int, context [32]byte, survivors []byte, compute func() ([]byte, error)) ([]byte, error) {
	find := func(r *record) ([]byte, error) {
		p, err := r.open(query, slot)
		if err != nil {
			return nil, err
		}
		if shares, ok, err := r.again(&p, query, slot, &context, survivors); ok || err != nil {
			return shares, err
		}
		var s signedRecord
		if ok, err := r.load(signedBucket, index(slot), &s); err != nil {
			return nil, err
		} else if ok && !s.about(query, slot, &context) {
			return nil, &HeldError{s.signed()}
		}
		return nil, r.fresh(&p, query, slot, &context)
	}
	return j.onlyOnce("shares", query, slot, find, compute, func(r *record, shares []byte) error {
		return r.advance(query, slot, func(*progress) error { return r.share(query, slot, &context, survivors, shares) })
	})
}

// share puts shares on record, sealed with their slot's secret. The caller stores the progress.
func (r *record) share(query, slot int, context *[32]byte, survivors, shares []byte) error {
	return first(
		func() error {
			return r.save(shareBucket, index(query), signedRecord{query, slot, context[:], survivors, nil})
		},
		func() error { return r.keepWith(spot{slotBucket, index(slot)}, shareBytes, index(query), shares) },
	)
}

// again returns the shares on record for a query, if they may be sent again; false if there are
// none.
func (r *record) again(p *progress, query, slot int, context *[32]byte, survivors []byte) ([]byte, bool, error) {
	s, ok, err := r.sent(query)
	switch {
	case err != nil || !ok:
		return nil, false, err
	case !s.same(query, slot, context, survivors):
		return nil, true, &HeldError{s.signed()}
	case slot < p.Signed:
		return nil, true, r.rule(SlotOrder, p, query, slot)
	}
	shares, err := r.secret(shareBytes, index(query))
	return shares, true, err
}

// Shared is nil if shares for exactly this query, slot, context and survivor set are on record and
// OpenShares would return them again. What may be answered then about that opening is a function
// of the slot's secret and of these, and makes no record of its own. Without shares on record the
// error is a *RuleError of NoShares, else what OpenShares returns.
func (j *Journal) Shared(query, slot int, context [32]byte, survivors []byte) error {
	if err := checkPlace(query, slot); err != nil {
		return err
	}
	return j.view(func(r *record) error {
		p, err := r.open(query, slot)
		if err != nil {
			return err
		}
		shares, ok, err := r.again(&p, query, slot, &context, survivors)
		clear(shares)
		if err == nil && !ok {
			return r.rule(NoShares, &p, query, slot)
		}
		return err
	})
}

// SharedIn reports whether this site sent shares for a query in a slot, and for which set. It
// outlives the shares' bytes.
func (j *Journal) SharedIn(query, slot int) (Signed, bool, error) {
	if err := checkPlace(query, slot); err != nil {
		return Signed{}, false, err
	}
	var s signedRecord
	ok := false
	err := j.view(func(r *record) (err error) {
		s, ok, err = r.sent(query)
		return err
	})
	if err != nil || !ok || s.Slot != slot {
		return Signed{}, false, err
	}
	return s.signed(), true, nil
}
