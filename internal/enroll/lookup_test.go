package enroll

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"

	"covey/internal/pki"
)

// TestLookups: an agent asks DNS for addresses and for nothing else. A resolver that
// drops other questions would hold every connection up.
func TestLookups(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var mu sync.Mutex
	var asked []uint16
	go func() {
		b := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return
			}
			// RFC 1035: a header of 12 bytes, then labels up to an empty one, type and class.
			end := 12 + slices.Index(b[12:n], 0) + 1
			kind := binary.BigEndian.Uint16(b[end:])
			mu.Lock()
			asked = append(asked, kind)
			mu.Unlock()
			answer := slices.Concat(b[:2], []byte{0x84, 0x00, 0, 1, 0, 0, 0, 0, 0, 0}, b[12:end+4])
			if kind == 1 { // A: 127.0.0.1
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
			}
			server.WriteTo(answer, from)
		}
	}()
	old := net.DefaultResolver
	defer func() { net.DefaultResolver = old }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	conn, err := grpc.NewClient("hub.covey.test:1", DialOptions(pki.RoleSite, NewHandshake(&tls.Config{}))...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn.Connect()
	for state := conn.GetState(); state != connectivity.TransientFailure; state = conn.GetState() {
		if !conn.WaitForStateChange(ctx, state) {
			t.Fatalf("%v: the port that nobody listens on was not tried", state)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(asked, 1) || slices.ContainsFunc(asked, func(k uint16) bool { return k != 1 && k != 28 }) {
		t.Errorf("asked for types %v, not A and AAAA (1 and 28) alone", asked)
	}
}
