package ledger

import (
	"bytes"
)

// signedRecord is the stored form of a signature, by its slot, and of shares that were sent, by
// their query.
type signedRecord struct {
	Query     int    `json:"query"`
	Slot      int    `json:"slot"`
	Context   []byte `json:"context"`
	Survivors []byte `json:"survivors"`
	Signature []byte `json:"signature,omitempty"`
}

func (s *signedRecord) signed() Signed {
	out := Signed{Query: s.Query, Slot: s.Slot, Survivors: s.Survivors, Signature: s.Signature}
	copy(out.Context[:], s.Context)
	return out
}

// same reports whether the record has this query, slot, context and survivors.
func (s *signedRecord) same(query, slot int, context *[32]byte, survivors []byte) bool {
	return s.about(query, slot, context) && bytes.Equal(s.Survivors, survivors)
}

func (s *signedRecord) about(query, slot int, context *[32]byte) bool {
	return s.Query == query && s.Slot == slot && bytes.Equal(s.Context, context[:])
}

// Sign returns the site's signature on a survivor set, at most one set per
// slot. The same set again returns the signature on record, unless a later slot was
// signed since (*RuleError); another query,
// context or set in the slot, or a set other than the one that shares went out
// for, is a *HeldError with what is held. A new signature needs a slot not
// earlier than the latest one signed, a query not earlier than any on record
// (*RuleError), and the context of the site's own upload in the slot if it has
// one (*ConflictError). From then on shares for earlier slots are refused.
func (j *Journal) Sign(query, slot int, context [32]byte, survivors []byte, compute func() ([]byte, error)) ([]byte, error) {
	find := func(r *record) ([]byte, error) {
		p, err := r.open(query, slot)
		if err != nil {
			return nil, err
		}
		var s signedRecord
		if ok, err := r.load(signedBucket, index(slot), &s); err != nil {
			return nil, err
		} else if ok {
			if !s.same(query, slot, &context, survivors) {
				return nil, &HeldError{s.signed()}
			}
			// A certificate of a slot that was left behind opens nothing: no shares
			// would follow it.
			if slot < p.Signed {
				return nil, r.rule(SlotOrder, &p, query, slot)
			}
			return s.Signature, nil
		}
		if s, ok, err := r.sent(query); err != nil {
			return nil, err
		} else if ok && !s.same(query, slot, &context, survivors) {
			return nil, &HeldError{s.signed()}
		}
		return nil, r.fresh(&p, query, slot, &context)
	}
	return j.onlyOnce("sign", query, slot, find, compute, func(r *record, sig []byte) error {
		return r.advance(query, slot, func(p *progress) error {
			return r.sign(p, &signedRecord{query, slot, context[:], survivors, sig})
		})
	})
}

// sign puts a signature on record. The caller stores the progress.
func (r *record) sign(p *progress, s *signedRecord) error {
	p.Signed = s.Slot
	return r.save(signedBucket, index(s.Slot), s)
}

// Signed returns what this site signed in a slot.
func (j *Journal) Signed(slot int) (Signed, bool) {
	s, ok, err := j.SignedIn(slot)
	return s, ok && err == nil
}

// SignedIn returns what this site signed in a slot; false if it signed nothing.
// It outlives the study.
func (j *Journal) SignedIn(slot int) (Signed, bool, error) {
	if err := checkIndex("slot", slot); err != nil {
		return Signed{}, false, err
	}
	var s signedRecord
	ok := false
	err := j.view(func(r *record) (err error) {
		ok, err = r.load(signedBucket, index(slot), &s)
		return err
	})
	if err != nil || !ok {
		return Signed{}, false, err
	}
	return s.signed(), true, nil
}
