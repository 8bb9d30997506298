package analyst

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/enroll"
	"covey/internal/pki"
	"covey/internal/proposal"
)

const (
	// callTime bounds one call's answer, resultTime that of a result file.
	callTime   = time.Minute
	resultTime = 10 * time.Minute
	// reachTime bounds the way to one address, where there are others to try.
	reachTime = 5 * time.Second
	// handover bounds the wait for a coordinator that leads: an election takes about a second.
	handover = 8 * time.Second
	// between is the time from one round of all addresses to the next.
	between = 250 * time.Millisecond
)

// Client is an analyst's folder and its connections. One goroutine uses it at a time.
type Client struct {
	// Say is called with what a person should know that does not fail a call.
	Say func(format string, args ...any)

	dir     string
	config  Config
	holder  *pki.Holder
	options []grpc.DialOption
	now     func() time.Time
	open    map[string]*line // by address
	first   string           // the address that answered last
}

// line is a connection that a coordinator has answered on.
type line struct {
	conn *grpc.ClientConn
	seen *enroll.Handshake
}

// Open reads an analyst's folder. Errors: [*NotJoinedError], [*ConfigError], [*pki.FileError],
// [*pki.ModeError].
func Open(dir string, options ...grpc.DialOption) (*Client, error) {
	if _, err := os.Stat(filepath.Join(dir, File)); errors.Is(err, fs.ErrNotExist) {
		return nil, &NotJoinedError{dir}
	}
	c := &Client{Say: func(string, ...any) {}, dir: dir, options: options, now: time.Now, open: map[string]*line{}}
	var err error
	if c.config, err = readConfig(dir); err != nil {
		return nil, err
	}
	if c.holder, err = pki.LoadHolder(pki.RoleAnalyst, dir); err != nil {
		return nil, err
	}
	switch name := c.holder.Name(); {
	case name == "":
		return nil, &NotJoinedError{dir}
	case name != c.config.Analyst:
		return nil, &ConfigError{File: filepath.Join(dir, File), Key: "analyst", Reason: "the certificate belongs to " + name}
	}
	return c, nil
}

// Close ends the connections.
func (c *Client) Close() {
	for address := range c.open {
		c.drop(address)
	}
}

func (c *Client) drop(address string) {
	if l := c.open[address]; l != nil {
		l.conn.Close()
		delete(c.open, address)
	}
}

// Party returns this analyst, as proposals name it.
func (c *Client) Party() proposal.Party {
	return proposal.Party{Name: c.holder.Name(), Identity: proposal.Key(c.holder.Identity().Public().(ed25519.PublicKey))}
}

// Fingerprint returns the form of this analyst's key that people compare.
func (c *Client) Fingerprint() string {
	return pki.Fingerprint(ed25519.PublicKey(c.Party().Identity))
}

// KeyExchange returns that of the connection that answered last; the zero one before the first
// call.
func (c *Client) KeyExchange() pki.KeyExchange {
	if l := c.open[c.first]; l != nil {
		return l.seen.KeyExchange()
	}
	return pki.KeyExchange{}
}

// Ends returns when the certificate ends.
func (c *Client) Ends() time.Time { return c.holder.Certificate().NotAfter }

// call makes a call at the coordinator that leads, or at the first that answers it at all. A moment
// without a leader is waited out. A call that was lost on its way is not made again: do may have
// been taken. The error is in words for the analyst.
func (c *Client) call(ctx context.Context, within time.Duration, do func(context.Context, *grpc.ClientConn) error) error {
	if !c.now().Before(c.Ends()) {
		return &EndedError{c.holder.Name(), c.Ends()}
	}
	for begun := time.Now(); ; {
		err := c.round(ctx, within, do)
		if _, election := errors.AsType[*NoLeaderError](err); !election || time.Since(begun) > handover {
			return err
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// round tries each address once. Those that a coordinator names as the leader's come first among
// those that are left, if analyst.toml has them: no word of a coordinator sends this program to
// another host.
func (c *Client) round(ctx context.Context, within time.Duration, do func(context.Context, *grpc.ClientConn) error) error {
	left := slices.Clone(c.config.Coordinator)
	toFront(left, c.first)
	var last, follows error
	for len(left) > 0 {
		address := left[0]
		left = left[1:]
		l, err := c.reach(ctx, address)
		if err == nil {
			bounded, cancel := context.WithTimeout(ctx, within)
			err = enroll.ExplainLeader(l.seen.Explain(do(bounded, l.conn)))
			cancel()
			if err == nil {
				c.first = address
				return nil
			}
			if lost(err) && ctx.Err() == nil {
				c.drop(address)
				return &LostError{address, err}
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if other, ok := errors.AsType[*enroll.NotLeaderError](err); ok {
			if follows = err; len(other.Addresses) > 0 {
				for _, a := range slices.Backward(other.Addresses) {
					toFront(left, a)
				}
			}
			continue
		}
		if !elsewhere(err) {
			return c.explain(err)
		}
		last = err
	}
	if follows != nil {
		return &NoLeaderError{filepath.Join(c.dir, File), follows}
	}
	if refused(last) {
		return last
	}
	return &enroll.DialError{Addresses: c.config.Coordinator, Err: last}
}

// toFront moves an address that is in the list to its front.
func toFront(list []string, address string) {
	if at := slices.Index(list, address); at > 0 {
		copy(list[1:at+1], list[:at])
		list[0] = address
	}
}

// lost reports whether a call's answer, or the call, was lost on its way.
func lost(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded || code == codes.Canceled ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// refused reports whether two ends met that have nothing to say to each other.
func refused(err error) bool {
	_, handshake := errors.AsType[*enroll.HandshakeError](err)
	_, version := errors.AsType[*enroll.VersionError](err)
	return handshake || version
}

// elsewhere reports whether another coordinator may answer, because this one was not reached or is
// not what it should be.
func elsewhere(err error) bool { return refused(err) || lost(err) }

// reach returns the connection to an address, on which its coordinator has said how this analyst
// stands.
func (c *Client) reach(ctx context.Context, address string) (*line, error) {
	if l := c.open[address]; l != nil {
		return l, nil
	}
	tls, err := c.holder.ClientTLS(enroll.ServerName(address))
	if err != nil {
		return nil, err
	}
	l := &line{seen: enroll.NewHandshake(tls)}
	if l.conn, err = grpc.NewClient(address, append(enroll.DialOptions(pki.RoleAnalyst, l.seen), c.options...)...); err != nil {
		return nil, err
	}
	within := enroll.JoinTimeout
	if len(c.config.Coordinator) > 1 {
		within = reachTime
	}
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := c.stand(bounded, l.conn); err != nil {
		l.conn.Close()
		return nil, enroll.ExplainLeader(l.seen.Explain(err))
	}
	if k := l.seen.KeyExchange(); k.Weak() {
		c.Say("the link to %s is not quantum-safe: its key exchange is %s; take tlsmlkem=0 out of GODEBUG here and there, or upgrade the older program", address, k.Group)
	}
	c.open[address] = l
	return l, nil
}
