package node

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"covey/internal/membership"
)

// TestAddressesArePlain: LIM-9. A coordinator's addresses are printed by `raft peers` and go into
// join files.
func TestAddressesArePlain(t *testing.T) {
	pair(t, func(t *testing.T, one, two *Node) {
		before := len(one.Coordinator.Addresses("two"))
		for _, bad := range []string{"x\x1b[2K:1", "a b:1", "a\u202e:1", "a\n:1", "nothing"} {
			for _, m := range []member{{"two", bad, two.Config.Addresses}, {"two", two.Config.PeerAddress, []string{"fine:1", bad}}} {
				if _, ok := errors.AsType[*membership.JoinError](one.admit(t.Context(), m)); !ok {
					t.Errorf("%q was taken", bad)
				}
			}
		}
		if after := len(one.Coordinator.Addresses("two")); after != before {
			t.Errorf("the addresses changed: %d, %d", before, after)
		}
	})
}

// TestRefusalsArePrintable: LIM-9. What the other end says reaches the terminal of `coordinator
// init --join` and the log without a character that does more than print.
func TestRefusalsArePrintable(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"no\u001b[2K\r\n ok","bad_input":true}`: `no\x1b[2K\r\n ok`,
		`{"error":"again \u202e"}`:                        `again \u202e`,
		"no JSON":                                         `the coordinator answered "500 Internal Server Error"`,
	} {
		here, there := net.Pipe()
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			io.WriteString(w, body)
		})}
		one := make(chan net.Conn, 1)
		one <- there
		go server.Serve(queue{one})
		_, err := exchange(t.Context(), here, "/", nil)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", body, err)
		}
		server.Close()
	}
}

// queue is a listener of connections that are there.
type queue struct{ conns chan net.Conn }

func (q queue) Accept() (net.Conn, error) {
	c, ok := <-q.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (q queue) Close() error { close(q.conns); return nil }
func (queue) Addr() net.Addr { return &net.TCPAddr{} }

// TestTelling: what a coordinator that was removed is told is not hidden by an address of another
// that is out of use.
func TestTelling(t *testing.T) {
	no, away := errors.New("this one was removed"), &net.OpError{Op: "dial", Err: errors.New("refused")}
	for _, c := range []struct{ was, err, want error }{{nil, away, away}, {no, away, no}, {away, no, no}, {away, away, away}, {nil, no, no}} {
		if got := telling(c.was, c.err); got != c.want {
			t.Errorf("of %v and %v: %v", c.was, c.err, got)
		}
	}
}
