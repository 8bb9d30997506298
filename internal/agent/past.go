package agent

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"covey/internal/siteconfig"
	"covey/internal/study"
)

// Proposals that are over at this site stay in view: past/<digest>.json says how each ended, and when and why. It is for the
// operator alone. Nothing is decided by it, no other party reads it, and losing it loses nothing else; what counts is
// on the ledger.

// Bounds on what is kept: the oldest goes first, so that whoever makes proposals cannot fill the disk.
const (
	maxPast      = 100
	maxPastBytes = 64 << 20
	maxPastBody  = 4 << 20 // a longer proposal is not kept with its record
	maxWhy       = 500     // bytes
)

// What a past study's state is where the ledger says nothing of it.
const (
	stateRefused = "refused" // by a check or the policy, before anybody was asked
	stateEnded   = "ended"   // by the coordinator, or by its expiry, before this site approved it
)

// past is how one proposal ended here.
type past struct {
	Digest     study.Digest `json:"digest"`
	Name       string       `json:"name,omitempty"` // empty where the bytes are no proposal
	State      string       `json:"state"`
	Code       study.Code   `json:"code"`
	Why        string       `json:"why,omitempty"` // in words, for this site's operator
	By         string       `json:"by,omitempty"`
	Population string       `json:"population,omitempty"`
	Rho        float64      `json:"rho,omitempty"` // the plan's
	Time       time.Time    `json:"time"`
	Proposal   []byte       `json:"proposal,omitempty"`

	bytes int // of its file
}

// pastStore is the directory, with all but the proposals in memory.
type pastStore struct {
	dir string
	mu  sync.Mutex
	all map[study.Digest]past
}

// openPast makes the directory and reads it. A file that does not read is removed: nothing depends on it.
func openPast(dir string) (*pastStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p := &pastStore{dir: dir, all: map[study.Digest]past{}}
	for _, e := range entries {
		name, _ := strings.CutSuffix(e.Name(), ".json")
		id, err := study.ParseDigest(name)
		one, ok := past{}, false
		if err == nil {
			one, ok = p.read(id)
		}
		if !ok {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
			continue
		}
		one.Proposal = nil
		p.all[id] = one
	}
	return p, p.trim(study.Digest{})
}

func (p *pastStore) path(id study.Digest) string { return filepath.Join(p.dir, id.String()+".json") }

// read reads one file; false if it is not there, or not what its name says.
func (p *pastStore) read(id study.Digest) (past, bool) {
	var one past
	raw, err := os.ReadFile(p.path(id))
	if err != nil || json.Unmarshal(raw, &one) != nil || one.Digest != id || len(one.Proposal) > 0 && study.DigestOf(one.Proposal) != id {
		return past{}, false
	}
	one.bytes = len(raw)
	return one, true
}

// put keeps a record in place of an older one of the study. The same end again changes nothing: the first time stands.
func (p *pastStore) put(one past) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, ok := p.all[one.Digest]; ok && old.State == one.State && old.Code == one.Code {
		return nil
	}
	one.Why = cleaned(one.Why)
	if len(one.Proposal) > maxPastBody {
		one.Proposal = nil
	}
	raw, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if err := siteconfig.WriteFile(p.path(one.Digest), raw); err != nil {
		return err
	}
	one.bytes, one.Proposal = len(raw), nil
	p.all[one.Digest] = one
	return p.trim(one.Digest)
}

// trim drops the oldest until the rest is within bounds; never the one just kept. Called with mu held, or before there is another.
func (p *pastStore) trim(kept study.Digest) error {
	total := 0
	for _, one := range p.all {
		total += one.bytes
	}
	for _, one := range slices.SortedFunc(maps.Values(p.all), func(a, b past) int { return a.Time.Compare(b.Time) }) {
		if len(p.all) <= maxPast && total <= maxPastBytes {
			break
		}
		if one.Digest == kept {
			continue
		}
		if err := p.drop(one.Digest); err != nil {
			return err
		}
		total -= one.bytes
	}
	return nil
}

func (p *pastStore) drop(id study.Digest) error {
	delete(p.all, id)
	if err := os.Remove(p.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove forgets a study that is open again.
func (p *pastStore) remove(id study.Digest) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.all[id]; !ok {
		return nil
	}
	return p.drop(id)
}

// get returns a record without its proposal.
func (p *pastStore) get(id study.Digest) (past, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.all[id]
	return one, ok
}

// proposal returns the bytes that are kept with a record; nil for none.
func (p *pastStore) proposal(id study.Digest) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.all[id]; !ok {
		return nil
	}
	one, _ := p.read(id)
	return one.Proposal
}

// list returns the digests, the newest first.
func (p *pastStore) list() []study.Digest {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []study.Digest
	for _, one := range slices.SortedFunc(maps.Values(p.all), func(a, b past) int { return b.Time.Compare(a.Time) }) {
		out = append(out, one.Digest)
	}
	return out
}

// cleaned makes words about a proposal fit for a terminal: parts of them may be another party's.
func cleaned(text string) string {
	text = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if len(text) > maxWhy {
		text = strings.ToValidUTF8(text[:maxWhy], "") + "…"
	}
	return text
}

// closed puts on record how a proposal ended here. That the record cannot be written is logged and changes nothing else.
func (a *Agent) closed(one past, body []byte, why error) {
	one.Time = a.now()
	one.Proposal = body
	if why != nil {
		one.Why = why.Error()
	}
	if err := a.past.put(one); err != nil {
		a.log.Error("how a proposal ended is not kept for \"study list\"", "study", one.Digest, "error", err)
	}
}

// closed is Agent.closed with what the session knows.
func (s *session) closed(state string, code study.Code, by string, why error) {
	s.agent.closed(past{Digest: s.plan.Digest, Name: s.plan.Proposal.Spec.Name, State: state, Code: code, By: by,
		Population: s.dataset.Population, Rho: s.plan.Rho}, s.body, why)
}

// reopened forgets how a proposal ended that is pending or approved now.
func (a *Agent) reopened(id study.Digest) {
	if err := a.past.remove(id); err != nil {
		a.log.Error("the record of a proposal that is open again stays", "study", id, "error", err)
	}
}

// ClosedError is a decision about a study that is over here. It is also an *UnknownStudyError: nothing can be decided.
type ClosedError struct {
	Study study.Digest
	State string
	Code  study.Code
}

func (e *ClosedError) Error() string {
	return "study " + e.Study.String()[:12] + " is over here: " + e.State + " (" + string(e.Code) + "); \"agent study show\" says why"
}

// Unwrap returns the *UnknownStudyError.
func (e *ClosedError) Unwrap() error { return &UnknownStudyError{Ref: e.Study.String()} }

// unknown is the error for a study that is neither pending nor on the ledger.
func (a *Agent) unknown(id study.Digest) error {
	if one, ok := a.past.get(id); ok {
		return &ClosedError{id, one.State, one.Code}
	}
	return &UnknownStudyError{Ref: id.String()}
}

// shown makes what is needed to show the proposal of a study that is over, nil if it is not kept: a site that refused it may have no place
// in its roster, or no data set of its name.
func (a *Agent) shown(id study.Digest) *session {
	body := a.past.proposal(id)
	if body == nil {
		return nil
	}
	if s, _, _ := a.makeSession(body); s != nil {
		return s
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return nil
	}
	self := slices.IndexFunc(plan.Proposal.Roster, func(m study.Member) bool { return m.Name == a.config.Site })
	if self < 0 {
		return nil
	}
	return &session{agent: a, body: body, plan: plan, self: self}
}
