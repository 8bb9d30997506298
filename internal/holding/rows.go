// Package holding gives a site's studies the rows of its data sets, in memory or in mapped cache
// files. It remembers what each data set was when it was read: how many units it has, and whether
// it is still what studies pinned.
package holding

import (
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	exact "covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/dataset"
	"covey/internal/proposal"
	"covey/internal/rowcache"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// Options of a study's rows; all are required.
type Options struct {
	Study  proposal.Digest
	Self   int // roster index
	Source func(siteconfig.Dataset) dataset.Source
	Cache  *rowcache.Cache
	Stock  *Stock
	Log    *slog.Logger
	// Approved returns the pin of the rows that an approval of the study recorded.
	Approved func() (pin [32]byte, ok bool)
}

// Rows are a study's rows at its site. They are for one goroutine at a time. They keep no plan,
// which may be large: the caller has it.
type Rows struct {
	o       Options
	dataset siteconfig.Dataset
	rows    *exact.Rows // nil: not loaded
	// unattended is set where the policy approves, or did, and nobody looked at the rows: what
	// leaves the site is then the same whatever values they hold, and a row with a value at fault
	// is left out.
	unattended bool
	stored     *rowcache.Stored // what rows lie in; nil if they are in memory
	sha        [32]byte         // of the file that rows, or the last look at it, came from
}

// New returns the rows of a study, which are not loaded.
func New(o Options) *Rows { return &Rows{o: o} }

// Pin returns the hash that names the bytes that were loaded last, and how they were read.
func (r *Rows) Pin() [32]byte { return r.sha }

// Loaded reports whether the rows are in reach.
func (r *Rows) Loaded() bool { return r.rows != nil }

// ErrChanged is a data set whose rows are not those that were approved.
var ErrChanged = errors.New("holding: the rows are not those that were approved")

// Load brings the study's rows of a data set into reach, once: in memory, or in a cache file that
// is mapped. unattended is set where nobody at the site looks before something leaves. The error is
// a *dataset.Error, a *clip.ValueError or a *sitedata.UnitsError; none carries a value.
func (r *Rows) Load(plan *study.Plan, d siteconfig.Dataset, unattended bool) error {
	if r.rows != nil && r.unattended != unattended {
		r.Release() // what was read the other way
	}
	if r.rows != nil {
		if r.stored == nil {
			return nil
		}
		err := r.stored.Check()
		if err == nil {
			return nil
		}
		r.o.Log.Warn("a cache file is made again", "study", r.o.Study, "error", err)
		r.Release()
	}
	r.dataset, r.unattended = d, unattended
	at, q := r.o.Source(d), r.request(plan)
	begun := time.Now()
	r.o.Log.Info("reading a data set", "study", r.o.Study, "dataset", r.dataset.Name)
	stamp, unstamped := at.Stamp() // before it is read
	defer r.o.Stock.Worked()
	rows, stored, sha, err := r.read(at, q)
	if err != nil {
		return err
	}
	if want := plan.Proposal.Roster[r.o.Self].Units; rows.N() != want {
		if stored != nil {
			err = stored.Close()
		}
		return errors.Join(&sitedata.UnitsError{Has: rows.N(), Roster: want}, err)
	}
	r.rows, r.stored, r.sha = exact.New(rows), stored, r.dataset.Pin(sha)
	if unstamped == nil || at.Query != nil {
		r.o.Stock.looked(r.dataset, look{stamp, r.sha, begun})
	}
	r.o.Log.Info("a data set is read", "study", r.o.Study, "dataset", r.dataset.Name, "mapped", stored != nil, "seconds", math.Round(time.Since(begun).Seconds()*10)/10)
	return nil
}

// read reads the rows into memory, or into a cache file that this may make first.
func (r *Rows) read(at dataset.Source, q dataset.Request) (*clip.Matrix, *rowcache.Stored, [32]byte, error) {
	if most := r.dataset.InMemory(); most > 0 {
		read, err := dataset.Read(at, q, dataset.ReadOptions{Most: most})
		switch {
		case err == nil:
			r.leftOut(read.Dropped)
			rows, err := sitedata.Matrix(read)
			return rows, nil, read.SHA256, err
		case !errors.Is(err, dataset.ErrMost):
			return nil, nil, [32]byte{}, err
		}
	}
	rows, stored, err := r.cached(at, q)
	if _, damaged := errors.AsType[*damagedError](err); damaged {
		r.o.Log.Warn("a cache file is made again", "study", r.o.Study, "error", err)
		rows, stored, err = r.cached(at, q)
	}
	if err != nil {
		return nil, nil, [32]byte{}, err
	}
	return rows, stored, stored.SHA256, nil
}

// leftOut warns this site's operator of rows that nobody looked at and that are in no sum. How many
// is not for a log, which others may collect.
func (r *Rows) leftOut(rows int) {
	if rows > 0 && r.unattended {
		r.o.Log.Error("rows are left out of a study that the policy approved: a value is missing or at fault; \"agent study show\" says how many",
			"study", r.o.Study, "dataset", r.dataset.Name)
	}
}

// damagedError is a cache file that was found damaged, and removed.
type damagedError struct{ error }

func (e *damagedError) Unwrap() error { return e.error }

// cached returns rows that lie in a cache file. Its checksums are compared while the norms are
// computed, so that a file larger than memory is read from disk once for both.
func (r *Rows) cached(at dataset.Source, q dataset.Request) (rows *clip.Matrix, _ *rowcache.Stored, err error) {
	stored := r.approved(at, q)
	if stored == nil {
		if stored, err = r.o.Cache.Load(at, q, r.owner(), dataset.ReadOptions{}); err != nil {
			return nil, nil, err
		}
		r.o.Stock.converted()
	}
	var damage error
	var work sync.WaitGroup
	work.Go(func() { damage = stored.Verify() })
	err = stored.Guard(func() error {
		rows, err = sitedata.Matrix(&stored.Rows)
		return err
	})
	work.Wait()
	if damage != nil {
		return nil, nil, &damagedError{errors.Join(damage, r.o.Cache.Discard(stored))}
	}
	if err != nil {
		return nil, nil, errors.Join(err, stored.Close())
	}
	r.leftOut(stored.Dropped)
	stored.Unit, stored.Absent, stored.Gaps = nil, nil, nil // the matrix has its own
	return rows, stored, nil
}

// approved returns the cached rows of a query whose study was approved, nil if there are no such
// rows: the database may hold others by now.
func (r *Rows) approved(at dataset.Source, q dataset.Request) *rowcache.Stored {
	sha, ok := r.o.Approved()
	if at.Query == nil || !ok {
		return nil
	}
	return r.o.Cache.Find(at, q, r.owner(), func(pin [32]byte) bool { return r.dataset.Pin(pin) == sha })
}

// Answer is the exact sum over this site's rows. A page of a cache file that cannot be read
// on this goroutine is read again from the data set, once. [ErrChanged] is for rows that are not
// those any more. Called with the rows loaded.
func (r *Rows) Answer(plan *study.Plan, ask study.Ask) (sum []int64, err error) {
	if r.stored == nil {
		defer r.o.Stock.Worked()
		return r.rows.Answer(plan, r.o.Self, ask, r.dataset.Workers)
	}
	for range 2 {
		done := r.o.Stock.reading(r.stored)
		err = r.stored.Guard(func() error {
			sum, err = r.rows.Answer(plan, r.o.Self, ask, r.dataset.Workers)
			return err
		})
		done()
		if _, fault := errors.AsType[*dataset.Error](err); !fault {
			return sum, err
		}
		r.o.Log.Warn("a cache file is made again", "study", r.o.Study, "error", err)
		pin := r.sha
		r.Release()
		if err := r.Load(plan, r.dataset, r.unattended); err != nil {
			return nil, err
		}
		if r.sha != pin {
			r.Release()
			return nil, ErrChanged
		}
	}
	return nil, err
}

// Release lets go of the rows; a cache file stays.
func (r *Rows) Release() {
	if r.rows == nil {
		return
	}
	r.rows = nil
	if r.stored == nil {
		r.o.Stock.Worked()
		return
	}
	r.o.Stock.closing(r.stored)
	if err := r.stored.Close(); err != nil {
		r.o.Log.Error("a cache file cannot be closed", "study", r.o.Study, "error", err)
	}
	r.stored = nil
}

// request returns what the study asks of its data set, as package dataset reads it. If nobody at
// the site looks before something leaves, no value MUST decide what leaves: a proposer who sees
// which columns a site cannot use because of a value would learn about its rows without a charge.
func (r *Rows) request(plan *study.Plan) dataset.Request {
	q := r.dataset.Request(plan.Proposal.Spec)
	if r.unattended {
		q.Strict = false
	}
	if r.unattended && q.Missing == dataset.MissingError {
		q.Missing = dataset.MissingDropFaulty
	}
	return q
}

// owner names whom a cache file is kept for: the study, or the data set.
func (r *Rows) owner() string {
	if r.dataset.Cache == siteconfig.CacheKeep {
		return r.dataset.Keeper()
	}
	return Owner(r.o.Study)
}

// Owner names a study as the owner of a cache file.
func Owner(id proposal.Digest) string { return "study-" + id.String() }
