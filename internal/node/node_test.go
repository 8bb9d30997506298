package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/coordinator"
	"covey/internal/membership"
	"covey/internal/operator"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/test/lines"
	"covey/test/network"
)

// wires is a network in memory, on which each coordinator is a host. It is made in the bubble.
type wires struct {
	*network.Faulty
	ports int // that portOf made
}

func newWires(t *testing.T) *wires {
	w := &wires{Faulty: network.NewFaulty(rand.New(rand.NewPCG(1, 1)))}
	w.Slow(0)
	t.Cleanup(func() {
		w.Close()
		w.Wait()
		time.Sleep(time.Minute) // the ends of what servers wait for
	})
	return w
}

// from dials as a coordinator does.
func (w *wires) from(name string) Dialer {
	return func(ctx context.Context, address string) (net.Conn, error) { return w.Dial(ctx, "host-"+name, address) }
}

func config(name string) Config {
	host := "host-" + name
	return Config{Listen: host + ":1", Addresses: []string{host + ":1"}, Name: name, PeerListen: host + ":2", PeerAddress: host + ":2"}
}

// start runs a node until stop is called.
func start(t *testing.T, w *wires, dir string) (n *Node, stop func()) {
	t.Helper()
	return startAt(t, w, dir, 0, io.Discard)
}

// startAt is start by a clock that is ahead.
func startAt(t *testing.T, w *wires, dir string, ahead time.Duration, log io.Writer) (n *Node, stop func()) {
	t.Helper()
	now := func() time.Time { return time.Now().Add(ahead) }
	n, err := Open(dir, Options{Election: 100 * time.Millisecond, Listen: w.Listen, Dial: w.from(filepath.Base(dir)), Now: now, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	return n, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// until tries for a minute of the bubble's time.
func until(t *testing.T, what string, try func() error) {
	t.Helper()
	var err error
	for range 600 {
		if err = try(); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: %v", what, err)
}

// pair runs do with a coordinator and one that joined it, in a bubble.
func pair(t *testing.T, do func(t *testing.T, one, two *Node)) {
	t.Helper()
	pairOver(t, func(t *testing.T, _ *wires, one, two *Node) { do(t, one, two) })
}

func pairOver(t *testing.T, do func(t *testing.T, w *wires, one, two *Node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		_, nodes, stops := fleet(t, w, "one", "two")
		defer stops["one"]()
		defer stops["two"]()
		do(t, w, nodes[0], nodes[1])
	})
}

// TestRemovedStaysOut: a coordinator that was removed has a good certificate and asks to
// come in when it is started; it may not.
func TestRemovedStaysOut(t *testing.T) {
	pair(t, func(t *testing.T, one, two *Node) {
		if !one.Coordinator.Knows("two") {
			t.Error("a coordinator that entered is not known")
		}
		ask := func() error {
			// Over its own port, as it does itself.
			return two.post(t.Context(), one.Config.PeerAddress, "/v1/raft/enter", two.self())
		}
		if err := ask(); err != nil {
			t.Errorf("a member asks again: %v", err)
		}
		if err := one.remove(t.Context(), "two"); err != nil {
			t.Fatal(err)
		}
		// a connection that ends may end before it has said why
		until(t, "the reason", func() error {
			err := ask()
			if err == nil {
				t.Fatal("a removed coordinator came in")
			}
			if strings.Contains(err.Error(), "was removed") {
				return nil
			}
			return err
		})
		if peers, err := one.Peers(); err != nil || len(peers) != 1 {
			t.Errorf("%v, %v", peers, err)
		}
		if got := one.joinAddresses(); len(got) != 1 {
			t.Errorf("join files name %v", got)
		}
	})
}

// TestWrongClock: a coordinator whose clock is wrong counts no other as reached, nor is counted,
// and says once that the clocks differ.
func TestWrongClock(t *testing.T) {
	for _, ahead := range []time.Duration{3 * time.Hour, -3 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w, said := newWires(t), &lines.Log{}
			dir, nodes, stops := fleet(t, w, "one", "two")
			defer stops["one"]()
			if why, tried := nodes[0].reach(t.Context())["two"]; why != nil || !tried {
				t.Errorf("reached: %v, %v", tried, why)
			}
			stops["two"]()
			two, stop := startAt(t, w, filepath.Join(dir, "two"), ahead, said)
			defer stop()
			time.Sleep(time.Minute)
			for _, n := range []*Node{nodes[0], two} {
				for name, why := range n.reach(t.Context()) {
					if why == nil || !strings.Contains(why.Error(), "compare the clocks") {
						t.Errorf("%v ahead: %s reaches %s: %v", ahead, n.Config.Name, name, why)
					}
				}
			}
			// once as it enters, and once as it knows no leader
			if n, last := said.Count("compare the clocks"), said.Count("no leader is known"); n != 2 || last != 1 {
				t.Errorf("%v ahead: said %d times, %d of them later, in\n%s", ahead, n, last, said.String())
			}
		})
	}
}

// TestNoLeaderIsSaid: a coordinator that knows no leader logs whom it does not reach and why, again
// only after an hour or another loss, and tells `raft peers`.
func TestNoLeaderIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, said := newWires(t), &lines.Log{}
		dir, _, stops := fleet(t, w, "one", "two")
		stops["two"]()
		stops["one"]()
		one, stop := startAt(t, w, filepath.Join(dir, "one"), 0, said)
		defer stop()
		count := func(wait time.Duration, want int) {
			t.Helper()
			time.Sleep(wait)
			if n := said.Count("no leader is known"); n != want {
				t.Errorf("said %d times and not %d in\n%s", n, want, said.String())
			}
		}
		count(leaderless-2*askMembers, 0)
		count(time.Minute, 1)
		if text := said.String(); !strings.Contains(text, "not_reached") || !strings.Contains(text, "two:") {
			t.Errorf("it does not say whom:\n%s", text)
		}
		answer := httptest.NewRecorder()
		one.operatorHandler(nil).ServeHTTP(answer, httptest.NewRequest("GET", "/v1/raft/peers", nil))
		var reply PeersReply
		if err := json.Unmarshal(answer.Body.Bytes(), &reply); err != nil || len(reply.Why) != 1 || reply.Why["two"] == "" {
			t.Errorf("raft peers: %v, %+v", err, reply)
		}
		count(stillLeaderless-2*time.Minute, 1)
		count(2*time.Minute, 2)
		_, again := startAt(t, w, filepath.Join(dir, "two"), 0, &lines.Log{})
		time.Sleep(time.Minute)
		again()
		count(time.Minute, 3)
	})
}

// TestJoinFilesNameAddressesOnce: coordinators that were each given all addresses name none twice.
func TestJoinFilesNameAddressesOnce(t *testing.T) {
	pair(t, func(t *testing.T, one, two *Node) {
		all := []string{"a:1", "b:1"}
		for _, n := range []*Node{one, two} {
			if err := one.Coordinator.PutNode(membership.Node{ID: n.Config.Name, Addresses: all, Key: proposal.Key(n.authority.NodeKey())}); err != nil {
				t.Fatal(err)
			}
		}
		if got := one.joinAddresses(); !slices.Equal(got, all) {
			t.Errorf("join files name %q", got)
		}
	})
}

// TestFollowerForwardsOnce: a coordinator that does not lead answers another's request
// with that, and does not pass it on.
func TestFollowerForwardsOnce(t *testing.T) {
	pair(t, func(t *testing.T, one, two *Node) {
		err := one.post(t.Context(), two.Config.PeerAddress, "/v1/raft/add", AddRequest{Name: "three"})
		if err == nil || !strings.Contains(err.Error(), coordinator.ErrNotLeader.Error()) {
			t.Errorf("%v", err)
		}
	})
}

// TestSilentJoinersAreCutOff: PEER-5. Who has shown no certificate and says nothing.
func TestSilentJoinersAreCutOff(t *testing.T) {
	pair(t, func(t *testing.T, one, _ *Node) {
		for what, said := range map[string]string{"nothing": "", "half a request": "POST /v1/raft/join HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"} {
			conn, err := dialJoin(t.Context(), one.options.Dial, one.Config.PeerAddress, one.authority.Fingerprint())
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			conn.Write([]byte(said))
			if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, io.EOF) {
				t.Logf("%s: %v", what, err)
			}
			if took := time.Since(began); took > 2*requestTime {
				t.Errorf("%s held a connection for %v", what, took)
			}
			conn.Close()
		}
	})
}

// TestJoinRefuses: what init --join is given wrongly, before anything is sent or made.
func TestJoinRefuses(t *testing.T) {
	count := 0
	a, err := pki.NewToken()
	if err != nil {
		t.Fatal(err)
	}
	print := strings.TrimSuffix(strings.Repeat("0000-", 16), "-")
	file := func(j pki.Join) []byte {
		j.Coordinator, j.Fingerprint, j.Token = []string{"127.0.0.1:1"}, print, a
		text, err := j.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	soon := time.Now().Add(time.Hour)
	good := config("two")
	good.Name = ""
	silent := func(context.Context, string) (net.Conn, error) {
		t.Error("something was sent")
		return nil, errors.New("no")
	}
	noPort := good
	noPort.PeerListen, noPort.PeerAddress = "", ""
	half := good
	half.PeerAddress = ""
	dir := filepath.Join(t.TempDir(), "made")
	for name, c := range map[string]struct {
		file   []byte
		config Config
	}{
		"no file":       {nil, good},
		"a site's file": {file(pki.Join{Site: "north", Expires: soon}), good},
		"an old file":   {file(pki.Join{Node: "two", Expires: time.Now().Add(-time.Hour)}), good},
		"no peer port":  {file(pki.Join{Node: "two", Expires: soon}), noPort},
		"half a port":   {file(pki.Join{Node: "two", Expires: soon}), half},
		"no address":    {file(pki.Join{Node: "two", Expires: soon}), Config{Listen: ":1", PeerListen: ":2", PeerAddress: "h:2"}},
		"a bad address": {file(pki.Join{Node: "two", Expires: soon}), Config{Listen: ":1", Addresses: []string{"h"}, PeerListen: ":2", PeerAddress: "h:2"}},
	} {
		count++
		err := Join(t.Context(), dir, c.file, c.config, silent, time.Now())
		_, config := errors.AsType[*ConfigError](err)
		_, join := errors.AsType[*pki.JoinError](err)
		_, expired := errors.AsType[*pki.ExpiredError](err)
		if !config && !join && !expired {
			t.Errorf("%s: %v", name, err)
		}
		if err := pki.Vacant(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("figure: %d bad inputs: joins of a coordinator", count)
}

// TestLostLeaderHoldsNoOperator: a leader that is gone without a word, frozen or behind a dead
// network, ends no connection. Who passed a request on to it hears that it leads no more, and so
// does the operator; only what changes nothing may be asked again.
func TestLostLeaderHoldsNoOperator(t *testing.T) {
	for method, again := range map[string]bool{"GET": true, "POST": false} {
		testLostLeader(t, method, again)
	}
}

func testLostLeader(t *testing.T, method string, again bool) {
	pairOver(t, func(t *testing.T, w *wires, _, two *Node) {
		if two.leaderPeer() == "" {
			t.Fatal("no leader")
		}
		forward := two.forwarder()
		defer forward.close()
		handler := two.operatorHandler(forward)
		ask := func(method, path string) *httptest.ResponseRecorder {
			answer, done := httptest.NewRecorder(), make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				defer close(done)
				handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, method, path, nil))
			}()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Errorf("%s %s is not answered within a minute", method, path)
				cancel()
				<-done
			}
			return answer
		}
		for range 2 { // connections that are kept
			if answer := ask("GET", "/v1/sites"); answer.Code != http.StatusOK {
				t.Fatalf("%d, %s", answer.Code, answer.Body)
			}
		}
		w.Block("host-one", "host-two")
		w.Block("host-two", "host-one")
		answer := ask(method, "/v1/sites")
		var e operator.ErrorReply
		if err := json.Unmarshal(answer.Body.Bytes(), &e); err != nil || e.Again != again || answer.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d, %s", method, answer.Code, answer.Body)
		}
	})
}

// TestEntryThatWasNotProposed: who asks in the moment when a lead ends is told that nothing was
// done, and to ask again.
func TestEntryThatWasNotProposed(t *testing.T) {
	pair(t, func(t *testing.T, _, two *Node) {
		// as before it hears that another leads
		if err := two.Coordinator.Lead(entries{two.replica}); err != nil {
			t.Fatal(err)
		}
		defer two.Coordinator.Follow()
		answer := httptest.NewRecorder()
		two.leaderHandler().ServeHTTP(answer, httptest.NewRequest("POST", "/v1/sites/invite", strings.NewReader(`{"name":"north","valid":"1h"}`)))
		var e operator.ErrorReply
		if err := json.Unmarshal(answer.Body.Bytes(), &e); err != nil || !e.Again || answer.Code != http.StatusServiceUnavailable {
			t.Errorf("%d, %s", answer.Code, answer.Body)
		}
	})
}

// TestSilentCoordinatorIsLogged: the coordinator that leads says once which other does not answer,
// also of one that led before, and once that it is back; a restart is nothing to tell of.
func TestSilentCoordinatorIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		dir, nodes, stops := fleet(t, w, "one", "two", "three")
		stops["two"]()
		said := &lines.Log{}
		two, stopTwo := startAt(t, w, filepath.Join(dir, "two"), 0, said)
		defer stopTwo()
		until(t, "two to follow", func() error { return led(two) })
		until(t, "two to lead", func() error { return nodes[0].replica.Transfer(t.Context(), "two") })
		if said.Count("does not answer") != 0 {
			t.Errorf("before anything was lost: %s", said)
		}
		stops["one"]()
		time.Sleep(time.Minute)
		if said.Count("does not answer") != 1 || said.Count("coordinator=one") != 1 {
			t.Errorf("one is away: %s", said)
		}
		_, stopOne := start(t, w, filepath.Join(dir, "one"))
		defer stopOne()
		time.Sleep(time.Minute)
		if said.Count("does not answer") != 1 || said.Count("answers again") != 1 {
			t.Errorf("one is back: %s", said)
		}
		stops["three"]()
		_, stopThree := start(t, w, filepath.Join(dir, "three"))
		defer stopThree()
		time.Sleep(time.Minute)
		if said.Count("does not answer") != 1 || said.Count("answers again") != 1 {
			t.Errorf("a restart: %s", said)
		}
	})
}

// TestTheCAsEndIsLogged: as the process begins, with what to do; and certificates that end with it
// are not made again at every look.
func TestTheCAsEndIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, said := newWires(t), &lines.Log{}
		dir := filepath.Join(t.TempDir(), "one")
		if err := Init(dir, config("one"), time.Now()); err != nil {
			t.Fatal(err)
		}
		ca, err := pki.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, stop := startAt(t, w, dir, time.Until(ca.CA().NotAfter)-20*24*time.Hour, said)
		defer stop()
		time.Sleep(time.Minute)
		if renewed, told := said.Count("certificate is renewed"), said.Count("coordinator ca new"); renewed != 1 || told != 1 {
			t.Errorf("%d renewals, told %d times", renewed, told)
		}
	})
}

// TestFailedRenewalIsSaidOnce: a certificate that cannot be written is tried every second, told of
// when it begins and each day, and renewed once it can be.
func TestFailedRenewalIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, said := newWires(t), &lines.Log{}
		dir := filepath.Join(t.TempDir(), "one")
		if err := Init(dir, config("one"), time.Now()); err != nil {
			t.Fatal(err)
		}
		ca, err := pki.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, stop := startAt(t, w, dir, time.Until(ca.ServerCertificate().NotAfter)-pki.RenewBefore-10*time.Second, said)
		defer stop()
		file := filepath.Join(dir, "server.crt")
		if err := errors.Join(os.Remove(file), os.MkdirAll(filepath.Join(file, "in the way"), 0o700)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if n := said.Count("the server certificate is not renewed"); n != 1 || said.Count(file+": ") != 1 || said.Count("tmp-") != 0 {
			t.Errorf("told %d times: %s", n, said)
		}
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if said.Count("the server certificate is renewed") != 1 {
			t.Errorf("%s", said)
		}
	})
}

// TestEndedCAIsReplaced: after the CA's end a coordinator does not start, and says what to do; with
// clocks set back they replace the CA, and go on by the right clock.
func TestEndedCAIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, begun := newWires(t), time.Now()
		dir, nodes, stops := fleet(t, w, "one", "two")
		old := nodes[0].authority.Fingerprint()
		ends := nodes[0].authority.CA().NotAfter.Sub(begun)
		for _, stop := range stops {
			stop()
		}
		past := func() time.Time { return time.Now().Add(ends) }
		_, err := Open(filepath.Join(dir, "one"), Options{Listen: w.Listen, Dial: w.from("one"), Now: past, Logger: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "the CA ended on ") || !strings.Contains(err.Error(), "operations.md") {
			t.Fatalf("after the end: %v", err)
		}
		both := func(ahead time.Duration) (nodes []*Node, stop func()) {
			one, stopOne := startAt(t, w, filepath.Join(dir, "one"), ahead, io.Discard)
			two, stopTwo := startAt(t, w, filepath.Join(dir, "two"), ahead, io.Discard)
			nodes = []*Node{one, two}
			until(t, "each to have the log up to the other", func() error {
				for _, n := range nodes {
					if len(n.Coordinator.Members().Keys) != 2 {
						return errors.New("not yet")
					}
				}
				return led(nodes...)
			})
			return nodes, func() { stopOne(); stopTwo() }
		}
		nodes, stop := both(ends - 24*time.Hour)
		until(t, "a new CA", func() error {
			for _, n := range nodes {
				if n.Coordinator.Leading() {
					_, err := n.Coordinator.StartCA()
					return err
				}
			}
			return errors.New("nobody leads")
		})
		until(t, "the old one to be retired", func() error {
			for _, n := range nodes {
				if n.Coordinator.Leading() {
					_, err := n.rotation.retire(t.Context(), true)
					return err
				}
			}
			return errors.New("nobody leads")
		})
		time.Sleep(time.Minute)
		stop()
		nodes, stop = both(ends + time.Hour)
		defer stop()
		for _, n := range nodes {
			for name, why := range n.reach(t.Context()) {
				if why != nil {
					t.Errorf("%s does not reach %s: %v", n.Config.Name, name, why)
				}
			}
			if in := n.authority.Fingerprint(); in == old || n.authority.ServerCertificate().NotAfter.Before(past()) {
				t.Errorf("%s has CA %s, before %s", n.Config.Name, in, old)
			}
		}
	})
}
