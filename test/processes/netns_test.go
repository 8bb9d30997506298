//go:build failpoint && linux

package processes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The bridge lives in a namespace of its own, as every process does, so that no firewall of the
// machine sees what crosses it. Names and addresses are this test's own: two runs at one time do
// not take each other's network away.
var (
	hub    = fmt.Sprintf("cv%d", os.Getpid())
	subnet = fmt.Sprintf("10.%d.%d", 64+os.Getpid()/256%128, os.Getpid()%256)
)

// command runs a command of the network.
func command(args ...string) error {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return errors.New(strings.Join(args, " ") + ": " + string(out))
	}
	return nil
}

// network moves every process into a namespace of its own and joins them by one bridge.
func (f *fleet) network() {
	f.T.Helper()
	if os.Getuid() != 0 {
		f.T.Fatal("network namespaces need root")
	}
	for i, p := range f.All() {
		p.Move(fmt.Sprintf("%s-%d", hub, i), fmt.Sprintf("%s.%d", subnet, i+10))
	}
	f.unplug()
	f.T.Cleanup(f.unplug)
	must := func(line string) {
		if err := command(strings.Fields(line)...); err != nil {
			f.T.Fatal(err)
		}
	}
	must("ip netns add " + hub)
	must("ip -n " + hub + " link add bridge type bridge")
	must("ip -n " + hub + " link set bridge up")
	for i, p := range f.All() {
		port := fmt.Sprintf("port%d", i)
		must("ip netns add " + p.Netns)
		must("ip -n " + hub + " link add " + port + " type veth peer name eth0 netns " + p.Netns)
		must("ip -n " + hub + " link set " + port + " master bridge up")
		must("ip -n " + p.Netns + " addr add " + p.Host + "/24 dev eth0")
		must("ip -n " + p.Netns + " link set eth0 up")
		must("ip -n " + p.Netns + " link set lo up")
	}
}

func (f *fleet) unplug() {
	for _, p := range f.All() {
		command("ip", "netns", "del", p.Netns)
	}
	// a namespace goes later than its name, with what is in it
	command("ip", "-n", hub, "link", "del", "bridge")
	command("ip", "netns", "del", hub)
}

// dialIn returns a dialer of connections that begin in a network namespace. A socket belongs to the
// namespace that its thread was in when it was made, so the thread goes there and back.
func dialIn(netns string) func(context.Context, string, string) (net.Conn, error) {
	if netns == "" {
		return new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		// never unlocked where the way back fails: the thread then ends with its goroutine
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			return nil, err
		}
		defer home.Close()
		there, err := os.Open("/run/netns/" + netns)
		if err != nil {
			return nil, err
		}
		defer there.Close()
		if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
			return nil, err
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
			return nil, errors.Join(back, err)
		}
		runtime.UnlockOSThread()
		return conn, err
	}
}

// deaf drops what comes to p from q.
func deaf(p, q *proc) error {
	return command("ip", "netns", "exec", p.Netns, "iptables", "-A", "INPUT", "-s", q.Host, "-j", "DROP")
}

// TestPartitions: each process in a network namespace; iptables drops what goes between a
// leader and the rest, between a coordinator and a site, in one direction, or between
// halves. No study is lost, and the history holds.
func TestPartitions(t *testing.T) {
	f := newFleet(t, 3, 5, fleetOptions{namespaces: true})
	rng := rand.New(rand.NewPCG(*seed, 1))
	stop := make(chan struct{})
	work := f.studying(stop, 12)
	var lost []time.Time
	kinds := map[string]int{}
	for done := 0; done < *partitions; done++ {
		time.Sleep(500*time.Millisecond + time.Duration(rng.ExpFloat64()*float64(time.Second)))
		leader := f.Leader()
		if leader == nil {
			leader = f.Nodes[rng.IntN(len(f.Nodes))]
		}
		cut := func(p, q *proc, both bool) {
			if p == q {
				return
			}
			err := deaf(p, q)
			if both && err == nil {
				err = deaf(q, p)
			}
			if err != nil {
				t.Error(err)
			}
		}
		kind := []string{"leader from all", "leader from coordinators", "leader deaf to coordinators", "leader from a site", "one way", "site from all"}[rng.IntN(6)]
		kinds[kind]++
		all := f.All()
		switch kind {
		case "leader from all":
			for _, q := range all {
				cut(leader, q, true)
			}
			lost = append(lost, time.Now())
		case "leader from coordinators":
			for _, q := range f.Nodes {
				cut(leader, q, true)
			}
			lost = append(lost, time.Now())
		case "leader deaf to coordinators":
			for _, q := range f.Nodes {
				cut(leader, q, false)
			}
			lost = append(lost, time.Now())
		case "leader from a site":
			cut(leader, f.Sites[rng.IntN(len(f.Sites))], true)
		case "one way":
			cut(all[rng.IntN(len(all))], all[rng.IntN(len(all))], false)
		case "site from all":
			s := f.Sites[rng.IntN(len(f.Sites))]
			for _, q := range f.Nodes {
				cut(s, q, true)
			}
		}
		time.Sleep(time.Second + time.Duration(rng.ExpFloat64()*float64(2*time.Second)))
		for _, p := range all {
			if err := command("ip", "netns", "exec", p.Netns, "iptables", "-F"); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	work.Wait()
	f.stop()
	t.Logf("%d partitions: %v", *partitions, kinds)
	f.check(lost)
}
