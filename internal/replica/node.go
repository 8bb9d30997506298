package replica

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"covey/internal/bolt"
	"covey/internal/fsync"
)

var (
	// ErrLocked is returned by Open while another process holds the store.
	ErrLocked = errors.New("replica: another coordinator runs on this folder")
	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("replica: closed")
	// ErrNotLeader is returned by Apply and Barrier on a node that does not
	// lead: the entry was not proposed.
	ErrNotLeader = errors.New("replica: this node does not lead")
	// ErrUnknown is returned when the call ended before its outcome was known:
	// the entry may be, or may yet become, committed.
	ErrUnknown = errors.New("replica: the outcome is not known")
)

// Options of a node. The zero value is right for a cluster of one.
type Options struct {
	Logger *slog.Logger // raft's messages, at debug level; nil for none
	// ID names the node in the cluster forever; "" is "1". The address is in
	// the cluster's configuration under it.
	ID string
	// Stream connects the nodes of a cluster, and the node closes it; nil for a
	// cluster of one that no other can join.
	Stream Stream
	// Address is where other nodes reach this one's Stream.
	Address string
	// Join starts without a cluster of its own if there is no state: the node
	// then waits for a leader that has added it.
	Join bool
	// PeerTimeout bounds each exchange with another node; 0 is 10 s.
	PeerTimeout time.Duration
	// Timeout bounds Open's wait for a leader and for the log to be applied; 0
	// is 30 s.
	Timeout time.Duration
	// SnapshotThreshold is how many entries after the last snapshot make a new
	// one due; 0 is 1024. It is looked at every 30 to 60 s, and at once after ten
	// times as many: a start applies what came since. A quarter of the threshold
	// is kept as log behind a snapshot, for followers that lag.
	SnapshotThreshold uint64
	// Election is the time without a leader after which a node stands for
	// election, to twice that; 0 is 50 ms for a cluster of one without a Stream,
	// and 1 s with one.
	Election time.Duration
}

const (
	lockWait         = 300 * time.Millisecond
	drainTime        = time.Second      // given to calls under way after a failure
	snapshotInterval = 30 * time.Second // raft looks for one that is due after this to twice this
	burst            = 10               // times the threshold is looked at once
	retain           = 2                // snapshots kept
)

// Node is one running replica. Its methods may be called from many goroutines.
type Node struct {
	raft      *raft.Raft
	latch     *latch
	transport raft.Transport
	close     func() error // the stores
	mark      *mark
	backlog   *backlog

	// Others wait for the goroutine that stops or closes on a channel, not a
	// lock: time in a synctest bubble stands still while a lock is waited for.
	mu       sync.Mutex
	stopping bool
	closing  bool
	pending  sync.WaitGroup // calls under way; none begins once stopping
	stopped  chan struct{}  // closed with stopping
	halted   chan struct{}  // closed when raft has stopped
	closed   chan struct{}  // closed when the stores are closed
	closeErr error
}

// Open starts the node in dir/raft (0700), making it and a cluster of one if
// there is none. m must be empty. If the cluster is this node alone, Open returns once
// it leads and everything committed has been applied to m; else at once, and
// LeaderCh says when this node leads. Errors: ErrLocked, *StoreError, which has a *LostError within
// where only people can help.
func Open(dir string, m Machine, opts Options) (*Node, error) {
	path := filepath.Join(dir, "raft")
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, &StoreError{Op: "made its directory", Err: err}
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return nil, &StoreError{Op: "narrowed its directory's mode", Err: err}
	}
	db, err := openBolt(filepath.Join(path, "raft.db"))
	if err != nil {
		return nil, err
	}
	err = removeCutShort(filepath.Join(path, "snapshots")) // db is open here alone
	if err == nil {
		err = legible(filepath.Join(path, "snapshots"))
	}
	var snaps raft.SnapshotStore
	if err == nil {
		snaps, err = raft.NewFileSnapshotStoreWithLogger(path, retain, newBridge(opts.Logger))
	}
	if err == nil { // neither store fsyncs the name of what it made here
		err = errors.Join(fsync.Dir(path), fsync.Dir(dir))
	}
	if err != nil {
		return nil, errors.Join(&StoreError{Op: "opened its directory", Err: err}, db.Close())
	}
	return open(m, opts, stores{owner: dir, logs: db, stable: db, snaps: snaps, snapDir: filepath.Join(path, "snapshots"), mark: filepath.Join(path, "applied"), place: place(filepath.Join(path, "raft.db")), file: plain(filepath.Join(path, "raft.db")), close: db.Close})
}

// removeCutShort removes what snapshots left that a crash or a full disk cut short: raft leaves it
// there for good.
func removeCutShort(dir string) error {
	all, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range all {
		if filepath.Ext(e.Name()) == ".tmp" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// legible returns an error unless this user may read each snapshot, and make files next to them:
// raft passes over one that it cannot read, and would start from an older one, or call the log
// damaged that begins after it.
func legible(dir string) error {
	all, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range all {
		for _, name := range []string{"meta.json", "state.bin"} {
			f, err := os.Open(filepath.Join(dir, e.Name(), name))
			if err == nil {
				err = f.Close()
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return err
			}
		}
	}
	f, err := os.CreateTemp(dir, "*.tmp") // which removeCutShort removes after a crash
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// openBolt opens the bbolt file; bbolt panics on some damaged files.
func openBolt(path string) (db *raftboltdb.BoltStore, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, &StoreError{Op: "opened raft.db", Err: &LostError{fmt.Errorf("the database is damaged: %v", p)}}
		}
	}()
	if err := bolt.Make(path); err != nil {
		return nil, &StoreError{Op: "made raft.db", Err: err}
	}
	if err := cutShort(path); err != nil {
		return nil, &StoreError{Op: "opened raft.db", Err: err}
	}
	db, err = raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType}})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return nil, &StoreError{Op: "opened raft.db", Err: &LostError{fmt.Errorf("the database is damaged: %w", err)}}
	case err != nil:
		return nil, &StoreError{Op: "opened raft.db", Err: err}
	}
	return db, nil
}

// stores are what a node stands on; the tests bring their own.
type stores struct {
	logs    raft.LogStore
	stable  raft.StableStore
	snaps   raft.SnapshotStore
	snapDir string
	owner   string // the data folder
	mark    string // the mark's file; "" for none
	place   []byte // of the log's file; nil if it cannot be told from a copy
	file    string // the log's, as the system has it; "" for none
	close   func() error
}

func open(m Machine, opts Options, on stores) (*Node, error) {
	l := newLatch()
	st := &store{logs: on.logs, stable: on.stable, owner: on.owner, pages: pages{path: on.file}, latch: l}
	n := &Node{latch: l, close: func() error { return st.pages.close(on.close) }, mark: &st.mark, stopped: make(chan struct{}), halted: make(chan struct{}), closed: make(chan struct{})}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	snaps := &snapshots{SnapshotStore: on.snaps, dir: on.snapDir, owner: on.owner, log: st, latch: l}
	if on.mark != "" {
		end, err := st.LastIndex()
		if err == nil {
			err = st.do("opened its mark", func() error { return st.mark.open(on.mark, end) })
		}
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	if err := n.start(m, opts, st, snaps, on.place); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	go n.compact() // not before: a start has enough to do
	return n, nil
}

func config(opts Options) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(cmp.Or(opts.ID, "1"))
	c.Logger = newBridge(opts.Logger)
	election := 50 * time.Millisecond
	if opts.Stream != nil {
		election = time.Second
	}
	c.HeartbeatTimeout = cmp.Or(opts.Election, election)
	c.ElectionTimeout = c.HeartbeatTimeout
	c.LeaderLeaseTimeout = c.HeartbeatTimeout
	c.CommitTimeout = min(max(c.HeartbeatTimeout/10, time.Millisecond), 50*time.Millisecond)
	c.SnapshotThreshold = cmp.Or(opts.SnapshotThreshold, 1024)
	c.SnapshotInterval = snapshotInterval
	c.TrailingLogs = c.SnapshotThreshold / 4
	c.NoSnapshotRestoreOnStart = false // the machine lives in memory only
	c.NoLegacyTelemetry = true
	return c
}

// start runs raft's own start in a goroutine of its own, which a failing store
// may end, and waits for the node to lead and to have caught up.
func (n *Node) start(m Machine, opts Options, st *store, snaps *snapshots, place []byte) error {
	c := config(opts)
	n.backlog = &backlog{most: burst * c.SnapshotThreshold, due: make(chan struct{}, 1)}
	addr, transport := transport(opts, c.LocalID)
	n.transport = transport
	started := make(chan struct{})
	var err error
	go func() {
		defer close(started)
		defer func() {
			if p := recover(); p != nil { // a log with a gap, as after a lost snapshot
				err = n.latch.set("started", &LostError{fmt.Errorf("its log is damaged, or begins after a snapshot that was lost (%v): restore the whole data folder from a backup; or if other coordinators run, remove this one there and add one under a new name", p)})
			}
		}()
		one := raft.Configuration{Servers: []raft.Server{{Suffrage: raft.Voter, ID: c.LocalID, Address: addr}}}
		if err = begun(st, snaps); err == nil {
			err = settle(st, place)
		}
		if err != nil {
			return
		}
		if !opts.Join {
			err = raft.BootstrapCluster(c, st, newborn{st}, snaps, transport, one)
		}
		if err == nil || errors.Is(err, raft.ErrCantBootstrap) {
			n.raft, err = raft.NewRaft(c, &machine{m: m, mark: &st.mark, snaps: snaps, backlog: n.backlog, latch: n.latch}, st, st, snaps, transport)
		}
	}()
	<-started
	if n.raft != nil {
		go n.watch()
		go n.listen(opts.Logger)
	}
	if failed := n.latch.get(); failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("replica: %w", err)
	}
	if alone, err := n.alone(c.LocalID); err != nil || !alone {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(opts.Timeout, 30*time.Second))
	defer cancel()
	if err := n.lead(ctx); err != nil {
		return err
	}
	return n.Barrier(ctx)
}

// alone reports whether no other node can lead.
func (n *Node) alone(id raft.ServerID) (bool, error) {
	peers, err := n.Peers()
	return len(peers) == 1 && peers[0].ID == string(id), err
}

// lead waits until this node leads.
func (n *Node) lead(ctx context.Context) error {
	changed := make(chan raft.Observation, 1) // one is enough: it means look again
	o := raft.NewObserver(changed, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.RaftState)
		return ok
	})
	n.raft.RegisterObserver(o)
	defer n.raft.DeregisterObserver(o)
	for !n.Leader() {
		select {
		case <-changed:
		case <-n.latch.failed:
			return n.latch.get()
		case <-ctx.Done():
			return fmt.Errorf("replica: no leader: %w", ctx.Err())
		}
	}
	return nil
}

// watch stops raft when a store has failed.
func (n *Node) watch() {
	select {
	case <-n.latch.failed:
		n.shutdown()
	case <-n.stopped:
	}
}

// begin admits a call; the caller must then call n.pending.Done.
func (n *Node) begin() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.latch.get(); err != nil { // before stopping, which a failure sets too
		return err
	}
	if n.stopping {
		return ErrClosed
	}
	n.pending.Add(1)
	return nil
}

// await runs a request and waits for its outcome, the end of ctx or a failure.
func (n *Node) await(ctx context.Context, request func() raft.Future) (raft.Future, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("replica: %w", err) // not proposed
	}
	if err := n.begin(); err != nil {
		return nil, err
	}
	done := make(chan raft.Future, 1)
	go func() {
		defer n.pending.Done()
		f := request()
		f.Error()
		done <- f
	}()
	select {
	case f := <-done:
		return f, n.explain(f.Error())
	case <-n.latch.failed:
		return nil, n.latch.get()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnknown, ctx.Err())
	}
}

// explain turns raft's errors into this package's.
func (n *Node) explain(err error) error {
	if failed := n.latch.get(); err != nil && failed != nil {
		return failed
	}
	switch {
	case err == nil, errors.Is(err, raft.ErrNothingNewToSnapshot):
		return nil
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return ErrNotLeader
	case errors.Is(err, raft.ErrLeadershipLost), errors.Is(err, raft.ErrRaftShutdown):
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return fmt.Errorf("replica: %w", err)
}

// Apply proposes an entry and waits until it is committed, fsynced and
// applied; it returns what Machine.Apply answered, an error value included.
// The error is Apply's own: ErrNotLeader (not proposed), ErrUnknown (perhaps
// committed, also when ctx ends first), *StoreError, ErrClosed.
func (n *Node) Apply(ctx context.Context, entry []byte) (any, error) {
	entry = bytes.Clone(entry) // raft keeps it after ctx has ended
	f, err := n.await(ctx, func() raft.Future { return n.raft.Apply(entry, 0) })
	if err != nil {
		return nil, err
	}
	return f.(raft.ApplyFuture).Response(), nil
}

// Barrier returns once everything committed before the call has been applied
// here. A new leader calls it before it acts on the state.
func (n *Node) Barrier(ctx context.Context) error {
	_, err := n.await(ctx, func() raft.Future { return n.raft.Barrier(0) })
	return err
}

// Snapshot saves the machine's state now and drops the log it stands for.
func (n *Node) Snapshot() error {
	_, err := n.await(context.Background(), func() raft.Future { return n.raft.Snapshot() })
	return err
}

// Leader reports whether this node leads, as far as it knows.
func (n *Node) Leader() bool { return n.raft.State() == raft.Leader }

// LeaderCh delivers true when this node begins to lead, at first for Open's
// own, and false when it stops. Only the latest change is kept for a slow
// reader; there should be one reader.
func (n *Node) LeaderCh() <-chan bool { return n.raft.LeaderCh() }

// Failed delivers the first store error, once. The process must then end; by
// the time it is delivered no call succeeds any more.
func (n *Node) Failed() <-chan error { return n.latch.first }

// shutdown refuses new calls, lets those under way end, and stops raft. Without the wait raft may
// drop committed entries before they are applied, and never answer for them. Every call ends while
// raft runs: it commits, or raft finds that it no longer leads.
func (n *Node) shutdown() {
	if !n.claim(&n.stopping) {
		<-n.halted
		return
	}
	close(n.stopped)
	idle := make(chan struct{})
	go func() { n.pending.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-n.latch.failed: // raft may be unable to end them; their callers know
		timer := time.NewTimer(drainTime)
		defer timer.Stop()
		select {
		case <-idle:
		case <-timer.C:
		}
	}
	if n.raft != nil {
		n.raft.Shutdown().Error() // waits for raft's goroutines; closes the transport
	}
	if t, ok := n.transport.(raft.WithClose); ok {
		t.Close() // raft did, if it ever began
	}
	close(n.halted)
}

// claim sets the flag; it is true for the one caller that set it.
func (n *Node) claim(flag *bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	mine := !*flag
	*flag = true
	return mine
}

// Close stops the node and closes its stores, in that order. It
// waits for calls under way. It is safe to call twice.
func (n *Node) Close() error {
	if n.claim(&n.closing) {
		n.shutdown()
		n.latch.close()
		n.closeErr = errors.Join(n.close(), n.mark.close())
		close(n.closed)
	}
	<-n.closed
	return n.closeErr
}
