package admission

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

// TestRefusedHostsAreBounded: callers without a certificate do not fill the log.
func TestRefusedHostsAreBounded(t *testing.T) {
	var log strings.Builder
	r := Refused{Log: slog.New(slog.NewTextHandler(&log, nil))}
	for i := range 3 * maxRefusedHosts {
		r.Refuse(&tls.ClientHelloInfo{Conn: at(fmt.Sprintf("10.0.%d.%d:99", i/200, i%200))})
	}
	if n := strings.Count(log.String(), "\n"); n != maxRefusedHosts || r.Count() != 3*maxRefusedHosts {
		t.Errorf("%d lines, %d counted", n, r.Count())
	}
}

// at is a connection from an address.
type at string

func (f at) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", string(f))
	return a
}

func (at) LocalAddr() net.Addr              { return nil }
func (at) Read([]byte) (int, error)         { return 0, net.ErrClosed }
func (at) Write([]byte) (int, error)        { return 0, net.ErrClosed }
func (at) Close() error                     { return nil }
func (at) SetDeadline(time.Time) error      { return nil }
func (at) SetReadDeadline(time.Time) error  { return nil }
func (at) SetWriteDeadline(time.Time) error { return nil }
