package ledger

// onlyOnce is the shape of Upload, Sign and OpenShares. find returns what is on record, errNothing
// if nothing is and the rules allow it, or the refusal; compute then makes the value, outside of
// any transaction, and put stores it. What put stored is fsynced before the value is returned: a
// crash before that leaves no record and no reply, a crash after it the same bytes for the next
// try.
func (j *Journal) onlyOnce(name string, query, slot int, find func(*record) ([]byte, error), compute func() ([]byte, error), put func(*record, []byte) error) ([]byte, error) {
	if err := checkPlace(query, slot); err != nil {
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

// first runs the steps up to the first error.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
