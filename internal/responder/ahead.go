package responder

import (
	"reflect"

	"covey/internal/study"
)

// adding is a sum over this site's rows, made on a goroutine of its own while the ledger is
// written. It is as private as the rows, lives in memory alone and is used once.
type adding struct {
	ask  study.Ask
	done chan struct{} // closed when what follows is set
	sum  []int64
	err  error
}

// add begins the sum of a query that the ledger would take an upload of now: no refusal waits for a
// sum, whose time depends on the rows a little and is charged to nobody. Called with the rows
// loaded. The caller must call abandonSum before it returns: until then the rows are the
// goroutine's.
func (q *answers) add(open *openQuery) {
	ask := open.ask
	if !q.s.journal.MayUpload(ask.Query, ask.Slot, open.query.Context, q.s.plan.Queries[ask.Query].Rho) {
		return
	}
	a := &adding{ask: ask, done: make(chan struct{})}
	q.adding = a
	q.s.work.Go(func() {
		defer close(a.done)
		a.sum, a.err = q.s.owner.Sum(ask)
	})
}

// abandonSum waits for a sum that nobody took.
func (q *answers) abandonSum() {
	if a := q.adding; a != nil {
		q.adding = nil
		<-a.done
		clear(a.sum)
	}
}

// added returns the sum that a query asks for.
func (q *answers) added(ask study.Ask) ([]int64, error) {
	a := q.adding
	q.adding = nil
	if a == nil {
		return q.s.owner.Sum(ask)
	}
	<-a.done
	if !reflect.DeepEqual(a.ask, ask) {
		return q.s.owner.Sum(ask)
	}
	return a.sum, a.err
}
