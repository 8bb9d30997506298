package uplink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"

	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/pki"
	"covey/internal/wire"
)

// Options of an Uplink; all but DialOptions are required.
type Options struct {
	Dir         string      // the site's data directory
	Holder      *pki.Holder // its keys and certificate, which the Uplink renews
	Addresses   []string    // the coordinators'
	DialOptions []grpc.DialOption
	Log         *slog.Logger
	Now         func() time.Time
	Egress      *egress.Log
	Work        *sync.WaitGroup // of what the Uplink starts

	// Hello says what the site offers, and Studies adds to it which studies are open there. Studies
	// is called once answers find the new link: a proposal of the link before may still be worked
	// on, and either its study is on record by then, and in the hello, or its decision finds the
	// link. Either way the coordinator learns that the study is open.
	Hello   func() wire.Hello
	Studies func(*wire.Hello)
	// Head is called with each head of the coordinators' chain, in the order in which they come on
	// the present link; it must not call the Uplink.
	Head func(wire.Head)
	// Handle answers one request, nil for silence. It is called by one goroutine at a time for one
	// study.
	Handle func(wire.Message) wire.Message
	// QuantumSafe reports whether the site's policy demands a quantum-safe link now.
	QuantumSafe func() bool
	// Ceiling is the longest message that the site takes now, in bytes.
	Ceiling func() int
}

// Uplink keeps a site's link. It is safe for use by several goroutines.
type Uplink struct {
	o     Options
	asked pace

	mu     sync.Mutex
	link   *link                    // nil while there is none
	calls  grpc.ClientConnInterface // of the link, for what its stream does not carry; nil while there is none
	stands Standing
	agains int       // calls of Again
	skewed bool      // the clocks were far apart when they were last compared
	theirs time.Time // the coordinator's clock when it last told it; zero before
	told   time.Time // when that was, on this process's clock, which nobody sets
	why    string    // the coordinator did not say last which CAs are in force; empty if it did
	ends   time.Time // when the CA's end was last logged
}

// Standing is how a site's link stands.
type Standing struct {
	Linked      bool
	Address     string          // linked to, or tried, where Err is from
	KeyExchange pki.KeyExchange // of the link
	Err         error           // of the last try that tells most, where there is no link
	// Compared says whether a coordinator told its clock in this run. Ahead is how far this
	// machine's is ahead of it since: less than 0 if it is behind.
	Compared bool
	Ahead    time.Duration
}

// New returns an Uplink that has no link until Stay is called.
func New(o Options) *Uplink { return &Uplink{o: o} }

// Post sends an answer that nobody asked for just now, if there is a link.
func (u *Uplink) Post(m wire.Message) {
	u.mu.Lock()
	l := u.link
	u.mu.Unlock()
	if l != nil {
		l.post(m)
	}
}

// errAgain ends a link, so that the next one's hello says what is offered now.
var errAgain = errors.New("uplink: the site offers something else now")

// Again ends the link, if there is one, and opens another; so it does with one whose hello is being
// made.
func (u *Uplink) Again() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.agains++
	if u.link != nil && u.link.end != nil {
		u.link.end(errAgain)
	}
}

// Stands returns how the link stands.
func (u *Uplink) Stands() Standing {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.stands
	if s.Compared = !u.theirs.IsZero(); s.Compared {
		s.Ahead = u.ahead()
	}
	return s
}

// Calls returns the link's connection, for calls next to it; nil while there is no link.
func (u *Uplink) Calls() grpc.ClientConnInterface {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.calls
}

func (u *Uplink) setCalls(conn grpc.ClientConnInterface) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = conn
}

func (u *Uplink) set(l *link, s Standing) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.link, u.stands = l, s
}

// headed passes a head on, of the present link alone: one of an earlier link may be older than what
// was shown since.
func (u *Uplink) headed(l *link, m wire.Head) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.link == l {
		u.o.Head(m)
	}
}

func (u *Uplink) calledAgain() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.agains
}

// begin makes l the link and says hello on it; not where the policy demands more of a link than
// when it was dialed, or the site offers something else since the hello was begun: to count units
// can take minutes. What changes later finds the link.
func (u *Uplink) begin(l *link, address string, exchange pki.KeyExchange) bool {
	before := u.calledAgain()
	h := u.o.Hello()
	u.set(l, Standing{Linked: true, Address: address, KeyExchange: exchange})
	if u.o.QuantumSafe() && !exchange.QuantumSafe {
		return false
	}
	if u.calledAgain() != before {
		return false
	}
	u.o.Studies(&h)
	l.enqueue(h, true) // the writer has not begun
	return true
}

// Stay keeps a link open until ctx ends: it tries the
// coordinators' addresses in order, again and again, waiting longer after each round
// of failures. One that does not lead may say who does. What an address fails with is logged
// once until a link stands: among several the errors alternate.
func (u *Uplink) Stay(ctx context.Context) error {
	wait := backoff.NewExponentialBackOff()
	// and half of that as jitter
	wait.InitialInterval, wait.MaxInterval = 250*time.Millisecond, 8*time.Second
	said, elsewhere := map[string]bool{}, false
	var moved Standing // while the leader is where it is not called: as one that answers says
	addresses := rota{configured: u.o.Addresses}
	for {
		address := addresses.next()
		if u.o.Holder.Reload() {
			u.o.Log.Info("this site joined again; its new certificate is in use")
		}
		settled, err := u.connect(ctx, address)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if settled {
			wait.Reset()
			clear(said)
			moved = Standing{}
		}
		if _, ok := errors.AsType[*enroll.NotLeaderError](err); !ok && !settled && err != errAgain {
			// The coordinator's end of the handshake shows as a broken pipe.
			err = cmp.Or(u.o.Holder.Ended(u.o.Now()), err)
		}
		if err == errAgain {
			u.set(nil, Standing{Address: address, Err: err})
			addresses.again()
			continue
		}
		_, follows := errors.AsType[*enroll.NotLeaderError](err)
		switch away := addresses.heard(err); {
		case away:
			moved = Standing{Address: address, Err: fmt.Errorf("%w, which agent.toml does not name: if the operator tells you so, add it to coordinator and restart the agent", err)}
			if !elsewhere {
				elsewhere = true
				u.o.Log.Warn("the leading coordinator is at an address that agent.toml does not name, so this agent does not call it; if its operator confirms the address, add it to coordinator",
					"asked", address, "error", enroll.Plain(err))
			}
		case follows:
			moved = Standing{}
			wait.Reset() // an election takes about a second
		}
		if moved.Err != nil {
			u.set(nil, moved)
		} else {
			u.set(nil, Standing{Address: address, Err: err})
		}
		if addresses.atOnce() {
			continue
		}
		if now := enroll.Plain(err); !said[address+now] {
			u.o.Log.Warn("no link to the coordinator; trying again", "address", address, "error", now)
			if len(said) == maxSaid { // the coordinator has the choice of some words
				clear(said)
			}
			said[address+now] = true
		}
		select {
		case <-time.After(wait.NextBackOff()):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// maxSaid bounds what Stay remembers to have logged.
const maxSaid = 100

// settleTime is how long a link lives before it counts as one: a coordinator
// that takes the handshake and then refuses the site must not be asked four
// times a second.
const settleTime = 2 * time.Second

// connect runs one link to its end.
func (u *Uplink) connect(ctx context.Context, address string) (settled bool, err error) {
	tls, err := u.o.Holder.ClientTLS(enroll.ServerName(address))
	if err != nil {
		return false, err
	}
	if u.o.QuantumSafe() {
		pki.DemandQuantumSafe(tls)
	}
	seen := enroll.NewHandshake(tls)
	conn, err := grpc.NewClient(address, append(enroll.DialOptions(pki.RoleSite, seen), u.o.DialOptions...)...)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := wire.OpenLink(ctx, conn) // waits for the handshake, or its failure
	if err != nil {
		return false, seen.Explain(err)
	}
	l := newLink(ctx, u)
	l.end = cancel
	exchange := seen.KeyExchange()
	if !u.begin(l, address, exchange) {
		return false, errAgain
	}
	u.setCalls(conn)
	defer u.setCalls(nil)
	ended := make(chan error, 2)
	u.o.Work.Go(func() {
		// io.EOF says that the stream is over; why, its reader hears.
		if err := l.write(s.Send); !errors.Is(err, io.EOF) {
			ended <- err
		}
	})
	u.o.Work.Go(func() { ended <- l.read(s.Receive) })
	u.o.Work.Go(func() { u.renewals(ctx, conn) })
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	for {
		select {
		case err := <-ended:
			if context.Cause(ctx) == errAgain {
				return true, errAgain
			}
			return settled, enroll.ExplainLeader(err)
		case <-timer.C:
			settled = true
			u.o.Log.Info("linked to the coordinator", "address", address, "key_exchange", exchange.String())
		}
	}
}
