package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	exact "covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/dataset"
	"covey/internal/study"
)

// Words for what becomes of a data set's rows in the cache (Dataset.Cache).
const (
	cacheStudy  = "study"  // a file as long as the study is pending or approved
	cacheKeep   = "keep"   // a file until the data set changes or the word does
	cacheMemory = "memory" // no file
)

// unitsError is a data set of another size than the roster says.
type unitsError struct{ has, roster int }

func (e *unitsError) Error() string {
	return "the data set has another number of units than the roster says"
}

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
	at, q := s.agent.config.source(s.dataset), s.request()
	begun := time.Now()
	s.agent.log.Info("reading a data set", "study", s.plan.Digest, "dataset", s.dataset.Name)
	rows, stored, sha, err := s.read(at, q)
	if err != nil {
		return err
	}
	if want := s.plan.Proposal.Roster[s.self].Units; rows.N() != want {
		if stored != nil {
			err = stored.Close()
		}
		return errors.Join(&unitsError{rows.N(), want}, err)
	}
	s.rows, s.stored, s.sha = exact.New(rows), stored, s.dataset.pin(sha)
	s.agent.log.Info("a data set is read", "study", s.plan.Digest, "dataset", s.dataset.Name, "mapped", stored != nil, "seconds", math.Round(time.Since(begun).Seconds()*10)/10)
	return nil
}

// read reads the rows into memory, or into a cache file that this may make first.
func (s *session) read(at dataset.Source, q dataset.Request) (*clip.Matrix, *dataset.Stored, [32]byte, error) {
	if s.dataset.uncached(at) {
		read, err := dataset.Read(at, q, dataset.ReadOptions{})
		if err != nil {
			return nil, nil, [32]byte{}, err
		}
		rows, err := matrixOf(read)
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

// smallFile is up to which length a file is read into memory if nothing is said: faster than
// what a cache file costs.
const smallFile = 4 << 20

// uncached says whether a study's rows are read into memory.
func (d Dataset) uncached(at dataset.Source) bool {
	if d.Cache != "" || at.Query != nil {
		return d.Cache == cacheMemory
	}
	info, err := os.Stat(at.Path)
	return err == nil && info.Size() <= smallFile
}

// damagedError is a cache file that was found damaged, and removed.
type damagedError struct{ error }

func (e *damagedError) Unwrap() error { return e.error }

// cached gives rows that lie in a cache file. Its checksums are compared while the norms are
// computed, so that a file larger than memory is read from disk once for both.
func (s *session) cached(at dataset.Source, q dataset.Request) (rows *clip.Matrix, _ *dataset.Stored, err error) {
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
		rows, err = matrixOf(&stored.Rows)
		return err
	})
	work.Wait()
	if damage != nil {
		return nil, nil, &damagedError{errors.Join(damage, s.agent.cache.Discard(stored))}
	}
	if err != nil {
		return nil, nil, errors.Join(err, stored.Close())
	}
	stored.Unit, stored.Absent = nil, nil // the matrix has its own
	return rows, stored, nil
}

// approved finds the rows of a query whose study was approved: the database may hold others by
// now. nil if there are none.
func (s *session) approved(at dataset.Source, q dataset.Request) *dataset.Stored {
	approval, ok := s.agent.ledger.Approved(s.plan.Digest)
	if at.Query == nil || !ok {
		return nil
	}
	return s.agent.cache.Find(at, q, s.owner(), func(pin [32]byte) bool { return s.dataset.pin(pin) == approval.DataSHA256 })
}

// matrixOf gives rows to the kernel, without copying values that lie unit by unit.
func matrixOf(r *dataset.Rows) (*clip.Matrix, error) {
	switch narrow := r.Values32 != nil; {
	case narrow && r.Unit == nil:
		return clip.NewMatrix32(r.D, r.Values32, r.Absent...)
	case narrow:
		return clip.NewUnits32(r.D, r.Values32, r.Unit, r.Absent...)
	case r.Unit == nil:
		return clip.NewMatrix(r.D, r.Values, r.Absent...)
	}
	return clip.NewUnits(r.D, r.Values, r.Unit, r.Absent...)
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

// request is what the study wants of its data set, as dataset reads it.
func (s *session) request() dataset.Request { return s.dataset.request(s.plan.Proposal.Spec) }

func (d Dataset) request(spec study.Spec) dataset.Request {
	q := dataset.Request{Unit: spec.Unit, Missing: dataset.Missing(spec.Missing), Precision: dataset.Precision(d.Precision)}
	for _, c := range spec.Columns {
		q.Columns = append(q.Columns, dataset.Column{Name: c.Name, Offset: c.Offset, Scale: c.Scale})
	}
	return q
}

// pin is what an approval binds: the SHA-256 of the data set's bytes where those alone say
// what its values are, and otherwise a hash of it with what else does. A slot's mask is used
// once, so a sum that is computed again must be of the very same values.
func (d Dataset) pin(sha [32]byte) [32]byte {
	if d.Precision != string(dataset.Float32) && len(d.Names) == 0 {
		return sha
	}
	// Names hold no line ends, and the two hashes' words differ in their number.
	words := append([]string{"covey pin 1", hex.EncodeToString(sha[:]), d.Precision}, d.Names...)
	return sha256.Sum256([]byte(strings.Join(words, "\n")))
}

// owner names whom a cache file is kept for: the study, or the data set.
func (s *session) owner() string {
	if s.dataset.Cache == cacheKeep {
		return s.dataset.keeper()
	}
	return studyOwner(s.plan.Digest)
}

func studyOwner(id study.Digest) string { return "study-" + id.String() }

func (d Dataset) keeper() string {
	sum := sha256.Sum256([]byte(d.Name))
	return "keep-" + hex.EncodeToString(sum[:8])
}

// CacheDir is the folder of rows as studies read them, in the clear.
func (c *Config) CacheDir() string { return filepath.Join(c.DataDir(), "cache") }

// openCache opens the cache and removes the rows of studies that are over and of data
// sets that are not kept any more.
func (a *Agent) openCache() error {
	var err error
	if a.cache, err = dataset.OpenCache(a.config.CacheDir()); err != nil {
		return err
	}
	known, err := a.pending.list()
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
		if d.Cache == cacheKeep {
			keep[d.keeper()] = true
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
func (a *Agent) forget(id study.Digest) {
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
