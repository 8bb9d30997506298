package dashboard

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// TestStreamsStay: the limits on a request's time, which slow callers are held to, end no page that renews itself.
func TestStreamsStay(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, _, now := newTest(t)
				value := d.session.issue(now.now().Add(24 * time.Hour))
				l := &pipes{make(chan net.Conn), make(chan struct{})}
				protocols := new(http.Protocols)
				protocols.SetHTTP1(protocol == "HTTP/1.1")
				protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0") // what TLS agrees on with browsers
				server := &http.Server{Handler: d.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, Protocols: protocols}
				ended := make(chan struct{})
				go func() { defer close(ended); server.Serve(l) }()
				transport := &http.Transport{Protocols: protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					l.conns <- there
					return here, nil
				}}
				r, err := http.NewRequest("GET", "http://127.0.0.1:7480/events", nil)
				if err != nil {
					t.Fatal(err)
				}
				r.AddCookie(&http.Cookie{Name: "covey", Value: value})
				answer, err := transport.RoundTrip(r)
				if err != nil || answer.StatusCode != http.StatusOK || answer.Proto != protocol {
					t.Fatalf("%v, %v", answer, err)
				}
				began, beats := time.Now(), 0
				for lines := bufio.NewScanner(answer.Body); beats < 20 && lines.Scan(); {
					if strings.HasPrefix(lines.Text(), ":") {
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
