package coordinator

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"covey/internal/analysis"
	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/shelf"
)

// Log is the replication that the coordinator needs. internal/replica
// implements it.
type Log interface {
	// Apply returns once the entry is committed and fsynced on a quorum and
	// applied to the Machine here, with what Machine.Apply returned. An error means
	// that the entry may or may not be committed.
	Apply(ctx context.Context, entry []byte) (any, error)
}

// entry is one line of the coordinator's log. Exactly one field is set.
type entry struct {
	At     time.Time               `json:"at,omitzero"`   // when the leader proposed it, for people
	Head   chain.Head              `json:"head,omitzero"` // of the chain as the leader had applied it
	Invite *membership.InviteEntry `json:"invite,omitempty"`
	Join   *membership.JoinEntry   `json:"join,omitempty"`
	Revoke *membership.ClientEntry `json:"revoke,omitempty"`
	Spend  *membership.SpendEntry  `json:"spend,omitempty"`
	// Withdraw takes unused join files back.
	Withdraw *membership.ClientEntry `json:"withdraw,omitempty"`
	Node     *membership.Node        `json:"node,omitempty"`
	Forget   *membership.ForgetEntry `json:"forget,omitempty"`
	Round    *round.Entry            `json:"round,omitempty"`
	CA       *membership.CAEntry     `json:"ca,omitempty"`
	Tell     *tellEntry              `json:"tell,omitempty"`
	// Person may log in at the pages; Dismiss is the name of one that no longer may.
	Person  *people.Entry `json:"person,omitempty"`
	Dismiss *string       `json:"dismiss,omitempty"`
	// Signature goes with a decision of Round: the site's identity key's.
	Signature []byte `json:"signature,omitempty"`
}

// Machine is the coordinator's state behind one lock: what the log has committed (sites, invites
// and studies), and what a leader remembers of it. Apply is deterministic: it reads no clock and
// samples nothing.
type Machine struct {
	mu    sync.Mutex
	state leader // reached by lock alone

	dir     string                    // of shelves; empty to keep all in memory
	marshal func(any) ([]byte, error) // json.Marshal
}

// lock returns the state, which is the caller's alone until unlock. Until then the caller waits
// for nothing: not for the log, whose Apply needs the lock, not for a peer, and not for lock again.
func (m *Machine) lock() *leader {
	m.mu.Lock()
	return &m.state
}

func (m *Machine) unlock() { m.mu.Unlock() }

// replicated is what the log has committed, the same at every coordinator.
type replicated struct {
	who     membership.State
	counts  analysis.Counts                          // as analysts were told
	studies map[proposal.Digest]*round.State         // under way
	words   map[proposal.Digest]map[int]outline.Word // of those, decisions as signed, by roster index
	closed  map[proposal.Digest]*outline.Closed      // over
	shelf   *shelf.Shelf
	order   []proposal.Digest // as proposed
	dates   map[proposal.Digest]outline.Dates
	people  people.Register // who may log in at the pages
	journal outline.Journal // what was committed, for people
	chain   chain.Log
	chained map[proposal.Digest]uint64 // numbers of the chain's entries of studies' last releases

	// regrouped is signaled, and nobody waits for, when nodes change.
	regrouped chan struct{}
}

// NewMachine returns the empty state, kept in memory alone.
func NewMachine() *Machine {
	return &Machine{marshal: json.Marshal, state: leader{replicated: newReplicated(new(shelf.Shelf))}}
}

// NewMachineIn is NewMachine that keeps what is rarely read in a folder's files (internal/shelf).
func NewMachineIn(dir string) (*Machine, error) {
	on, err := shelf.New(dir)
	if err != nil {
		return nil, err
	}
	m := NewMachine()
	m.dir, m.state.shelf = dir, on
	return m, nil
}

func newReplicated(on *shelf.Shelf) replicated {
	return replicated{
		who: membership.New(), counts: analysis.Counts{}, closed: map[proposal.Digest]*outline.Closed{}, shelf: on,
		studies: map[proposal.Digest]*round.State{}, words: map[proposal.Digest]map[int]outline.Word{}, dates: map[proposal.Digest]outline.Dates{}, chained: map[proposal.Digest]uint64{}, regrouped: make(chan struct{}, 1),
	}
}

// Apply changes the state by one committed entry. It returns nil, or an error
// for an entry that changed nothing.
func (m *Machine) Apply(line []byte) any {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("coordinator: log entry: %w", err)
	}
	l := m.lock()
	defer m.unlock()
	if e.Head != (chain.Head{}) && !l.chain.Has(e.Head) {
		return &DivergedError{Theirs: e.Head, Ours: l.chain.Head()}
	}
	if err := l.take(e); err != nil {
		return err
	}
	l.note(e)
	if e.Round != nil {
		l.close(e.Round.Study)
	}
	return nil
}

// take is Apply without the journal.
func (m *leader) take(e entry) (err error) {
	groups := m.who.Changes
	if e.Round == nil {
		m.who.Forgo(e.At)
	}
	switch {
	case e.Invite != nil:
		err = m.who.Invite(*e.Invite)
	case e.Join != nil:
		_, again, _ := m.who.MayJoin(*e.Join)
		if err = m.who.Join(*e.Join); err == nil && !again {
			m.joins(*e.Join)
		}
	case e.Revoke != nil:
		again := m.who.Holders(e.Revoke.Role)[e.Revoke.Name].Revoked
		if err = m.who.Revoke(*e.Revoke, e.At); err == nil && !again {
			m.revokes(*e.Revoke)
		}
	case e.Withdraw != nil:
		m.who.Withdraw(e.Withdraw.Role, e.Withdraw.Name)
	case e.Spend != nil:
		err = m.who.Spend(*e.Spend)
	case e.Node != nil:
		m.who.Regroup(*e.Node)
	case e.Forget != nil:
		m.who.Forget(*e.Forget)
	case e.CA != nil:
		err = m.who.CAs.Step(*e.CA)
	case e.Tell != nil:
		m.counts.Tell(e.Tell.Dataset, e.Tell.Units, e.At)
	case e.Person != nil:
		m.people, err = m.people.Put(*e.Person)
	case e.Dismiss != nil:
		m.people, err = m.people.Remove(*e.Dismiss)
	case e.Round != nil:
		err = m.decide(*e.Round, e.Signature, e.At)
	}
	if m.who.Changes != groups {
		m.wake()
	}
	return err
}

// wake tells who follows the coordinators that they have changed.
func (m *replicated) wake() {
	select {
	case m.regrouped <- struct{}{}:
	default: // who is woken looks at everything
	}
}

// spendable reports why a new coordinator's token would be refused as the state is now.
func (m *Machine) spendable(e membership.SpendEntry) error {
	l := m.lock()
	defer m.unlock()
	return l.who.MaySpend(e)
}

// commit steps a study by its entry, and runs what follows if this node leads.
func (m *leader) commit(e round.Entry, at time.Time) error {
	s := m.studies[e.Study]
	if s == nil {
		if m.closed[e.Study] != nil || e.Kind != round.EntryProposed || proposal.DigestOf(e.Body) != e.Study {
			return &round.StaleError{Kind: e.Kind}
		}
		s = &round.State{}
	}
	over := s.Plan() != nil && s.Terminal()
	effects, err := s.Step(round.Committed{Entry: e})
	if e.Kind == round.EntryProposed && err == nil {
		if err := m.mayPropose(&s.Plan().Proposal, at, nil); err != nil {
			return err
		}
		m.proposes(e.Study)
		m.studies[e.Study] = s
		m.order = append(m.order, e.Study)
		if m.leading {
			m.step(e.Study, s, m.led(m.remember(e.Study, s)))
		}
		return nil
	}
	if err == nil { // before a site is told what follows
		m.steps(e, s, over)
	}
	if s.Plan() != nil {
		m.run(e.Study, s, effects)
	}
	return err
}

// joinable returns the role that a join is for, and reports whether it was taken before; the error
// is why it would be refused as the state is now.
func (m *Machine) joinable(e membership.JoinEntry) (role pki.Role, again bool, err error) {
	l := m.lock()
	defer m.unlock()
	return l.who.MayJoin(e)
}

// holder returns a site or an analyst that joined.
func (m *Machine) holder(role pki.Role, name string) (membership.Holder, bool) {
	l := m.lock()
	defer m.unlock()
	h, ok := l.who.Holders(role)[name]
	return h, ok
}

// holders returns all of a role by name, and the pending invites of that role by name.
func (m *Machine) holders(role pki.Role) ([]membership.Holder, []membership.Invite) {
	l := m.lock()
	defer m.unlock()
	return membership.ByName(l.who.Holders(role)), l.who.Invited(role)
}

func tokenKey(hash [32]byte) string { return hex.EncodeToString(hash[:]) }
