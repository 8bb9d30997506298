package agent

import (
	"errors"
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

// load brings the study's rows into reach, once: in memory, or in a cache file that is
// mapped. The error is a *dataset.Error, a *clip.ValueError or a *unitsError; none carries
// a value. Called with mu held.
func (s *session) load() error {
	if s.rows != nil {
		if s.stored == nil {
			return nil
		}
		err := s.stored.Check()
		if err == nil {
			return nil
		}
		s.agent.log.Warn("a cache file is made again", "study", s.plan.Digest, "error", err)
		s.release()
	}
	at, q := s.agent.config.Source(s.dataset), s.request()
	begun := time.Now()
	s.agent.log.Info("reading a data set", "study", s.plan.Digest, "dataset", s.dataset.Name)
	stamp, unstamped := at.Stamp() // before it is read
	rows, stored, sha, err := s.read(at, q)
	if err != nil {
		return err
	}
	if want := s.plan.Proposal.Roster[s.self].Units; rows.N() != want {
		if stored != nil {
			err = stored.Close()
		}
		return errors.Join(&sitedata.UnitsError{Has: rows.N(), Roster: want}, err)
	}
	s.rows, s.stored, s.sha = exact.New(rows), stored, s.dataset.Pin(sha)
	if unstamped == nil || at.Query != nil {
		s.agent.looked(s.dataset, look{stamp, s.sha, begun})
	}
	s.agent.log.Info("a data set is read", "study", s.plan.Digest, "dataset", s.dataset.Name, "mapped", stored != nil, "seconds", math.Round(time.Since(begun).Seconds()*10)/10)
	return nil
}

// read reads the rows into memory, or into a cache file that this may make first.
func (s *session) read(at dataset.Source, q dataset.Request) (*clip.Matrix, *rowcache.Stored, [32]byte, error) {
	if s.dataset.Uncached(at) {
		read, err := dataset.Read(at, q, dataset.ReadOptions{})
		if err != nil {
			return nil, nil, [32]byte{}, err
		}
		s.leftOut(read.Dropped)
		rows, err := sitedata.Matrix(read)
		return rows, nil, read.SHA256, err
	}
	rows, stored, err := s.cached(at, q)
	if _, damaged := errors.AsType[*damagedError](err); damaged {
		s.agent.log.Warn("a cache file is made again", "study", s.plan.Digest, "error", err)
		rows, stored, err = s.cached(at, q)
	}
	if err != nil {
		return nil, nil, [32]byte{}, err
	}
	return rows, stored, stored.SHA256, nil
}

// leftOut warns this site's operator of rows that nobody looked at and that are in no sum. How many
// is not for a log, which others may collect.
func (s *session) leftOut(rows int) {
	if rows > 0 && s.unattended {
		s.agent.log.Error("rows are left out of a study that the policy approved: a value is missing or at fault; \"agent study show\" says how many",
			"study", s.plan.Digest, "dataset", s.dataset.Name)
	}
}

// damagedError is a cache file that was found damaged, and removed.
type damagedError struct{ error }

func (e *damagedError) Unwrap() error { return e.error }

// cached returns rows that lie in a cache file. Its checksums are compared while the norms are
// computed, so that a file larger than memory is read from disk once for both.
func (s *session) cached(at dataset.Source, q dataset.Request) (rows *clip.Matrix, _ *rowcache.Stored, err error) {
	stored := s.approved(at, q)
	if stored == nil {
		if stored, err = s.agent.cache.Load(at, q, s.owner(), dataset.ReadOptions{}); err != nil {
			return nil, nil, err
		}
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
		return nil, nil, &damagedError{errors.Join(damage, s.agent.cache.Discard(stored))}
	}
	if err != nil {
		return nil, nil, errors.Join(err, stored.Close())
	}
	s.leftOut(stored.Dropped)
	stored.Unit, stored.Absent, stored.Gaps = nil, nil, nil // the matrix has its own
	return rows, stored, nil
}

// approved finds the rows of a query whose study was approved: the database may hold others by
// now. nil if there are none.
func (s *session) approved(at dataset.Source, q dataset.Request) *rowcache.Stored {
	approval, ok := s.agent.ledger.Approved(s.plan.Digest)
	if at.Query == nil || !ok {
		return nil
	}
	return s.agent.cache.Find(at, q, s.owner(), func(pin [32]byte) bool { return s.dataset.Pin(pin) == approval.DataSHA256 })
}

// answer is the exact sum over this site's rows. A page of a cache file that cannot be read
// on this goroutine is read again from the data set, once. Called with mu held and the rows
// loaded.
func (s *session) answer(ask study.Ask) (sum []int64, err error) {
	if s.stored == nil {
		return s.rows.Answer(s.plan, s.self, ask, s.dataset.Workers)
	}
	for range 2 {
		err = s.stored.Guard(func() error {
			sum, err = s.rows.Answer(s.plan, s.self, ask, s.dataset.Workers)
			return err
		})
		if _, fault := errors.AsType[*dataset.Error](err); !fault {
			return sum, err
		}
		s.agent.log.Warn("a cache file is made again", "study", s.plan.Digest, "error", err)
		pin := s.sha
		s.release()
		if err := s.load(); err != nil {
			return nil, err
		}
		if s.sha != pin {
			s.release()
			return nil, errData
		}
	}
	return nil, err
}

// release lets go of the rows; a cache file stays. Called with mu held.
func (s *session) release() {
	s.rows = nil
	if s.stored == nil {
		return
	}
	if err := s.stored.Close(); err != nil {
		s.agent.log.Error("a cache file cannot be closed", "study", s.plan.Digest, "error", err)
	}
	s.stored = nil
}

// request is what the study wants of its data set, as dataset reads it. Where nobody at the site
// looks before something leaves, no value MUST decide what: a proposer who sees which columns a
// site cannot use for a value would learn of its rows without a charge.
func (s *session) request() dataset.Request {
	q := s.dataset.Request(s.plan.Proposal.Spec)
	if s.unattended {
		q.Strict = false
	}
	if s.unattended && q.Missing == dataset.MissingError {
		q.Missing = dataset.MissingDropFaulty
	}
	return q
}

// owner names whom a cache file is kept for: the study, or the data set.
func (s *session) owner() string {
	if s.dataset.Cache == siteconfig.CacheKeep {
		return s.dataset.Keeper()
	}
	return studyOwner(s.plan.Digest)
}

func studyOwner(id proposal.Digest) string { return "study-" + id.String() }

// openCache opens the cache and removes the rows of studies that are over and of data
// sets that are not kept any more.
func (a *Agent) openCache() error {
	var err error
	if a.cache, err = rowcache.Open(a.config.CacheDir()); err != nil {
		return err
	}
	known, err := a.pending.List()
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, id := range known {
		keep[studyOwner(id)] = true
	}
	for _, e := range a.ledger.Studies() {
		if _, approved := a.ledger.Approved(e.Study); approved {
			keep[studyOwner(e.Study)] = true
		}
	}
	for _, d := range a.config.Datasets {
		if d.Cache == siteconfig.CacheKeep {
			keep[d.Keeper()] = true
		}
	}
	return a.cache.Retain(func(owner string) bool { return keep[owner] })
}

// closeCache lets go of all rows.
func (a *Agent) closeCache() error {
	if a.cache == nil {
		return nil
	}
	a.mu.Lock()
	sessions := make([]*session, 0, len(a.sessions))
	for _, s := range a.sessions {
		sessions = append(sessions, s)
	}
	a.mu.Unlock()
	for _, s := range sessions {
		s.mu.Lock()
		s.release()
		s.mu.Unlock()
	}
	return a.cache.Close()
}

// forget drops a study's session, and with it the rows and secrets in memory and the
// study's own cache file. Called with the session's mu held, if there is one.
func (a *Agent) forget(id proposal.Digest) {
	a.mu.Lock()
	s := a.sessions[id]
	delete(a.sessions, id)
	delete(a.sizes, id)
	a.mu.Unlock()
	if s != nil {
		s.release()
	}
	if err := a.cache.Drop(studyOwner(id)); err != nil {
		a.log.Error("the cache file of a study that is over cannot be removed", "study", id, "error", err)
	}
}
