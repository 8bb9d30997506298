package agent

import (
	"slices"
	"sync"
	"time"

	"covey/internal/dataset"
	"covey/internal/holding"
	"covey/internal/proposal"
	"covey/internal/sitedata"
)

// figures keeps the last that people looked at, so that looking again reads no rows. They are of
// rows in the clear: they are in memory alone, and go to the operator's socket alone.
type figures struct {
	mu   sync.Mutex // held while rows are read, too: one reader at a time
	kept []keptFigures
}

// keptFigures are of one study and one data set, as it looked when it was read.
type keptFigures struct {
	study   proposal.Digest
	dataset string        // in all its words
	stamp   dataset.Stamp // of files
	at      time.Time     // of a query
	figures sitedata.Figures
}

// maxFigures bounds what is kept; the oldest goes first.
const maxFigures = 8

// Figures reads this site's rows as a study that is not over would, for its operator's eyes. It
// changes nothing, and nothing that leaves the site depends on it. Rows are read again where the
// data set looks changed, those of a query after a minute, and those of a long proposal always.
func (vs *Views) Figures(id proposal.Digest) (sitedata.Figures, error) {
	s, _ := vs.a.sessions.of(id)
	if s == nil {
		return sitedata.Figures{}, vs.a.endings.unknown(id)
	}
	_, d := s.terms()
	source := vs.a.config.Source(d)
	now := keptFigures{study: id, dataset: holding.Seen(d), at: vs.a.now()}
	fail := func(err error) (sitedata.Figures, error) {
		return sitedata.Figures{}, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	vs.figures.mu.Lock()
	defer vs.figures.mu.Unlock()
	if source.Query == nil {
		var err error
		if now.stamp, err = source.Stamp(); err != nil {
			return fail(err)
		}
	}
	for _, k := range vs.figures.kept {
		age := now.at.Sub(k.at)
		fresh := k.stamp.Same(now.stamp)
		if source.Query != nil {
			fresh = age >= 0 && age < holding.AskAgain
		}
		if k.study == id && k.dataset == now.dataset && fresh {
			return k.figures, nil
		}
	}
	defer vs.a.stock.Worked()
	f, err := sitedata.Look(source, d.Request(s.plan.Proposal.Spec))
	if err != nil {
		return fail(err)
	}
	f.Beside(s.plan.Proposal.Spec.Columns)
	f.Central = s.plan.Honest == 0
	approval, approved := vs.a.ledger.Approved(id)
	f.Changed = approved && d.Pin(f.SHA256) != approval.DataSHA256
	now.figures = f
	vs.figures.kept = slices.DeleteFunc(vs.figures.kept, func(k keptFigures) bool { return k.study == id })
	if !s.roomy() {
		return f, nil // they take as much
	}
	if len(vs.figures.kept) == maxFigures {
		vs.figures.kept = vs.figures.kept[1:]
	}
	vs.figures.kept = append(vs.figures.kept, now)
	return f, nil
}
