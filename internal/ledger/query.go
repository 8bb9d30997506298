package ledger

import (
	"bytes"
	"errors"

	"go.etcd.io/bbolt"
)

// progress is how far a study has come at this site; -1 stands for nothing
// yet. A query is entered by an upload, a signature, shares sent or a final
// result.
type progress struct {
	Query      int `json:"query"`       // largest query entered
	Base       int `json:"base"`        // largest slot entered before that query
	Slot       int `json:"slot"`        // largest slot entered
	Signed     int `json:"signed"`      // latest slot signed
	FinalQuery int `json:"final_query"` // latest final query
	FinalSlot  int `json:"final_slot"`  // largest slot of a final query: erased up to here
}

func (r *record) progress() (progress, error) {
	p, ok, err := remember(r, progressKey, func(d *decoded) *memo[progress] { return &d.progress })
	if !ok {
		p = progress{Query: -1, Base: -1, Slot: -1, Signed: -1, FinalQuery: -1, FinalSlot: -1}
	}
	return p, err
}

// enter moves the progress to a query and slot that the rules let through.
func (p *progress) enter(query, slot int) {
	if query > p.Query {
		p.Base, p.Query = p.Slot, query
	}
	p.Slot = max(p.Slot, slot)
}

// refuse is nil if nothing on record is later than the query, and no earlier
// query has used the slot or a later one.
func (r *record) refuse(p *progress, query, slot int) error {
	switch {
	case query < p.Query:
		return r.rule(QueryOrder, p, query, slot)
	case slot <= p.FinalSlot, query > p.Query && slot <= p.Slot, query == p.Query && slot <= p.Base:
		return r.rule(SlotOrder, p, query, slot)
	}
	return nil
}

func (r *record) rule(rule Rule, p *progress, query, slot int) error {
	return &RuleError{Study: r.id, Rule: rule, Query: query, Slot: slot, LatestQuery: p.Query, LatestSlot: p.Slot}
}

// The stored forms: uploadRecord of a slot, signedRecord of a slot (signed) or
// a query (shares sent), finalRecord of a query.
type uploadRecord struct {
	Query   int    `json:"query"`
	Context []byte `json:"context"`
}

type signedRecord struct {
	Query     int    `json:"query"`
	Slot      int    `json:"slot"`
	Context   []byte `json:"context"`
	Survivors []byte `json:"survivors"`
	Signature []byte `json:"signature,omitempty"`
}

// finalRecord is stored as its slot's key and the result: it is read more often than the others.
type finalRecord struct {
	slot   int
	result []byte // of the transaction
}

// final returns a query's final result; false if there is none.
func (r *record) final(query int) (f finalRecord, ok bool, err error) {
	v := r.get(finalBucket, index(query))
	if v == nil {
		return f, false, nil
	}
	slot, ok := number(v[:min(4, len(v))])
	if !ok {
		return f, false, errDamaged
	}
	return finalRecord{slot, v[4:]}, true, nil
}

func (s *signedRecord) signed() Signed {
	out := Signed{Query: s.Query, Slot: s.Slot, Survivors: s.Survivors, Signature: s.Signature}
	copy(out.Context[:], s.Context)
	return out
}

// same reports whether the record is of this query, slot, context and survivors.
func (s *signedRecord) same(query, slot int, context *[32]byte, survivors []byte) bool {
	return s.about(query, slot, context) && bytes.Equal(s.Survivors, survivors)
}

func (s *signedRecord) about(query, slot int, context *[32]byte) bool {
	return s.Query == query && s.Slot == slot && bytes.Equal(s.Context, context[:])
}

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

// uploadFits is nil unless this site uploaded in the slot for another query or
// context: a leader that says two things about one slot is answered no more.
func (r *record) uploadFits(query, slot int, context *[32]byte) error {
	var u uploadRecord
	ok, err := r.load(uploadBucket, index(slot), &u)
	if err != nil || !ok || u.Query == query && bytes.Equal(u.Context, context[:]) {
		return err
	}
	return &ConflictError{Study: r.id, What: "upload", Query: u.Query, Slot: slot}
}

// open checks what holds for every request: the study is active, the indices
// are possible, the query has no final result.
func (r *record) open(query, slot int) (progress, error) {
	if _, err := r.active(); err != nil {
		return progress{}, err
	}
	p, err := r.progress()
	if err != nil {
		return p, err
	}
	if r.get(finalBucket, index(query)) != nil {
		return p, r.rule(QueryFinal, &p, query, slot)
	}
	return p, nil
}

// onlyOnce is the shape of Upload, Sign and OpenShares. find returns what is on record, errNothing
// if nothing is and the rules allow it, or the refusal; compute then makes the value, outside of
// any transaction, and put stores it. What put stored is fsynced before the value is returned: a
// crash before that leaves no record and no reply, a crash after it the same bytes for the next
// try.
func (j *Journal) onlyOnce(name string, query, slot int, find func(*record) ([]byte, error), compute func() ([]byte, error), put func(*record, []byte) error) ([]byte, error) {
	if err := errors.Join(checkIndex("query", query), checkIndex("slot", slot)); err != nil {
		return nil, err
	}
	j.once.Lock()
	defer j.once.Unlock()
	var on []byte
	err := j.view(func(r *record) (err error) {
		on, err = find(r)
		return err
	})
	if err != errNothing {
		return on, err
	}
	value, err := compute()
	if err != nil {
		return nil, err
	}
	// What find saw still holds: of all that could change it, the once lock
	// shuts out the other requests, and write sees whether the study ended.
	if err := j.write(place{name, j.study, query, slot}, func(r *record) error { return put(r, value) }); err != nil {
		return nil, err
	}
	return value, nil
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
		p, err := r.progress()
		if err != nil {
			return err
		}
		p.enter(query, slot)
		return first(
			func() error { return r.charge(query, rho, true) },
			func() error { return r.save(uploadBucket, index(slot), uploadRecord{query, context[:]}) },
			func() error { return r.keepWith(slot, uploadBytes, index(slot), value) },
			func() error {
				if signature == nil {
					return nil
				}
				r.mark(place{"sign", r.id, query, slot})
				return r.sign(&p, &signedRecord{query, slot, context[:], with[0].Survivors, signature})
			},
			func() error {
				if len(with) == 0 {
					return nil
				}
				r.mark(place{"shares", r.id, query, slot})
				return r.share(query, slot, &context, with[0].Survivors, shares)
			},
			func() error { return r.save(nil, progressKey, p) },
		)
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
	if errors.Join(checkIndex("query", query), checkIndex("slot", slot), checkRho(rho)) != nil {
		return false
	}
	return j.view(func(r *record) error {
		_, err := r.uploaded(query, slot, &context, rho)
		return err
	}) == errNothing
}

// sign puts a signature on record. The caller stores the progress.
func (r *record) sign(p *progress, s *signedRecord) error {
	p.Signed = s.Slot
	return r.save(signedBucket, index(s.Slot), s)
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
		if err := r.uploadFits(query, slot, &context); err != nil {
			return nil, err
		}
		if err := r.refuse(&p, query, slot); err != nil {
			return nil, err
		}
		if slot < p.Signed {
			return nil, r.rule(SlotOrder, &p, query, slot)
		}
		return nil, errNothing
	}
	return j.onlyOnce("sign", query, slot, find, compute, func(r *record, sig []byte) error {
		p, err := r.progress()
		if err != nil {
			return err
		}
		p.enter(query, slot)
		return first(
			func() error { return r.sign(&p, &signedRecord{query, slot, context[:], survivors, sig}) },
			func() error { return r.save(nil, progressKey, p) },
		)
	})
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
		if err := r.uploadFits(query, slot, &context); err != nil {
			return nil, err
		}
		if err := r.refuse(&p, query, slot); err != nil {
			return nil, err
		}
		if slot < p.Signed {
			return nil, r.rule(SlotOrder, &p, query, slot)
		}
		return nil, errNothing
	}
	return j.onlyOnce("shares", query, slot, find, compute, func(r *record, shares []byte) error {
		p, err := r.progress()
		if err != nil {
			return err
		}
		p.enter(query, slot)
		return first(
			func() error { return r.share(query, slot, &context, survivors, shares) },
			func() error { return r.save(nil, progressKey, p) },
		)
	})
}

// share puts shares on record, sealed with their slot's secret. The caller stores the progress.
func (r *record) share(query, slot int, context *[32]byte, survivors, shares []byte) error {
	return first(
		func() error {
			return r.save(shareBucket, index(query), signedRecord{query, slot, context[:], survivors, nil})
		},
		func() error { return r.keepWith(slot, shareBytes, index(query), shares) },
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
	if err := errors.Join(checkIndex("query", query), checkIndex("slot", slot)); err != nil {
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

// Final records a query's final, signed result, which the caller has checked,
// and then erases every slot up to the given one: its secret, its upload, the
// shares sent. The same slot and result again are fine, others a
// *ConflictError. Results may come in any order: a site that was away learns
// old ones later.
func (j *Journal) Final(query, slot int, result []byte) error {
	return j.final(query, slot, result, true)
}

// FinalThenErase is Final without the erasure, for a caller that calls Erase next, while something
// else goes on: it is one of Final's two fsyncs.
func (j *Journal) FinalThenErase(query, slot int, result []byte) error {
	return j.final(query, slot, result, false)
}

func (j *Journal) final(query, slot int, result []byte, now bool) error {
	if err := errors.Join(checkIndex("query", query), checkIndex("slot", slot)); err != nil {
		return err
	}
	j.once.Lock()
	defer j.once.Unlock()
	err := j.l.update(place{"final", j.study, query, slot}, func(tx *bbolt.Tx) error {
		r := j.l.record(tx, j.study)
		if f, ok, err := r.final(query); err != nil {
			return err
		} else if ok {
			if f.slot != slot || !bytes.Equal(f.result, result) {
				return &ConflictError{Study: j.study, What: "final result", Query: query, Slot: f.slot}
			}
			return nil
		}
		if _, err := r.active(); err != nil {
			return err
		}
		p, err := r.progress()
		if err != nil {
			return err
		}
		p.enter(query, slot)
		p.FinalQuery, p.FinalSlot = max(p.FinalQuery, query), max(p.FinalSlot, slot)
		return first(
			func() error { return r.put(finalBucket, index(query), append(index(slot), result...)) },
			func() error { return r.save(nil, progressKey, p) },
		)
	})
	if err != nil || !now {
		return err
	}
	return j.Erase()
}

// Erase carries out what is due: the erasure of slots whose query is final. The result is on
// disk before the secrets go: a crash between leaves both, and Open, or the next Erase, erases.
func (j *Journal) Erase() error { return j.l.finishErasures(j.study) }

// FinalResult returns a query's final result; also after Finish.
func (j *Journal) FinalResult(query int) ([]byte, bool) {
	var result []byte
	ok := false
	err := j.view(func(r *record) (err error) {
		var f finalRecord
		f, ok, err = r.final(query)
		result = bytes.Clone(f.result)
		return err
	})
	return result, ok && err == nil
}

// LatestFinal returns the largest query with a final result.
func (j *Journal) LatestFinal() (query int, ok bool) {
	p, err := j.progress()
	return max(p.FinalQuery, 0), err == nil && p.FinalQuery >= 0
}

// Signed returns what this site signed in a slot.
func (j *Journal) Signed(slot int) (Signed, bool) {
	s, ok, err := j.SignedIn(slot)
	return s, ok && err == nil
}

func (j *Journal) progress() (p progress, err error) {
	err = j.view(func(r *record) error {
		p, err = r.progress()
		return err
	})
	return p, err
}

// first runs the steps up to the first error.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
