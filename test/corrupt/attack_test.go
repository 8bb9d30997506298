package corrupt

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"covey/internal/pki"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// flood is one attack on the sites' port. workers run at the same time, again and again.
type flood struct {
	name    string
	workers int
	unit    string // of what is counted
	work    func(ctx context.Context, a *attacker) error
}

const (
	linkPath = "/covey.v1.Federation/Link"
	joinPath = "/covey.v1.Enrollment/Join"
)

var floods = []flood{
	{"connections that say nothing", 3000, "connections", func(ctx context.Context, a *attacker) error {
		return a.hold(ctx, nil)
	}},
	{"half a ClientHello", 3000, "connections", func(ctx context.Context, a *attacker) error {
		return a.hold(ctx, append([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}, make([]byte, 100)...))
	}},
	{"TLS handshakes without a certificate", 16, "handshakes", func(ctx context.Context, a *attacker) error {
		c, err := a.dial(ctx, false)
		if err != nil {
			return err
		}
		a.count(1)
		return c.Close()
	}},
	{"TLS handshakes with a site's certificate", 16, "handshakes", func(ctx context.Context, a *attacker) error {
		c, err := a.dial(ctx, true)
		if err != nil {
			return err
		}
		a.count(1)
		return c.Close()
	}},
	{"one byte a second after the handshake", 500, "bytes", func(ctx context.Context, a *attacker) error {
		c, err := a.dial(ctx, false)
		if err != nil {
			return err
		}
		defer c.Close()
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := c.Write([]byte{http2.ClientPreface[i%len(http2.ClientPreface)]}); err != nil {
				return err
			}
			a.count(1)
			sleep(ctx, time.Second)
		}
		return nil
	}},
	{"half a gRPC message on a link", 50, "links", func(ctx context.Context, a *attacker) error {
		c, err := a.link(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		m := grpcMessage(linkRequest(make([]byte, 1000), true))
		if err := c.frames.WriteData(1, false, m[:len(m)/2]); err != nil {
			return err
		}
		if err := c.out.Flush(); err != nil {
			return err
		}
		a.count(1)
		<-c.gone
		return nil
	}},
	{"streams without end, without a certificate", 8, "streams", func(ctx context.Context, a *attacker) error {
		return a.streams(ctx, false, joinPath, false)
	}},
	{"streams without end, with a certificate", 4, "streams", func(ctx context.Context, a *attacker) error {
		return a.streams(ctx, true, linkPath, false)
	}},
	{"rapid reset without a certificate", 8, "streams", func(ctx context.Context, a *attacker) error {
		return a.streams(ctx, false, joinPath, true)
	}},
	{"rapid reset with a certificate", 4, "streams", func(ctx context.Context, a *attacker) error {
		return a.streams(ctx, true, linkPath, true)
	}},
	{"pings", 4, "frames", func(ctx context.Context, a *attacker) error {
		return a.repeat(ctx, func(c *client) error { return c.frames.WritePing(false, [8]byte{1}) })
	}},
	{"settings", 4, "frames", func(ctx context.Context, a *attacker) error {
		return a.repeat(ctx, func(c *client) error {
			return c.frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 65535})
		})
	}},
	{"empty DATA", 4, "frames", func(ctx context.Context, a *attacker) error {
		return a.repeat(ctx, func(c *client) error { return c.frames.WriteData(1, false, nil) })
	}},
	{"window updates", 4, "frames", func(ctx context.Context, a *attacker) error {
		return a.repeat(ctx, func(c *client) error { return c.frames.WriteWindowUpdate(1, 1) })
	}},
	{"DATA on a stream that is over", 4, "16 KiB", func(ctx context.Context, a *attacker) error {
		full := make([]byte, 16<<10)
		return a.repeat(ctx, func(c *client) error { return c.frames.WriteData(3, false, full) })
	}},
	{"large heads in pieces", 8, "frames", func(ctx context.Context, a *attacker) error {
		c, err := a.open(ctx, false)
		if err != nil {
			return err
		}
		defer c.Close()
		var block bytes.Buffer
		e := hpack.NewEncoder(&block)
		for i := range 200 {
			e.WriteField(hpack.HeaderField{Name: fmt.Sprintf("x-%d", i), Value: string(bytes.Repeat([]byte{'v'}, 60))})
		}
		for ctx.Err() == nil {
			c.id += 2
			if err := c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: c.id, BlockFragment: block.Bytes()}); err != nil {
				return err
			}
			for range 64 {
				if err := c.frames.WriteContinuation(c.id, false, block.Bytes()); err != nil {
					return err
				}
				a.count(1)
			}
			if err := c.frames.WriteContinuation(c.id, true, nil); err != nil {
				return err
			}
			if err := c.out.Flush(); err != nil {
				return err
			}
		}
		return nil
	}},
	{"hellos", 2, "messages", func(ctx context.Context, a *attacker) error {
		return a.messages(ctx, helloMessage())
	}},
	{"uploads of no study", 2, "messages", func(ctx context.Context, a *attacker) error {
		digest := sha256.Sum256([]byte("none"))
		return a.messages(ctx, siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{Study: digest[:], Masked: make([]byte, 20<<10)}}}))
	}},
	{"hellos of thousands of empty data sets", 2, "messages", func(ctx context.Context, a *attacker) error {
		return a.messages(ctx, append([]byte{0x0a, 0x80, 0x40}, bytes.Repeat([]byte{0x12, 0}, 0x2000/2)...))
	}},
	{"messages without end", 4, "MiB", func(ctx context.Context, a *attacker) error {
		c, err := a.link(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		m := grpcMessage(linkRequest(make([]byte, 1<<20-100), false))
		for ctx.Err() == nil {
			for part := range slices.Chunk(m, 16<<10) {
				if err := c.data(ctx, part); err != nil {
					return err
				}
			}
			a.count(1)
		}
		return nil
	}},
	{"joins with wrong tokens", 8, "joins", joins},
	{"calls with a certificate", 4, "calls", func(ctx context.Context, a *attacker) error {
		conn, err := a.grpc(true)
		if err != nil {
			return err
		}
		defer conn.Close()
		csr, err := a.site.CSR(a.site.Name())
		if err != nil {
			return err
		}
		for ctx.Err() == nil {
			if _, err := covey.NewFederationClient(conn).Renew(versioned(ctx), &covey.RenewRequest{Csr: csr}); err != nil {
				return err
			}
			a.count(1)
		}
		return nil
	}},
}

// joins spend tokens that were never given out, each with a right proof and request.
func joins(ctx context.Context, a *attacker) error {
	conn, err := a.grpc(false)
	if err != nil {
		return err
	}
	defer conn.Close()
	token, err := pki.NewToken()
	if err != nil {
		return err
	}
	csr, err := a.site.CSR("stranger")
	if err != nil {
		return err
	}
	r := &covey.JoinRequest{
		Token: token.Bytes(), Name: "stranger", Csr: csr, Identity: a.site.Identity().Public().(ed25519.PublicKey),
		Proof: a.site.ProveIdentity("stranger", token.Hash(), csr),
	}
	for ctx.Err() == nil {
		_, err := covey.NewEnrollmentClient(conn).Join(versioned(ctx), r)
		if status.Code(err) != codes.PermissionDenied {
			return fmt.Errorf("a join: %w", err)
		}
		a.count(1)
	}
	return nil
}

func versioned(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, wire.This("covey-agent").Pairs()...)
}

func (a *attacker) grpc(certificate bool) (*grpc.ClientConn, error) {
	return grpc.NewClient(a.address, grpc.WithTransportCredentials(credentials.NewTLS(a.config(certificate))), grpc.WithDisableServiceConfig(),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return a.dialer().DialContext(ctx, "tcp", address)
		}))
}

// dialer has an address of its own, of this machine: a host is known by it.
func (a *attacker) dialer() *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(a.host))}}
}

// attacker is one process's.
type attacker struct {
	address string
	host    int
	site    *pki.Holder // joined, and in no study
	done    atomic.Int64
	failed  atomic.Int64
	last    atomic.Value // of the errors
}

func (a *attacker) count(n int64) { a.done.Add(n) }

// attack is the attacker's process: the flood of that name, or all, until its standard input
// ends. It says "ready" when it has begun, and at the end what it did.
func attack(name, address, home string) error {
	site, err := pki.LoadHolder(pki.RoleSite, home)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	var attackers []*attacker
	var names []string
	for i, f := range floods {
		if name != "all" && name != f.name {
			continue
		}
		a := &attacker{address: address, site: site, host: 1 + i}
		attackers, names = append(attackers, a), append(names, f.unit)
		n := f.workers
		if name == "all" {
			n = (n + 3) / 4
		}
		for range n {
			work.Go(func() {
				for ctx.Err() == nil {
					if err := f.work(ctx, a); err != nil && ctx.Err() == nil {
						a.failed.Add(1)
						a.last.Store(err.Error())
						sleep(ctx, 10*time.Millisecond)
					}
				}
			})
		}
	}
	fmt.Println("ready")
	began := time.Now()
	io.Copy(io.Discard, os.Stdin)
	stop()
	took := time.Since(began).Seconds()
	for i, a := range attackers {
		last, _ := a.last.Load().(string)
		fmt.Printf("%.0f %s a second, %.0f refusals a second (%s)\n", float64(a.done.Load())/took, names[i], float64(a.failed.Load())/took, last)
	}
	return nil // without waiting for workers
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (a *attacker) config(certificate bool) *tls.Config {
	if !certificate {
		return &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS13}
	}
	c, err := a.site.ClientTLS("127.0.0.1")
	if err != nil {
		panic(err) // the folder is the test's own
	}
	c.NextProtos = []string{"h2"}
	return c
}

// hold opens a connection, says so much and waits until the other side ends it.
func (a *attacker) hold(ctx context.Context, words []byte) error {
	c, err := a.dialer().DialContext(ctx, "tcp", a.address)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err := c.Write(words); err != nil {
		return err
	}
	a.count(1)
	io.Copy(io.Discard, c)
	return nil
}

func (a *attacker) dial(ctx context.Context, certificate bool) (net.Conn, error) {
	c, err := (&tls.Dialer{NetDialer: a.dialer(), Config: a.config(certificate)}).DialContext(ctx, "tcp", a.address)
	if err == nil {
		context.AfterFunc(ctx, func() { c.Close() })
	}
	return c, err
}

// client is an HTTP/2 connection that keeps no rule of it.
type client struct {
	net.Conn
	out    *bufio.Writer
	frames *http2.Framer
	id     uint32        // of the last stream
	gone   chan struct{} // closed when the other side has ended it
	mu     sync.Mutex
	credit int // bytes of DATA that may be sent on stream 1
	more   chan struct{}
}

func (a *attacker) open(ctx context.Context, certificate bool) (*client, error) {
	conn, err := a.dial(ctx, certificate)
	if err != nil {
		return nil, err
	}
	c := &client{Conn: conn, out: bufio.NewWriterSize(conn, 32<<10), gone: make(chan struct{}), credit: 65535, more: make(chan struct{}, 1)}
	c.frames = http2.NewFramer(c.out, bufio.NewReader(conn))
	c.out.WriteString(http2.ClientPreface)
	c.id = ^uint32(0) // the first is 1
	if err := errors.Join(c.frames.WriteSettings(), c.out.Flush()); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.gone)
		for {
			f, err := c.frames.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.WindowUpdateFrame:
				if f.StreamID == 1 {
					c.grant(int(f.Increment))
				}
			case *http2.SettingsFrame:
				if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
					c.grant(int(v) - 65535)
				}
			}
		}
	}()
	return c, nil
}

func (c *client) grant(n int) {
	c.mu.Lock()
	c.credit += n
	c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
}

// data sends DATA on stream 1 as flow control allows it.
func (c *client) data(ctx context.Context, p []byte) error {
	for {
		c.mu.Lock()
		enough := c.credit >= len(p)
		if enough {
			c.credit -= len(p)
		}
		c.mu.Unlock()
		if enough {
			break
		}
		select {
		case <-c.more:
		case <-c.gone:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.Join(c.frames.WriteData(1, false, p), c.out.Flush())
}

func (c *client) headers(path string) error {
	c.id += 2
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	fields := []string{":method", "POST", ":scheme", "https", ":path", path, ":authority", "localhost", "content-type", "application/grpc", "te", "trailers"}
	fields = append(fields, wire.This("covey-agent").Pairs()...)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: c.id, BlockFragment: block.Bytes(), EndHeaders: true})
}

// streams opens one after the other, and resets each at once or none.
func (a *attacker) streams(ctx context.Context, certificate bool, path string, reset bool) error {
	c, err := a.open(ctx, certificate)
	if err != nil {
		return err
	}
	defer c.Close()
	for ctx.Err() == nil {
		if err := c.headers(path); err != nil {
			return err
		}
		if reset {
			if err := c.frames.WriteRSTStream(c.id, http2.ErrCodeCancel); err != nil {
				return err
			}
		}
		a.count(1)
	}
	return nil
}

// link opens a Link with a site's certificate and says hello.
func (a *attacker) link(ctx context.Context) (*client, error) {
	c, err := a.open(ctx, true)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.headers(linkPath), c.data(ctx, grpcMessage(linkRequest(helloMessage(), true)))); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// repeat sends one frame after the other on a link.
func (a *attacker) repeat(ctx context.Context, send func(*client) error) error {
	c, err := a.link(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for ctx.Err() == nil {
		if err := send(c); err != nil {
			return err
		}
		a.count(1)
	}
	return nil
}

// messages sends one site message again and again on a link.
func (a *attacker) messages(ctx context.Context, m []byte) error {
	c, err := a.link(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	whole := grpcMessage(linkRequest(m, true))
	for ctx.Err() == nil {
		for part := range slices.Chunk(whole, 16<<10) {
			if err := c.data(ctx, part); err != nil {
				return err
			}
		}
		a.count(1)
	}
	return nil
}

func helloMessage() []byte {
	return siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Hello{Hello: &covey.Hello{Software: "flood", Datasets: []*covey.Dataset{{Name: dataset, Units: 10}}}}})
}

func siteMessage(m *covey.SiteMessage) []byte {
	raw, err := proto.Marshal(m)
	if err != nil {
		panic(err) // of the test's own
	}
	return raw
}

func linkRequest(data []byte, last bool) []byte {
	raw, err := proto.Marshal(&covey.LinkRequest{Frame: &covey.Frame{Data: data, Last: last}})
	if err != nil {
		panic(err)
	}
	return raw
}

// grpcMessage puts gRPC's five bytes in front.
func grpcMessage(m []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
}
