package coordinator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/round"
)

// Log is the replication that the coordinator needs. internal/replica
// implements it.
type Log interface {
	// Apply returns once the entry is committed and fsynced on a quorum and
	// applied to the Machine here, with what Machine.Apply returned. An error means
	// that the entry may or may not be committed.
	Apply(ctx context.Context, entry []byte) (any, error)
}

// Invite is a join file given out and not yet used, for a site or for a new
// coordinator. Only the token's hash is kept.
type Invite struct {
	Site    string    `json:"site,omitempty"`
	Node    string    `json:"node,omitempty"`
	Expires time.Time `json:"expires"`
	// Again lets a site that has joined join once more, with the identity key that it has.
	Again bool `json:"again,omitempty"`
}

// Node is a coordinator that may enter, and where agents reach it.
type Node struct {
	ID string `json:"id"`
	// of its sites' port, host:port; none before it entered
	Addresses []string `json:"addresses,omitempty"`
	// Key is its own among coordinators (pki.Authority.NodeKey): whoever shows none of these keys
	// is no coordinator.
	Key proposal.Key `json:"key,omitempty"`
}

// Site is an organization that joined.
type Site struct {
	Name     string       `json:"name"`
	Identity proposal.Key `json:"identity"`
	Joined   time.Time    `json:"joined"`
	Token    string       `json:"token"` // hash of the one it joined with
	// TLS is the key of its certificates, so that those of an earlier membership of the name are
	// none of this one.
	TLS     proposal.Key `json:"tls,omitempty"`
	Revoked bool         `json:"revoked,omitempty"`
}

// entry is one line of the coordinator's log. Exactly one field is set.
type entry struct {
	At     time.Time    `json:"at,omitzero"` // when the leader proposed it, for people
	Invite *inviteEntry `json:"invite,omitempty"`
	Join   *joinEntry   `json:"join,omitempty"`
	Revoke *revokeEntry `json:"revoke,omitempty"`
	Spend  *spendEntry  `json:"spend,omitempty"`
	// Withdraw takes a site's unused join files back.
	Withdraw *withdrawEntry `json:"withdraw,omitempty"`
	Node     *Node          `json:"node,omitempty"`
	Forget   *forgetEntry   `json:"forget,omitempty"`
	Round    *round.Entry   `json:"round,omitempty"`
	CA       *caEntry       `json:"ca,omitempty"`
	// Person may log in at the pages; Dismiss is the name of one that no longer may.
	Person  *people.Entry `json:"person,omitempty"`
	Dismiss *string       `json:"dismiss,omitempty"`
	// Signature goes with a decision of Round: the site's identity key's.
	Signature []byte `json:"signature,omitempty"`
}

type inviteEntry struct {
	Token string `json:"token"` // hash, hex
	Invite
}

type joinEntry struct {
	Token string       `json:"token"` // hash, hex
	Site  string       `json:"site"`
	Key   proposal.Key `json:"identity"`
	TLS   proposal.Key `json:"tls,omitempty"` // of the certificate that is given out
	Now   time.Time    `json:"now"`           // the leader's, so that Apply needs no clock
}

type revokeEntry struct {
	Site string `json:"site"`
}

// spendEntry uses a new coordinator's token up, before it is given the keys.
type spendEntry struct {
	Token string    `json:"token"` // hash, hex
	Node  string    `json:"node"`
	Now   time.Time `json:"now"`
}

type withdrawEntry struct {
	Site string `json:"site"`
}

// forgetEntry shuts a coordinator out: its key, its unused join files and its addresses in new
// ones.
type forgetEntry struct {
	Node string `json:"node"`
}

// JoinError is a join that the registry refuses.
type JoinError struct {
	Site   string
	Reason string
}

func (e *JoinError) Error() string { return e.Reason }

// Machine is the coordinator's state behind one lock: what the log has committed (sites, invites
// and studies), and what a leader remembers of it. Apply is deterministic: it reads no clock and
// samples nothing.
type Machine struct {
	mu     sync.Mutex
	leader // reached by lock alone

	marshal func(any) ([]byte, error) // json.Marshal
}

// lock returns the state, which is the caller's alone until unlock. Until then the caller waits
// for nothing: not for the log, whose Apply needs the lock, not for a peer, and not for lock again.
func (m *Machine) lock() *leader {
	m.mu.Lock()
	return &m.leader
}

func (m *Machine) unlock() { m.mu.Unlock() }

// replicated is what the log has committed, the same at every coordinator.
type replicated struct {
	invites map[string]Invite // by token hash, hex
	sites   map[string]Site   // by name
	nodes   map[string]Node   // by ID
	changes uint64            // entries that changed nodes
	studies map[proposal.Digest]*round.State
	words   map[proposal.Digest]map[int]Word // decisions as signed, by roster index
	order   []proposal.Digest                // as proposed
	cas     Authorities
	dates   map[proposal.Digest]dates
	people  people.Register // who may log in at the pages
	journal journal         // what was committed, for people

	// regrouped is signaled, and nobody waits for, when nodes change.
	regrouped chan struct{}
}

// NewMachine returns the empty state.
func NewMachine() *Machine {
	return &Machine{marshal: json.Marshal, leader: leader{replicated: newReplicated()}}
}

func newReplicated() replicated {
	return replicated{
		invites: map[string]Invite{}, sites: map[string]Site{}, nodes: map[string]Node{},
		studies: map[proposal.Digest]*round.State{}, words: map[proposal.Digest]map[int]Word{}, dates: map[proposal.Digest]dates{}, regrouped: make(chan struct{}, 1),
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
	if err := l.take(e); err != nil {
		return err
	}
	l.note(e)
	return nil
}

// take is Apply without the journal.
func (m *leader) take(e entry) (err error) {
	switch {
	case e.Invite != nil:
		// the newest alone lets in: an older one may be anywhere
		m.withdraw(e.Invite.Site, e.Invite.Node)
		m.invites[e.Invite.Token] = e.Invite.Invite
	case e.Join != nil:
		err = m.join(*e.Join)
	case e.Revoke != nil:
		s, ok := m.sites[e.Revoke.Site]
		if !ok {
			return &JoinError{e.Revoke.Site, fmt.Sprintf("no site %q", e.Revoke.Site)}
		}
		s.Revoked = true
		m.sites[s.Name] = s
		m.withdraw(s.Name, "")
	case e.Withdraw != nil:
		m.withdraw(e.Withdraw.Site, "")
	case e.Spend != nil:
		err = m.spend(*e.Spend)
	case e.Node != nil:
		m.regroup(*e.Node)
	case e.Forget != nil:
		m.withdraw("", e.Forget.Node)
		delete(m.nodes, e.Forget.Node)
		m.renumber()
	case e.CA != nil:
		err = m.cas.step(*e.CA)
	case e.Person != nil:
		m.people, err = m.people.Put(*e.Person)
	case e.Dismiss != nil:
		m.people, err = m.people.Remove(*e.Dismiss)
	case e.Round != nil:
		err = m.decide(*e.Round, e.Signature, e.At)
	}
	return err
}

// withdraw deletes the unused join files of a site, or of a coordinator; the other name is empty.
func (m *replicated) withdraw(site, node string) {
	maps.DeleteFunc(m.invites, func(_ string, i Invite) bool { return i.Site == site && i.Node == node })
}

// regroup records where a coordinator is reached, and its key where the entry has one.
func (m *replicated) regroup(n Node) {
	old := m.nodes[n.ID]
	if len(n.Key) == 0 {
		n.Key = old.Key
	}
	if len(n.Addresses) == 0 {
		n.Addresses = old.Addresses
	}
	m.nodes[n.ID] = n
	m.renumber()
}

// renumber counts a change of the coordinators and wakes who follows them.
func (m *replicated) renumber() {
	m.changes++
	m.wake()
}

func (m *replicated) wake() {
	select {
	case m.regrouped <- struct{}{}:
	default: // who is woken looks at everything
	}
}

// joinable reports whether a join was taken before; the error is why it would be refused as the
// state is now.
func (m *Machine) joinable(e joinEntry) (again bool, err error) {
	l := m.lock()
	defer m.unlock()
	return l.mayJoin(e)
}

func (m *replicated) join(e joinEntry) error {
	if again, err := m.mayJoin(e); again || err != nil {
		return err
	}
	delete(m.invites, e.Token)
	m.sites[e.Site] = Site{Name: e.Site, Identity: e.Key, TLS: e.TLS, Joined: e.Now, Token: e.Token}
	return nil
}

// mayJoin checks a join; again is one that was taken before: its reply was lost.
func (m *replicated) mayJoin(e joinEntry) (again bool, err error) {
	if s, ok := m.sites[e.Site]; ok && s.Token == e.Token && bytes.Equal(s.Identity, e.Key) && bytes.Equal(s.TLS, e.TLS) && !s.Revoked {
		return true, nil
	}
	invite, ok := m.invites[e.Token]
	switch {
	case len(e.Key) != ed25519.PublicKeySize:
		return false, &JoinError{e.Site, "the site has no identity key"}
	case !ok:
		return false, &JoinError{e.Site, "this join file was already used, or was never given out here"}
	case invite.Node != "":
		return false, &JoinError{e.Site, "this join file is for a coordinator"}
	case invite.Site != e.Site:
		return false, &JoinError{e.Site, fmt.Sprintf("this join file is for site %q", invite.Site)}
	case e.Now.After(invite.Expires):
		return false, &JoinError{e.Site, fmt.Sprintf("this join file expired on %s", invite.Expires.UTC().Format(time.RFC3339))}
	}
	if old, ok := m.sites[e.Site]; ok && !old.Revoked {
		if !invite.Again {
			return false, &JoinError{e.Site, fmt.Sprintf("site %q has already joined; revoke it first", e.Site)}
		}
		if !bytes.Equal(old.Identity, e.Key) {
			return false, &JoinError{e.Site, fmt.Sprintf("this join file lets site %q join again with the identity key that it has, and no other", e.Site)}
		}
	} else if invite.Again {
		return false, &JoinError{e.Site, fmt.Sprintf("site %q was revoked since; a new join file is needed", e.Site)}
	}
	return false, nil
}

// spendable reports why a new coordinator's token would be refused as the state is now.
func (m *Machine) spendable(e spendEntry) error {
	l := m.lock()
	defer m.unlock()
	return l.maySpend(e)
}

// maySpend checks a spending.
func (m *replicated) maySpend(e spendEntry) error {
	invite, ok := m.invites[e.Token]
	switch {
	case !ok:
		return &JoinError{"", "this join file was already used, or was never given out here"}
	case invite.Node != e.Node || e.Node == "":
		return &JoinError{"", "this join file is for another"}
	case e.Now.After(invite.Expires):
		return &JoinError{"", fmt.Sprintf("this join file expired on %s", invite.Expires.UTC().Format(time.RFC3339))}
	}
	return nil
}

// spend uses a token up for good: a reply that is lost after it needs a new join
// file, since whoever has the first one could be given the keys a second time.
func (m *replicated) spend(e spendEntry) error {
	if err := m.maySpend(e); err != nil {
		return err
	}
	delete(m.invites, e.Token)
	// known from here on, until it is removed; its key is the next entry
	m.nodes[e.Node] = Node{ID: e.Node}
	m.renumber()
	return nil
}

// commit steps a study by its entry, and runs what follows if this node leads.
func (m *leader) commit(e round.Entry) error {
	s := m.studies[e.Study]
	if s == nil {
		if e.Kind != round.EntryProposed || proposal.DigestOf(e.Body) != e.Study {
			return &round.StaleError{Kind: e.Kind}
		}
		s = &round.State{}
	}
	effects, err := s.Step(round.Committed{Entry: e})
	if e.Kind == round.EntryProposed && err == nil {
		m.studies[e.Study] = s
		m.order = append(m.order, e.Study)
		if m.leading {
			m.step(e.Study, s, m.led(m.session(e.Study, s)))
		}
		return nil
	}
	if s.Plan() != nil {
		m.run(e.Study, s, effects)
	}
	if s.Terminal() {
		slim(&s.Durable)
	}
	return err
}

// slim takes out of a study that is over what only its setup and its open slot needed: most of what
// a study holds, and of a snapshot. That a site announced itself remains, as an empty announcement.
func slim(d *round.Durable) {
	// new: an opening may be under way with the old
	announcements := make([][]byte, len(d.Announcements))
	for i := range announcements {
		announcements[i] = []byte{}
	}
	d.Announcements, d.Nonces, d.Confirmations, d.Certificate = announcements, nil, nil, nil
}

// snapshot is Machine's durable form.
type snapshot struct {
	Invites map[string]Invite                `json:"invites"`
	Sites   []Site                           `json:"sites"`
	Nodes   map[string]Node                  `json:"nodes,omitempty"`
	Changes uint64                           `json:"node_changes,omitempty"`
	Studies []round.Durable                  `json:"studies"` // as proposed
	Words   map[proposal.Digest]map[int]Word `json:"words,omitempty"`
	CAs     Authorities                      `json:"authorities,omitzero"`
	Dates   map[proposal.Digest]dates        `json:"dates,omitempty"`
	People  people.Register                  `json:"people,omitempty"`
	Journal journal                          `json:"journal,omitempty"`
}

// Snapshot returns the state's bytes. Nothing un-noised is in it: round.Durable holds none. With
// hundreds of studies it takes seconds, and sites' messages do not wait for it: what it encodes is
// changed by Apply and Restore alone, which the log calls before or after it.
func (m *Machine) Snapshot() ([]byte, error) {
	l := m.lock()
	s := l.durable()
	m.unlock()
	return m.marshal(s)
}

// durable returns what is encoded. Its maps and slices are the machine's own.
func (m *replicated) durable() snapshot {
	s := snapshot{Invites: m.invites, Nodes: m.nodes, Changes: m.changes, Journal: m.journal, Words: m.words, CAs: m.cas, Dates: m.dates, People: m.people, Sites: slices.SortedFunc(maps.Values(m.sites), bySiteName)}
	for _, d := range m.order {
		s.Studies = append(s.Studies, m.studies[d].Durable)
	}
	return s
}

func bySiteName(a, b Site) int {
	if a.Name < b.Name {
		return -1
	}
	return 1
}

// Restore replaces the state by a snapshot's.
func (m *Machine) Restore(raw []byte) error {
	var s snapshot
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("coordinator: snapshot: %w", err)
	}
	if err := s.People.Check(); err != nil {
		return fmt.Errorf("coordinator: snapshot: people: %w", err)
	}
	fresh := newReplicated()
	fresh.journal, fresh.cas, fresh.changes, fresh.people = s.Journal, s.CAs, s.Changes, s.People
	if s.Invites != nil {
		fresh.invites = s.Invites
	}
	if s.Nodes != nil {
		fresh.nodes = s.Nodes
	}
	if s.Words != nil {
		fresh.words = s.Words
	}
	if s.Dates != nil {
		fresh.dates = s.Dates
	}
	for _, site := range s.Sites {
		// or what is written of it is not read again
		if len(site.Identity) != ed25519.PublicKeySize {
			return fmt.Errorf("coordinator: snapshot: site %q has no identity key", site.Name)
		}
		fresh.sites[site.Name] = site
	}
	for _, d := range s.Studies {
		state, err := round.Restore(d)
		if err != nil {
			return fmt.Errorf("coordinator: snapshot: %w", err)
		}
		digest := proposal.DigestOf(d.Body)
		fresh.studies[digest] = state
		fresh.order = append(fresh.order, digest)
	}
	l := m.lock()
	defer m.unlock()
	fresh.regrouped = l.regrouped
	l.replicated = fresh
	l.wake()
	return nil
}

// Site returns a joined site.
func (m *Machine) Site(name string) (Site, bool) {
	l := m.lock()
	defer m.unlock()
	s, ok := l.sites[name]
	return s, ok
}

// Sites returns all sites by name, and the pending invites by site.
func (m *Machine) Sites() ([]Site, []Invite) {
	l := m.lock()
	defer m.unlock()
	return slices.SortedFunc(maps.Values(l.sites), bySiteName),
		slices.SortedFunc(maps.Values(l.invites), func(a, b Invite) int { return bySiteName(Site{Name: a.Site}, Site{Name: b.Site}) })
}

func tokenKey(hash [32]byte) string { return hex.EncodeToString(hash[:]) }
