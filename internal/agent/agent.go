package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"

	"covey/internal/chainwatch"
	"covey/internal/egress"
	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/rowcache"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// Options of an agent.
type Options struct {
	Config *siteconfig.Config
	// Logger takes what an operator reads. It never sees rows, shares or sums.
	// Nothing is logged if nil.
	Logger *slog.Logger
	// Now is the wall clock, for approvals and certificates; time.Now if nil.
	Now func() time.Time
	// Control opens the operator's socket, and what it returns serves it until ctx ends; there is
	// none if nil. Run waits for it.
	Control func(ctx context.Context, a *Agent) (served func() error, err error)
	// Free gives memory that is not used back to the system, some seconds after a study's or a
	// query's work; nil: nothing does. It is debug.FreeOSMemory where the process is the agent's.
	Free func()
	// DialOptions come after the agent's own.
	DialOptions []grpc.DialOption
}

// Agent is a site's daemon. It owns its data directory from New to Close: a
// second agent on one directory is refused by the ledger's lock.
type Agent struct {
	// What the operator asks and says.
	Views     Views
	Settings  Settings
	Chain     *chainwatch.Watch // of the coordinators' log
	Decisions Decisions

	sessions  sessions
	arriving  arrivals
	strangers strangers
	expiry    expiry
	endings   endings

	config      *siteconfig.Config // of the start: site, data, coordinator
	log         *slog.Logger
	now         func() time.Time
	control     func(context.Context, *Agent) (func() error, error)
	dialOptions []grpc.DialOption

	site     *pki.Holder
	identity ed25519.PrivateKey
	ledger   *ledger.Ledger
	pending  *proposals.PendingStore
	egress   *egress.Log
	cache    *rowcache.Cache
	stock    *holding.Stock
	uplink   *uplink.Uplink

	unsigned sync.Mutex // held while the policy decides on what nobody signed: how many are open counts

	work sync.WaitGroup // everything that Run starts
	once sync.Once      // Close

	mu   sync.Mutex
	stop context.CancelCauseFunc // of Run; nil before
	over bool                    // the ledger failed, and the log says so

	post func(wire.Message) // sends what nobody asked for just now, if there is a link
}

// Format names the site whatever the verb: an agent holds its identity key.
func (a *Agent) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "agent of %s [redacted]", a.config.Site) }

// New opens an agent's data directory. The error is a *siteconfig.Error, one of
// internal/pki's or internal/ledger's, or an I/O error that names its file.
func New(o Options) (*Agent, error) {
	a := &Agent{
		config: o.Config, log: o.Logger, now: o.Now, control: o.Control, dialOptions: o.DialOptions,
		stock: holding.NewStock(o.Free),
	}
	a.Views.a, a.Decisions.a, a.expiry.a, a.endings.a = a, a, a, a
	a.sessions = sessions{a: a, places: map[proposal.Digest]*place{}, sizes: map[proposal.Digest]int{}}
	a.arriving = arrivals{a: a, held: map[proposal.Digest]*arriving{}}
	a.strangers = strangers{a: a, told: map[proposal.Digest]bool{},
		unrecorded: pace{burst: unknownBurst, every: unknownEvery}, idle: pace{burst: idleBurst, every: idleEvery}}
	a.Settings.a, a.Settings.charged = a, map[string]map[string]bool{}
	a.Settings.current.Store(o.Config)
	a.Settings.charge(o.Config)
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	dir := a.config.DataDir()
	var err error
	if a.site, err = pki.LoadHolder(pki.RoleSite, dir); err != nil {
		return nil, err
	}
	if name := a.site.Name(); name != a.config.Site {
		if name == "" {
			return nil, pki.ErrNotJoined
		}
		return nil, a.config.Errorf("site", "the certificate is for site %q, not %q", name, a.config.Site)
	}
	a.identity = a.site.Identity()
	if a.ledger, err = ledger.Open(a.config.LedgerDir()); err != nil {
		return nil, err
	}
	a.Chain = chainwatch.New(a.ledger, a.log, a.failed, func() { a.uplink.Again() })
	if a.pending, err = proposals.OpenPending(filepath.Join(dir, "pending")); err == nil {
		a.egress, err = egress.Open(dir, a.log)
	}
	if err == nil {
		a.endings.past, err = proposals.OpenPast(filepath.Join(dir, "past"))
	}
	if err == nil {
		a.arriving.seen, err = proposals.OpenArrivals(filepath.Join(dir, "arrivals.json"))
	}
	if err != nil {
		return nil, errors.Join(err, a.ledger.Close())
	}
	a.uplink = a.newUplink()
	a.post = a.uplink.Post
	if err = a.tidy(); err == nil {
		err = a.openCache()
	}
	if err == nil {
		err = a.compareEgress()
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// tidy removes proposals whose decision was on record when a crash came.
func (a *Agent) tidy() error {
	pending, err := a.pending.List()
	if err != nil {
		return err
	}
	for _, id := range pending {
		if e, decided := a.ledger.Study(id); decided {
			if body, ok := a.pending.Get(id); ok && e.State == ledger.Rejected {
				a.endings.rejected(id, body)
			}
			if err := a.pending.Remove(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// Run keeps the link to the coordinator until ctx ends or the ledger fails, and
// then closes the agent. Ending ctx stops it abruptly, as a crash would: what
// is needed to go on is in the data directory, and a new agent on it goes on.
// The error is ctx's, or the ledger's first, after which the process must end.
func (a *Agent) Run(ctx context.Context) error {
	defer a.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer a.work.Wait()
	defer cancel(context.Canceled)
	a.mu.Lock()
	a.stop = cancel
	a.mu.Unlock()
	if a.control != nil {
		served, err := a.control(ctx, a)
		if err != nil {
			return err
		}
		a.work.Go(func() {
			if err := served(); err != nil {
				a.log.Error("the control socket closed", "error", err)
			}
		})
	}
	notifier, err := a.notifier()
	if err != nil {
		return err
	}
	a.work.Go(func() { notifier.Run(ctx) })
	a.work.Go(func() { a.expiry.run(ctx) })
	return a.uplink.Stay(ctx)
}

// Dir is the data directory.
func (a *Agent) Dir() string { return a.config.DataDir() }

// Err is nil until the ledger failed.
func (a *Agent) Err() error { return a.ledger.Err() }

// Close releases the data directory. An agent that runs is ended by its context.
func (a *Agent) Close() error {
	var err error
	a.once.Do(func() {
		a.arriving.end()
		err = errors.Join(a.ledger.Close(), a.egress.Close(), a.closeCache())
	})
	return err
}

// failed ends Run if err is the ledger's end: after its first I/O error nothing
// it says can be relied on, and nothing may be sent on the strength of it.
func (a *Agent) failed(err error) {
	_, store := errors.AsType[*ledger.StoreError](err)
	if _, lost := errors.AsType[*ledger.LostError](err); !store && !lost {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.over = true
		a.log.Error("the ledger failed; the agent stops", "error", err)
	}
	if a.stop != nil {
		a.stop(err)
	}
}

// unkept is failed for a proposal that cannot be kept: the next process answers it.
func (a *Agent) unkept(err error) (study.Code, error) {
	err = &ledger.StoreError{Op: "kept a proposal", Err: err}
	a.failed(err)
	return study.CodeStore, err
}

// silent reports whether nothing may be said any more.
func (a *Agent) silent() bool {
	err := a.ledger.Err()
	a.failed(err)
	a.mu.Lock()
	defer a.mu.Unlock()
	return err != nil || a.over
}

// newUplink makes the link's keeper; there is no link until Run.
func (a *Agent) newUplink() *uplink.Uplink {
	return uplink.New(uplink.Options{
		Dir: a.config.DataDir(), Holder: a.site, Addresses: a.config.Coordinator, DialOptions: a.dialOptions,
		Log: a.log, Now: a.now, Egress: a.egress, Work: &a.work,
		Hello: a.hello, Studies: a.tellStudies, Head: a.Chain.Take, Handle: a.handle, Ceiling: a.sessions.ceiling,
		QuantumSafe: func() bool { return a.Settings.current.Load().Policy.QuantumSafeLinks },
	})
}

// handle answers one request, nil for silence. It is called by one goroutine at
// a time for one study.
//
// Once the ledger has failed nothing is said, not even a refusal: this process
// ends, and the next one on this directory answers from what is on disk. A refusal
// would end for good what only has to wait.
func (a *Agent) handle(r wire.Message) wire.Message {
	if a.strangers.ignores(r) {
		return nil
	}
	defer a.stock.Worked()
	if said := a.answer(r); !a.silent() {
		return said
	}
	return nil
}

func (a *Agent) answer(r wire.Message) wire.Message {
	if offer, ok := r.(wire.Proposal); ok {
		return a.arriving.offered(offer)
	}
	if _, over := r.(wire.Ended); over {
		a.arriving.drop(r.About().Study) // nobody waits for its verdict
	} else if a.arriving.holds(r.About().Study) {
		return nil // asked ahead of its verdict
	}
	if said, ok := a.strangers.idles(r); ok {
		return said
	}
	s, code := a.sessions.of(r.About().Study)
	if s == nil {
		return a.strangers.answer(r, code)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handle(r)
}
