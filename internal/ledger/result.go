package ledger

import "bytes"

// resultRecord is what this site signed of a study's result.
type resultRecord struct {
	Draft     []byte `json:"draft"` // SHA-256
	Signature []byte `json:"signature"`
}

// SignResult returns the site's signature on the result of a draft with that SHA-256, computing it
// at most once: one result a study, ever. The same draft returns the signature on record, also
// after Finish; another is a *ConflictError. What is computed is fsynced before it is returned: a
// crash before that leaves no record and no reply. An error of compute is returned and leaves no
// trace.
func (j *Journal) SignResult(draft [32]byte, compute func() ([]byte, error)) ([]byte, error) {
	j.once.Lock()
	defer j.once.Unlock()
	on, ok, err := j.resultOn()
	switch {
	case err != nil:
		return nil, err
	case ok && bytes.Equal(on.Draft, draft[:]):
		return on.Signature, nil
	case ok:
		return nil, &ConflictError{Study: j.study, What: "result", Query: -1, Slot: -1}
	}
	signature, err := compute()
	if err != nil {
		return nil, err
	}
	err = j.write(place{"result", j.study, -1, -1}, func(r *record) error {
		return r.save(nil, resultKey, resultRecord{draft[:], signature})
	})
	if err != nil {
		return nil, err
	}
	return signature, nil
}

// ResultSigned reports whether this site signed a result of the study. It outlives the study.
func (j *Journal) ResultSigned() (bool, error) {
	_, ok, err := j.resultOn()
	return ok, err
}

func (j *Journal) resultOn() (on resultRecord, ok bool, err error) {
	err = j.view(func(r *record) (err error) {
		ok, err = r.load(nil, resultKey, &on)
		return err
	})
	return on, ok, err
}
