package coordinator

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"covey/internal/analysis"
	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/shelf"
)

// A snapshot is a JSON object (shelf.Write), followed by what is on the shelf of each study that is
// over. A start puts that on its own shelf without looking at it.

// snapshot is the object.
type snapshot struct {
	Who     membership.State                         `json:"members"`
	Counts  analysis.Counts                          `json:"counts,omitempty"`
	Order   []proposal.Digest                        `json:"order"` // of all studies, as proposed
	Studies []round.Durable                          `json:"studies,omitempty"`
	Closed  []*outline.Closed                        `json:"closed,omitempty"`
	Words   map[proposal.Digest]map[int]outline.Word `json:"words,omitempty"`
	Dates   map[proposal.Digest]outline.Dates        `json:"dates,omitempty"`
	People  people.Register                          `json:"people,omitempty"`
	Journal outline.Journal                          `json:"journal,omitempty"`
	Chain   chain.Log                                `json:"chain,omitzero"`
	Chained map[proposal.Digest]uint64               `json:"chained,omitempty"`
}

// Snapshot returns a function that writes the state as it is now, at any later time. It shares with
// the machine only what is never changed. So entries and sites' messages wait for the copy alone,
// not for the encoding, which takes seconds with hundreds of studies. Nothing un-noised is in it:
// round.Durable holds none.
func (m *Machine) Snapshot() (func(io.Writer) error, error) {
	l := m.lock()
	s := l.durable()
	m.unlock()
	return func(w io.Writer) error {
		text, err := m.marshal(s)
		if err == nil {
			err = shelf.Write(w, text)
		}
		for _, c := range s.Closed {
			if err == nil {
				err = c.Copy(w)
			}
		}
		return err
	}, nil
}

// durable returns what is encoded. Apply does not change it: a map that it writes to is copied, a
// slice that it appends to keeps its length here, and a study's state is replaced part by part
// (round.Durable), never written into.
func (m *replicated) durable() snapshot {
	s := snapshot{
		Who: m.who.Clone(), Counts: m.counts.Clone(), Order: m.order, Journal: m.journal, Chain: m.chain, People: m.people,
		Words: make(map[proposal.Digest]map[int]outline.Word, len(m.words)), Dates: maps.Clone(m.dates), Chained: maps.Clone(m.chained),
	}
	for d, words := range m.words {
		s.Words[d] = maps.Clone(words)
	}
	for _, r := range m.all {
		if r.Closed != nil {
			s.Closed = append(s.Closed, r.Closed)
		} else {
			s.Studies = append(s.Studies, r.State.Durable)
		}
	}
	return s
}

// Restore replaces the state by a snapshot's. It reads only the summaries of studies that are over.
// One whose chain does not extend this state's is of another past: a leader's that was restored
// from an older backup, and has compacted its log since.
func (m *Machine) Restore(from io.Reader) error {
	fresh, err := m.read(bufio.NewReaderSize(from, 1<<20))
	if err != nil {
		return fmt.Errorf("coordinator: snapshot: %w", err)
	}
	l := m.lock()
	defer m.unlock()
	if ours := l.chain.Head(); !fresh.chain.Has(ours) {
		theirs := fresh.chain.Head()
		return &DivergedError{Theirs: theirs, Ours: ours, older: l.chain.Has(theirs)}
	}
	fresh.regrouped = l.regrouped
	l.replicated = fresh
	l.wake()
	return nil
}

var errSnapshot = errors.New("it is inconsistent")

// read decodes a snapshot. Studies that are over go onto a shelf of the machine's folder, or into
// memory where it has none. What does not fit together is an error.
func (m *Machine) read(from io.Reader) (fresh replicated, err error) {
	on := new(shelf.Shelf)
	if m.dir != "" {
		if on, err = shelf.New(m.dir); err != nil {
			return fresh, err
		}
	}
	fresh = newReplicated(on)
	text, err := shelf.Read(from)
	if err != nil {
		return fresh, err
	}
	var s snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		return fresh, err
	}
	if err := s.People.Check(); err != nil {
		return fresh, fmt.Errorf("people: %w", err)
	}
	if err := s.Who.Check(); err != nil {
		return fresh, err
	}
	fresh.who, fresh.journal, fresh.people, fresh.chain, fresh.order = s.Who, s.Journal, s.People, s.Chain, s.Order
	for study, n := range s.Chained {
		if n > s.Chain.Head().Number {
			return fresh, fmt.Errorf("the chain does not reach the releases of study %s", study)
		}
		fresh.chained[study] = n
	}
	if s.Words != nil {
		fresh.words = s.Words
	}
	if s.Counts != nil {
		fresh.counts = s.Counts
	}
	if s.Dates != nil {
		fresh.dates = s.Dates
	}
	for _, d := range s.Studies {
		state, err := round.Restore(d)
		if err != nil {
			return fresh, err
		}
		if state.Terminal() {
			return fresh, errSnapshot
		}
		fresh.studies[proposal.DigestOf(d.Body)] = state
	}
	for _, c := range s.Closed {
		if c == nil {
			return fresh, errSnapshot
		}
		if err := c.Check(); err != nil {
			return fresh, err
		}
		if err := c.Take(from, on); err != nil {
			return fresh, err
		}
		fresh.closed[c.View.Digest] = c
	}
	return fresh, fresh.ordered(s)
}

// ordered checks that each study of a snapshot is in its order once, running or over, and that no
// other is.
func (m *replicated) ordered(s snapshot) error {
	once := map[proposal.Digest]bool{}
	for _, d := range s.Order {
		_, there := m.find(d)
		if once[d] || !there {
			return errSnapshot
		}
		once[d] = true
	}
	for d := range m.closed {
		if m.studies[d] != nil {
			return errSnapshot
		}
	}
	if n := len(m.studies) + len(m.closed); n != len(s.Order) || n != len(s.Studies)+len(s.Closed) {
		return errSnapshot
	}
	return nil
}
