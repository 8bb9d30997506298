package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/proposal"
	"covey/internal/result"
)

// pipes is a listener of connections in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7480} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// served returns a client of a dashboard in memory, in a bubble.
func served(t *testing.T, d *Dashboard) *http.Client {
	t.Helper()
	l, ended := &pipes{make(chan net.Conn), make(chan struct{})}, make(chan struct{})
	server := &http.Server{Handler: d.Handler()}
	go func() { defer close(ended); server.Serve(l) }()
	transport := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		<-ended
	})
	return &http.Client{Transport: transport}
}

// TestStreamsStay: the limits on a request's time, which slow callers are held to, end no page that
// renews itself.
func TestStreamsStay(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, _, now := newTest(t)
				value := d.sessions.issue(d.people()[0], now.now())
				l := &pipes{make(chan net.Conn), make(chan struct{})}
				protocols := new(http.Protocols)
				protocols.SetHTTP1(protocol == "HTTP/1.1")
				// what TLS agrees on with browsers
				protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
				server := &http.Server{Handler: d.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, Protocols: protocols}
				ended := make(chan struct{})
				go func() { defer close(ended); server.Serve(l) }()
				transport := &http.Transport{Protocols: protocols, DialContext: l.dial}
				r, err := http.NewRequest("GET", "http://127.0.0.1:7480/events", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.AddCookie(&http.Cookie{Name: cookieName(r), Value: value})
				answer, err := transport.RoundTrip(r)
				if err != nil || answer.StatusCode != http.StatusOK || answer.Proto != protocol {
					t.Fatalf("%v, %v", answer, err)
				}
				began, beats := time.Now(), 0
				for lines := bufio.NewScanner(answer.Body); beats < 20 && lines.Scan(); {
					if lines.Text() == "event: beat" {
						beats++
					}
				}
				if beats < 20 {
					t.Errorf("a quiet stream ended after %v", time.Since(began))
				}
				answer.Body.Close()
				transport.CloseIdleConnections()
				d.Close()
				server.Close()
				<-ended
			})
		})
	}
}

// TestSlowDownload: a result gets as long as its size needs over a slow line, and no longer.
func TestSlowDownload(t *testing.T) {
	for _, c := range []struct {
		bytes int // a second
		whole bool
	}{{64 << 10, true}, {1 << 10, false}} {
		synctest.Test(t, func(t *testing.T) {
			d, s, _ := newTold(t, proposal.DropoutWait)
			// 7 MB
			s.result = &result.Result{Columns: slices.Repeat([]string{strings.Repeat("name", 16)}, 100_000)}
			l := &pipes{make(chan net.Conn), make(chan struct{})}
			server := &http.Server{Handler: d.Handler()}
			ended := make(chan struct{})
			go func() { defer close(ended); server.Serve(l) }()
			here, there := net.Pipe()
			l.conns <- there
			if _, err := fmt.Fprintf(here, "GET /studies/%v/result.json HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", s.story.Digest, goodToken); err != nil {
				t.Fatal(err)
			}
			answer, err := http.ReadResponse(bufio.NewReaderSize(slow{here, c.bytes}, c.bytes), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if whole := err == nil && json.Valid(text); whole != c.whole {
				t.Errorf("%d bytes a second: %d bytes, %v", c.bytes, len(text), err)
			}
			here.Close()
			d.Close()
			server.Close()
			<-ended
		})
	}
}

// TestUnreadAnswers: a caller that asks and never reads holds no connection for good, whatever name
// it asks for: it might hold all that there are.
func TestUnreadAnswers(t *testing.T) {
	for _, host := range []string{"localhost", "elsewhere.example"} {
		synctest.Test(t, func(t *testing.T) {
			d, _, _ := newTest(t)
			l := &pipes{make(chan net.Conn), make(chan struct{})}
			server := &http.Server{Handler: d.Handler()}
			ended := make(chan struct{})
			go func() { defer close(ended); server.Serve(l) }()
			here, there := net.Pipe()
			l.conns <- there
			if _, err := fmt.Fprintf(here, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			here.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := here.Write([]byte("GET / HTTP/1.1\r\n")); err != io.ErrClosedPipe {
				t.Errorf("%s: a connection whose answers nobody reads is still there: %v", host, err)
			}
			here.Close()
			d.Close()
			server.Close()
			<-ended
		})
	}
}

// slow reads so many bytes a second.
type slow struct {
	io.Reader
	bytes int
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p[:min(len(p), s.bytes)])
	time.Sleep(time.Duration(n) * time.Second / time.Duration(s.bytes))
	return n, err
}
