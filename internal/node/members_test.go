package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/operator"
	"covey/internal/pki"
	"covey/test/lines"
)

// thief is a coordinator's folder of a federation's CA, with a key of its own, and its port.
func thief(t *testing.T, w *wires, of *pki.Authority, name string) *port {
	t.Helper()
	dir := t.TempDir()
	if err := pki.InitNode(dir, of.Estate(), of.Fingerprint(), nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	a, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return portOf(t, w, a, name)
}

// portOf is a port that shows certificates of a folder in any name.
func portOf(t *testing.T, w *wires, a *pki.Authority, name string) *port {
	t.Helper()
	own, err := a.PeerTLS(name, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w.ports++
	l, err := w.Listen(fmt.Sprintf("thief-%d:1", w.ports))
	if err != nil {
		t.Fatal(err)
	}
	p := newPort(l, own, w.from("thief"))
	t.Cleanup(func() { p.Close() })
	return p
}

// TestRemovedHasNoVoice: PEER-6. From the folder of a coordinator that was removed, under any name
// and with any key that it can make a certificate for, nothing is asked of the others, by
// connections that it had or by new ones; and the others do not talk to it, whatever it shows.
func TestRemovedHasNoVoice(t *testing.T) {
	pairOver(t, func(t *testing.T, w *wires, one, two *Node) {
		// A connection that is kept, from before.
		kept := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return two.port.dialOperator(ctx, one.Config.PeerAddress)
		}}}
		post := func() error {
			answer, err := kept.Post("http://one/v1/raft/add", "", strings.NewReader(`{"name":"ghost","valid":"1h"}`))
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			io.Copy(io.Discard, answer.Body)
			if answer.StatusCode != http.StatusOK {
				return errors.New(answer.Status)
			}
			return nil
		}
		if err := post(); err != nil {
			t.Fatal(err)
		}
		if err := one.remove(t.Context(), "two"); err != nil {
			t.Fatal(err)
		}
		kept.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("the connection is over")
		}
		if err := post(); err == nil {
			t.Error("a connection of before the removal serves still")
		}
		ports := map[string]*port{
			"its own":                   two.port,
			"another's name":            portOf(t, w, two.authority, "one"),
			"a new name":                portOf(t, w, two.authority, "ghost"),
			"another's name, a new key": thief(t, w, two.authority, "one"),
			"the name that it was invited under before": thief(t, w, two.authority, "ghost"),
		}
		for what, p := range ports {
			for path, body := range map[string]any{
				"/v1/raft/add":     AddRequest{Name: "ghost", Valid: 3600e9},
				"/v1/sites/invite": operator.InviteRequest{Name: "false-site", Valid: 3600e9},
				"/v1/raft/enter":   member{"two", "x:1", []string{"x:2"}},
				"/v1/raft/members": "",
				"/v1/ca/held":      "",
			} {
				conn, err := p.dialOperator(t.Context(), one.Config.PeerAddress)
				if err == nil {
					_, err = exchange(t.Context(), conn, path, body)
				}
				if err == nil {
					t.Errorf("%s: %s is answered", what, path)
				}
			}
			if c, err := p.raft().Dial(one.Config.PeerAddress, time.Second); err == nil {
				if _, err := c.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "certificate") {
					t.Errorf("%s: raft: %v", what, err)
				}
				c.Close()
			}
		}
		addresses := []string{two.Config.PeerAddress}
		for i := range w.ports {
			addresses = append(addresses, fmt.Sprintf("thief-%d:1", i+1))
		}
		for _, address := range addresses {
			if c, err := one.port.dialOperator(t.Context(), address); err == nil {
				t.Errorf("%s is talked to", address)
				c.Close()
			}
		}
		if given, invited := one.Coordinator.Expected(); len(given) != 0 || len(invited) != 1 || invited[0].Node != "ghost" {
			t.Errorf("%v, %v", given, invited)
		}
	})
}

// TestRemoveShutsOutWhoHasNotEntered: a coordinator that was given the keys and never ran, and the
// unused file of another.
func TestRemoveShutsOutWhoHasNotEntered(t *testing.T) {
	pairOver(t, func(t *testing.T, w *wires, one, _ *Node) {
		dir := t.TempDir()
		join := func(name string, file []byte) error {
			return Join(t.Context(), filepath.Join(dir, name), file, config(name), w.from(name), time.Now())
		}
		add := func(name string) []byte {
			file, err := one.AddNode(name, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			return file
		}
		if err := join("three", add("three")); err != nil {
			t.Fatal(err)
		}
		four := add("four")
		older, newer := add("five"), add("five")
		given, invited := one.Coordinator.Expected()
		if len(given) != 1 || given[0] != "three" || len(invited) != 2 {
			t.Errorf("%v, %v", given, invited)
		}
		for _, name := range []string{"three", "four"} {
			if err := one.remove(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		a, err := pki.Load(filepath.Join(dir, "three"))
		if err != nil {
			t.Fatal(err)
		}
		if one.members.has(a.NodeKey()) {
			t.Error("one that never entered is a member after its removal")
		}
		if err := join("four", four); err == nil || !strings.Contains(err.Error(), "already used, or was never given out") {
			t.Errorf("a removed coordinator's unused file: %v", err)
		}
		if err := join("five", older); err == nil {
			t.Error("an older file of a name that was invited again is good still")
		}
		if err := join("five", newer); err != nil {
			t.Error(err)
		}
		if err := one.remove(t.Context(), "nobody"); err == nil {
			t.Error("nobody was removed")
		}
	})
}

// TestMembersOutliveARestart: coordinators whose logs begin again from nothing find each other by
// the lists in their folders, before anything of the log is applied.
func TestMembersOutliveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		dir, _, stops := fleet(t, w, "one", "two")
		for _, stop := range stops {
			stop()
		}
		one, stopOne := start(t, w, filepath.Join(dir, "one"))
		defer stopOne()
		if one.Coordinator.Members().Version != 0 {
			t.Error("the log is applied before there is a leader")
		}
		two, stopTwo := start(t, w, filepath.Join(dir, "two"))
		defer stopTwo()
		until(t, "a leader", func() error { return led(one, two) })
		a := one.members.newest()
		if len(a.Keys) != 2 || !a.Known(one.authority.NodeKey()) || !a.Known(two.authority.NodeKey()) {
			t.Errorf("%+v", a)
		}
	})
}

// TestLatecomerFindsANewLeader: one that was away while another joined and took the lead does not
// know that one's key. It hears of it from those whom it knows.
func TestLatecomerFindsANewLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		dir, nodes, stops := fleet(t, w, "one", "two", "three")
		one := nodes[0]
		defer stops["one"]()
		defer stops["two"]()
		stops["three"]()
		enter(t, w, dir, one, "four")
		four, stopFour := start(t, w, filepath.Join(dir, "four"))
		defer stopFour()
		until(t, "four to lead", func() error {
			if four.Coordinator.Leading() {
				return nil
			}
			one.replica.Transfer(t.Context(), "four")
			return errors.New("not yet")
		})
		three, stopThree := start(t, w, filepath.Join(dir, "three"))
		defer stopThree()
		until(t, "three to follow", func() error {
			if three.leaderPeer() == four.Config.PeerAddress && three.Coordinator.Members().Known(four.authority.NodeKey()) {
				return nil
			}
			return errors.New("not yet")
		})
		if !four.Coordinator.Leading() {
			t.Error("the latecomer cost the lead")
		}
	})
}

// led returns an error unless all nodes know one leader.
func led(nodes ...*Node) error {
	for _, n := range nodes {
		if n.replica.LeaderID() == "" || n.Coordinator.Members().Version == 0 {
			return errors.New("not yet")
		}
	}
	return nil
}

// enter makes the folder of a coordinator that joins a leader's.
func enter(t *testing.T, w *wires, dir string, leader *Node, name string) {
	t.Helper()
	file, err := leader.AddNode(name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := Join(t.Context(), filepath.Join(dir, name), file, config(name), w.from(name), time.Now()); err != nil {
		t.Fatal(err)
	}
}

// fleet runs coordinators of one federation; the first made it.
func fleet(t *testing.T, w *wires, names ...string) (dir string, nodes []*Node, stops map[string]func()) {
	t.Helper()
	dir, stops = t.TempDir(), map[string]func(){}
	if err := Init(filepath.Join(dir, names[0]), config(names[0]), time.Now()); err != nil {
		t.Fatal(err)
	}
	first, stop := start(t, w, filepath.Join(dir, names[0]))
	nodes, stops[names[0]] = []*Node{first}, stop
	for i, name := range names[1:] {
		enter(t, w, dir, first, name)
		n, stop := start(t, w, filepath.Join(dir, name))
		nodes, stops[name] = append(nodes, n), stop
		until(t, name+" to enter", func() error {
			if peers, err := n.Peers(); err != nil || len(peers) != i+2 || n.leaderPeer() == "" || len(n.Coordinator.Members().Keys) != i+2 {
				return errors.New("not yet")
			}
			return nil
		})
	}
	return dir, nodes, stops
}

// TestNoneVotesForALostOne: a coordinator that is started at the addresses of a lost one, before
// that one is removed, is not taken for it, and both sides say what to do; then it enters.
func TestNoneVotesForALostOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, said := newWires(t), &lines.Log{}
		dir, nodes, stops := fleet(t, w, "one", "two", "three")
		defer stops["one"]()
		defer stops["two"]()
		one := nodes[0]
		file, err := one.AddNode("four", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		stops["three"]()
		as := config("four")
		as.PeerListen, as.PeerAddress = config("three").PeerListen, config("three").PeerAddress
		if err := Join(t.Context(), filepath.Join(dir, "four"), file, as, w.from("four"), time.Now()); err != nil {
			t.Fatal(err)
		}
		four, stop := startAt(t, w, filepath.Join(dir, "four"), 0, said)
		defer stop()
		time.Sleep(time.Minute)
		if peers, err := four.Peers(); err != nil || len(peers) != 0 {
			t.Errorf("it was sent the log in the place of the lost one: %v, %v", peers, err)
		}
		for _, n := range nodes[:2] {
			if why := n.reach(t.Context())["three"]; why == nil || !strings.Contains(why.Error(), "coordinator four answers there: if three is lost, `coordinator raft remove three`") {
				t.Errorf("%s reaches the lost one: %v", n.Config.Name, why)
			}
		}
		if !strings.Contains(said.String(), "host-three:2 is the peer address of coordinator three: if that one is lost, `coordinator raft remove three`") {
			t.Errorf("the new one does not say why it waits:\n%s", said.String())
		}
		if err := one.remove(t.Context(), "three"); err != nil {
			t.Fatal(err)
		}
		until(t, "four to enter", func() error {
			if peers, err := four.Peers(); err != nil || len(peers) != 3 || one.reach(t.Context())["four"] != nil {
				return fmt.Errorf("%v, %w", peers, err)
			}
			return nil
		})
	})
}

// TestOtherSigningKeyIsListed: a coordinator that could not go on with the others' studies is named
// at either side, as one that answers.
func TestOtherSigningKeyIsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWires(t)
		dir, nodes, stops := fleet(t, w, "one", "two")
		defer stops["one"]()
		if why := nodes[0].reach(t.Context())["two"]; why != nil {
			t.Fatal(why)
		}
		stops["two"]()
		if err := Init(filepath.Join(dir, "fresh"), config("fresh"), time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "fresh", "signing.key"), filepath.Join(dir, "two", "signing.key")); err != nil {
			t.Fatal(err)
		}
		two, stop := start(t, w, filepath.Join(dir, "two"))
		defer stop()
		until(t, "two to lead or follow", func() error {
			if two.leaderPeer() == "" {
				return errors.New("not yet")
			}
			return nil
		})
		for of, why := range map[string]error{"one": nodes[0].reach(t.Context())["two"], "two": two.reach(t.Context())["one"]} {
			if why == nil || !strings.Contains(why.Error(), "Put the same signing.key into every folder") {
				t.Errorf("at %s: %v", of, why)
			}
		}
		answer := httptest.NewRecorder()
		nodes[0].operatorHandler(nil).ServeHTTP(answer, httptest.NewRequest("GET", "/v1/raft/peers", nil))
		var reply PeersReply
		if err := json.Unmarshal(answer.Body.Bytes(), &reply); err != nil || len(reply.Reached) != 2 || !strings.Contains(reply.Why["two"], "signing.key") {
			t.Errorf("raft peers: %v, %+v", err, reply)
		}
	})
}

// TestMembersOfTheFuture: of the log's list and the folder's the later counts.
func TestMembersOfTheFuture(t *testing.T) {
	pair(t, func(t *testing.T, one, two *Node) {
		pub, _, _ := ed25519.GenerateKey(nil)
		if one.members.has(pub) || !one.members.has(two.authority.NodeKey()) {
			t.Fatal("the log's list")
		}
		keep := func(list pki.Members) (old pki.Members) {
			one.members.mu.Lock()
			defer one.members.mu.Unlock()
			old, one.members.kept = one.members.kept, list
			return old
		}
		old := keep(pki.Members{Version: 0, Keys: map[string][]byte{"x": pub}})
		if one.members.has(pub) {
			t.Error("an older list counts")
		}
		keep(pki.Members{Version: 1000, Keys: map[string][]byte{"x": pub}})
		if !one.members.has(pub) || one.members.has(two.authority.NodeKey()) {
			t.Error("a later list does not count")
		}
		keep(old)
	})
}

// TestHearsayIsForgotten: PEER-9. A removed coordinator that reaches one which was away tells it a
// list of its own, later than any. That list shuts nobody out, goes no further, and is forgotten
// once a leader of the log's list is known.
func TestHearsayIsForgotten(t *testing.T) {
	pair(t, func(t *testing.T, one, two *Node) {
		pub, _, _ := ed25519.GenerateKey(nil)
		two.members.mu.Lock()
		two.members.heard = map[string]pki.Members{"x:1": {Version: 1 << 63, Keys: map[string][]byte{"x": pub}}}
		two.members.mu.Unlock()
		if !two.members.has(pub) {
			t.Error("a member's list lets nobody in")
		}
		if !two.members.has(one.authority.NodeKey()) {
			t.Error("what another tells shuts a member of the log's list out")
		}
		raw, err := one.ask(t.Context(), two.Config.PeerAddress, "/v1/raft/members", "")
		if err != nil || strings.Contains(string(raw), `"x"`) {
			t.Errorf("%s, %v: hearsay is passed on", raw, err)
		}
		time.Sleep(3 * askMembers)
		if two.members.has(pub) {
			t.Error("hearsay is believed although the leader is known")
		}
	})
}

// TestOperatorsSocketIsTheirs: its mode, from the moment that it can be opened on.
func TestOperatorsSocketIsTheirs(t *testing.T) {
	l, err := listenUnix(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info, err := os.Stat(l.Addr().String())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: want 0600", info.Mode(), err)
	}
}
