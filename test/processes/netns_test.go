//go:build failpoint && linux

package processes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Names and addresses are this process's own: two runs at one time do not take each other's network away.
var (
	bridge = fmt.Sprintf("cv%d", os.Getpid())
	subnet = fmt.Sprintf("10.%d.%d", 64+os.Getpid()/256%128, os.Getpid()%256)
)

// ip runs a command of the network.
func command(args ...string) error {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return errors.New(strings.Join(args, " ") + ": " + string(out))
	}
	return nil
}

// network gives every process a namespace of its own on one bridge.
func (f *fleet) network() {
	f.T.Helper()
	if os.Getuid() != 0 {
		f.T.Fatal("network namespaces need root")
	}
	for i, p := range f.All() {
		p.Move(fmt.Sprintf("%s-%d", bridge, i), fmt.Sprintf("%s.%d", subnet, i+10))
	}
	f.unplug()
	f.T.Cleanup(f.unplug)
	must := func(line string) {
		if err := command(strings.Fields(line)...); err != nil {
			f.T.Fatal(err)
		}
	}
	must("ip link add " + bridge + " type bridge")
	must("ip link set " + bridge + " up")
	must("ip addr add " + subnet + ".1/24 dev " + bridge) // ours, to read /metrics
	for _, p := range f.All() {
		must("ip netns add " + p.Netns)
		must("ip link add " + p.Netns + "v type veth peer name eth0 netns " + p.Netns)
		must("ip link set " + p.Netns + "v master " + bridge + " up")
		must("ip -n " + p.Netns + " addr add " + p.Host + "/24 dev eth0")
		must("ip -n " + p.Netns + " link set eth0 up")
		must("ip -n " + p.Netns + " link set lo up")
	}
}

func (f *fleet) unplug() {
	for _, p := range f.All() {
		command("ip", "link", "del", p.Netns+"v") // a namespace goes later than its name, with what is in it
		command("ip", "netns", "del", p.Netns)
	}
	command("ip", "link", "del", bridge)
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
