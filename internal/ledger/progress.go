package ledger

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

// advance has put record something of a query and slot that the rules let through, and moves the
// progress there.
func (r *record) advance(query, slot int, put func(*progress) error) error {
	p, err := r.progress()
	if err != nil {
		return err
	}
	p.enter(query, slot)
	return first(
		func() error { return put(&p) },
		func() error { return r.save(nil, progressKey, p) },
	)
}

// enter moves the progress to a query and slot.
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

// fresh returns errNothing if a first signature, or first shares, in a slot may be put on record,
// and otherwise why not.
func (r *record) fresh(p *progress, query, slot int, context *[32]byte) error {
	if err := r.uploadFits(query, slot, context); err != nil {
		return err
	}
	if err := r.refuse(p, query, slot); err != nil {
		return err
	}
	if slot < p.Signed {
		return r.rule(SlotOrder, p, query, slot)
	}
	return errNothing
}

func (r *record) rule(rule Rule, p *progress, query, slot int) error {
	return &RuleError{Study: r.id, Rule: rule, Query: query, Slot: slot, LatestQuery: p.Query, LatestSlot: p.Slot}
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
	_, final, err := r.final(query)
	if final {
		err = r.rule(QueryFinal, &p, query, slot)
	}
	return p, err
}

func (j *Journal) progress() (p progress, err error) {
	err = j.view(func(r *record) error {
		p, err = r.progress()
		return err
	})
	return p, err
}
